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
    Column("width", "cells", "i8"),
    Column("height", "cells", "i8"),
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
    column = min(max(math.floor((x - g.x) / g.cell), 0), g.width - 1)
    row = min(max(math.floor((y - g.y) / g.cell), 0), g.height - 1)
    return int(g.first + row * g.width + column)


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
