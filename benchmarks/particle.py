"""The CPU time of one update of the particle filter: 500 poses, 60 beams, the bundled office.

    .venv/bin/python benchmarks/particle.py

An update moves the poses, weighs them by a scan in as many steps as it takes, and resamples. Wheels
and scans come from a simulated robot with a noisy lidar; only the estimator is timed, in CPU time
of this process, so that other load on the machine does not count as ours.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import astray
from astray.plugin import Known

ROUNDS = 200


def robot(particles: int, beams: int) -> dict[str, Any]:
    return {
        "name": "rover",
        "start": {"x": 2.0, "y": 2.0},
        "sensors": [
            {"kind": "wheels", "rate": 50, "slip_density": 0.01},
            {"kind": "lidar", "name": "scan", "rate": 5, "rays": 360, "sigma": 0.01},
        ],
        "estimator": {
            "kind": "particle",
            "particles": particles,
            "beams": beams,
            "update_way": 0.0,
            "update_turn": 0.0,
        },
        "autonomy": {"kind": "wander"},
    }


def measure(particles: int, beams: int) -> list[float]:
    """CPU seconds of each update."""
    scenario = {"dt": 0.02, "world": {"map": "office"}, "robots": [robot(particles, beams)]}
    sim = astray.load(scenario)
    group = sim.robots["rover"]
    assert group.estimator is not None
    inner, taken = group.estimator.estimate, []

    def timed(rows: Any, known: Known, belief: Any) -> None:
        started = time.process_time()
        inner(rows, known, belief)
        if known.readings["scan"].fresh.any():
            taken.append(time.process_time() - started)

    group.estimator.estimate = timed  # type: ignore[method-assign]
    sim.run((ROUNDS + 10) / 5.0)
    return taken[10:]


def main() -> None:
    print(f"{'particles':>9} {'beams':>6} {'median ms':>10} {'10 %':>7} {'90 %':>7}")
    for particles, beams in ((500, 60), (500, 90), (2000, 90)):
        taken = [1e3 * seconds for seconds in measure(particles, beams)]
        tenths = statistics.quantiles(taken, n=10)
        middle = statistics.median(taken)
        print(f"{particles:9} {beams:6} {middle:10.3f} {tenths[0]:7.3f} {tenths[-1]:7.3f}")


if __name__ == "__main__":
    main()
