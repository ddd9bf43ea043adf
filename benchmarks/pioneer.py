"""The Pioneer server: the cadence of packets in real time, and the speed of a run in lockstep.

    python benchmarks/pioneer.py

1. Twenty robots in an office, each with a client that drives, reads sonar and laser and the true
   pose, in a process of its own. Measured is the time between two SIPs of a client.
2. A hundred robots in lockstep with a hundred clients: simulated seconds per second.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import selectors
import statistics
import time
from typing import Any

from astray.pioneer import Client, PioneerCommand, commands, serving
from astray.pioneer.packets import Framer, Sip

HALL = {"kind": "rooms", "size": [80, 60], "seed": 1}  # m
ROBOTS, SECONDS = 20, 20.0
MANY, CYCLES = 100, 100


def listen(ports: list[int], seconds: float, found: Any) -> None:
    """Drive every robot and record when its SIPs arrive; one selector reads all of them."""
    robots = [Client(port=port).connect() for port in ports]
    selector = selectors.DefaultSelector()
    times: list[list[float]] = [[] for _ in robots]
    framers = [Framer() for _ in robots]
    for k, robot in enumerate(robots):
        robot.scan()
        robot.command(PioneerCommand.SIM_STAT, 2)
        selector.register(robot._socket, selectors.EVENT_READ, k)
    begin = time.perf_counter() + 2.0  # by then the backlog of the connecting phase is read
    while time.perf_counter() < begin + seconds:
        arrived = []
        for key, _ in selector.select(0.2):
            received = key.fileobj.receive()  # type: ignore[union-attr]
            arrived.append((key.data, received, time.perf_counter()))
        for k, received, now in arrived:
            for packet in framers[k].feed(received):
                if packet.id == Sip.ID:
                    robots[k].velocity(0.2, 0.3)
                    if now > begin:
                        times[k].append(now)
    for robot in robots:
        robot.close()
    found.put(times)


def cadence(count: int, seconds: float) -> dict[str, float]:
    """The intervals between standard packets of robots that are all connected, ms."""
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    with serving(*["p3dx"] * count, map="office", start="random", speed=1.0) as bridge:
        clients = context.Process(target=listen, args=(bridge.ports, seconds, found))
        clients.start()
        times = found.get(timeout=seconds + 120)
        clients.join()
    pairs = [pair for each in times for pair in itertools.pairwise(each)]
    intervals = [(later - earlier) * 1000.0 for earlier, later in pairs]
    off = sorted(abs(ms - 100.0) for ms in intervals)
    return {
        "robots": count,
        "packets": len(intervals),
        "mean_ms": statistics.fmean(intervals),
        "sd_ms": statistics.pstdev(intervals),
        "within_5_ms": sum(ms <= 5.0 for ms in off) / len(off),
        "worst_ms": off[-1],
    }


def answer(ports: list[int], cycles: int, found: Any) -> None:
    """Answer every packet of every robot, as fast as they come."""
    robots = [Client(port=port).connect(wait=False) for port in ports]
    motion = commands.encode_int(PioneerCommand.VEL, 200) + commands.encode_int(
        PioneerCommand.RVEL, 20
    )
    for k in range(cycles + 1):
        for robot in robots:
            robot.read(60.0)
            robot._socket.send(motion)
        if k == 0:
            begin = time.perf_counter()
    found.put(time.perf_counter() - begin)
    for robot in robots:
        robot._socket.close()


def lockstep(count: int, cycles: int) -> dict[str, float]:
    """Simulated seconds per second when every client answers every packet."""
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    with serving(*["p3dx"] * count, map=HALL, start="random", lockstep=True, speed=None) as bridge:
        clients = context.Process(target=answer, args=(bridge.ports, cycles, found))
        clients.start()
        wall = found.get(timeout=600)
        clients.join()
    simulated = cycles * 0.1
    return {"robots": count, "simulated_s": simulated, "wall_s": wall, "factor": simulated / wall}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=SECONDS)
    options.add_argument("--robots", type=int, default=ROBOTS)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    results = {
        "cadence": cadence(chosen.robots, chosen.seconds),
        "lockstep": lockstep(MANY, CYCLES),
    }
    if chosen.json:
        print(json.dumps(results))
        return
    c, k = results["cadence"], results["lockstep"]
    print(
        f"{c['robots']:.0f} robots at real time: a packet every {c['mean_ms']:.2f} ms, "
        f"sd {c['sd_ms']:.2f} ms, {100 * c['within_5_ms']:.1f} % within 5 ms, "
        f"worst {c['worst_ms']:.1f} ms off ({c['packets']:.0f} packets)"
    )
    print(
        f"{k['robots']:.0f} robots in lockstep: {k['factor']:.2f} simulated seconds per second "
        f"({k['simulated_s']:.1f} s in {k['wall_s']:.2f} s)"
    )


if __name__ == "__main__":
    main()
