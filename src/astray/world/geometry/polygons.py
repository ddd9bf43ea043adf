"""Polygons: the polylines of a map, blocks with their holes, and points in polygons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from astray.numerics import kernel
from astray.tables import Array
from astray.world.geometry.segments import Segment
from astray.world.map import Map

# Points in polygons.


class Solids(NamedTuple):
    """The segments that bound something solid, map by map."""

    ends: Array
    """x and y of one end and of the other, (n, 4) m."""
    starts: Array
    """The first segment of each map; the last entry is the number of all segments."""


def build_solids(maps: Sequence[Map]) -> Solids:
    """Collect the segments that bound something solid in these maps."""
    rings = [map.segments[map.solid] for map in maps]
    starts = np.cumsum([0, *(len(ring) for ring in rings)])
    return Solids(np.vstack([np.zeros((0, 4)), *rings]), starts)


@kernel
def winding_number(ends: Array, first: int, stop: int, x: float, y: float) -> int:
    """How often the rings of segments `first` to `stop` wind around a point."""
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
def inside_solids_all(
    inside: Array, ends: Array, starts: Array, maps: Array, x: Array, y: Array
) -> None:
    """Write for each point whether it lies inside something solid of its map."""
    for i in range(len(inside)):
        first, stop = starts[maps[i]], starts[maps[i] + 1]
        inside[i] = winding_number(ends, first, stop, x[i], y[i]) != 0


def inside_solids(solids: Solids, maps: Array, x: Array, y: Array) -> Array:
    """Whether each point lies inside something solid of the map with its number, (n,)."""
    inside = np.zeros(len(x), bool)
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    inside_solids_all(inside, solids.ends, solids.starts, maps, x, y)
    return inside


def inside_solid(map: Map, x: Array, y: Array) -> Array:
    """Whether each point lies inside something solid of one map, (n,); rings may overlap."""
    return inside_solids(build_solids([map]), np.zeros(len(x), np.int64), x, y)


@kernel
def crosses_right_of(segment: Segment, x: float, y: float) -> int:
    """1 if the ray from a point to the right crosses a segment, else 0.

    A point is inside of a ring if the sum over its edges is odd.
    """
    if (segment.ay > y) == (segment.by > y):
        return 0
    along = (y - segment.ay) / (segment.by - segment.ay)
    return 1 if x - segment.ax < along * (segment.bx - segment.ax) else 0


# Polylines of a map.


@dataclass
class Polyline:
    """Points joined by segments, (n, 2) m; if closed, the last is joined to the first."""

    points: Array
    closed: bool
    solid: bool

    def area(self) -> float:
        """The enclosed area of a closed polyline, m²; negative if it runs clockwise."""
        x, y = (self.points - self.points[0]).T  # so the side back to the first adds nothing
        return 0.5 * float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))


def map_polylines(map: Map) -> list[Polyline]:
    """Join the segments of a map that follow each other end to end, in their order."""
    made: list[Polyline] = []
    segments, solid = map.segments, map.solid.tolist()
    ends = segments.tolist()
    first = 0
    for k, (_, _, x, y) in enumerate(ends):
        closed = x == ends[first][0] and y == ends[first][1]
        last = k + 1 == len(ends) or solid[k + 1] != solid[k]
        if closed or last or ends[k + 1][0] != x or ends[k + 1][1] != y:
            points = segments[first : k + 1, :2]
            if not closed:
                points = np.vstack([points, segments[k, 2:]])
            made.append(Polyline(points, closed, solid[k]))
            first = k + 1
    return made


def assign_holes(rings: list[Polyline]) -> list[tuple[Polyline, list[Polyline]]]:
    """Pair blocks with their holes: clockwise rings, each in the smallest block that contains it.

    A hole that lies in no block is left out.
    """
    measured = sorted(((ring.area(), k) for k, ring in enumerate(rings)))
    blocks = [rings[k] for area, k in measured if area >= 0.0]
    sizes = np.array([area for area, _ in measured if area >= 0.0])
    made: list[tuple[Polyline, list[Polyline]]] = [(ring, []) for ring in blocks]
    low = np.array([ring.points.min(axis=0) for ring in blocks]).reshape(-1, 2)
    high = np.array([ring.points.max(axis=0) for ring in blocks]).reshape(-1, 2)
    for area, number in measured:
        if area >= 0.0:
            break
        hole = rings[number]
        bottom, top = hole.points.min(axis=0), hole.points.max(axis=0)
        around = (low <= bottom).all(axis=1) & (high >= top).all(axis=1) & (sizes > -area)
        for k in np.flatnonzero(around).tolist():
            if _contains(blocks[k].points, hole.points):
                made[k][1].append(hole)
                break
    return made


def _contains(ring: Array, points: Array) -> bool:
    """Whether a ring contains the first of these points that is not on the ring itself."""
    for point in points:
        if side := _side(ring, point):
            return side > 0
    return True


def _side(ring: Array, point: Array) -> int:
    """1 inside of a ring, -1 outside, 0 on it."""
    a, b = ring - point, np.roll(ring, -1, axis=0) - point
    cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    if ((cross == 0.0) & ((a * b).sum(axis=1) <= 0.0)).any():
        return 0
    up = (a[:, 1] <= 0.0) & (b[:, 1] > 0.0) & (cross > 0.0)
    down = (b[:, 1] <= 0.0) & (a[:, 1] > 0.0) & (cross < 0.0)
    return 1 if int(up.sum()) != int(down.sum()) else -1
