"""Replay: a run is its scenario, its seed and its events, and repeats from them bit for bit."""

import random
import sys
import tempfile
from pathlib import Path

import astray
from astray.engine import read_events

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
file = folder / "events.jsonl"

# A pilot that nobody can repeat: real randomness, and a hand that moves the robot.
first = astray.load("remote")
rover = first.robots["rover"]
for _ in range(20):
    rover.drive(random.uniform(0.1, 0.6), random.uniform(-0.5, 0.5))
    first.run(0.5)
rover.place(x=1.0, y=2.0, yaw=0.0)  # moves the truth; the robot does not know
first.run(5)
file.write_text("".join(f"{event.to_json()}\n" for event in first.events), encoding="utf-8")
print(f"{len(first.events)} events, the last: {first.events[-1].to_json()}")

again = astray.load("remote")
again.replay(read_events(file))
again.run(first.time)

print(f"driven:   {first.digest()}")
print(f"replayed: {again.digest()}")
assert first.digest() == again.digest()
