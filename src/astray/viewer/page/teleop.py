"""Manual driving: shares of a robot's top speeds become commands that expire by themselves.

Each command is an event that overrides the robot's autonomy for half a second; the page repeats it
while a key is down. If none comes for that long by the wall clock, or the page disconnects, the
robot is stopped, and its autonomy takes over again.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from astray.engine import Event, Pace, Robots
from astray.errors import EventError

DEADMAN_TIMEOUT = 0.5  # s
SPEED_SHARE = 0.7  # of a robot's top speed: a person steers more slowly than an autopilot
MAX_TURN_RATE = 1.5  # rad/s on the spot


@dataclass
class ManualDrive:
    """A robot that a page drives."""

    page: object
    address: tuple[str, int, int]
    """Group, world and number of the robot."""
    values: Mapping[str, Any]
    """The command."""
    received: float
    """When it came, s of `time.monotonic`."""


class Teleop:
    """The robots that pages drive."""

    def __init__(self, post: Callable[[Event], None], pace: Pace) -> None:
        self.post, self.pace = post, pace
        self.drives: dict[tuple[str, int, int], ManualDrive] = {}

    def drive(
        self, page: object, group: Robots, world: int, robot: int, shares: tuple[float, ...]
    ) -> None:
        """Drive a robot by shares of its forward speed, its turn rate and its sideways speed."""
        address = (group.name, world, robot)
        present = self.drives.get(address)
        if not any(shares):
            if present is not None and present.page is page:
                self._stop(present)
            return
        values = command_of(group, *shares)
        if present is None or present.values != values or not self.pace.paused:
            self._post(address, values)
        self.drives[address] = ManualDrive(page, address, values, time.monotonic())

    def release(self, page: object) -> None:
        """Stop the robots that a page drives."""
        for drive in [d for d in self.drives.values() if d.page is page]:
            self._stop(drive)

    def stop_expired(self) -> None:
        """Stop the robots for which no command came in time."""
        oldest = time.monotonic() - DEADMAN_TIMEOUT
        for drive in [d for d in self.drives.values() if d.received < oldest]:
            self._stop(drive)

    def _stop(self, drive: ManualDrive) -> None:
        del self.drives[drive.address]
        with contextlib.suppress(EventError):  # a run that was reset may no longer have the robot
            self._post(drive.address, {"vx": 0.0, "wz": 0.0})

    def _post(self, address: tuple[str, int, int], values: Mapping[str, Any]) -> None:
        name, world, robot = address
        # The timeout by the clock of the world, which may go faster than ours.
        hold = round(DEADMAN_TIMEOUT * max(1.0, self.pace.speed or self.pace.factor), 3)
        self.post(Event("command", name, (world,), (robot,), {**values, "hold": hold}))


def command_of(group: Robots, forward: float, turn: float, side: float = 0.0) -> dict[str, Any]:
    """The command for shares of what a robot's motion model can do."""
    nominal = group.plan.motion.datasheet().values
    speed = SPEED_SHARE * _number(nominal, "max_speed", 1.0)
    if "wheelbase" in nominal:
        wheelbase = _number(nominal, "wheelbase", 1.0)
        curvature = math.tan(_number(nominal, "max_steer", 0.5)) / wheelbase
        return {"mode": "curvature", "vx": speed * forward, "curvature": curvature * turn}
    turn_rate = min(MAX_TURN_RATE, _number(nominal, "max_turn", MAX_TURN_RATE))
    return {"vx": speed * forward, "vy": speed * side, "wz": turn_rate * turn}


def _number(values: Mapping[str, Any], name: str, default: float) -> float:
    value = values.get(name, default)
    return float(value) if isinstance(value, (int, float)) else default
