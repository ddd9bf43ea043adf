"""Segments as lines: those that follow each other end to end belong together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from astray.tables import Array
from astray.world.map import Map


@dataclass
class Polyline:
    """A line through points, (n, 2) m; closed, it goes from the last back to the first."""

    points: Array
    closed: bool
    solid: bool

    def area(self) -> float:
        """What a closed chain encloses, m²; negative where it runs clockwise."""
        x, y = (self.points - self.points[0]).T  # so the side back to the first adds nothing
        return 0.5 * float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))


def map_polylines(found: Map) -> list[Polyline]:
    """The lines of a map, in the order of its segments."""
    made: list[Polyline] = []
    segments, solid = found.segments, found.solid.tolist()
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
    """Blocks with the holes in them; a hole that is in no block is left out.

    A hole belongs to the smallest block that holds its first corner.
    """
    measured = sorted(((ring.area(), k) for k, ring in enumerate(rings)))
    blocks = [rings[k] for area, k in measured if area >= 0.0]
    sizes = np.array([area for area, _ in measured if area >= 0.0])
    made: list[tuple[Polyline, list[Polyline]]] = [(ring, []) for ring in blocks]
    low = np.array([ring.points.min(axis=0) for ring in blocks]).reshape(-1, 2)
    high = np.array([ring.points.max(axis=0) for ring in blocks]).reshape(-1, 2)
    for area, at in measured:
        if area >= 0.0:
            break
        hole = rings[at]
        bottom, top = hole.points.min(axis=0), hole.points.max(axis=0)
        around = (low <= bottom).all(axis=1) & (high >= top).all(axis=1) & (sizes > -area)
        for k in np.flatnonzero(around).tolist():
            if holds(blocks[k].points, hole.points):
                made[k][1].append(hole)
                break
    return made


def holds(ring: Array, points: Array) -> bool:
    """Whether a ring holds others' corners; those on the ring itself do not decide."""
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
