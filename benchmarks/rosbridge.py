"""The rosbridge wire: messages per second to a client, what they cost, and how soon they come.

    python benchmarks/rosbridge.py

1. Twenty robots as fast as they can, one client in a process of its own that hears one topic of
   each: messages that reach it per second of real time.
2. The same run with nobody connected, with a client that hears nothing, and with one that stopped
   reading and was cut off: CPU time per simulated second, interleaved.
3. At real time, from the wall clock of the tick to a client's hands: half, 99 of 100.
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
from astray.ros.rosbridge import serving
from astray.sim import Sim

HALL = {"walls": [[[-2, -2], [8, -2], [8, 6], [-2, 6], [-2, -2]]]}
ROBOTS = 20
FORMS = {"none": "text", "cbor": "CBOR"}
TOPICS = {"/imu/data": "Imu", "/odom": "Odometry", "/scan": "LaserScan of 360 rays"}


def load(count: int = 1) -> Sim:
    sensors = [
        {"kind": "wheels", "rate": 50},
        {"kind": "imu", "rate": 100},
        {"kind": "lidar", "name": "scan", "rate": 10, "rays": 360, "max_range": 12.0},
    ]
    rover = {
        "name": "rover",
        "preset": "rover",
        "count": count,
        "start": {"x": 2.0, "y": 2.0},
        "sensors": sensors,
        "estimator": {"kind": "odometry"},
        "autonomy": {"kind": "remote"},
    }
    scenario = {"dt": 0.01, "world": {"map": HALL}, "interactions": [], "robots": [rover]}
    return astray.load(scenario)


def listen(port: int, topic: str, form: str, seconds: float, found: Any) -> None:
    """Count messages of a topic, and note how old each is by the wall clock."""
    with connect(f"ws://127.0.0.1:{port}", max_size=None, close_timeout=0.2) as line:
        for robot in range(ROBOTS):
            wish = {"op": "subscribe", "topic": f"/rover_{robot}{topic}", "compression": form}
            line.send(json.dumps(wish))
        line.recv()
        count, size, begin = 0, 0, time.perf_counter()
        while time.perf_counter() < begin + seconds:
            size += len(line.recv())
            count += 1
        found.put((count / (time.perf_counter() - begin), size / max(count, 1)))


def throughput(topic: str, form: str, seconds: float) -> dict[str, float]:
    """Messages per second that one client gets of a run that goes as fast as it can."""
    found: Any = multiprocessing.Queue()
    with serving(load(ROBOTS), speed=None) as wire:
        wanted = (wire.port, topic, form, seconds, found)
        peer = multiprocessing.Process(target=listen, args=wanted)
        peer.start()
        rate, size = found.get()
        peer.join()
    return {"per second": rate, "bytes": size}


def encode(topic: str, form: str, count: int) -> float:
    """Messages per second of CPU in this form, without a socket and without a run."""
    from astray.ros.rosbridge import MessageEncoder, RosbridgeBridge

    sim = load()
    sim.step(20)
    publishers = RosbridgeBridge(sim).publisher_set.publishers
    publisher = next(p for p in publishers if p.topics and p.topics[0].name == topic)
    encoder, rows = MessageEncoder(publisher.layout), publisher.rows
    begin = time.process_time()
    for _ in range(count):
        messages = publisher.serialize(publisher.sample(rows))
        encoder.encoders(messages, 0.0)(0)(form)
    return count / (time.process_time() - begin)


def cost(kind: str, seconds: float) -> float:
    """CPU time per simulated second, in ms, with a wire or none."""
    sim = load()
    if kind == "no wire":
        begin = time.process_time()
        sim.run(seconds)
        return (time.process_time() - begin) / seconds * 1000.0
    with serving(sim, speed=None, seconds=seconds, send_timeout=0.05) as wire:
        sim.pace.pause()
        if kind == "a client that stopped reading":
            where = f"ws://127.0.0.1:{wire.port}"
            line = connect(where, ping_interval=None, close_timeout=0.05).__enter__()
            for topic in TOPICS:
                line.send(json.dumps({"op": "subscribe", "topic": topic}))
            while len(wire.server.operations.subscribed) < len(TOPICS):
                time.sleep(0.001)
        while not sim.pace.paused:
            time.sleep(0.001)
        begin, steps = time.process_time(), sim.steps
        sim.pace.play()
        while sim.steps < round(seconds / sim.dt):
            time.sleep(0.002)
        spent = time.process_time() - begin
        return spent / ((sim.steps - steps) * sim.dt) * 1000.0


def latency(seconds: float) -> list[float]:
    """Ms from the moment that a tick is due at real time to a client's hands, the least taken off.

    A run at real time has its tick k at a fixed offset of the wall clock plus k dt; that offset is
    the smallest that was seen.
    """
    with serving(load(), speed=1.0) as wire, connect(f"ws://127.0.0.1:{wire.port}") as line:
        line.send(json.dumps({"op": "subscribe", "topic": "/imu/data"}))
        late = []
        for _ in range(round(seconds * 100)):
            said = json.loads(line.recv())["msg"]["header"]["stamp"]
            late.append(time.perf_counter() - said["sec"] - said["nanosec"] * 1e-9)
    first = min(late)
    return sorted((value - first) * 1000.0 for value in late)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    load().step(50)  # kernels are compiled by then
    for topic, name in TOPICS.items():
        for form, called in FORMS.items():
            made = encode(topic, form, 2000)
            runs = [throughput(topic, form, given.seconds) for _ in range(given.repeats)]
            rates = [run["per second"] for run in runs]
            print(
                f"{name} as {called}: {statistics.median(rates):,.0f} messages/s to one client "
                f"({min(rates):,.0f} to {max(rates):,.0f}), {runs[0]['bytes']:,.0f} bytes each; "
                f"without a socket {made:,.0f} per second of CPU"
            )
    kinds = ("no wire", "nobody hears", "a client that stopped reading")
    spent: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(given.repeats):
        for kind in kinds:
            spent[kind].append(cost(kind, 300.0))
    for kind, values in spent.items():
        span = f"{min(values):.2f} to {max(values):.2f}"
        print(f"{kind}: {statistics.median(values):.2f} ms of CPU per simulated second ({span})")
    late = latency(5.0)
    print(
        f"at real time: half within {late[len(late) // 2]:.2f} ms of the earliest, "
        f"99 of 100 within {late[int(0.99 * len(late))]:.2f} ms"
    )


if __name__ == "__main__":
    main()
