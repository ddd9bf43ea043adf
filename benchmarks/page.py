"""The live page: what it costs the machine and the run.

    python benchmarks/page.py

1. CPU of the server: twenty robots with 1080 lidar points each, at real time, all of it sent to a
   page in another process. The CPU of this process with a page less that without one, in turns.
2. The same with a thousand robots without lidars.
3. What a page costs a run that goes as fast as it can: one that reads, and one that has stopped
   reading; CPU time of the run, in turns with no page at all.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import time
from typing import Any

from websockets.sync.client import connect

import astray
from astray.view.page.view import View

ROVER = {
    "name": "rover",
    "motion": {"kind": "differential"},
    "sensors": [{"kind": "wheels", "rate": 20, "slip_density": 0.001}],
    "estimator": {"kind": "odometry"},
    "autonomy": {"kind": "wander", "rate": 10},
}
LIDAR = {"kind": "lidar", "name": "scan", "rate": 20, "rays": 1080, "max_range": 20, "sigma": 0.01}
HALL = {"map": {"kind": "rooms", "size": [80, 60], "seed": 1}}


def scenario(count: int, lidar: bool) -> dict[str, Any]:
    sensors = [*ROVER["sensors"], *([LIDAR] if lidar else [])]  # type: ignore[misc]
    robot = {**ROVER, "count": count, "sensors": sensors, "start": {"spread": 20.0}}
    if lidar:
        robot["start"] = {"clearance": 0.5}
    more = {"world": HALL} if lidar else {}
    return {"robots": [robot], "seed": 1, "dt": 0.05, "duration": 1e6, **more}


def watch(url: str, reads: bool, ready: Any, done: Any, found: Any) -> None:
    """A page in a process of its own; it reads all, or nothing."""
    address = url.replace("http", "ws").replace("/?", "/ws?")
    origin: Any = url.partition("/?")[0]
    frames = size = 0
    with connect(address, origin=origin, compression=None, max_size=None) as client:
        client.send(json.dumps({"do": "look", "everyone": True}))
        ready.set()
        begun = time.perf_counter()
        while not done.is_set():
            if not reads:
                time.sleep(0.05)
                # What the library reads by itself stops when its own queue is full.
                continue
            data = client.recv(timeout=10)
            if isinstance(data, bytes):
                frames, size = frames + 1, size + len(data)
        wall = time.perf_counter() - begun
    found.put((frames / wall, size / max(1, frames)))


class Watched:
    """A view with a page that looks at it, as long as the with block lasts."""

    def __init__(self, view: View, reads: bool = True) -> None:
        context = multiprocessing.get_context("spawn")
        self.ready, self.done, self.found = context.Event(), context.Event(), context.Queue()
        arguments = (view.url, reads, self.ready, self.done, self.found)
        self.process = context.Process(target=watch, args=arguments, daemon=True)

    def __enter__(self) -> Watched:
        self.process.start()
        self.ready.wait(60)
        time.sleep(1.0)
        return self

    def __exit__(self, *problem: object) -> None:
        self.done.set()
        self.rate, self.size = self.found.get(timeout=30)
        self.process.join(30)


def share(seconds: float) -> float:
    """CPU of this process per second of real time."""
    cpu, wall = time.process_time(), time.perf_counter()
    time.sleep(seconds)
    return (time.process_time() - cpu) / (time.perf_counter() - wall)


def server(count: int, lidar: bool, seconds: float, rounds: int) -> None:
    """Print what serving costs, at real time."""
    sim = astray.load(scenario(count, lidar), keep_events=False)
    costs = []
    with View(sim) as view:
        view.start(1e6, speed=1.0)
        time.sleep(3.0)
        for _ in range(rounds):
            without = share(seconds)
            with Watched(view) as page:
                costs.append(share(seconds) - without)
    low, middle, high = min(costs), statistics.median(costs), max(costs)
    what = f"{count} robots" + (" with 1080 lidar points" if lidar else "")
    print(
        f"{what}: {100 * middle:.1f} % of a core ({100 * low:.1f} to {100 * high:.1f}) for "
        f"{page.rate:.0f} frames per second of {page.size / 1000:.0f} kB"
    )


def run_cost(seconds: float, rounds: int) -> None:
    """Print what a page costs a run at full speed, in CPU time of the run's thread."""
    sim = astray.load(scenario(20, True), keep_events=False)
    sim.run(5.0)

    def stretch() -> float:
        cpu, begun = time.thread_time(), sim.time
        sim.run(seconds)
        return (time.thread_time() - cpu) / (sim.time - begun)

    found: dict[str, list[float]] = {"none": [], "reads": [], "stopped": []}
    with View(sim) as view:
        for _ in range(rounds):
            found["none"].append(stretch())
            with Watched(view):
                found["reads"].append(stretch())
            with Watched(view, reads=False):
                time.sleep(1.0)
                found["stopped"].append(stretch())
    for who in ("reads", "stopped"):
        ratios = [b / a - 1 for a, b in zip(found["none"], found[who], strict=True)]
        low, middle, high = min(ratios), statistics.median(ratios), max(ratios)
        print(
            f"a page that {who}: {100 * middle:+.1f} % of the run's CPU time "
            f"({100 * low:+.1f} to {100 * high:+.1f})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=5)
    wanted = parser.parse_args()
    server(20, True, wanted.seconds, wanted.rounds)
    server(1000, False, wanted.seconds, wanted.rounds)
    run_cost(20 * wanted.seconds, wanted.rounds)


if __name__ == "__main__":
    main()
