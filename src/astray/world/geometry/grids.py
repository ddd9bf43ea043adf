"""Uniform grids of square cells: cell lookup, and the robots of each world sorted into cells.

A robot grid finds neighbours (Ericson, Real-Time Collision Detection, 2005, section 7.1). It is
built anew for each tick that needs it, in time linear in the number of robots. Each world has a
grid of its own with about as many cells as robots.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from astray.numerics import inlined_kernel, kernel, sincos
from astray.tables import Array, Column, Row, Rows, Table, columns, table
from astray.world.geometry.footprint import Shapes

GRID = columns(
    "x m",
    "y m",
    "cell m",
    "reach m",
    Column("width", "cells", "i8"),
    Column("height", "cells", "i8"),
    Column("first", "", "i8"),
)
"""A grid: lower left corner, size of a cell, how far an item reaches from the point by which it is
sorted, width and height, and its first cell in the array of the cells of all grids."""

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
"""A robot's footprint in the map: row, its number, origin, heading, bounding circle."""

# Cell lookup.


@inlined_kernel
def column_of(at: float, low: float, cell: float, count: int) -> int:
    """The column of cells in which a coordinate lies, from −1 before the first to `count`."""
    return math.floor(min(max((at - low) / cell, -1.0), float(count)))


@inlined_kernel
def cell_columns(g: Row, x: float, reach: float) -> tuple[int, int]:
    """The first and last column of cells within reach of x; none if the first exceeds the last."""
    first = max(column_of(x - reach, g.x, g.cell, g.width), 0)
    return first, min(column_of(x + reach, g.x, g.cell, g.width), g.width - 1)


@inlined_kernel
def cell_rows(g: Row, y: float, reach: float) -> tuple[int, int]:
    """The first and last row of cells within reach of y; none if the first exceeds the last."""
    first = max(column_of(y - reach, g.y, g.cell, g.height), 0)
    return first, min(column_of(y + reach, g.y, g.cell, g.height), g.height - 1)


@inlined_kernel
def cell_of(g: Row, x: float, y: float) -> int:
    """The cell of a grid in which a point lies; for points outside of the grid the nearest cell."""
    column = min(max(math.floor((x - g.x) / g.cell), 0), g.width - 1)
    row = min(max(math.floor((y - g.y) / g.cell), 0), g.height - 1)
    return int(g.first + row * g.width + column)


# Robots sorted into cells.


class RobotGrid(NamedTuple):
    """The footprints of robots in the map, sorted by world and cell."""

    bodies: Table
    """BODY records, sorted by world and cell."""
    starts: Array
    """First body of each cell, with one more entry at the end of each grid."""
    grids: Table
    """GRID record of each world by its index in the batch; `reach` is the largest radius."""


def make_robot_grid(rows: int, worlds: int) -> RobotGrid:
    """Allocate a robot grid for as many robots in as many worlds."""
    return RobotGrid(
        table(BODY, rows),
        np.zeros(4 * rows + 2 * worlds + 1, np.int64),
        table(GRID, worlds),
    )


@inlined_kernel
def write_body(b: Row, s: Row, shape: Row, row: int) -> None:
    """Write the footprint of a robot in the map."""
    b.row, b.footprint = row, s.footprint
    b.x, b.y = s.x, s.y
    b.sine, b.cosine = sincos(s.yaw)
    b.middle_x = s.x + b.cosine * shape.x - b.sine * shape.y
    b.middle_y = s.y + b.sine * shape.x + b.cosine * shape.y
    b.radius = shape.radius


@kernel
def fit_grids(grids: Table, truth: Table, shapes: Table, rows: Rows, worlds: Array) -> None:
    """Fit the grid of each world to the bounding box of its robots."""
    for w in range(len(grids)):
        g = grids[w]
        g.x, g.y, g.reach, g.cell = math.inf, math.inf, 0.0, 0.0
        g.width, g.height, g.first = 0, 0, 0
    # Until the last loop, `width` counts the robots and `cell` holds the longer side of the box.
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
def sort_into_cells(
    robots: RobotGrid, truth: Table, shapes: Table, rows: Rows, worlds: Array
) -> None:
    """Sort robots into the cells of their worlds' grids: a counting sort."""
    starts, grids, bodies = robots.starts, robots.grids, robots.bodies
    last = grids[len(grids) - 1]
    for k in range(last.first + last.width * last.height + 1):
        starts[k] = 0
    for i in rows:
        starts[cell_of(grids[worlds[i]], truth[i].x, truth[i].y)] += 1
    total = 0
    for k in range(last.first + last.width * last.height + 1):
        total += starts[k]
        starts[k] = total
    # Filled backwards from the end of each cell, so `starts` ends as the begin of each cell.
    for j in range(len(rows)):
        i = rows[len(rows) - 1 - j]
        cell = cell_of(grids[worlds[i]], truth[i].x, truth[i].y)
        starts[cell] -= 1
        write_body(bodies[starts[cell]], truth[i], shapes[truth[i].footprint], i)


@kernel
def fill_robot_grid(
    robots: RobotGrid, truth: Table, shapes: Table, rows: Rows, worlds: Array
) -> None:
    """Fit the grids to these robots and sort them into cells."""
    fit_grids(robots.grids, truth, shapes, rows, worlds)
    sort_into_cells(robots, truth, shapes, rows, worlds)


def build_robot_grid(
    robots: RobotGrid, truth: Table, shapes: Shapes, rows: Rows, worlds: Array
) -> None:
    """Sort the robots of these rows by world and cell.

    Args:
        robots: Memory to write into, from `make_robot_grid`.
        truth: STATE of all robots.
        shapes: Their footprints.
        rows: The rows to sort.
        worlds: The index in the batch of the world of each row of `truth`.
    """
    fill_robot_grid(robots, truth, shapes.table, rows, worlds)
