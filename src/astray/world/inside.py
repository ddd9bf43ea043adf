"""Whether points lie inside something solid."""

from __future__ import annotations

import numpy as np

from astray.table import Array
from astray.world.map import Map

AT_ONCE = 1 << 20  # points times segments, to bound the memory


def winding(map: Map, x: Array, y: Array) -> Array:
    """How often the rings of what is solid wind around some points, (n,)."""
    ends = map.segments[map.solid]
    ax, ay, bx, by = (ends[:, k] for k in range(4))
    px, py = np.asarray(x)[:, None], np.asarray(y)[:, None]
    left = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
    up = (ay <= py) & (by > py) & (left > 0.0)
    down = (ay > py) & (by <= py) & (left < 0.0)
    turns: Array = up.sum(axis=1) - down.sum(axis=1)
    return turns


def inside_solid(map: Map, x: Array, y: Array) -> Array:
    """Whether points lie inside something solid, (n,): rings may overlap."""
    within = np.zeros(len(x), bool)
    if map.solid.any():
        some = max(1, AT_ONCE // len(map))
        for k in range(0, len(x), some):
            within[k : k + some] = winding(map, x[k : k + some], y[k : k + some]) != 0
    return within
