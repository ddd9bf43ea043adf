"""How far two pieces of outline are apart, and in which direction.

A piece is a segment with a radius: an edge of a polygon or a wall has radius 0, a circle has equal
ends. The direction n runs from the second piece to the first, so that a plane across n separates
them. It is taken from a segment wherever the nearest point lies inside one, and not from the tiny
difference of two nearly equal points: a robot must see the same normal of a wall at any distance.
"""

from __future__ import annotations

import math

from astray.numerics import inlined_kernel, kernel

Piece = tuple[float, float, float, float, float]
"""x and y of one end and of the other, radius; m."""

Line = tuple[float, float, float, float]
"""x and y of one end and of the other, m."""

Separation = tuple[float, float, float, float, float]
"""Distance, direction n from the second to the first, and the nearest point of the second."""


@inlined_kernel
def squared_distance(ends: Line, x: float, y: float) -> float:
    """The squared distance of a point from a segment."""
    ex, ey = ends[2] - ends[0], ends[3] - ends[1]
    px, py = x - ends[0], y - ends[1]
    size = ex * ex + ey * ey
    along, across = px * ex + py * ey, ex * py - ey * px
    beyond = max(-along, along - size, 0.0)
    # Where the foot is beyond an end, across² + beyond² = size · |p − end|²: no case is needed.
    return (across * across + beyond * beyond) / max(size, 1e-300)


@kernel
def from_point(x: float, y: float, ends: Line) -> Separation:
    """The gap between a point, which is the first, and a segment."""
    ex, ey = ends[2] - ends[0], ends[3] - ends[1]
    px, py = x - ends[0], y - ends[1]
    size = ex * ex + ey * ey
    along = px * ex + py * ey
    if 0.0 < along < size:
        length = math.sqrt(size)
        nx, ny = -ey / length, ex / length
        d = nx * px + ny * py
        if d < 0.0:
            d, nx, ny = -d, -nx, -ny
        return d, nx, ny, x - d * nx, y - d * ny
    if along > 0.0:
        px, py = x - ends[2], y - ends[3]
    d = math.sqrt(px * px + py * py)
    if d == 0.0:
        return d, 1.0, 0.0, x, y
    return d, px / d, py / d, x - px, y - py


@inlined_kernel
def back(g: Separation) -> Separation:
    """The gap seen from the other side."""
    return g[0], -g[1], -g[2], g[3] + g[0] * g[1], g[4] + g[0] * g[2]


@inlined_kernel
def side(a: Line, x: float, y: float) -> float:
    """On which side of the line of a segment a point lies: > 0 on the left."""
    return (a[2] - a[0]) * (y - a[1]) - (a[3] - a[1]) * (x - a[0])


@kernel
def cross(a: Line, b: Line) -> bool:
    """Whether two segments cross, with the ends of each on different sides of the other."""
    a1, a2 = side(b, a[0], a[1]), side(b, a[2], a[3])
    b1, b2 = side(a, b[0], b[1]), side(a, b[2], b[3])
    return ((a1 > 0.0 and a2 < 0.0) or (a1 < 0.0 and a2 > 0.0)) and (
        (b1 > 0.0 and b2 < 0.0) or (b1 < 0.0 and b2 > 0.0)
    )


@kernel
def separation(a: Line, b: Line) -> Separation:
    """The gap between two segments, either of which may be a point; distance 0 where they cross."""
    if a[0] == a[2] and a[1] == a[3]:
        return from_point(a[0], a[1], b)
    if b[0] == b[2] and b[1] == b[3]:
        return back(from_point(b[0], b[1], a))
    best = from_point(a[0], a[1], b)
    found = from_point(a[2], a[3], b)
    if found[0] < best[0]:
        best = found
    found = back(from_point(b[0], b[1], a))
    if found[0] < best[0]:
        best = found
    found = back(from_point(b[2], b[3], a))
    if found[0] < best[0]:
        best = found
    if cross(a, b):
        return 0.0, best[1], best[2], best[3], best[4]
    return best


@kernel
def crossings(a: Line, x: float, y: float) -> int:
    """Whether a ray from a point to the right crosses a segment: odd sums are inside a ring."""
    if (a[1] > y) == (a[3] > y):
        return 0
    return 1 if x - a[0] < (y - a[1]) / (a[3] - a[1]) * (a[2] - a[0]) else 0
