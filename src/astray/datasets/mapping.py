"""Mapping with known poses: a map from laser scans, by counting hits and misses in a grid.

A beam passes through cells (misses) and ends in one (a hit). A cell is occupied if at least
`MIN_HIT_SHARE` of the beams that reached it ended there. The wall runs through the mean of these
ends, which is finer than the cell; occupied neighbours are joined. Cells that beams passed are
floor. See Thrun, Burgard and Fox, Probabilistic Robotics (2005), section 9.2, for the reflection
probability of a cell.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from astray.numerics import kernel, sincos
from astray.tables import Array
from astray.world import Map, Place
from astray.world.planning import FLOOR

CELL = 0.05  # m
MAX_CELLS = 1 << 24  # a larger area gets wider cells
MARGIN = 3  # cells around all that beams reach
MIN_RANGE = 0.01  # m; a shorter range is invalid
MIN_HIT_SHARE = 0.25  # of the beams that reach an occupied cell
MIN_MISSES = 4  # beams that pass through a cell of the floor
FLOOR_CELL = 5  # cells along the side of a cell of the floor
DOT = 1e-3  # m, half the length of a wall without neighbours
NEIGHBOURS = ((0, 1), (1, 0), (1, 1), (1, -1))


class Grid(NamedTuple):
    """The grid in which beams are counted."""

    x: float
    """The left edge, m."""
    y: float
    """The lower edge, m."""
    cell: float
    """The width of a cell, m."""
    max_range: float
    """The range up to which beams count, m."""


@kernel
def count_beams_all(
    hits: Array, misses: Array, ranges: Array, poses: Array, angles: Array, grid: Grid
) -> None:
    """Count the beams of scans (n, rays) m from poses (n, 3).

    `hits` (rows, columns, 3) gets the number of beams that end in a cell and the sums of the ends'
    x and y, `misses` (rows, columns) the number of samples of beams that pass through it.
    """
    for i in range(len(ranges)):
        x, y = poses[i, 0], poses[i, 1]
        for j in range(len(angles)):
            r = ranges[i, j]
            s, c = sincos(poses[i, 2] + angles[j])
            for k in range(math.floor(min(r, grid.max_range) / grid.cell)):
                column = math.floor((x + k * grid.cell * c - grid.x) / grid.cell)
                misses[math.floor((y + k * grid.cell * s - grid.y) / grid.cell), column] += 1
            if MIN_RANGE < r < grid.max_range:
                end_x, end_y = x + r * c, y + r * s
                row = math.floor((end_y - grid.y) / grid.cell)
                hit = hits[row, math.floor((end_x - grid.x) / grid.cell)]
                hit[0] += 1.0
                hit[1] += end_x
                hit[2] += end_y


def map_from_scans(
    ranges: Array, poses: Array, angles: Array, max_range: float, name: str = ""
) -> Map:
    """The map of laser scans.

    Args:
        ranges: (n, rays) m; beams of `max_range` and more have misses but no hit.
        poses: The poses of the laser, (n, 3) m and rad.
        angles: The angle of each beam in the frame of the laser, (rays,) rad.
        max_range: m.
        name: The name of the map.

    Returns:
        Walls, and the floor as places.
    """
    reach = np.minimum(ranges, max_range)
    yaw = poses[:, None, 2] + angles
    x, y = poses[:, None, 0] + reach * np.cos(yaw), poses[:, None, 1] + reach * np.sin(yaw)
    low = np.minimum(poses[:, :2].min(axis=0), (x.min(), y.min()))
    high = np.maximum(poses[:, :2].max(axis=0), (x.max(), y.max()))
    cell = max(CELL, math.sqrt(float(np.prod(high - low)) / MAX_CELLS))
    low = low - MARGIN * cell
    columns, rows = np.ceil((high - low) / cell).astype(np.int64) + MARGIN
    hits, misses = np.zeros((rows, columns, 3)), np.zeros((rows, columns), np.int64)
    grid = Grid(float(low[0]), float(low[1]), cell, max_range)
    count_beams_all(hits, misses, np.ascontiguousarray(ranges), poses, angles, grid)
    count = hits[..., 0]
    occupied = (count >= 1.0) & (count > MIN_HIT_SHARE * (count + misses))
    walls = _join(occupied, hits[..., 1:] / np.maximum(count, 1.0)[..., None])
    floor = _floor((misses >= MIN_MISSES) & ~occupied, low, FLOOR_CELL * cell)
    return Map(walls, np.zeros(len(walls), bool), floor, name)


def _join(occupied: Array, middle: Array) -> Array:
    """Segments from the middle of each occupied cell to those of its neighbours, (n, 4) m."""
    rows, columns = np.nonzero(occupied)
    isolated = np.ones(occupied.shape, bool)
    found = []
    for up, right in NEIGHBOURS:
        # The margin of the grid keeps all neighbours inside of it.
        joined = occupied[rows + up, columns + right]
        cell = (rows[joined], columns[joined])
        neighbour = (rows[joined] + up, columns[joined] + right)
        isolated[cell] = isolated[neighbour] = False
        found.append(np.hstack([middle[cell], middle[neighbour]]))
    dots = middle[occupied & isolated]
    found.append(np.hstack([dots, dots]) + np.array([-DOT, 0.0, DOT, 0.0]))
    return np.vstack(found)


def _floor(free: Array, low: Array, size: float) -> tuple[Place, ...]:
    """The floor as rectangles, each of adjacent larger cells of one row."""
    coarse = free[FLOOR_CELL // 2 :: FLOOR_CELL, FLOOR_CELL // 2 :: FLOOR_CELL]
    places = []
    edges = np.diff(np.pad(coarse, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    starts, ends = np.argwhere(edges > 0), np.argwhere(edges < 0)  # both row by row
    for (row, first), (_, last) in zip(starts, ends, strict=True):
        west, east = low[0] + first * size, low[0] + last * size
        south, north = low[1] + row * size, low[1] + (row + 1) * size
        corners = ((west, south), (east, south), (east, north), (west, north))
        points = tuple((float(x), float(y)) for x, y in corners)
        places.append(Place(FLOOR, points=points))
    return tuple(places)
