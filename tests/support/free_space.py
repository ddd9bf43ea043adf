"""Free positions of a map, computed with NumPy as a reference for kernels."""

from __future__ import annotations

import numpy as np

from astray.tables import Array
from astray.world.geometry.polygons import inside_solid
from astray.world.map import Map

MAX_PAIRS = 1 << 21  # of points and segments at once, to bound the memory


def distance(map: Map, points: Array) -> Array:
    """The distance of points (n, 2) from the nearest segment, (n,) m."""
    if not len(map):
        return np.full(len(points), np.inf)
    found = np.empty(len(points))
    a = map.segments[:, :2]
    vectors = map.segments[:, 2:] - a
    square = (vectors**2).sum(axis=1)
    count = max(1, MAX_PAIRS // len(map))
    for k in range(0, len(points), count):
        offsets = points[k : k + count, None] - a
        t = np.clip((offsets * vectors).sum(axis=2) / square, 0.0, 1.0)
        found[k : k + count] = np.sqrt(
            ((offsets - t[..., None] * vectors) ** 2).sum(axis=2).min(axis=1)
        )
    return found


def is_free(map: Map, points: Array, clearance: float) -> Array:
    """Whether points are farther from obstacles than the clearance and outside of solids, (n,)."""
    free: Array = distance(map, points) >= clearance
    free[free] = ~inside_solid(map, *points[free].T)
    return free
