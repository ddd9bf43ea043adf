"""Whether points lie inside something solid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from astray.numerics import kernel
from astray.tables import Array
from astray.world.map import Map


class Solids(NamedTuple):
    """What bounds something solid in each of some maps, one map behind the other."""

    ends: Array
    """x and y of one end and of the other, (n, 4) m."""
    starts: Array
    """The first segment of each map, and behind them the number of all."""


def build_solids(maps: Sequence[Map]) -> Solids:
    """The rings of what is solid in some maps."""
    rings = [map.segments[map.solid] for map in maps]
    starts = np.cumsum([0, *(len(ring) for ring in rings)])
    return Solids(np.vstack([np.zeros((0, 4)), *rings]), starts)


@kernel
def winding_number(ends: Array, first: int, stop: int, x: float, y: float) -> int:
    """How often some rings wind around a point."""
    count = 0
    for k in range(first, stop):
        ay, by = ends[k, 1], ends[k, 3]
        if (ay <= y) == (by <= y):
            continue
        ax, bx = ends[k, 0], ends[k, 2]
        left = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        if ay <= y and left > 0.0:
            count += 1
        elif by <= y and left < 0.0:
            count -= 1
    return count


@kernel
def wind_all(inside: Array, ends: Array, starts: Array, maps: Array, x: Array, y: Array) -> None:
    """Whether the rings of each point's map wind around it."""
    for i in range(len(inside)):
        first, stop = starts[maps[i]], starts[maps[i] + 1]
        inside[i] = winding_number(ends, first, stop, x[i], y[i]) != 0


def inside_solids(solids: Solids, maps: Array, x: Array, y: Array) -> Array:
    """Whether points lie inside something solid of the map of that number each, (n,)."""
    inside = np.zeros(len(x), bool)
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    wind_all(inside, solids.ends, solids.starts, maps, x, y)
    return inside


def inside_solid(map: Map, x: Array, y: Array) -> Array:
    """Whether points lie inside something solid, (n,): rings may overlap."""
    return inside_solids(build_solids([map]), np.zeros(len(x), np.int64), x, y)
