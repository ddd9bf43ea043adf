"""What tests of rosbridge share: a run, and a plain WebSocket to its bridge."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from websockets.sync.client import ClientConnection, connect

import astray
from astray.engine.log import Log
from astray.ros.rosbridge import RosbridgeBridge
from astray.sim import Sim

HALL = {"walls": [[[-2, -2], [8, -2], [8, 6], [-2, 6], [-2, -2]]]}
ROVER: dict[str, Any] = {
    "name": "rover",
    "start": {"x": 1.0, "y": 2.0, "yaw": 0.3},
    "motion": {"kind": "differential", "radius": 0.1, "baseline": 0.4, "max_speed": 1.0},
    "sensors": [
        {"kind": "wheels", "rate": 50, "slip_density": 0.01},
        {"kind": "imu", "rate": 100},
        {"kind": "lidar", "name": "scan", "rate": 10, "rays": 60, "max_range": 5.0},
    ],
    "estimator": {"kind": "odometry"},
    "autonomy": {"kind": "remote"},
}
TIMEOUT = 30.0  # s, for what should come at once


def load(**changes: Any) -> Sim:
    robot = {**ROVER, **changes}
    return astray.load({"dt": 0.01, "seed": 5, "world": {"map": HALL}, "robots": [robot]})


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline, "the condition never held"
        time.sleep(0.005)


def twin_log(sim: Sim, steps: int) -> Log:
    """The log of every tick, by a second run with the same events."""
    twin = load()
    twin.replay([event for event in sim.events if event.step is not None and event.step < steps])
    return twin.run(steps * twin.dt, log=twin.dt)


def tick_of(header: dict[str, Any]) -> int:
    stamp = header["stamp"]
    return round((stamp["sec"] + stamp["nanosec"] * 1e-9) * 100)


def connect_to(bridge: RosbridgeBridge, origin: Any = None) -> connect:
    """A plain WebSocket to a bridge, for a with block."""
    url = f"ws://127.0.0.1:{bridge.port}"
    return connect(url, origin=origin, max_size=None, open_timeout=TIMEOUT, close_timeout=0.5)


def receive(socket: ClientConnection, op: str) -> dict[str, Any]:
    """The next message with an operation."""
    while True:
        message: dict[str, Any] = json.loads(socket.recv(timeout=TIMEOUT))
        if message["op"] == op:
            return message
