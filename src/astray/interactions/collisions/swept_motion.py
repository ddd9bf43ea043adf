"""Swept motion: how a body moves within one tick, and bounds of how far its points can move.

From the pose before to the pose after a body follows the arc of a constant twist. Fraction t of
it, 0 ≤ t ≤ 1, turns the body by t · turn and brings its origin to

    (x, y) + t · sinc(t bend / 2) · Rot(t bend / 2) · (vx, vy)

with the velocity (vx, vy) at the start, in the map, per tick. On an arc the velocity turns as the
body does, bend = turn; a body that slides along a wall goes straight while it turns, bend = 0.
At t = end it stops and stays. With the velocity V of the origin, a point at r from the origin has

    velocity V + turn × r
    acceleration at most |bend| |V| + turn² |r|, and |turn| |V + turn × r| on an arc

so along any fixed direction it comes at most c t + a t² / 2 far, with c its speed in that direction
now and a that bound.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from astray.numerics import Pose, inlined_kernel, kernel, sinc, sincos, wrap
from astray.tables import Column, Row, columns

NEVER = math.inf

SWEPT_MOTION = columns(
    "x m",
    "y m",
    "yaw rad",
    "vx m",
    "vy m",
    "bend rad",
    "turn rad",
    "end",
    "completed",
    "reach m",
    Column("footprint", "", "i8"),
    "contact_time",
    "nx",
    "ny",
    "contact_x m",
    "contact_y m",
    "closing m",
    Column("other", "", "i8"),
    Column("wall", "", "i8"),
    Column("listed", "", "?"),
    Column("blocked", "", "?"),
    Column("stopped", "", "?"),
    Column("touched", "", "?"),
    Column("deep", "", "?"),
    Column("overlaps", "", "?"),
    Column("changed", "", "?"),
)
"""A motion and the contact that ends it.

Motion: start, velocity per tick, the fraction at which it ends, the fraction of the tick's whole
motion that was completed, how far the footprint gets from the start, number of the footprint.
Contact: fraction of the motion, unit vector away from the other body, point, closing speed per
tick, row of the other robot (−1: a wall), number of the wall.
Flags: listed as active, blocked in this motion, stopped in any motion of the tick, touched another
robot, overlapped something in the tick before, overlaps something, ended in this round."""


class BodyState(NamedTuple):
    """Where a body is at one moment, and how it moves from there."""

    x: float  # m
    y: float  # m
    cosine: float  # of its yaw
    sine: float
    vx: float  # m per tick, in the map
    vy: float
    turn: float  # rad per tick
    bend: float  # rad per tick, by which its velocity turns


class Approach(NamedTuple):
    """How a point moves along a direction n."""

    height: float  # m, n · p
    speed: float  # m per tick, against n
    acceleration: float  # m per tick², a bound


@kernel
def trace_motion(motion: Row, before: Row, after: Row) -> None:
    """Write the arc from the pose before a tick to the pose after it."""
    dx, dy, turn = after.x - before.x, after.y - before.y, wrap(after.yaw - before.yaw)
    motion.x, motion.y, motion.yaw = before.x, before.y, before.yaw
    motion.turn, motion.bend = turn, turn
    if turn == 0.0:
        motion.vx, motion.vy = dx, dy
    else:
        s, c = sincos(0.5 * turn)
        per = 1.0 / sinc(0.5 * turn)
        motion.vx, motion.vy = per * (c * dx + s * dy), per * (c * dy - s * dx)
    motion.footprint = after.footprint
    motion.completed = 1.0
    motion.stopped = False
    clear_contact(motion)


@inlined_kernel
def clear_contact(motion: Row) -> None:
    """Let a motion run to its end, without a contact."""
    motion.end = 1.0
    motion.contact_time = NEVER
    motion.closing, motion.other = 0.0, -1
    motion.blocked, motion.touched = False, False
    motion.overlaps, motion.changed = False, False


@inlined_kernel
def begin_straight(motion: Row, start: Pose, vx: float, vy: float, turn: float) -> None:
    """Begin another motion in the tick: its origin goes straight while the body turns."""
    motion.x, motion.y, motion.yaw = start
    motion.vx, motion.vy, motion.turn, motion.bend = vx, vy, turn, 0.0
    clear_contact(motion)


@kernel
def pose_at(motion: Row, t: float) -> Pose:
    """The pose at fraction t of a motion."""
    yaw = wrap(motion.yaw + t * motion.turn)
    if motion.bend == 0.0:
        return motion.x + t * motion.vx, motion.y + t * motion.vy, yaw
    h = 0.5 * t * motion.bend
    s, c = sincos(h)
    k = t * sinc(h)
    x = motion.x + k * (c * motion.vx - s * motion.vy)
    y = motion.y + k * (s * motion.vx + c * motion.vy)
    return x, y, yaw


@kernel
def body_at(motion: Row, t: float) -> BodyState:
    """The state of a body at fraction t of its motion; it stands after the end."""
    now = min(t, motion.end)
    moves = t < motion.end
    if motion.bend == 0.0:
        x, y = motion.x + now * motion.vx, motion.y + now * motion.vy
        vx, vy = motion.vx, motion.vy
    else:
        h = 0.5 * now * motion.bend
        s, c = sincos(h)
        k = now * sinc(h)
        x = motion.x + k * (c * motion.vx - s * motion.vy)
        y = motion.y + k * (s * motion.vx + c * motion.vy)
        s, c = 2.0 * s * c, c * c - s * s
        vx, vy = c * motion.vx - s * motion.vy, s * motion.vx + c * motion.vy
    sine, cosine = 0.0, 1.0
    yaw = motion.yaw + now * motion.turn
    if yaw != 0.0:
        sine, cosine = sincos(yaw)
    if not moves:
        return BodyState(x, y, cosine, sine, 0.0, 0.0, 0.0, 0.0)
    return BodyState(x, y, cosine, sine, vx, vy, motion.turn, motion.bend)


@inlined_kernel
def point_in_map(body: BodyState, x: float, y: float) -> tuple[float, float]:
    """A point of the body frame in the map."""
    return (
        body.x + (body.cosine * x - body.sine * y),
        body.y + (body.sine * x + body.cosine * y),
    )


@inlined_kernel
def approach(body: BodyState, x: float, y: float, nx: float, ny: float) -> Approach:
    """How a point of the body frame moves along the direction (nx, ny)."""
    rx, ry = body.cosine * x - body.sine * y, body.sine * x + body.cosine * y
    vx, vy = body.vx - body.turn * ry, body.vy + body.turn * rx
    if body.bend == body.turn:
        most = abs(body.turn) * math.sqrt(vx * vx + vy * vy)
    else:
        most = abs(body.bend) * math.sqrt(body.vx * body.vx + body.vy * body.vy)
        most += body.turn * body.turn * math.sqrt(rx * rx + ry * ry)
    return Approach(nx * (body.x + rx) + ny * (body.y + ry), -(nx * vx + ny * vy), most)


@inlined_kernel
def earliest_time(distance: float, speed: float, acceleration: float) -> float:
    """The first t at which speed · t + acceleration · t² / 2 can have reached a distance > 0."""
    root = math.sqrt(speed * speed + 2.0 * acceleration * distance)
    if speed > 0.0:
        return 2.0 * distance / (speed + root)
    if acceleration > 0.0:
        return (root - speed) / acceleration
    return NEVER
