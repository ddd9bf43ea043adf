"""What a signal costs: values per CPU-second, one by one, in a batch, and inside a run.

CPU time of one thread. Every figure is the median of interleaved rounds, with the least and the
largest beside it.

    python benchmarks/signals.py
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable

import numpy as np

import astray
from astray.signals import Signal, Signals, Sine

ROUNDS = 11
BATCH = 1_000_000
SECONDS = 20.0
DOCUMENT = {
    "linear_x": {"type": "constant", "t_start": 0, "t_end": 10, "y_start": 5},
    "wheel_fl": {"type": "linear", "t_start": 0, "t_end": 5, "y_start": 0, "y_end": 10},
    "angular_z": {
        "type": "quadratic",
        "t_start": 0,
        "t_end": 10,
        "y_start": 0,
        "y_end": 0,
        "t_mid": 5,
        "y_mid": 3.14,
    },
}
FORCES = {name: DOCUMENT["angular_z"] for name in ("linear_x", "linear_y", "linear_z", "angular_z")}


def cpu(job: Callable[[], object]) -> float:
    before = time.process_time()
    job()
    return time.process_time() - before


def batch(signals: list[Signal], times: np.ndarray) -> Callable[[], float]:
    """Values per CPU-second, in millions, of signals over an array of times."""

    def job() -> None:
        for signal in signals:
            signal(times)

    return lambda: len(signals) * len(times) / cpu(job) / 1e6


def single(signal: Signal) -> float:
    def job() -> None:
        for k in range(20_000):
            signal(0.001 * k)

    return 20_000 / cpu(job) / 1e6


def in_run(sim: astray.Sim, channels: int) -> float:
    """Readings per CPU-second, in millions of channels, with all that a tick does besides."""
    return len(sim.truth) * channels * 50 / cpu(lambda: sim.step(50)) / 1e6


def main() -> None:
    steady = np.linspace(0.0, SECONDS, BATCH)
    mixed = np.random.default_rng(0).permutation(steady)
    document = list(Signals.read(DOCUMENT).values())
    course = [{**DOCUMENT["wheel_fl"], "t_start": k, "t_end": k + 1} for k in range(20)]
    many = [Signals.read({"a": course})["a"]]
    apart = {"origin": {"uniform": [0.0, 1.0]}}
    sims = [
        astray.load({"dt": 0.01, "robots": [robot]}, worlds=5000)
        for robot in (
            {"name": "a", "sensors": [{"kind": "scripted_imu", "signals": FORCES}]},
            {"name": "a", "sensors": [{"kind": "scripted_imu", "signals": FORCES, **apart}]},
        )
    ]
    jobs: list[tuple[str, Callable[[], float]]] = [
        ("the document's three signals, times in order", batch(document, steady)),
        ("the document's three signals, times at random", batch(document, mixed)),
        ("twenty intervals, times in order", batch(many, steady)),
        ("twenty intervals, times at random", batch(many, mixed)),
        ("a sine", batch([Signal([Sine(1.0, 0.5)])], steady)),
        ("one value per call from Python", lambda: single(document[2])),
        ("six channels of 5000 robots in a run", lambda: in_run(sims[0], 6)),
        ("the same, each robot at its own time", lambda: in_run(sims[1], 6)),
    ]
    for _, job in jobs:
        job()
    rounds = [[job() for _, job in jobs] for _ in range(ROUNDS)]
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print("million values per CPU-second; in a batch, at least 30")
    for (name, _), values in zip(jobs, zip(*rounds, strict=True), strict=True):
        middle = statistics.median(values)
        print(f"{name:48} {middle:8.3g}  ({min(values):.3g} to {max(values):.3g})")


if __name__ == "__main__":
    main()
