"""Closes moves and headings on the belief; passes speeds on as they are.

A move of some metres, or a turn to some heading, is driven at the largest speed from which the
rest can still be braked: v = √(2 · decel · rest), and in the last bit in proportion to the rest,
so that it ends without a jerk. While it moves, the servo holds the heading it began with.
"""

from __future__ import annotations

import math

from astray.control.direct import steer
from astray.kernel import kernel
from astray.maths import sincos, wrap
from astray.plugin import NEVER, Control, Known, NonNegative, Positive
from astray.table import CURVATURE, HEADING, MOVE, TWIST, Column, Row, Rows, Table, columns

MEMORY = columns(
    Column("busy", "", "?"), Column("mode", "", "i4"), "stamp s", "x m", "y m", "yaw rad"
)
"""The pose command that a robot is busy with, and the belief at which it began."""


@kernel
def braking(rest: float, fastest: float, decel: float, gain: float) -> float:
    """The signed speed from which the rest of a way can be braked."""
    speed = min(fastest, math.sqrt(2.0 * decel * abs(rest)), gain * abs(rest))
    return math.copysign(speed, rest)


@kernel
def close(d: Row, c: Row, m: Row, p: Row, b: Row) -> None:
    """Drive one robot towards the pose it is commanded to."""
    if not m.busy or m.stamp != c.stamp or m.mode != c.mode:
        m.busy, m.stamp, m.mode = True, c.stamp, c.mode
        m.x, m.y, m.yaw = b.x, b.y, b.yaw
    decel = p.decel if math.isnan(c.decel) else min(c.decel, p.decel)
    if c.mode == MOVE:
        s, k = sincos(m.yaw)
        rest = c.distance - ((b.x - m.x) * k + (b.y - m.y) * s)
        fastest = p.speed if math.isnan(c.speed) else min(c.speed, p.speed)
        if abs(rest) > p.tolerance:
            d.vx = braking(rest, fastest, decel, p.gain)
        d.wz = p.gain * wrap(m.yaw - b.yaw)
    else:
        rest = wrap(c.heading - b.yaw)
        fastest = p.turn if math.isnan(c.turn) else min(c.turn, p.turn)
        if abs(rest) > p.turn_tolerance:
            d.wz = braking(rest, fastest, p.turn_decel, p.gain)


@kernel
def steer_all(
    drive: Table, command: Table, memory: Table, params: Table, belief: Table, rows: Rows
) -> None:
    """Steer these rows: speeds as they are, moves and headings closed on the belief."""
    for i in rows:
        steer(drive[i], command[i])
        if command[i].mode >= MOVE:
            close(drive[i], command[i], memory[i], params[i], belief[i])
        else:
            memory[i].busy = False


class Servo(Control, kind="servo"):
    """Passes speeds on; drives moves and turns to their end on the belief."""

    modes = (TWIST, CURVATURE, MOVE, HEADING)
    remembers = MEMORY
    speed: Positive = 0.5  # m/s, of a move that names none
    decel: Positive = 0.4  # m/s²
    turn: Positive = 1.0  # rad/s, of a turn that names none
    turn_decel: Positive = 1.5  # rad/s²
    gain: Positive = 3.0  # 1/s, near the end
    tolerance: NonNegative = 0.002  # m
    turn_tolerance: NonNegative = 0.002  # rad

    def reset(self, rows: Rows) -> None:
        """Nothing is known of what these rows are busy with: look at the next chance."""
        self.closing = True

    def steer(self, rows: Rows, known: Known, command: Table, drive: Table) -> None:
        """Steer these rows."""
        steer_all(drive, command, self.memory, self.params, known.belief, rows)
        self.closing = bool(self.memory["busy"].any())

    def next_due(self, tick: int) -> int:
        """Every tick while some robot is on its way to a pose, else only with a new command."""
        return tick if self.closing else NEVER
