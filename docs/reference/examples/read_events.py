from pathlib import Path

import astray

first = astray.load("remote")
for _time in first.ticks(2):
    first.robots["rover"].drive(0.5, 0.2)
Path("events.jsonl").write_text("".join(event.to_json() + "\n" for event in first.events))

again = astray.load("remote")
again.replay(astray.read_events(Path("events.jsonl")))
again.run(2)
print(again.digest() == first.digest())  # True
