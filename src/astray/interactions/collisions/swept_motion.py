"""The motion of a body within one tick, and how soon a point of it can have come a given way.

From the pose before to the pose after a body follows the arc of a constant twist. Fraction t of
it, 0 ≤ t ≤ 1, turns the body by t · turn and brings its origin to

    (x, y) + t · sinc(t bend / 2) · Rot(t bend / 2) · (vx, vy)

with the velocity (vx, vy) at the start, in the map, per tick. On an arc the velocity turns as the
body does, bend = turn; a body that slides along a wall goes straight while it turns, bend = 0.
At t = end it stops and stays. A point at r from the origin has

    velocity V + turn × r
    acceleration at most |bend| |V| + turn² |r|, and |turn| |V + turn × r| on an arc

so that along any fixed direction it comes at most c t + a t² / 2 far, with c its speed in that
direction now and a that bound.
"""

from __future__ import annotations

import math

from astray.numerics import Pose, inlined_kernel, kernel, sinc, sincos, wrap
from astray.tables import Column, Row, columns

FOREVER = math.inf

PATH = columns(
    "x m",
    "y m",
    "yaw rad",
    "vx m",
    "vy m",
    "bend rad",
    "turn rad",
    "end",
    "gone",
    "reach m",
    Column("footprint", "", "i8"),
    "when",
    "nx",
    "ny",
    "at_x m",
    "at_y m",
    "closing m",
    Column("other", "", "i8"),
    Column("wall", "", "i8"),
    Column("made", "", "?"),
    Column("blocked", "", "?"),
    Column("stopped", "", "?"),
    Column("touched", "", "?"),
    Column("deep", "", "?"),
    Column("overlaps", "", "?"),
    Column("changed", "", "?"),
)
"""A motion: start, velocity, what it is allowed of it (`end`), what was gone of the tick's whole
motion, how far the footprint can get from the start; and the contact that ended it: when, the
direction away from what was hit, where, how fast, and which row (−1: a wall) or wall it was."""

Stance = tuple[float, float, float, float, float, float, float, float]
"""A body at one moment: x, y, cosine and sine of yaw, velocity (2), turn and bend."""

Course = tuple[float, float, float]
"""A point along a direction n: its height n · p, its speed along −n, its greatest acceleration."""


@kernel
def trace_motion(p: Row, before: Row, after: Row) -> None:
    """Lay the arc from the pose before to the pose after."""
    dx, dy, turn = after.x - before.x, after.y - before.y, wrap(after.yaw - before.yaw)
    p.x, p.y, p.yaw = before.x, before.y, before.yaw
    p.turn, p.bend = turn, turn
    if turn == 0.0:
        p.vx, p.vy = dx, dy
    else:
        s, c = sincos(0.5 * turn)
        per = 1.0 / sinc(0.5 * turn)
        p.vx, p.vy = per * (c * dx + s * dy), per * (c * dy - s * dx)
    p.footprint = after.footprint
    p.gone = 1.0
    p.stopped = False
    clear(p)


@inlined_kernel
def clear(p: Row) -> None:
    """Let a motion go on to its end, as long as nothing is known to be in its way."""
    p.end = 1.0
    p.when = FOREVER
    p.closing, p.other = 0.0, -1
    p.blocked, p.touched, p.overlaps, p.changed = False, False, False, False


@inlined_kernel
def begin(p: Row, at: Pose, vx: float, vy: float, turn: float) -> None:
    """Begin another motion where the last one ended: straight, while the body turns."""
    p.x, p.y, p.yaw = at
    p.vx, p.vy, p.turn, p.bend = vx, vy, turn, 0.0
    clear(p)


@kernel
def pose_at(p: Row, t: float) -> Pose:
    """The pose at fraction t of a motion."""
    yaw = wrap(p.yaw + t * p.turn)
    if p.bend == 0.0:
        return p.x + t * p.vx, p.y + t * p.vy, yaw
    h = 0.5 * t * p.bend
    s, c = sincos(h)
    k = t * sinc(h)
    return p.x + k * (c * p.vx - s * p.vy), p.y + k * (s * p.vx + c * p.vy), yaw


@kernel
def stance_at(p: Row, t: float) -> Stance:
    """Where a body is at fraction t, and how it moves on from there."""
    at = min(t, p.end)
    moves = t < p.end
    if p.bend == 0.0:
        x, y = p.x + at * p.vx, p.y + at * p.vy
        vx, vy = p.vx, p.vy
    else:
        h = 0.5 * at * p.bend
        s, c = sincos(h)
        k = at * sinc(h)
        x, y = p.x + k * (c * p.vx - s * p.vy), p.y + k * (s * p.vx + c * p.vy)
        s, c = 2.0 * s * c, c * c - s * s
        vx, vy = c * p.vx - s * p.vy, s * p.vx + c * p.vy
    sine, cosine = 0.0, 1.0
    yaw = p.yaw + at * p.turn
    if yaw != 0.0:
        sine, cosine = sincos(yaw)
    if not moves:
        return x, y, cosine, sine, 0.0, 0.0, 0.0, 0.0
    return x, y, cosine, sine, vx, vy, p.turn, p.bend


@inlined_kernel
def point_at(b: Stance, x: float, y: float) -> tuple[float, float]:
    """A point of the body, in the map."""
    return b[0] + (b[2] * x - b[3] * y), b[1] + (b[3] * x + b[2] * y)


@inlined_kernel
def course(b: Stance, x: float, y: float, nx: float, ny: float) -> Course:
    """How a point of the body moves along the direction (nx, ny), and against it."""
    rx, ry = b[2] * x - b[3] * y, b[3] * x + b[2] * y
    vx, vy = b[4] - b[6] * ry, b[5] + b[6] * rx
    if b[7] == b[6]:
        most = abs(b[6]) * math.sqrt(vx * vx + vy * vy)
    else:
        most = abs(b[7]) * math.sqrt(b[4] * b[4] + b[5] * b[5])
        most += b[6] * b[6] * math.sqrt(rx * rx + ry * ry)
    return nx * (b[0] + rx) + ny * (b[1] + ry), -(nx * vx + ny * vy), most


@inlined_kernel
def soonest(way: float, speed: float, accel: float) -> float:
    """The first moment at which speed · t + accel · t² / 2 can have reached a way > 0."""
    root = math.sqrt(speed * speed + 2.0 * accel * way)
    if speed > 0.0:
        return 2.0 * way / (speed + root)
    if accel > 0.0:
        return (root - speed) / accel
    return FOREVER
