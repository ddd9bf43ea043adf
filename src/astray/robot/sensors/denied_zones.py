"""Zones of the map, given as polygons, where a sensor gets nothing, or the ground is another."""

from __future__ import annotations

import numpy as np

from astray.errors import PluginError
from astray.numerics import kernel
from astray.tables import Array

Polygon = list[tuple[float, float]]


@kernel
def zone_at(edges: Array, firsts: Array, x: float, y: float) -> int:
    """The first of the polygons that a point is in, −1 if it is in none.

    A ray to the right leaves a polygon around the point an odd number of times.
    """
    for k in range(len(firsts) - 1):
        odd = False
        for e in range(firsts[k], firsts[k + 1]):
            ax, ay, bx, by = edges[e, 0], edges[e, 1], edges[e, 2], edges[e, 3]
            if (ay > y) != (by > y) and x < ax + (y - ay) / (by - ay) * (bx - ax):
                odd = not odd
        if odd:
            return k
    return -1


@kernel
def inside(edges: Array, firsts: Array, x: float, y: float) -> bool:
    """Whether a point is in any of the polygons."""
    return zone_at(edges, firsts, x, y) >= 0


def make_zones(polygons: list[Polygon]) -> tuple[Array, Array]:
    """Edges (m, 4) of the polygons as kernels read them, and where each polygon's begin."""
    for polygon in polygons:
        if len(polygon) < 3:
            raise PluginError(f"a zone needs at least three corners [x, y], not {len(polygon)}")
    corners = [np.array(polygon, float) for polygon in polygons]
    edges = [np.hstack([c, np.roll(c, -1, axis=0)]) for c in corners]
    firsts = np.cumsum([0, *(len(c) for c in corners)])
    return np.vstack([np.zeros((0, 4)), *edges]), firsts.astype(np.int64)
