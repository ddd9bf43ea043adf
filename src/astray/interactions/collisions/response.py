"""Response: the contact of a robot that collided, and the rest of its motion.

`stop`: the robot stays at the contact, its wheels stop, and only the rest of its turn continues as
far as it is free. `slide`: the rest of its motion continues without the component into the contact.
With v the velocity of its origin, r from there to the contact, n the normal away from it,

    v' = v + max(0, −n · (v + turn × r)) n

so a rectangular robot that turns at a wall pushes itself off.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from astray.interactions.collisions.context import CollisionContext
from astray.interactions.collisions.swept_motion import (
    BodyState,
    begin_straight,
    body_at,
    point_in_map,
    pose_at,
)
from astray.numerics import bearing_to, inlined_kernel, kernel, sincos
from astray.tables import WHEELS_PER_ROBOT, Array, Row, Rows

FLAT = 1e-5  # m: corners so near to the line between two bodies lie on it
HELD = 1e-6  # of the closing speed: a robot that slides more slowly is stalled

# Contacts. Where two bodies lie flat against each other the contact is the middle of the interval
# that they share on the line between them.


class ContactLine(NamedTuple):
    """The line between two bodies that touch: unit normal, and its height along the normal, m."""

    nx: float
    ny: float
    height: float


Interval = tuple[float, float]
"""From where to where along a contact line, m; empty if the first exceeds the second."""


@inlined_kernel
def widened(interval: Interval, line: ContactLine, x: float, y: float) -> Interval:
    """An interval extended to a point, if the point lies on the line."""
    if abs(line.nx * x + line.ny * y - line.height) > FLAT:
        return interval
    along = line.nx * y - line.ny * x
    return min(interval[0], along), max(interval[1], along)


@kernel
def interval_of_body(body: BodyState, shape: Row, corners: Array, line: ContactLine) -> Interval:
    """The part of a contact line on which the footprint of a body lies."""
    interval = (math.inf, -math.inf)
    for k in range(shape.first, shape.first + shape.count):
        x, y = point_in_map(body, corners[0, k], corners[1, k])
        interval = widened(interval, line, x, y)
    if shape.count == 0:
        x, y = point_in_map(body, shape.x, shape.y)
        along = line.nx * y - line.ny * x
        interval = (along, along)
    return interval


@kernel
def interval_of_wall(ends: Array, k: int, line: ContactLine) -> Interval:
    """The part of a contact line on which a wall lies."""
    interval = widened((math.inf, -math.inf), line, ends[k, 0], ends[k, 1])
    return widened(interval, line, ends[k, 2], ends[k, 3])


@kernel
def contact_point(ctx: CollisionContext, motion: Row) -> tuple[float, float]:
    """The point of the contact of a motion."""
    x, y = motion.contact_x, motion.contact_y
    if motion.contact_time == math.inf:
        return x, y
    table, corners = ctx.shapes.table, ctx.shapes.corners
    line = ContactLine(motion.nx, motion.ny, motion.nx * x + motion.ny * y)
    body = body_at(motion, motion.contact_time)
    own = interval_of_body(body, table[motion.footprint], corners, line)
    if motion.other < 0:
        other = interval_of_wall(ctx.walls.ends, motion.wall, line)
    else:
        q = ctx.motions[motion.other]
        body = body_at(q, motion.contact_time)
        other = interval_of_body(body, table[q.footprint], corners, line)
    low, high = max(own[0], other[0]), min(own[1], other[1])
    if low > high:
        return x, y
    shift = 0.5 * (low + high) - (line.nx * y - line.ny * x)
    return x - shift * line.ny, y + shift * line.nx


@kernel
def write_collision_states(ctx: CollisionContext, rows: Rows, dt: float) -> int:
    """Write the collisions of rows that have none in this tick; how many motions were blocked."""
    blocked = 0
    for i in rows:
        motion, c = ctx.motions[i], ctx.collisions[i]
        if ctx.counts[0].phase == 0:
            ctx.memory[i].deep = motion.overlaps
        blocked += 1 if motion.blocked else 0
        if not (motion.blocked or motion.touched or motion.overlaps):
            continue
        if not c.touching:
            c.touching = True
            c.other = motion.other
            c.x, c.y = contact_point(ctx, motion)
            c.speed = motion.closing / dt
            c.bearing = bearing_to(pose_at(motion, motion.end), c.x, c.y)
        c.stalled = c.stalled or motion.blocked or motion.overlaps
    return blocked


# What both responses do.


@inlined_kernel
def write_pose(motion: Row, s: Row) -> bool:
    """Put a robot where its last motion ended; whether that motion was completed."""
    x, y, yaw = pose_at(motion, motion.end)
    whole = bool(motion.end == 1.0)
    s.x, s.y = x, y
    if not whole:
        s.yaw = yaw
    return whole


@inlined_kernel
def write_acceleration(s: Row, before: Row, dt: float) -> None:
    """Write the mean acceleration over the tick."""
    s.ax, s.ay = (s.vx - before.vx) / dt, (s.vy - before.vy) / dt
    s.alpha = (s.wz - before.wz) / dt


# Stop.


@kernel
def begin_turns(ctx: CollisionContext, rows: Rows) -> int:
    """Begin the rest of the turn of each blocked robot; list as busy those that turn."""
    count = 0
    for i in rows:
        motion, s = ctx.motions[i], ctx.truth[i]
        shape = ctx.shapes.table[motion.footprint]
        if not motion.blocked:
            begin_straight(motion, (s.x, s.y, s.yaw), 0.0, 0.0, 0.0)
            continue
        motion.completed, motion.stopped = motion.end, True
        rest = (1.0 - motion.end) * motion.turn
        begin_straight(motion, pose_at(motion, motion.end), 0.0, 0.0, rest)
        if rest != 0.0 and not (shape.count == 0 and shape.x == 0.0 and shape.y == 0.0):
            ctx.busy[count] = i
            count += 1
    return count


@kernel
def finish_stops(ctx: CollisionContext, rows: Rows, dt: float) -> None:
    """Write the state of stopped robots: they stand and may turn."""
    for i in rows:
        motion, s, before = ctx.motions[i], ctx.truth[i], ctx.before[i]
        if not motion.stopped:
            continue
        whole = write_pose(motion, s)
        s.vx, s.vy = 0.0, 0.0
        if not whole:
            s.wz = 0.0
        write_acceleration(s, before, dt)
        for k in range(WHEELS_PER_ROBOT):
            s.wheel[k] = before.wheel[k] + (s.wheel[k] - before.wheel[k]) * motion.completed
            s.wheel_rate[k] = 0.0


# Slide.


@inlined_kernel
def speed_into_contact(
    motion: Row, v: tuple[float, float], turn: float, origin: tuple[float, float]
) -> float:
    """How fast the point in contact moves into what it touches; 0 if it moves away."""
    rx, ry = motion.contact_x - origin[0], motion.contact_y - origin[1]
    vx, vy = v[0] - turn * ry, v[1] + turn * rx
    return max(0.0, float(-(motion.nx * vx + motion.ny * vy)))


@kernel
def begin_slides(ctx: CollisionContext, rows: Rows) -> int:
    """Begin the rest of the motion of each blocked robot along what it touches; list as busy."""
    count = 0
    for i in rows:
        motion, s = ctx.motions[i], ctx.truth[i]
        if not motion.blocked:
            if motion.stopped:
                begin_straight(motion, pose_at(motion, motion.end), 0.0, 0.0, 0.0)
            else:
                begin_straight(motion, (s.x, s.y, s.yaw), 0.0, 0.0, 0.0)
            continue
        motion.stopped = True
        start = pose_at(motion, motion.end)
        origin = (start[0], start[1])
        end, rest = motion.end, 1.0 - motion.end
        motion.end = 1.0  # so `body_at` gives the velocity without the contact
        body = body_at(motion, end)
        vx, vy, turn = body.vx * rest, body.vy * rest, motion.turn * rest
        into = speed_into_contact(motion, (vx, vy), turn, origin)
        vx, vy = vx + into * motion.nx, vy + into * motion.ny
        sine, cosine = sincos(s.yaw)
        ux, uy = cosine * s.vx - sine * s.vy, sine * s.vx + cosine * s.vy
        into = speed_into_contact(motion, (ux, uy), s.wz, origin)
        ux, uy = ux + into * motion.nx, uy + into * motion.ny
        s.vx, s.vy = cosine * ux + sine * uy, cosine * uy - sine * ux
        begin_straight(motion, start, vx, vy, turn)
        ctx.busy[count] = i
        count += 1
    return count


@kernel
def finish_slides(ctx: CollisionContext, rows: Rows, dt: float) -> None:
    """Write the state of robots that slid."""
    for i in rows:
        motion, s, c = ctx.motions[i], ctx.truth[i], ctx.collisions[i]
        if not motion.stopped:
            continue
        whole = write_pose(motion, s)
        if not whole:
            s.vx, s.vy = 0.0, 0.0
            s.wz = 0.0 if motion.turn != 0.0 else s.wz
        write_acceleration(s, ctx.before[i], dt)
        speed = math.sqrt(s.vx * s.vx + s.vy * s.vy)
        c.stalled = ctx.memory[i].deep or not whole or speed <= HELD * c.speed
