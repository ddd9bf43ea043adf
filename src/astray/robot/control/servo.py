"""A servo: feedback control of moves and headings by the belief; speeds are passed on.

A move of some metres, or a turn to a heading, is driven at the largest speed from which the robot
can brake within the rest: v = √(2 · decel · rest). Near the end the speed is proportional to the
rest, so that it ends without a jerk. During a move the servo holds the heading at its start.

In mode servo the two axes are independent: forward it has a speed or a distance, in yaw a turn rate
or a heading. The distance is the path length ∫ vx dt by the stamps of the belief, so the path may
be curved, and a belief that is set meanwhile does not count. Both axes are closed by

    v = gain · rest                              for rest ≤ decel / gain²
    v = √(2 · decel · rest − (decel / gain)²)    beyond, which brakes by decel

at most the limit and at least the creep speed, and end within the tolerance. With `slow_within` the
gain of a distance is the speed it asks for divided by that length, as in the firmware of some
robots.
"""

from __future__ import annotations

import math

from astray.numerics import effective_limit, kernel, sincos, wrap
from astray.plugin import NEVER, Control, Known, NonNegative, Positive
from astray.robot.control.direct import pass_on
from astray.tables import CURVATURE, HEADING, MOVE, SERVO, TWIST, Column, Row, Rows, Table, columns

DECEL_SHARE = 0.9  # of the deceleration that is planned with, since the belief is a little late

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
"""The pose command that is being closed and the belief at its start. In mode servo: whether a
distance is being closed, its serial, the last stamp of the belief and the path length (`way`)."""


@kernel
def braking_speed(rest: float, limit: float, decel: float, gain: float) -> float:
    """The signed speed from which the rest of a distance can be braked."""
    speed = min(limit, math.sqrt(2.0 * decel * abs(rest)), gain * abs(rest))
    return math.copysign(speed, rest)


@kernel
def closing_speed(rest: float, limit: float, decel: float, gain: float, creep: float) -> float:
    """The signed speed that brakes the rest by at most decel and ends in proportion to it."""
    distance = abs(rest)
    speed = gain * distance
    if gain * speed > decel:
        speed = math.sqrt(2.0 * decel * distance - (decel / gain) * (decel / gain))
    return math.copysign(min(limit, max(speed, creep)), rest)


@kernel
def close_pose(d: Row, c: Row, m: Row, p: Row, b: Row) -> None:
    """Drive one robot along a commanded move, or turn it to a commanded heading."""
    if not m.busy or m.stamp != c.stamp or m.mode != c.mode:
        m.busy, m.stamp, m.mode = True, c.stamp, c.mode
        m.x, m.y, m.yaw = b.x, b.y, b.yaw
    if c.mode == MOVE:
        s, k = sincos(m.yaw)
        rest = c.distance - ((b.x - m.x) * k + (b.y - m.y) * s)
        if abs(rest) > p.tolerance:
            d.vx = braking_speed(
                rest, effective_limit(c.speed, p.speed), effective_limit(c.decel, p.decel), p.gain
            )
        d.wz = p.gain * wrap(m.yaw - b.yaw)
    else:
        rest = wrap(c.heading - b.yaw)
        if abs(rest) > p.turn_tolerance:
            turn_decel = effective_limit(c.turn_decel, p.turn_decel)
            d.wz = braking_speed(rest, effective_limit(c.turn, p.turn), turn_decel, p.gain)


@kernel
def remaining_distance(m: Row, c: Row, b: Row) -> float:
    """What is left of the distance of one robot, by the believed path length."""
    if not m.moving or m.serial != c.serial:
        m.moving, m.serial, m.seen, m.way = True, c.serial, b.stamp, 0.0
    m.way += b.vx * (b.stamp - m.seen)
    m.seen = b.stamp
    rest: float = c.distance - m.way
    return rest


@kernel
def close_axes(d: Row, c: Row, m: Row, p: Row, b: Row) -> None:
    """Drive one robot forward and in yaw, each axis at a speed or to its end."""
    d.vx, d.vy, d.wz = c.vx, c.vy, c.wz
    has_distance, has_heading = not math.isnan(c.distance), not math.isnan(c.heading)
    m.busy, m.mode = has_distance or has_heading, c.mode
    m.moving = m.moving and has_distance
    if has_distance:
        rest, gain = remaining_distance(m, c, b), p.gain
        if p.slow_within > 0.0:
            gain = (p.speed if math.isnan(c.speed) else c.speed) / p.slow_within
        d.vx = 0.0
        if abs(rest) > p.tolerance and gain > 0.0:
            decel = DECEL_SHARE * effective_limit(c.decel, p.decel)
            d.vx = closing_speed(rest, effective_limit(c.speed, p.speed), decel, gain, p.creep)
    if has_heading:
        rest = wrap(c.heading - b.yaw)
        d.wz = 0.0
        if abs(rest) > p.turn_tolerance:
            decel = DECEL_SHARE * effective_limit(c.turn_decel, p.turn_decel)
            d.wz = closing_speed(rest, effective_limit(c.turn, p.turn), decel, p.gain, p.turn_creep)


@kernel
def steer_all(
    drive: Table, command: Table, memory: Table, params: Table, belief: Table, rows: Rows
) -> bool:
    """Steer these rows; returns whether some of them are closing a pose command."""
    busy = False
    for i in rows:
        pass_on(drive[i], command[i])
        if command[i].mode == SERVO:
            close_axes(drive[i], command[i], memory[i], params[i], belief[i])
        elif command[i].mode >= MOVE:
            close_pose(drive[i], command[i], memory[i], params[i], belief[i])
        else:
            memory[i].busy = False
        if command[i].mode != SERVO:
            memory[i].moving = False
        busy |= memory[i].busy
    return busy


class Servo(Control, kind="servo"):
    """Passes speeds on; executes moves and turns by feedback of the belief."""

    modes = (TWIST, CURVATURE, MOVE, HEADING, SERVO)
    remembers = MEMORY
    speed: Positive = 0.5  # m/s, of a move without a limit
    decel: Positive = 0.4  # m/s²
    turn: Positive = 1.0  # rad/s, of a turn without a limit
    turn_decel: Positive = 1.5  # rad/s²
    gain: Positive = 3.0  # 1/s, near the end
    slow_within: NonNegative = (
        0.0  # m, in mode servo: before the end of a distance; 0 to use the gain
    )
    tolerance: NonNegative = 0.002  # m
    turn_tolerance: NonNegative = 0.002  # rad
    creep: NonNegative = 0.0  # m/s, in mode servo: the least speed until a distance is done
    turn_creep: NonNegative = (
        0.0  # rad/s, in mode servo: the least turn rate until a heading is reached
    )

    def reset(self, rows: Rows) -> None:
        """Call it at the next tick, to find out whether these rows close a pose command."""
        self.closing = True

    def steer(self, rows: Rows, known: Known, command: Table, drive: Table) -> None:
        """Steer these rows."""
        busy = steer_all(drive, command, self.memory, self.params, known.belief, rows)
        # Rows of other threads may be closing one, too.
        self.closing = busy or (len(rows) < len(drive) and bool(self.memory["busy"].any()))

    def next_due(self, tick: int) -> int:
        """Every tick while some row closes a pose command, else only with a new command."""
        return tick if self.closing else NEVER
