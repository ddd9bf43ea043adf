"""Driving by hand: shares of what a robot can do become commands that end by themselves.

Each command is an event that holds the robot for half a second; the page repeats it while a key is
down. When nothing is heard for as long by the wall clock, or the page goes, the robot is stopped
and then left to its autonomy.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from astray.engine import Event, Pace, Robots
from astray.errors import EventError

DEAD_MAN = 0.5  # s
BRISK = 0.7  # of the top speed: a hand is no autopilot
SHARPEST = 1.5  # rad/s that a hand turns a robot on the spot


@dataclass
class Grip:
    """A hand on a robot."""

    owner: object
    address: tuple[str, int, int]
    """Robots, world and number of the robot."""
    values: dict[str, Any]
    heard: float


class Teleop:
    """The hands of all pages on all robots."""

    def __init__(self, post: Callable[[Event], None], pace: Pace) -> None:
        self.post, self.pace = post, pace
        self.grips: dict[tuple[str, int, int], Grip] = {}

    def drive(
        self, owner: object, group: Robots, world: int, robot: int, shares: tuple[float, ...]
    ) -> None:
        """Drive a robot by shares of its speed along, its turn and its speed to the side."""
        address = (group.name, world, robot)
        before = self.grips.get(address)
        if not any(shares):
            if before is not None and before.owner is owner:
                self._stop(before)
            return
        values = command_of(group, *shares)
        if before is None or before.values != values or not self.pace.paused:
            self._post(address, values, self._hold())
        self.grips[address] = Grip(owner, address, values, time.monotonic())

    def let_go(self, owner: object) -> None:
        """A page has gone: stop what it held."""
        for grip in [g for g in self.grips.values() if g.owner is owner]:
            self._stop(grip)

    def watch(self) -> None:
        """Stop whoever was not heard of for too long."""
        late = time.monotonic() - DEAD_MAN
        for grip in [g for g in self.grips.values() if g.heard < late]:
            self._stop(grip)

    def _stop(self, grip: Grip) -> None:
        del self.grips[grip.address]
        with contextlib.suppress(EventError):  # a run that was reset may no longer know it
            self._post(grip.address, {"vx": 0.0, "wz": 0.0}, self._hold())

    def _post(self, address: tuple[str, int, int], values: dict[str, Any], hold: float) -> None:
        name, world, robot = address
        self.post(Event("command", name, (world,), (robot,), {**values, "hold": hold}))

    def _hold(self) -> float:
        """The dead-man's time by the clock of the world, which may go faster than ours."""
        return round(DEAD_MAN * max(1.0, self.pace.speed or self.pace.factor), 3)


def command_of(group: Robots, forward: float, turn: float, side: float = 0.0) -> dict[str, Any]:
    """The command for these shares of what a robot's motion can do."""
    can = group.plan.motion.sheet().values
    top = BRISK * _known(can, "max_speed", 1.0)
    if "wheelbase" in can:
        sharpest = math.tan(_known(can, "max_steer", 0.5)) / _known(can, "wheelbase", 1.0)
        return {"mode": "curvature", "vx": top * forward, "curvature": sharpest * turn}
    sharpest = min(SHARPEST, _known(can, "max_turn", SHARPEST))
    return {"vx": top * forward, "vy": top * side, "wz": sharpest * turn}


def _known(can: Any, name: str, default: float) -> float:
    value = can.get(name, default)
    return float(value) if isinstance(value, (int, float)) else default
