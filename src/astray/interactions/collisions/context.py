"""The collision context: all that the collision kernels read and write, as one named tuple."""

from __future__ import annotations

from typing import NamedTuple

from astray.interactions.collisions.time_of_impact import SKIN
from astray.numerics import inlined_kernel, kernel, sincos
from astray.tables import WHEELS_PER_ROBOT, Array, Column, Row, Rows, Table, columns
from astray.world.geometry import (
    NearestSegments,
    NearQuery,
    RobotGrid,
    SegmentIndex,
    Shapes,
    Solids,
    list_near_segments,
    segment_grids,
    winding_number,
)

MARGIN = 8.0 * SKIN  # m, by which bounds are wider than they have to be

MEMORY = columns(
    Column("touching", "", "?"),
    Column("touched", "", "?"),
    Column("deep", "", "?"),
    Column("inside", "", "?"),
)
"""Whether the robot touches something now, touched something in the tick before, overlaps
something, has its inner point inside something solid."""

BEFORE = columns(
    "x m",
    "y m",
    "yaw rad",
    "vx m/s",
    "vy m/s",
    "wz rad/s",
    Column("wheel", "rad", "f8", (WHEELS_PER_ROBOT,)),
    "free_x m",
    "free_y m",
    "free_radius m",
    "top_speed m/s",
)
"""The state before the motion of the tick, a disc without walls, and how fast the robot can be. No
result depends on it across ticks, so it is not saved."""

PAIR = columns(
    Column("first", "", "i8"),
    Column("second", "", "i8"),
    Column("world", "", "i8"),
    "scale",
    "time",
    "nx",
    "ny",
    "x m",
    "y m",
    "first_speed m",
    "second_speed m",
)
"""Two robots that may meet: rows, world, the scale at which they are clear of each other, and their
next touch, with the fields of a Touch."""

WORLD = columns("longest_reach m", "next_touch")
"""Of the robots of a world: the longest reach of a motion, and the time of the next touch."""

COUNTS = columns(
    Column("busy", "", "i8"),
    Column("active", "", "i8"),
    Column("pairs", "", "i8"),
    Column("phase", "", "i8"),
)
"""How many rows are busy and active, how many pairs there are, and which motion of the tick this
is: 0 for the one that was planned, then those of the response."""


class CollisionContext(NamedTuple):
    """All that collisions read and write."""

    truth: Table
    collisions: Table
    """COLLISION_STATE of each row."""
    memory: Table
    """MEMORY of each row."""
    before: Table
    """BEFORE of each row."""
    motions: Table
    """SWEPT_MOTION of each row; the last one stands still and stands for the walls."""
    shapes: Shapes
    worlds: Array
    """The index of each row's world in the batch."""
    map_of_world: Array
    walls: SegmentIndex
    nearest: NearestSegments
    """Workspace: the walls that a query lists."""
    robots: RobotGrid
    busy: Array
    """Workspace: the rows that may meet a wall; later those that move on in the response."""
    active: Array
    """Workspace: the rows that may meet anything."""
    pairs: Table
    """Workspace: PAIR records."""
    by_world: Table
    """Workspace: a WORLD record for each world."""
    counts: Table
    """One COUNTS record."""

    def shares(self, walls: SegmentIndex, truth: Table, robots: RobotGrid, pairs: Table) -> bool:
        """Whether it holds exactly these objects, the only ones that are ever replaced."""
        same = self.walls is walls and self.truth is truth
        return same and self.robots is robots and self.pairs is pairs


@kernel
def remember_state(before: Table, truth: Table, rows: Rows) -> None:
    """Keep the state of these rows before they move."""
    for i in rows:
        b, s = before[i], truth[i]
        b.x, b.y, b.yaw = s.x, s.y, s.yaw
        b.vx, b.vy, b.wz = s.vx, s.vy, s.wz
        for k in range(WHEELS_PER_ROBOT):
            b.wheel[k] = s.wheel[k]


@inlined_kernel
def clear_collision_state(c: Row) -> None:
    """Clear the COLLISION_STATE of a robot."""
    c.touching, c.stalled, c.speed = False, False, 0.0
    c.other, c.x, c.y, c.bearing = -1, 0.0, 0.0, 0.0


@inlined_kernel
def map_entry(ctx: CollisionContext, i: int) -> Row:
    """The INDEXED_MAP of the world of a row."""
    return ctx.walls.maps[ctx.map_of_world[ctx.worlds[i]]]


@inlined_kernel
def list_walls(ctx: CollisionContext, i: int, query: NearQuery) -> float:
    """List the walls near a row; the distance of the nearest within the search."""
    return list_near_segments(ctx.nearest, segment_grids(ctx.walls), map_entry(ctx, i), query)


@kernel
def update_inside(ctx: CollisionContext, solids: Solids, rows: Rows) -> None:
    """Write which rows have their inner point inside something solid."""
    for i in rows:
        s = ctx.truth[i]
        shape, number = ctx.shapes.table[s.footprint], ctx.map_of_world[ctx.worlds[i]]
        sine, cosine = sincos(s.yaw)
        x = s.x + cosine * shape.inner_x - sine * shape.inner_y
        y = s.y + sine * shape.inner_x + cosine * shape.inner_y
        first, stop = solids.starts[number], solids.starts[number + 1]
        ctx.memory[i].inside = winding_number(solids.ends, first, stop, x, y) != 0


@kernel
def reset_rows(ctx: CollisionContext, solids: Solids, rows: Rows) -> None:
    """Clear the collisions and the memory of rows that were placed."""
    for i in rows:
        m = ctx.memory[i]
        m.touched, m.touching = False, False
        m.deep = True  # so the next tick tests for overlaps
        ctx.before[i].free_radius = 0.0
        clear_collision_state(ctx.collisions[i])
    update_inside(ctx, solids, rows)
