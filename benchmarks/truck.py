"""What the truck engine costs: driving in a map, driving with a scan every 10 ms, scans alone.

CPU time of one thread, through the public interface, on a map of 52 segments, 47 m by 36 m. The
truck stays more than a metre away from all of them. Every figure is the median of interleaved
rounds, with the least and the largest beside it.

    python benchmarks/truck.py
"""

from __future__ import annotations

import math
import platform
import statistics
import time
from collections.abc import Callable

from astray.truck import Engine

ROUNDS = 9
RAYS = 3200


def hall() -> dict[str, object]:
    """A room with six pillars of eight sides."""
    walls = [[[0, 0], [47, 0], [47, 36], [0, 36], [0, 0]]]
    pillars = []
    for k in range(6):
        x, y = 8.0 + 15.0 * (k % 3), 8.0 + 20.0 * (k // 3)
        around = [math.pi / 4 * j for j in range(8)]
        pillars.append([[x + 2.0 * math.cos(a), y + 2.0 * math.sin(a)] for a in around])
    return {"walls": walls, "polygons": pillars}


def cpu(job: Callable[[], object]) -> float:
    before = time.process_time()
    job()
    return time.process_time() - before


def engine(**more: float) -> Engine:
    made = Engine(map=hall(), **more)  # type: ignore[arg-type]
    assert len(made.sim.map()) == 52
    made.reset_base((20.0, 18.0, 0.3))
    made.set_base_control(0.8, 0.9)
    made.advance(120.0)  # the picture that it keeps of its way is thinned out by then
    return made


def drive(truck: Engine, seconds: int) -> float:
    def job() -> None:
        for _ in range(seconds):
            truck.advance(1.0)

    return seconds / cpu(job)


def wind(truck: Engine, seconds: int) -> float:
    """Drive with a new command every second: half of the time speed or steering change."""

    def job() -> None:
        for k in range(seconds):
            truck.set_base_control(0.8 if k % 2 else 0.3, 1.2 if k % 4 < 2 else 0.6)
            truck.advance(1.0)

    return seconds / cpu(job)


def scan(truck: Engine, scans: int) -> float:
    def job() -> None:
        for _ in range(scans):
            truck.advance(0.01)
            assert truck.state().lidar_ranges is not None

    return 0.01 * scans / cpu(job)


def look(truck: Engine, scans: int) -> float:
    """Million rays per second of the sensor alone."""
    robots = truck.sim.robots["truck"]
    lidar, rows = robots.pipelines["lidar"], robots.rows

    def job() -> None:
        for _ in range(scans):
            lidar.look(rows, robots.scene, robots.time)

    return 1e-6 * RAYS * scans / cpu(job)


def main() -> None:
    plain, winding, noisy = engine(), engine(), engine(lidar_sigma=0.01)
    jobs: list[tuple[str, str, Callable[[], float]]] = [
        ("1 ms steps, no lidar", "sim s / CPU s, at least 10000", lambda: drive(plain, 300)),
        ("and a command every second", "sim s / CPU s", lambda: wind(winding, 100)),
        (
            "3200 rays every 10 ms",
            "sim s / CPU s, at least 400",
            lambda: scan(plain, 1000),
        ),
        ("with noise on every range", "sim s / CPU s", lambda: scan(noisy, 200)),
        ("lidar alone", "million rays / CPU s, at least 180", lambda: look(plain, 1000)),
        ("with noise on every range", "million rays / CPU s", lambda: look(noisy, 200)),
    ]
    for _, _, job in jobs:
        job()
    rounds = [[job() for _, _, job in jobs] for _ in range(ROUNDS)]
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    for (name, unit, _), values in zip(jobs, zip(*rounds, strict=True), strict=True):
        middle = statistics.median(values)
        print(f"{name:28} {middle:8.4g}  ({min(values):.4g} to {max(values):.4g})  {unit}")


if __name__ == "__main__":
    main()
