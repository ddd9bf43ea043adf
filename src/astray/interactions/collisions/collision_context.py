"""The stage: all that collisions read and write, and what is noted of robots put on it."""

from __future__ import annotations

from typing import NamedTuple

from astray.interactions.collisions.time_of_impact import SKIN
from astray.numerics import inlined_kernel, kernel, sincos
from astray.tables import WHEELS_PER_ROBOT, Array, Column, Row, Rows, Table, columns
from astray.world.geometry import NearestSegments, RobotGrid, Solids, winding_number

MARGIN = 8.0 * SKIN  # by which discs are wider than they have to be

MEMORY = columns(
    Column("touching", "", "?"),
    Column("touched", "", "?"),
    Column("deep", "", "?"),
    Column("inside", "", "?"),
)
"""Whether the robot touches something now, did in the tick before, overlaps something, is inside
something solid."""

LAST = columns(
    "x m",
    "y m",
    "yaw rad",
    "vx m/s",
    "vy m/s",
    "wz rad/s",
    Column("wheel", "rad", "f8", (WHEELS_PER_ROBOT,)),
    "free_x m",
    "free_y m",
    "free m",
    "fastest m/s",
)
"""The state before the motion, a disc without walls, and how fast the robot can be: nothing that a
run depends on, so it is not saved."""


class CollisionContext(NamedTuple):
    """All that collisions read and write, as kernels take it."""

    truth: Table
    memory: Table
    last: Table
    paths: Table
    """PATH of each row, and behind them that of what stands still."""
    worlds: Array
    shapes: Table
    corners: Array
    ends: Array
    faces: Array
    cells: Table
    grids: Table
    plans: Table
    of_world: Array
    listing: NearestSegments
    """Room for all segments of a map that are near."""
    fronts: Array
    """Room for a number per world."""
    contacts: Table
    busy: Array
    """Room for the rows that may meet a wall."""
    active: Array
    """Room for the rows that may meet anything."""
    pairs: Table
    """Room for PAIR records."""
    crowd: RobotGrid
    counts: Array
    """How many rows are busy and active, how many pairs there are, and which motion this is."""

    def is_of(self, ends: Array, truth: Table, crowd: RobotGrid, pairs: Table) -> bool:
        """Whether it is of these, which are all of it that may be replaced by others."""
        mine = self.ends is ends and self.truth is truth
        return mine and self.crowd is crowd and self.pairs is pairs


BUSY, ACTIVE, PAIRS, PHASE = range(4)


@kernel
def remember(last: Table, truth: Table, rows: Rows) -> None:
    """Note where these rows are and how they move."""
    for i in rows:
        m, s = last[i], truth[i]
        m.x, m.y, m.yaw = s.x, s.y, s.yaw
        m.vx, m.vy, m.wz = s.vx, s.vy, s.wz
        for k in range(WHEELS_PER_ROBOT):
            m.wheel[k] = s.wheel[k]


@inlined_kernel
def forget(c: Row) -> None:
    """Clear a contact."""
    c.touching, c.stalled, c.speed = False, False, 0.0
    c.other, c.x, c.y, c.bearing = -1, 0.0, 0.0, 0.0


@kernel
def look_inside(stage: CollisionContext, solids: Solids, rows: Rows) -> None:
    """Note which rows have their inner point inside something solid."""
    truth, memory, shapes = stage.truth, stage.memory, stage.shapes
    worlds, of_world = stage.worlds, stage.of_world
    for i in rows:
        s = truth[i]
        shape, number = shapes[s.footprint], of_world[worlds[i]]
        sine, cosine = sincos(s.yaw)
        x = s.x + cosine * shape.inner_x - sine * shape.inner_y
        y = s.y + sine * shape.inner_x + cosine * shape.inner_y
        first, stop = solids.starts[number], solids.starts[number + 1]
        memory[i].inside = winding_number(solids.ends, first, stop, x, y) != 0


@kernel
def put_down(stage: CollisionContext, solids: Solids, rows: Rows) -> None:
    """Forget what these rows met before they were put where they are, and what they know of it."""
    for i in rows:
        m = stage.memory[i]
        m.touched, m.touching = False, False
        m.deep = True  # so that it is looked for what they cover
        stage.last[i].free = 0.0
        forget(stage.contacts[i])
    look_inside(stage, solids, rows)
