"""Along a path until there is a wall."""

from __future__ import annotations

import math

from astray.interactions.collisions.broadphase import AHEAD, look_around
from astray.interactions.collisions.collision_context import MARGIN, PHASE, CollisionContext
from astray.interactions.collisions.robot_wall import note, resolve_wall_collisions
from astray.interactions.collisions.swept_motion import FOREVER, point_at, stance_at
from astray.interactions.collisions.time_of_impact import SKIN
from astray.numerics import kernel
from astray.tables import Array, Row, Rows
from astray.world.geometry import nearest_segment_distance


@kernel
def escape(p: Row, shape: Row, ends: Array, plan: Row) -> None:
    """Let a robot inside something solid move only towards the nearest wall, and just beyond it.

    It is its inner point that counts. It goes no farther than that wall is away, so it cannot
    pass another, and not at all where that would bring it farther from the outside.
    """
    b = stance_at(p, 0.0)
    x, y = point_at(b, shape.inner_x, shape.inner_y)
    far = nearest_segment_distance(ends, plan, x, y)
    rx, ry = x - b[0], y - b[1]
    vx, vy = p.vx - p.turn * ry, p.vy + p.turn * rx
    speed = math.sqrt(vx * vx + vy * vy)
    if speed > 0.0:
        p.end = min(1.0, (far + 2.0 * SKIN) / speed)
        u, v = point_at(stance_at(p, p.end), shape.inner_x, shape.inner_y)
        if nearest_segment_distance(ends, plan, u, v) > far:
            p.end = 0.0
    p.overlaps = True
    p.blocked = p.end < 1.0
    note(p, FOREVER, (FOREVER, 0.0, 0.0, x, y, 0.0, 0.0), 1.0, -1)


@kernel
def face_walls(stage: CollisionContext, rows: Rows) -> None:
    """Let these rows move along their paths until they meet a wall."""
    memory, last, paths, shapes = stage.memory, stage.last, stage.paths, stage.shapes
    still, near, ends = paths[len(paths) - 1], stage.listing[0], stage.ends
    first = stage.counts[PHASE] == 0
    for i in rows:
        b, p = last[i], paths[i]
        shape = shapes[p.footprint]
        step = math.sqrt(p.vx * p.vx + p.vy * p.vy)
        far = shape.reach + step + MARGIN
        p.reach = far
        free = look_around(stage, i, (p.x, p.y, far, far + max(shape.reach, AHEAD * step)))
        if first:
            b.free_x, b.free_y, b.free = p.x, p.y, free
        if memory[i].inside:
            escape(p, shape, ends, stage.plans[stage.of_world[stage.worlds[i]]])
        elif near[0] > 0:
            resolve_wall_collisions(p, shape, stage.corners, still, ends, near)
