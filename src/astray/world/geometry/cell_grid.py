"""A grid of square cells: which of them a point is in, and which are in its reach."""

from __future__ import annotations

import math

from astray.numerics import inlined_kernel
from astray.tables import Column, Row, columns

GRID = columns(
    "x m",
    "y m",
    "cell m",
    "reach m",
    Column("wide", "cells", "i8"),
    Column("high", "cells", "i8"),
    Column("first", "", "i8"),
)
"""A grid: its lower left corner, its cells, and how far what it holds reaches from its middle."""


@inlined_kernel
def column_of(at: float, low: float, cell: float, count: int) -> int:
    """The column of cells in which a coordinate lies, from −1 before the first to `count`."""
    return math.floor(min(max((at - low) / cell, -1.0), float(count)))


@inlined_kernel
def cell_of(g: Row, x: float, y: float) -> int:
    """The cell of a grid in which a point lies; points beyond its border are in the nearest."""
    column = min(max(math.floor((x - g.x) / g.cell), 0), g.wide - 1)
    row = min(max(math.floor((y - g.y) / g.cell), 0), g.high - 1)
    return int(g.first + row * g.wide + column)


@inlined_kernel
def cell_range(g: Row, at: float, low: float, count: int, reach: float) -> tuple[int, int]:
    """The first and last column (or row) of cells of a grid that lie within reach of a point."""
    first = max(column_of(at - reach, low, g.cell, count), 0)
    return first, min(column_of(at + reach, low, g.cell, count), count - 1)
