"""Monte Carlo: how many runs of 100 s at 100 Hz a CPU-second buys, noise included.

A run has an IMU with three white and three walking channels and the inertial estimator. CPU time
of one thread through the public interface; median of the rounds, with the least and the largest.

    python benchmarks/montecarlo.py
"""

from __future__ import annotations

import platform
import statistics
import time

import astray

WORLDS, SECONDS, ROUNDS = 1000, 100.0, 5
SCENARIO = {
    "dt": 0.01,
    "robots": [
        {
            "name": "rover",
            "motion": {"kind": "unicycle"},
            "sensors": [
                {
                    "kind": "imu",
                    "planar": True,
                    "gyro_density": 0.001,
                    "gyro_walk": 0.0001,
                    "accel_density": 0.01,
                    "accel_walk": 0.001,
                }
            ],
            "estimator": {"kind": "inertial"},
            "autonomy": {"kind": "scripted", "steps": [{"lasts": 1e6, "vx": 0.5, "wz": 0.1}]},
        }
    ],
}


def main() -> None:
    sim = astray.load(SCENARIO, worlds=WORLDS)
    sim.run(1.0)
    rates = []
    for _ in range(ROUNDS):
        sim.reset()
        before = time.process_time()
        sim.run(SECONDS)
        rates.append(WORLDS / (time.process_time() - before))
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    middle = statistics.median(rates)
    print(f"{middle:.0f} runs per CPU-second ({min(rates):.0f} to {max(rates):.0f}), at least 300")
    print({phase: round(seconds, 2) for phase, seconds in sim.profile().items()})


if __name__ == "__main__":
    main()
