"""A map from scans whose poses are known: walls where beams end again and again.

Space is cut into cells. A beam passes through cells and ends in one; a cell is a wall if at least
`SHARE` of the beams that got there ended there. The middle of those ends is where the wall is,
finer than the cell; neighbouring walls are joined. Where beams passed is floor.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import kernel, sincos
from astray.tables import Array
from astray.world import Map, Place
from astray.world.planning import FLOOR

CELL = 0.05  # m
MOST_CELLS = 1 << 24  # a larger place gets wider cells
RIM = 3  # cells around all that beams reach
NEAREST = 0.01  # m; less is no range
SHARE = 0.25  # of the beams that reach a cell end there, if it is a wall
PASSED = 4  # beams that pass through a cell if it is floor
FLOOR_CELL = 5  # cells in a row of which one is floor or not
DOT = 1e-3  # m: half the length of a wall that has no neighbour
NEIGHBOURS = ((0, 1), (1, 0), (1, 1), (1, -1))

Frame = tuple[float, float, float, float]
"""x and y of the lower left corner, m; the width of a cell; and how far beams count."""


@kernel
def survey_all(
    ends: Array, passed: Array, ranges: Array, poses: Array, angles: Array, frame: Frame
) -> None:
    """Count what beams do: ends (rows, columns, 3) has how many and the sums of x and y."""
    left, low, cell, most = frame
    for i in range(len(ranges)):
        x, y = poses[i, 0], poses[i, 1]
        for j in range(len(angles)):
            r = ranges[i, j]
            s, c = sincos(poses[i, 2] + angles[j])
            for k in range(math.floor(min(r, most) / cell)):
                column = math.floor((x + k * cell * c - left) / cell)
                passed[math.floor((y + k * cell * s - low) / cell), column] += 1
            if NEAREST < r < most:
                ex, ey = x + r * c, y + r * s
                end = ends[math.floor((ey - low) / cell), math.floor((ex - left) / cell)]
                end[0] += 1.0
                end[1] += ex
                end[2] += ey


def make_map(ranges: Array, poses: Array, angles: Array, most: float, name: str = "") -> Map:
    """The map of scans (n, rays) m from poses (n, 3); beams that are longer than `most` count less.

    Of those it is known that there is nothing nearer.
    """
    reach = np.minimum(ranges, most)
    at = poses[:, None, 2] + angles
    x, y = poses[:, None, 0] + reach * np.cos(at), poses[:, None, 1] + reach * np.sin(at)
    low = np.minimum(poses[:, :2].min(axis=0), (x.min(), y.min()))
    far = np.maximum(poses[:, :2].max(axis=0), (x.max(), y.max()))
    cell = max(CELL, math.sqrt(float(np.prod(far - low)) / MOST_CELLS))
    low = low - RIM * cell
    wide, high = np.ceil((far - low) / cell).astype(np.int64) + RIM
    ends, passed = np.zeros((high, wide, 3)), np.zeros((high, wide), np.int64)
    frame = (float(low[0]), float(low[1]), cell, most)
    survey_all(ends, passed, np.ascontiguousarray(ranges), poses, angles, frame)
    count = ends[..., 0]
    wall = (count >= 1.0) & (count > SHARE * (count + passed))
    walls = _join(wall, ends[..., 1:] / np.maximum(count, 1.0)[..., None])
    floor = _floor((passed >= PASSED) & ~wall, low, FLOOR_CELL * cell)
    return Map(walls, np.zeros(len(walls), bool), floor, name)


def _join(wall: Array, middle: Array) -> Array:
    """Segments from the middle of each wall cell to those of its neighbours, (n, 4) m."""
    rows, columns = np.nonzero(wall)
    lonely = np.ones(wall.shape, bool)
    found = []
    for up, right in NEIGHBOURS:
        # The frame has room around all walls, so that no neighbour is beyond it.
        joined = wall[rows + up, columns + right]
        here, there = (rows[joined], columns[joined]), (rows[joined] + up, columns[joined] + right)
        lonely[here] = lonely[there] = False
        found.append(np.hstack([middle[here], middle[there]]))
    dots = middle[wall & lonely]
    found.append(np.hstack([dots, dots]) + np.array([-DOT, 0.0, DOT, 0.0]))
    return np.vstack(found)


def _floor(free: Array, low: Array, size: float) -> tuple[Place, ...]:
    """Where there is floor, as rectangles of one row of larger cells each."""
    coarse = free[FLOOR_CELL // 2 :: FLOOR_CELL, FLOOR_CELL // 2 :: FLOOR_CELL]
    places = []
    edges = np.diff(np.pad(coarse, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rises, falls = np.argwhere(edges > 0), np.argwhere(edges < 0)  # both row by row
    for (row, first), (_, last) in zip(rises, falls, strict=True):
        west, east = low[0] + first * size, low[0] + last * size
        south, north = low[1] + row * size, low[1] + (row + 1) * size
        corners = ((west, south), (east, south), (east, north), (west, north))
        points = tuple((float(x), float(y)) for x, y in corners)
        places.append(Place(FLOOR, points=points))
    return tuple(places)
