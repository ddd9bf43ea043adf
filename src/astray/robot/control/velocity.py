"""Velocity control: a PID for vx and one for wz on the belief, with the command as feedforward.

With the believed speed v and the error e = command − v of each,

    drive = command + kp e + ki ∫ e dt − kd v'        |ki ∫ e dt| ≤ windup

The derivative is that of the believed speed alone, so that a new command causes no kick. Time is
that of the belief: integral and derivative advance from one stamp to the next, and between stamps
the correction stays. A command to stand still is passed on as it is and resets the integral, so
that the integral does not make the robot creep.
"""

from __future__ import annotations

import math

from astray.numerics import NAN, kernel
from astray.plugin import Control, Known, NonNegative
from astray.robot.control.direct import pass_on
from astray.tables import CURVATURE, TWIST, Column, Row, Rows, Table, columns

SPEEDS = 2  # vx and wz

MEMORY = columns(
    Column("begun", "", "?"),
    "stamp s",
    Column("goal", "m/s, rad/s", "f8", (SPEEDS,)),
    Column("speed", "m/s, rad/s", "f8", (SPEEDS,)),
    Column("integral", "m, rad", "f8", (SPEEDS,)),
    Column("slope", "m/s², rad/s²", "f8", (SPEEDS,)),
)
"""The last command (`goal`) and belief, the integral of errors and the derivatives (`slope`)."""


@kernel
def update_terms(m: Row, p: Row, b: Row) -> None:
    """Update integral and derivative from a belief with a new stamp."""
    elapsed = b.stamp - m.stamp
    for k in range(SPEEDS):
        speed = b.vx if k == 0 else b.wz
        if m.begun and elapsed > 0.0:
            limit = p.windup / p.ki if p.ki > 0.0 else 0.0
            total = m.integral[k] + (m.goal[k] - speed) * elapsed
            m.integral[k] = min(max(total, -limit), limit)
            m.slope[k] = (speed - m.speed[k]) / elapsed
        m.speed[k] = speed
    m.begun = True
    m.stamp = b.stamp


@kernel
def correct(d: Row, m: Row, p: Row, b: Row) -> None:
    """Add the PID terms to the speeds of one robot."""
    if not math.isnan(d.curvature):
        d.wz = d.vx * d.curvature
    if d.vx == 0.0 and d.vy == 0.0 and d.wz == 0.0:
        m.begun = False
        for k in range(SPEEDS):
            m.integral[k], m.slope[k] = 0.0, 0.0
        return
    if not m.begun or b.stamp != m.stamp:
        update_terms(m, p, b)
    m.goal[0], m.goal[1] = d.vx, d.wz
    d.vx += p.kp * (m.goal[0] - m.speed[0]) + p.ki * m.integral[0] - p.kd * m.slope[0]
    d.wz += p.kp * (m.goal[1] - m.speed[1]) + p.ki * m.integral[1] - p.kd * m.slope[1]
    d.curvature = NAN


@kernel
def steer_all(
    drive: Table, command: Table, memory: Table, params: Table, belief: Table, rows: Rows
) -> None:
    """Steer these rows by their commands and the PID terms."""
    for i in rows:
        pass_on(drive[i], command[i])
        correct(drive[i], memory[i], params[i], belief[i])


class VelocityControl(Control, kind="velocity"):
    """Closes commanded speeds on the believed ones by PID; understands no poses."""

    modes = (TWIST, CURVATURE)
    remembers = MEMORY
    kp: NonNegative = 0.3  # of the error; below 1, since the command is added as well
    ki: NonNegative = 0.5  # 1/s, of its integral
    kd: NonNegative = 0.0  # s, of the derivative of the believed speed
    windup: NonNegative = 0.1  # m/s and rad/s, limit of the integral term

    def steer(self, rows: Rows, known: Known, command: Table, drive: Table) -> None:
        """Steer these rows."""
        steer_all(drive, command, self.memory, self.params, known.belief, rows)
