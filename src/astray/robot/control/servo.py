"""Closes moves and headings on the belief; passes speeds on as they are.

A move of some metres, or a turn to some heading, is driven at the largest speed from which the
rest can still be braked: v = √(2 · decel · rest), and in the last bit in proportion to the rest,
so that it ends without a jerk. While it moves, the servo holds the heading it began with.

In mode servo the two axes are each their own: along it has a speed or a distance, about a turn rate
or a heading. The distance is that of the way, ∫ vx dt by the stamps of the belief, so that it may
bend, and a belief that is set meanwhile does not count as way. Both are closed by

    v = gain · rest                              for rest ≤ decel / gain²
    v = √(2 · decel · rest − (decel / gain)²)    beyond, which brakes by decel

at most the limit and at least a creep, and are done within the tolerance. With `slow_within` the
gain of a distance is the speed it asks for over that length, as the firmware of some robots has it.
"""

from __future__ import annotations

import math

from astray.numerics import effective_limit, kernel, sincos, wrap
from astray.plugin import NEVER, Control, Known, NonNegative, Positive
from astray.robot.control.direct import steer
from astray.tables import CURVATURE, HEADING, MOVE, SERVO, TWIST, Column, Row, Rows, Table, columns

MARGIN = 0.9  # of the deceleration that is counted on: the belief is a little late

MEMORY = columns(
    Column("busy", "", "?"),
    Column("mode", "", "i4"),
    "stamp s",
    "x m",
    "y m",
    "yaw rad",
    Column("moving", "", "?"),
    Column("serial", "", "i8"),
    "seen s",
    "way m",
)
"""The pose command that a robot is busy with and the belief at which it began; in mode servo, the
way it has gone of which distance, until which stamp of the belief."""


@kernel
def braking(rest: float, fastest: float, decel: float, gain: float) -> float:
    """The signed speed from which the rest of a way can be braked."""
    speed = min(fastest, math.sqrt(2.0 * decel * abs(rest)), gain * abs(rest))
    return math.copysign(speed, rest)


@kernel
def settling(rest: float, fastest: float, decel: float, gain: float, least: float) -> float:
    """The signed speed that brakes the rest by at most decel and ends in proportion to it."""
    far = abs(rest)
    speed = gain * far
    if gain * speed > decel:
        speed = math.sqrt(2.0 * decel * far - (decel / gain) * (decel / gain))
    return math.copysign(min(fastest, max(speed, least)), rest)


@kernel
def close(d: Row, c: Row, m: Row, p: Row, b: Row) -> None:
    """Drive one robot towards the pose it is commanded to."""
    if not m.busy or m.stamp != c.stamp or m.mode != c.mode:
        m.busy, m.stamp, m.mode = True, c.stamp, c.mode
        m.x, m.y, m.yaw = b.x, b.y, b.yaw
    if c.mode == MOVE:
        s, k = sincos(m.yaw)
        rest = c.distance - ((b.x - m.x) * k + (b.y - m.y) * s)
        if abs(rest) > p.tolerance:
            d.vx = braking(
                rest, effective_limit(c.speed, p.speed), effective_limit(c.decel, p.decel), p.gain
            )
        d.wz = p.gain * wrap(m.yaw - b.yaw)
    else:
        rest = wrap(c.heading - b.yaw)
        if abs(rest) > p.turn_tolerance:
            turn_decel = effective_limit(c.turn_decel, p.turn_decel)
            d.wz = braking(rest, effective_limit(c.turn, p.turn), turn_decel, p.gain)


@kernel
def go_on(m: Row, c: Row, b: Row) -> float:
    """What is left of the distance of one robot, by the way it believes to have gone."""
    if not m.moving or m.serial != c.serial:
        m.moving, m.serial, m.seen, m.way = True, c.serial, b.stamp, 0.0
    m.way += b.vx * (b.stamp - m.seen)
    m.seen = b.stamp
    rest: float = c.distance - m.way
    return rest


@kernel
def close_axes(d: Row, c: Row, m: Row, p: Row, b: Row) -> None:
    """Drive one robot along and about, each axis at a speed or to its end."""
    d.vx, d.vy, d.wz = c.vx, c.vy, c.wz
    along, about = not math.isnan(c.distance), not math.isnan(c.heading)
    m.busy, m.mode, m.moving = along or about, c.mode, m.moving and along
    if along:
        rest, gain = go_on(m, c, b), p.gain
        if p.slow_within > 0.0:
            gain = (p.speed if math.isnan(c.speed) else c.speed) / p.slow_within
        d.vx = 0.0
        if abs(rest) > p.tolerance and gain > 0.0:
            decel = MARGIN * effective_limit(c.decel, p.decel)
            d.vx = settling(rest, effective_limit(c.speed, p.speed), decel, gain, p.creep)
    if about:
        rest = wrap(c.heading - b.yaw)
        d.wz = 0.0
        if abs(rest) > p.turn_tolerance:
            decel = MARGIN * effective_limit(c.turn_decel, p.turn_decel)
            d.wz = settling(rest, effective_limit(c.turn, p.turn), decel, p.gain, p.turn_creep)


@kernel
def steer_all(
    drive: Table, command: Table, memory: Table, params: Table, belief: Table, rows: Rows
) -> bool:
    """Steer these rows: speeds as they are, moves and headings closed on the belief.

    Whether some of them are on their way to a pose.
    """
    busy = False
    for i in rows:
        steer(drive[i], command[i])
        if command[i].mode == SERVO:
            close_axes(drive[i], command[i], memory[i], params[i], belief[i])
        elif command[i].mode >= MOVE:
            close(drive[i], command[i], memory[i], params[i], belief[i])
        else:
            memory[i].busy = False
        if command[i].mode != SERVO:
            memory[i].moving = False
        busy |= memory[i].busy
    return busy


class Servo(Control, kind="servo"):
    """Passes speeds on; drives moves and turns to their end on the belief."""

    modes = (TWIST, CURVATURE, MOVE, HEADING, SERVO)
    remembers = MEMORY
    speed: Positive = 0.5  # m/s, of a move that names none
    decel: Positive = 0.4  # m/s²
    turn: Positive = 1.0  # rad/s, of a turn that names none
    turn_decel: Positive = 1.5  # rad/s²
    gain: Positive = 3.0  # 1/s, near the end
    slow_within: NonNegative = 0.0  # m, in mode servo: of a distance's end; 0 to go by the gain
    tolerance: NonNegative = 0.002  # m
    turn_tolerance: NonNegative = 0.002  # rad
    creep: NonNegative = 0.0  # m/s, in mode servo: the slowest until a distance is done
    turn_creep: NonNegative = 0.0  # rad/s, in mode servo: the slowest until a heading is

    def reset(self, rows: Rows) -> None:
        """Nothing is known of what these rows are busy with: look at the next chance."""
        self.closing = True

    def steer(self, rows: Rows, known: Known, command: Table, drive: Table) -> None:
        """Steer these rows."""
        busy = steer_all(drive, command, self.memory, self.params, known.belief, rows)
        # Those of other threads may be, too.
        self.closing = busy or (len(rows) < len(drive) and bool(self.memory["busy"].any()))

    def next_due(self, tick: int) -> int:
        """Every tick while some robot is on its way to a pose, else only with a new command."""
        return tick if self.closing else NEVER
