"""What a tick costs: one robot, many robots, and a robot to which nothing happens.

CPU time of one thread, through the public interface. Every figure is the median of interleaved
rounds, with the least and the largest beside it.

    python benchmarks/tick.py
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import astray

ROUNDS = 9
ROVER = {
    "name": "rover",
    "sensors": [{"kind": "wheels", "slip_density": 0.002}],
    "estimator": {"kind": "odometry"},
    "autonomy": {"kind": "scripted", "steps": [{"lasts": 1e6, "vx": 0.5, "wz": 0.1}]},
}
BARE = {"name": "rover", "autonomy": ROVER["autonomy"]}
START = "import astray; astray.load('drift').step()"


def cpu(job: Callable[[], object]) -> float:
    before = time.process_time()
    job()
    return time.process_time() - before


def stepper(sim: astray.Sim, ticks: int) -> Callable[[], None]:
    def job() -> None:
        for _ in range(ticks):
            sim.step()

    return job


def start_up(cache: str) -> float:
    """CPU seconds of a new process from nothing to its first tick."""
    environment = {**os.environ, "ASTRAY_CACHE_DIR": cache}
    before = os.times()
    subprocess.run([sys.executable, "-c", START], env=environment, check=True)
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def main() -> None:
    one = astray.load({"dt": 0.01, "robots": [ROVER]})
    many = astray.load({"dt": 0.01, "robots": [ROVER]}, worlds=1000)
    bare = astray.load({"dt": 0.001, "robots": [BARE]})
    jobs: list[tuple[str, str, Callable[[], float]]] = [
        ("one row, step()", "us/tick, at most 15", lambda: cpu(stepper(one, 2000)) / 2000 * 1e6),
        ("one row, run()", "us/tick, at most 15", lambda: cpu(lambda: one.run(20.0)) / 2000 * 1e6),
        ("1000 rows, step()", "us/row, at most 0.5", lambda: cpu(stepper(many, 50)) / 50e3 * 1e6),
        (
            "1000 rows, run()",
            "us/row, at most 0.5",
            lambda: cpu(lambda: many.run(0.5)) / 50e3 * 1e6,
        ),
        (
            "nothing due, 1 ms",
            "sim s / CPU s, at least 10000",
            lambda: 2e3 / cpu(lambda: bare.run(2e3)),
        ),
    ]
    for _, _, job in jobs:
        job()
    rounds = [[job() for _, _, job in jobs] for _ in range(ROUNDS)]
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    for (name, unit, _), values in zip(jobs, zip(*rounds, strict=True), strict=True):
        middle = statistics.median(values)
        print(f"{name:20} {middle:10.3g}  ({min(values):.3g} to {max(values):.3g})  {unit}")
    with tempfile.TemporaryDirectory() as cache:
        print(f"{'first start ever':20} {start_up(cache):10.3g}  CPU s, at most 20")
        later = [start_up(cache) for _ in range(3)]
        print(f"{'later starts':20} {min(later):10.3g}  (to {max(later):.3g})  CPU s, at most 2")


if __name__ == "__main__":
    main()
