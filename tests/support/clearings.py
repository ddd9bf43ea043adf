"""Clearances computed by brute force, to compare kernels with."""

from __future__ import annotations

import numpy as np

from astray.tables import Array
from astray.world.geometry.polygons import inside_solid
from astray.world.map import Map

AT_ONCE = 1 << 21  # points times segments, to bound the memory


def distance(map: Map, points: Array) -> Array:
    """How far points (n, 2) are from the nearest segment, (n,) m."""
    if not len(map):
        return np.full(len(points), np.inf)
    found = np.empty(len(points))
    a = map.segments[:, :2]
    along = map.segments[:, 2:] - a
    square = (along**2).sum(axis=1)
    block = max(1, AT_ONCE // len(map))
    for k in range(0, len(points), block):
        apart = points[k : k + block, None] - a
        t = np.clip((apart * along).sum(axis=2) / square, 0.0, 1.0)
        found[k : k + block] = np.sqrt(
            ((apart - t[..., None] * along) ** 2).sum(axis=2).min(axis=1)
        )
    return found


def is_clear(map: Map, points: Array, clearance: float) -> Array:
    """Whether no obstacle is nearer than the clearance and the points are not in a solid, (n,)."""
    free: Array = distance(map, points) >= clearance
    free[free] = ~inside_solid(map, *points[free].T)
    return free
