"""What a client has asked of its robot's motion: along, aside and about, each on its own.

VEL and MOVE are of the axis along, ROTATE, RVEL, HEAD and DHEAD of the one about, and they mix as
a client likes. Each change gives the values of a command that the servo of the robot closes inside
the tick, on the belief.
"""

from __future__ import annotations

import math
from typing import Any

from astray.pioneer.model import RobotModel

ESTOP_DECEL = 9.999  # m/s²
ESTOP_TURN_DECEL = math.radians(9999.0)  # rad/s²


class Axes:
    """The goals and limits of one robot's motion, SI."""

    def __init__(self, model: RobotModel) -> None:
        self.model = model
        self.speed, self.turn = model.default_speed, model.default_turn
        self.accel, self.decel = model.accel, model.decel
        self.turn_accel, self.turn_decel = model.turn_accel, model.turn_decel
        self.serial = 0
        self.halt()

    def halt(self) -> None:
        """Stand still, by the usual deceleration."""
        self.vx = self.vy = self.wz = 0.0
        self.distance: float | None = None
        self.heading: float | None = None
        self.emergency = False

    def stop_at_once(self) -> None:
        """Stand still as fast as can be."""
        self.halt()
        self.emergency = True

    def drive(self, vx: float) -> None:
        """Keep a speed along, m/s."""
        self.vx, self.distance = vx, None

    def slide(self, vy: float) -> None:
        """Keep a speed aside, m/s, where the robot can."""
        if self.model.lateral:
            self.vy = vy

    def spin(self, wz: float) -> None:
        """Keep a turn rate, rad/s."""
        self.wz, self.heading = wz, None

    def move(self, distance: float) -> None:
        """Go some way and stop, m."""
        self.vx, self.distance = 0.0, distance
        self.serial += 1

    def face(self, heading: float) -> None:
        """Turn to a heading of the odometer, rad."""
        self.wz, self.heading = 0.0, math.remainder(heading, math.tau)

    def give_up_moving(self) -> None:
        """End a MOVE where the robot is."""
        if self.distance is not None:
            self.distance, self.vx = None, 0.0

    def limit_accel(self, value: float) -> None:
        """Set the acceleration, or with a negative value the deceleration, m/s²."""
        if value > 0:
            self.accel = value
        elif value < 0:
            self.decel = -value

    def limit_turn_accel(self, value: float) -> None:
        """Set the angular acceleration, or with a negative value the deceleration, rad/s²."""
        if value > 0:
            self.turn_accel = value
        elif value < 0:
            self.turn_decel = -value

    def values(self) -> dict[str, Any]:
        """The command that asks for all this."""
        values: dict[str, Any] = {
            "mode": "servo",
            "vx": self.vx,
            "vy": self.vy,
            "wz": self.wz,
            "serial": self.serial,
            "speed": self.speed,
            "accel": self.accel,
            "decel": ESTOP_DECEL if self.emergency else self.decel,
            "turn": self.turn,
            "turn_accel": self.turn_accel,
            "turn_decel": ESTOP_TURN_DECEL if self.emergency else self.turn_decel,
        }
        if self.distance is not None:
            values["distance"] = self.distance
        if self.heading is not None:
            values["heading"] = self.heading
        return values
