"""What it costs to see others and to keep track of them: 1000 robots in one world.

    .venv/bin/python benchmarks/contacts.py

Both runs have the same 1000 robots on the same plain, driving circles, with wheels and odometry at
100 Hz, which is the default. In the second run each of them also detects the others by the sensor
`contacts` at 10 Hz, 10 of them in range on average, and keeps tracks of them. What is compared is
the CPU time of the same simulated time, all of the tick included. The same is done with wheels at
50 Hz and at 10 Hz, the harshest way to count: then each tick has a reading of the contacts, too.
Rounds are interleaved; the ratio is that of each round.
"""

from __future__ import annotations

import math
import statistics
import time
from typing import Any

import astray

ROBOTS, NEIGHBOURS, REACH = 1000, 10, 10.0
ROUNDS, SECONDS = 9, 2.0
SIDE = math.sqrt(ROBOTS * math.pi * REACH * REACH / NEIGHBOURS)  # m, of the square they start in


def load(wheel_rate: float, contacts: bool) -> astray.Sim:
    """A thousand robots, all over the square."""
    robot: dict[str, Any] = {
        "name": "rover",
        "count": ROBOTS,
        "start": {"x": {"uniform": [0.0, SIDE]}, "y": {"uniform": [0.0, SIDE]}, "yaw_spread": 3.0},
        "sensors": [{"kind": "wheels", "rate": wheel_rate, "slip_density": 0.01}],
        "estimator": {"kind": "odometry"},
        "autonomy": {"kind": "scripted", "steps": [{"lasts": 1e6, "vx": 0.5, "wz": 0.2}]},
    }
    if contacts:
        sensor = {"kind": "contacts", "rate": 10, "max_range": REACH, "detection": 0.9}
        robot["sensors"].append({**sensor, "false_alarms": 0.2, "confusion": 0.01})
        robot["contacts"] = {"kind": "tracker"}
    return astray.load({"dt": 1.0 / wheel_rate, "seed": 3, "robots": [robot]})


def cost(sim: astray.Sim) -> float:
    """CPU seconds of a stretch of the run."""
    before = time.process_time()
    sim.run(SECONDS)
    return time.process_time() - before


def main() -> None:
    for rate in (100.0, 50.0, 10.0):
        plain, seeing = load(rate, False), load(rate, True)
        for sim in (plain, seeing):
            cost(sim)
        rounds = [(cost(plain), cost(seeing)) for _ in range(ROUNDS)]
        ratios = [b / a for a, b in rounds]
        group = seeing.robots["rover"]
        found = group.readings["contacts"]["count"].mean()
        tracks = group.contacts.table["count"].mean()
        per = 1e6 / (ROBOTS * SECONDS)
        a, b = (statistics.median(side) for side in zip(*rounds, strict=True))
        print(f"wheels at {rate:g} Hz, contacts at 10 Hz; {found:.1f} seen, {tracks:.1f} tracked")
        print(f"  without {a * per:7.1f} us per robot and simulated second")
        print(f"  with    {b * per:7.1f} us per robot and simulated second")
        spread = f"({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"  ratio   {statistics.median(ratios):7.2f} {spread}, at most 3 wanted")
        profile = seeing.profile()
        print("  " + ", ".join(f"{k} {v / sum(profile.values()):.0%}" for k, v in profile.items()))


if __name__ == "__main__":
    main()
