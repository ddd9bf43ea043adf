"""One ray, from cell to cell: for few rays over long ranges, and where each ray has its own origin.

A segment is listed in every cell that it touches, and in the neighbours of a border that it comes
very near to, so that a ray that rounding leads past the corner of a cell still meets it. A hit is
final once the ray has left behind the cells up to it.
"""

from __future__ import annotations

import math

from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Row, Table
from astray.world.raycast.ray_segment import meet

Ray = tuple[float, float, float, float]
"""x and y of the origin, m, and the direction as cosine and sine."""


@inlined_kernel
def cast_at(ends: Array, k: int, ray: Ray, nearest: float) -> float:
    """The larger of an inverse range and that at which the ray meets a segment."""
    x, y = ray[0], ray[1]
    v = meet(ends[k, 0] - x, ends[k, 1] - y, ends[k, 2] - x, ends[k, 3] - y, ray[2], ray[3])
    return v if v > nearest else nearest


@inlined_kernel
def entry(low: float, high: float, origin: float, slope: float) -> tuple[float, float]:
    """From where to where on a ray one of its coordinates is between two values."""
    if slope == 0.0:
        return (-math.inf, math.inf) if low <= origin <= high else (math.inf, -math.inf)
    a, b = (low - origin) / slope, (high - origin) / slope
    return (a, b) if a < b else (b, a)


@inlined_kernel
def border(origin: float, cell: float, k: int, at: float, slope: float) -> tuple[float, float]:
    """How far along a ray the next border of cells is, and how far apart they are."""
    if slope == 0.0:
        return math.inf, math.inf
    ahead = k + 1 if slope > 0.0 else k
    return (origin + ahead * cell - at) / slope, cell / abs(slope)


@kernel
def cast_cells_along(
    ends: Array, cells: Table, listed: Array, g: Row, ray: Ray, limit: float
) -> float:
    """The inverse range of a ray among the segments of a grid; the limit if it meets none."""
    x, y, c, s = ray
    x_in, x_out = entry(g.x, g.x + g.width * g.cell, x, c)
    y_in, y_out = entry(g.y, g.y + g.height * g.cell, y, s)
    start, end = max(0.0, x_in, y_in), min(1.0 / limit, x_out, y_out)
    if start > end:
        return limit
    i = min(max(math.floor((x + start * c - g.x) / g.cell), 0), g.width - 1)
    j = min(max(math.floor((y + start * s - g.y) / g.cell), 0), g.height - 1)
    next_x, across = border(g.x, g.cell, i, x, c)
    next_y, up = border(g.y, g.cell, j, y, s)
    best = limit
    while True:
        cell = g.first + j * g.width + i
        for k in range(cells[cell].first, cells[cell + 1].first):
            best = cast_at(ends, listed[k], ray, best)
        leaves = min(next_x, next_y)
        if best * leaves >= 1.0 or leaves > end:
            return best
        if next_x < next_y:
            i += 1 if c > 0.0 else -1
            next_x += across
        else:
            j += 1 if s > 0.0 else -1
            next_y += up
        if i < 0 or j < 0 or i >= g.width or j >= g.height:
            return best
