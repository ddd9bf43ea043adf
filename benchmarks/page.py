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
import contextlib
import json
import multiprocessing
import socket
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from websockets.sync.client import connect

import astray
from astray.viewer.page import View, clients

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


def watch(url: str, ready: Any, done: Any, found: Any) -> None:
    """A page in a process of its own that reads all that it is sent."""
    address = url.replace("http", "ws").replace("/?", "/ws?")
    origin: Any = url.partition("/?")[0]
    frames = size = 0
    with connect(address, origin=origin, compression=None, max_size=None) as client:
        client.send(json.dumps({"do": "look", "everyone": True}))
        ready.set()
        begun = time.perf_counter()
        while not done.is_set():
            data = client.recv(timeout=10)
            if isinstance(data, bytes):
                frames, size = frames + 1, size + len(data)
        wall = time.perf_counter() - begun
    found.put((frames / wall, size / max(1, frames)))


@contextlib.contextmanager
def silent(view: View) -> Iterator[None]:
    """A page that wants everything and reads nothing."""
    host = f"127.0.0.1:{view.server.port}"
    wish = b'{"do":"look","everyone":true}'
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(("127.0.0.1", view.server.port))
        request = (
            f"GET /ws?token={view.server.token} HTTP/1.1",
            f"Host: {host}",
            f"Origin: http://{host}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        )
        sock.sendall("\r\n".join((*request, "", "")).encode())
        sock.sendall(bytes([0x81, 0x80 | len(wish)]) + bytes(4) + wish)
        yield
        sock.shutdown(socket.SHUT_RDWR)


class Watched:
    """A view with a page that looks at it, as long as the with block lasts."""

    def __init__(self, view: View) -> None:
        context = multiprocessing.get_context("spawn")
        self.ready, self.done, self.found = context.Event(), context.Event(), context.Queue()
        arguments = (view.url, self.ready, self.done, self.found)
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
    clients.SEND_TIMEOUT = 1e9  # s; or else a page that does not read would be gone after ten
    sim = astray.load(scenario(20, True), keep_events=False)
    sim.run(5.0)

    def stretch() -> float:
        cpu = time.thread_time()
        sim.run(seconds)
        return time.thread_time() - cpu

    with View(sim) as view:
        tell_ratio("has stopped reading", view, stretch, rounds, silent(view))
        tell_ratio("reads", view, stretch, rounds, Watched(view))


def tell_ratio(
    what: str,
    view: View,
    stretch: Callable[[], float],
    rounds: int,
    page: AbstractContextManager[Any],
) -> None:
    """Print the ratio of stretches with and without a page, in turns while it stays connected."""
    spent: dict[bool, list[float]] = {True: [], False: []}
    with page:
        until(lambda: bool(view.clients.pages))
        for _ in range(4):  # until what the system buffers is full, too
            stretch()
        for k in range(rounds):
            for watched in (True, False) if k % 2 else (False, True):
                pages = view.clients.pages
                view.clients.pages = pages if watched else set()
                time.sleep(0.04)
                spent[watched].append(stretch())
                view.clients.pages = pages
    # Others on the machine make a stretch longer, never shorter: the lower quartile is its own.
    own = [statistics.quantiles(spent[watched], n=4)[0] for watched in (True, False)]
    ratios = [a / b - 1 for a, b in zip(spent[True], spent[False], strict=True)]
    spread = statistics.quantiles(ratios, n=4)
    print(
        f"a page that {what}: {100 * (own[0] / own[1] - 1):+.1f} % of the run's CPU time (half of "
        f"all stretches between {100 * spread[0]:+.1f} and {100 * spread[2]:+.1f})"
    )


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20.0
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=5)
    wanted = parser.parse_args()
    server(20, True, wanted.seconds, wanted.rounds)
    server(1000, False, wanted.seconds, wanted.rounds)
    run_cost(wanted.seconds, 24 * wanted.rounds)


if __name__ == "__main__":
    main()
