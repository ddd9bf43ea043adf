"""How long robots are left alone: ticks in which none of them can meet a wall need no look at all.

A robot that drives at its fastest leaves the disc without walls around it no sooner than after
room / (speed · dt) ticks. Where that is soon, a new disc is sought around where the robot is now.
"""

from __future__ import annotations

import math

from astray.interactions.collisions.collision_context import MARGIN, CollisionContext
from astray.numerics import inlined_kernel, kernel
from astray.tables import Row, Rows
from astray.world.geometry import list_near_segments

MOST = 1_000_000_000  # ticks that nobody skips at once
SOON = 64.0  # ticks after which one looks for a new disc
WIDE = 4.0  # times its own reach that a robot looks around


@inlined_kernel
def way_of_a_tick(s: Row, fastest: float, dt: float) -> float:
    """How far a robot can get in a tick, m."""
    speed = math.sqrt(s.vx * s.vx + s.vy * s.vy)
    if speed > fastest:  # it was placed so, does not slow down at once, and may go to the side
        return (speed + fastest) * dt
    return fastest * dt


@inlined_kernel
def room_in(b: Row, s: Row, reach: float) -> float:
    """How far a robot can go, at least, before it leaves its disc, m."""
    dx, dy = s.x - b.free_x, s.y - b.free_y
    return float(b.free - math.sqrt(dx * dx + dy * dy) - reach - MARGIN)


@kernel
def spare_ticks(stage: CollisionContext, rows: Rows, dt: float) -> int:
    """How many ticks pass before one of these rows could meet a wall, at least."""
    truth, memory, last, shapes = stage.truth, stage.memory, stage.last, stage.shapes
    faces, cells, grids, listing = stage.faces, stage.cells, stage.grids, stage.listing
    spare = MOST
    for i in rows:
        m, b, s = memory[i], last[i], truth[i]
        if m.touching or m.touched or m.deep or m.inside or math.isinf(b.fastest):
            return 0
        reach, way = shapes[s.footprint].reach, way_of_a_tick(s, b.fastest, dt)
        room = room_in(b, s, reach)
        if room < SOON * way:
            plan = stage.plans[stage.of_world[stage.worlds[i]]]
            disc = (s.x, s.y, 0.0, (1.0 + WIDE) * reach + SOON * way)
            b.free_x, b.free_y = s.x, s.y
            b.free = list_near_segments(listing, faces, cells, grids, plan, disc)
            room = room_in(b, s, reach)
            if not room > 0.0:
                return 0
        if way * spare > room:
            spare = math.floor(room / way)
    return spare
