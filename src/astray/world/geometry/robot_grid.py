"""The crowd: all robots of all groups, sorted by world and cell, so that neighbours are found fast.

It is built anew for each tick that needs it, in time linear in the number of robots. Each world
has a grid of its own, of about as many cells as robots.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from astray.numerics import inlined_kernel, kernel, sincos
from astray.tables import Array, Column, Row, Rows, Table, columns, table
from astray.world.geometry.cell_grid import GRID, cell_of
from astray.world.geometry.footprint import Shapes

BODY = columns(
    Column("row", "", "i8"),
    Column("footprint", "", "i8"),
    "x m",
    "y m",
    "cosine",
    "sine",
    "middle_x m",
    "middle_y m",
    "radius m",
)
"""A robot's footprint where it stands: origin, heading, and the circle around it."""


class RobotGrid(NamedTuple):
    """Bodies in the order of their worlds and cells, as kernels read them."""

    bodies: Table
    """BODY records, ordered by world and cell."""
    starts: Array
    """First body of each cell, with one more entry at the end of a grid."""
    grids: Table
    """GRID record of each world by its place in the batch; `reach` is the largest radius."""


def make_robot_grid(rows: int, worlds: int) -> RobotGrid:
    """Room for as many robots in as many worlds."""
    return RobotGrid(
        table(BODY, rows),
        np.zeros(4 * rows + 2 * worlds + 1, np.int64),
        table(GRID, worlds),
    )


@inlined_kernel
def stand(b: Row, s: Row, shape: Row, row: int) -> None:
    """Write down where a robot's footprint stands."""
    b.row, b.footprint = row, s.footprint
    b.x, b.y = s.x, s.y
    b.sine, b.cosine = sincos(s.yaw)
    b.middle_x = s.x + b.cosine * shape.x - b.sine * shape.y
    b.middle_y = s.y + b.sine * shape.x + b.cosine * shape.y
    b.radius = shape.radius


@kernel
def lay_grids(grids: Table, truth: Table, shapes: Table, rows: Rows, worlds: Array) -> None:
    """Lay a grid around the robots of each world."""
    for w in range(len(grids)):
        g = grids[w]
        g.x, g.y, g.reach, g.cell = math.inf, math.inf, 0.0, 0.0
        g.width, g.height, g.first = 0, 0, 0
    # First `cell` and `wide` stand for the largest x and the number of robots; see below.
    for i in rows:
        g, s = grids[worlds[i]], truth[i]
        g.x, g.y = min(g.x, s.x), min(g.y, s.y)
        g.reach = max(g.reach, shapes[s.footprint].reach)
        g.width += 1
    for i in rows:
        g, s = grids[worlds[i]], truth[i]
        g.cell = max(g.cell, s.x - g.x, s.y - g.y)
    first = 0
    for w in range(len(grids)):
        g = grids[w]
        side = max(1, int(math.sqrt(float(g.width))))
        g.cell = max(g.cell / side, 1e-3) * (1.0 + 1e-9)
        g.width, g.height, g.first = side, side, first
        first += side * side + 1


@kernel
def fill_cells(c: RobotGrid, truth: Table, shapes: Table, rows: Rows, worlds: Array) -> None:
    """Sort the robots into the cells of their worlds' grids."""
    starts, grids, bodies = c.starts, c.grids, c.bodies
    last = grids[len(grids) - 1]
    for k in range(last.first + last.width * last.height + 1):
        starts[k] = 0
    for i in rows:
        starts[cell_of(grids[worlds[i]], truth[i].x, truth[i].y)] += 1
    total = 0
    for k in range(last.first + last.width * last.height + 1):
        total += starts[k]
        starts[k] = total
    # Backwards from the end of each cell, so that what is left is where it begins.
    for j in range(len(rows)):
        i = rows[len(rows) - 1 - j]
        cell = cell_of(grids[worlds[i]], truth[i].x, truth[i].y)
        starts[cell] -= 1
        stand(bodies[starts[cell]], truth[i], shapes[truth[i].footprint], i)


def build_robot_grid(
    crowd: RobotGrid, truth: Table, shapes: Shapes, rows: Rows, worlds: Array
) -> None:
    """Note where these robots stand; `worlds` is the place of each row's world in the batch."""
    lay_grids(crowd.grids, truth, shapes.table, rows, worlds)
    fill_cells(crowd, truth, shapes.table, rows, worlds)
