"""Robot-wall collisions: how far a robot moves along its path until it touches a wall.

The footprint of a robot that is placed across a wall is scaled down about an interior point until
it is clear of the wall. The smaller footprint is used for that wall. So the robot can drive out,
but neither the smaller footprint nor the interior point passes the wall.

A robot whose interior point is inside something solid may only move towards the nearest wall.
"""

from __future__ import annotations

import math

from astray.interactions.collisions.broadphase import AHEAD
from astray.interactions.collisions.context import (
    MARGIN,
    CollisionContext,
    list_walls,
    map_entry,
)
from astray.interactions.collisions.swept_motion import NEVER, BodyState, body_at, point_in_map
from astray.interactions.collisions.time_of_impact import (
    FREE,
    NO_TOUCH,
    OVERLAP,
    SKIN,
    Touch,
    bounding_circle,
    footprint_piece,
    piece_count,
    piece_in_map,
    time_of_impact,
)
from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Row, Rows
from astray.world.geometry import (
    Capsule,
    NearQuery,
    Segment,
    crosses_right_of,
    nearest_segment_distance,
    point_segment_separation,
    segment_separation,
    squared_distance,
)

HALVINGS = 24  # of the interval in which the scale of a shrunk copy is searched

# Overlap.


@kernel
def contains(
    body: BodyState, shape: Row, corners: Array, scale: float, point: tuple[float, float]
) -> bool:
    """Whether a point lies inside the polygon of a body."""
    crossings = 0
    for k in range(shape.count):
        edge = piece_in_map(body, footprint_piece(shape, corners, k, scale))
        crossings += crosses_right_of(edge, point[0], point[1])
    return crossings % 2 == 1


@kernel
def overlaps_wall(body: BodyState, shape: Row, corners: Array, scale: float, wall: Segment) -> bool:
    """Whether the footprint of a body touches a wall, or contains it."""
    for k in range(piece_count(shape)):
        piece = footprint_piece(shape, corners, k, scale)
        if segment_separation(piece_in_map(body, piece), wall).distance <= piece.radius:
            return True
    return contains(body, shape, corners, scale, (wall.ax, wall.ay))


@kernel
def clear_scale(body: BodyState, shape: Row, corners: Array, wall: Segment) -> float:
    """The scale at which a footprint, shrunk about its inner point, is clear of a wall."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        scale = 0.5 * (low + high)
        if overlaps_wall(body, shape, corners, scale, wall):
            high = scale
        else:
            low = scale
    return low


# The first touch. `still` is the motion of what stands still.


@kernel
def touch_wall(
    motion: Row, shape: Row, corners: Array, still: Row, wall: Capsule, end: float
) -> Touch:
    """The first touch of a robot and a wall before `end`; OVERLAP if they overlap at the start."""
    best = time_of_impact(motion, bounding_circle(shape), still, wall, 0.0, end)
    if shape.count == 0 or best.time == FREE:
        return best
    start = max(best.time, 0.0)
    best = NO_TOUCH
    for k in range(shape.count):
        piece = footprint_piece(shape, corners, k, 1.0)
        touch = time_of_impact(motion, piece, still, wall, start, end)
        if touch.time < best.time:
            best = touch
            end = max(touch.time, 0.0)
        if touch.time == OVERLAP:
            return touch
    return best


@kernel
def touch_wall_shrunk(
    motion: Row, shape: Row, corners: Array, still: Row, wall: Capsule, end: float
) -> Touch:
    """The first touch before `end` of a robot that overlaps a wall, as its smaller copy."""
    segment = Segment(wall.ax, wall.ay, wall.bx, wall.by)
    scale = clear_scale(body_at(motion, 0.0), shape, corners, segment)
    best = NO_TOUCH
    if scale == 0.0:  # its inner point is on the wall: it may leave to either side
        return best
    for k in range(piece_count(shape)):
        piece = footprint_piece(shape, corners, k, scale)
        touch = time_of_impact(motion, piece, still, wall, 0.0, end)
        if OVERLAP < touch.time < best.time:
            best = touch
            end = touch.time
    return best


@inlined_kernel
def write_contact(motion: Row, time: float, touch: Touch, sign: float, other: int) -> None:
    """Write a touch as the contact of a robot; the sign is −1 for the second body of the touch."""
    motion.contact_time = time
    motion.nx, motion.ny = sign * touch.nx, sign * touch.ny
    motion.contact_x, motion.contact_y = touch.x, touch.y
    motion.closing = max(touch.first_speed + touch.second_speed, 0.0)
    motion.other = other


@inlined_kernel
def write_wall_overlap(motion: Row, wall: Segment) -> None:
    """Write that a robot overlaps a wall, unless it has a contact with a wall already."""
    if not motion.overlaps and not motion.blocked:
        s = point_segment_separation(motion.x, motion.y, wall)
        write_contact(motion, NEVER, Touch(NEVER, s.nx, s.ny, s.x, s.y, 0.0, 0.0), 1.0, -1)
    motion.overlaps = True


@kernel
def stop_at_listed_walls(
    ctx: CollisionContext, motion: Row, shape: Row, corners: Array, still: Row
) -> None:
    """End a motion where it meets the first of the listed walls."""
    ends = ctx.walls.ends
    for n in range(ctx.nearest.found[0]):
        k = ctx.nearest.numbers[n]
        segment = Segment(ends[k, 0], ends[k, 1], ends[k, 2], ends[k, 3])
        if squared_distance(segment, motion.x, motion.y) > motion.reach * motion.reach:
            continue
        wall = Capsule(segment.ax, segment.ay, segment.bx, segment.by, 0.0)
        touch = NO_TOUCH
        overlapping = motion.deep and overlaps_wall(
            body_at(motion, 0.0), shape, corners, 1.0, segment
        )
        if not overlapping:
            touch = touch_wall(motion, shape, corners, still, wall, motion.end)
            overlapping = touch.time == OVERLAP
        if overlapping:
            write_wall_overlap(motion, segment)
            touch = touch_wall_shrunk(motion, shape, corners, still, wall, motion.end)
        if touch.time < motion.end:
            write_contact(motion, touch.time, touch, 1.0, -1)
            motion.end, motion.wall = touch.time, k
            motion.blocked = True


@kernel
def escape_solid(motion: Row, shape: Row, ends: Array, entry: Row) -> None:
    """Let a robot inside something solid move only towards the nearest wall, and just beyond it.

    Its inner point decides. It goes no farther than that wall is away, so it cannot pass another,
    and not at all if it would end up farther from the outside.
    """
    body = body_at(motion, 0.0)
    x, y = point_in_map(body, shape.inner_x, shape.inner_y)
    depth = nearest_segment_distance(ends, entry, x, y)
    rx, ry = x - body.x, y - body.y
    vx, vy = motion.vx - motion.turn * ry, motion.vy + motion.turn * rx
    speed = math.sqrt(vx * vx + vy * vy)
    if speed > 0.0:
        motion.end = min(1.0, (depth + 2.0 * SKIN) / speed)
        u, v = point_in_map(body_at(motion, motion.end), shape.inner_x, shape.inner_y)
        if nearest_segment_distance(ends, entry, u, v) > depth:
            motion.end = 0.0
    motion.overlaps = True
    motion.blocked = motion.end < 1.0
    write_contact(motion, NEVER, Touch(NEVER, 0.0, 0.0, x, y, 0.0, 0.0), 1.0, -1)


@kernel
def resolve_wall_collisions(ctx: CollisionContext, rows: Rows) -> None:
    """End the motions of these rows where they meet a wall."""
    memory, before, motions, corners = ctx.memory, ctx.before, ctx.motions, ctx.shapes.corners
    still, planned = motions[len(motions) - 1], ctx.counts[0].phase == 0
    for i in rows:
        b, motion = before[i], motions[i]
        shape = ctx.shapes.table[motion.footprint]
        step = math.sqrt(motion.vx * motion.vx + motion.vy * motion.vy)
        far = shape.reach + step + MARGIN
        motion.reach = far
        query = NearQuery(motion.x, motion.y, far, far + max(shape.reach, AHEAD * step))
        free = list_walls(ctx, i, query)
        if planned:
            b.free_x, b.free_y, b.free_radius = motion.x, motion.y, free
        if memory[i].inside:
            escape_solid(motion, shape, ctx.walls.ends, map_entry(ctx, i))
        elif ctx.nearest.found[0] > 0:
            stop_at_listed_walls(ctx, motion, shape, corners, still)
