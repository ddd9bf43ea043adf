"""The motion that a client demands of its robot: forward, lateral and angular, each on its own.

VEL and MOVE demand forward motion, LATVEL lateral motion, and ROTATE, RVEL, HEAD and DHEAD angular
motion. They mix freely: a robot may keep a speed while it turns to a heading. A session posts the
demand as an event of the kind "command" (`command_values`). The autonomy `remote` takes it over,
and the robot's control `servo` closes it in each tick on the belief.
"""

from __future__ import annotations

import math
from typing import Any

from astray.pioneer.models import RobotModel

ESTOP_DECEL = 9.999  # m/s², at most
ESTOP_TURN_DECEL = math.radians(9999.0)  # rad/s², at most
ESTOP_TIME = 0.1  # s that an emergency stop takes: MobileSim's cycle, in which it stops at once


class MotionDemand:
    """Targets and limits of one robot's motion, in m, rad and s."""

    def __init__(self, model: RobotModel) -> None:
        self._lateral = model.lateral
        self.move_speed, self.heading_rate = model.default_speed, model.default_turn
        """The speed of MOVE, and the turn rate of HEAD and DHEAD."""
        self.accel, self.decel = model.accel, model.decel
        self.turn_accel, self.turn_decel = model.turn_accel, model.turn_decel
        self.estop_decel, self.estop_turn_decel = ESTOP_DECEL, ESTOP_TURN_DECEL
        self.move_serial = 0
        """Counts MOVE commands, so that the servo distinguishes a new one from a repeated one."""
        self._stop(emergency=False)
        self.changed = False
        """Whether the demand differs from the last one that was posted."""

    def stop(self) -> None:
        """Stop with the usual deceleration."""
        self._stop(emergency=False)

    def emergency_stop(self, speed: float, turn_rate: float) -> None:
        """Stop from these speeds within a cycle, until `end_emergency_stop`; m/s and rad/s.

        MobileSim stops at once, but has begun its motion a cycle of the full speed ahead of a
        ramp. So the way of a robot is the same if it takes the cycle to stop.
        """
        accel, turn_accel = self.accel, self.turn_accel  # it may have gone on since the last cycle
        self.estop_decel = min(ESTOP_DECEL, abs(speed) / ESTOP_TIME + accel)
        self.estop_turn_decel = min(ESTOP_TURN_DECEL, abs(turn_rate) / ESTOP_TIME + turn_accel)
        self._stop(emergency=True)

    def _stop(self, emergency: bool) -> None:
        self.vx = self.vy = self.wz = 0.0
        self.distance: float | None = None
        self.heading: float | None = None
        self.emergency, self.changed = emergency, True

    def end_emergency_stop(self) -> None:
        """Return to the usual deceleration."""
        self.emergency, self.changed = False, True

    def set_speed(self, vx: float) -> None:
        """Keep a forward speed, m/s."""
        self.vx, self.distance, self.changed = vx, None, True

    def set_lateral_speed(self, vy: float) -> None:
        """Keep a lateral speed, m/s, if the robot can move sideways."""
        if self._lateral:
            self.vy = vy
        self.changed = True

    def set_turn_rate(self, wz: float) -> None:
        """Keep a turn rate, rad/s."""
        self.wz, self.heading, self.changed = wz, None, True

    def move_by(self, distance: float) -> None:
        """Drive a distance and stop, m."""
        self.vx, self.distance, self.changed = 0.0, distance, True
        self.move_serial += 1

    def turn_to(self, heading: float) -> None:
        """Turn to a heading of the odometry, rad."""
        self.wz, self.heading, self.changed = 0.0, math.remainder(heading, math.tau), True

    def cancel_move(self) -> None:
        """End a MOVE where the robot is."""
        if self.distance is not None:
            self.set_speed(0.0)

    def set_accel(self, value: float) -> None:
        """Set the acceleration, or with a negative value the deceleration, m/s²."""
        if value > 0:
            self.accel = value
        elif value < 0:
            self.decel = -value
        self.changed = True

    def set_turn_accel(self, value: float) -> None:
        """Set the angular acceleration, or with a negative value the deceleration, rad/s²."""
        if value > 0:
            self.turn_accel = value
        elif value < 0:
            self.turn_decel = -value
        self.changed = True

    def set_move_speed(self, speed: float) -> None:
        """Set the speed of MOVE, m/s; values up to 0 are ignored."""
        if speed > 0:
            self.move_speed, self.changed = speed, True

    def set_heading_rate(self, turn_rate: float) -> None:
        """Set the turn rate of HEAD and DHEAD, rad/s; values up to 0 are ignored."""
        if turn_rate > 0:
            self.heading_rate, self.changed = turn_rate, True

    def command_values(self) -> dict[str, Any]:
        """The demand as values of a "command" event in mode servo."""
        values: dict[str, Any] = {
            "mode": "servo",
            "vx": self.vx,
            "vy": self.vy,
            "wz": self.wz,
            "serial": self.move_serial,
            "speed": self.move_speed,
            "accel": self.accel,
            "decel": max(self.estop_decel, self.decel) if self.emergency else self.decel,
            "turn": self.heading_rate,
            "turn_accel": self.turn_accel,
            "turn_decel": self.turn_decel,
        }
        if self.emergency:
            values["turn_decel"] = max(self.estop_turn_decel, self.turn_decel)
        if self.distance is not None:
            values["distance"] = self.distance
        if self.heading is not None:
            values["heading"] = self.heading
        return values
