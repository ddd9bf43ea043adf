"""Whether points lie inside something solid."""

from __future__ import annotations

import numpy as np

from astray.kernel import kernel
from astray.table import Array
from astray.world.map import Map


@kernel
def wind(turns: Array, ends: Array, solid: Array, x: Array, y: Array) -> None:
    """How often the rings of what is solid wind around some points."""
    for i in range(len(turns)):
        px, py = x[i], y[i]
        count = 0
        for k in range(len(ends)):
            ay, by = ends[k, 1], ends[k, 3]
            if not solid[k] or (ay <= py) == (by <= py):
                continue
            ax, bx = ends[k, 0], ends[k, 2]
            left = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
            if ay <= py and left > 0.0:
                count += 1
            elif by <= py and left < 0.0:
                count -= 1
        turns[i] = count


def winding(map: Map, x: Array, y: Array) -> Array:
    """How often the rings of what is solid wind around some points, (n,)."""
    turns = np.zeros(len(x), np.int64)
    wind(turns, map.segments, map.solid, np.ascontiguousarray(x), np.ascontiguousarray(y))
    return turns


def inside_solid(map: Map, x: Array, y: Array) -> Array:
    """Whether points lie inside something solid, (n,): rings may overlap."""
    return np.asarray(winding(map, x, y) != 0)
