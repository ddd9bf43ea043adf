"""Segments sorted by position, so that a query tests only those nearby. Nothing has to be tuned.

Each segment lies in one hierarchical grid (Ericson, Real-Time Collision Detection, 2005, section
7.2) by its middle: short segments in a fine grid, longer ones in coarser grids, whose cells are at
least as wide as their segments are long. A cell has the bounding circle of all its segments. For
single rays each map has a second grid, in which a segment is listed in every cell that it touches.

One index holds the maps of all worlds, one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Column, Row, Table, columns, table
from astray.world.geometry.grids import GRID, cell_columns, cell_rows
from astray.world.geometry.segments import Segment, squared_distance
from astray.world.map import Map

FEW = 32  # segments of a map that needs no grid
PER_CELL = 6.0  # segments in a cell, on average
PAD = 8  # segments that may be read after the last
BLOCK = 64  # segments whose distances are computed together
ROUNDING_FACTOR = 1.000001  # keeps a conservative bound conservative in spite of rounding
PER_RAY_CELL = 1.5  # segments in a cell of the grid for single rays, on average
RIM = 1e-9  # of a cell: a segment so near to a cell's border is listed on both sides
_0, _1, _2, _3 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)

CELL = columns(Column("first", "", "i8"), "x m", "y m", "radius m")
"""A cell: its first segment, which ends those of the cell before, and their bounding circle."""

INDEXED_MAP = columns(
    Column("first", "", "i8"),
    Column("count", "", "i8"),
    Column("first_grid", "", "i8"),
    Column("grids", "", "i8"),
    Column("ray_grid", "", "i8"),
    "density 1/m²",
)
"""A map in the index: first segment and count, first grid by middles and count, the grid for
single rays (−1: none), and how many segments it has per area."""


class SegmentIndex(NamedTuple):
    """The segments of all maps as kernels read them."""

    ends: Array
    """x and y of one end and of the other, (n, 4), sorted by map, grid and cell."""
    faces: Array
    """The same as rows ax, ay, bx, by, (5, n + PAD), for SIMD. The fifth row is the distance beyond
    which the segment is not seen from behind, as the square of twice that to its middle."""
    cells: Table
    """CELL records of each grid, with one more at the end of a grid."""
    ray_cells: Array
    """Numbers of segments, cell by cell of the grids for single rays."""
    grids: Table
    """GRID records."""
    maps: Table
    """INDEXED_MAP records."""


class SegmentGrids(NamedTuple):
    """The part of an index that searches read: frequent calls with the whole index cost more."""

    faces: Array
    cells: Table
    grids: Table


@inlined_kernel
def segment_grids(walls: SegmentIndex) -> SegmentGrids:
    """The part of an index that searches read."""
    return SegmentGrids(walls.faces, walls.cells, walls.grids)


@inlined_kernel
def padded_count(n: int) -> int:
    """A count rounded up to whole SIMD vectors; the entries after the n-th have no meaning."""
    return ((n + PAD - 1) // PAD) * PAD


# Nearest segments.


class NearQuery(NamedTuple):
    """A point, the distance within which segments are listed, and how far the nearest is sought."""

    x: float  # m
    y: float  # m
    near: float  # m
    search: float  # m


class NearestSegments(NamedTuple):
    """The segments that a query lists, and memory for their distances."""

    found: Array
    """How many are listed, (1,)."""
    numbers: Array
    """The numbers of the listed segments."""
    squared: Array
    """Workspace: squared distances of a block of segments."""


def make_nearest_segments(segments: int) -> NearestSegments:
    """Allocate a list for as many segments."""
    return NearestSegments(
        np.zeros(1, np.int64), np.zeros(segments + 1, np.int64), np.zeros(BLOCK + PAD)
    )


@inlined_kernel
def list_near_range(
    nearest: NearestSegments, faces: Array, first: int, last: int, query: NearQuery
) -> float:
    """List the near ones of the segments `first` to `last`; the squared distance of the nearest."""
    numbers, squared = nearest.numbers, nearest.squared
    most, least, found = query.near * query.near, query.search, nearest.found[0]
    while first < last:
        count = min(last - first, BLOCK)
        for i in range(padded_count(count)):  # a loop of its own, which SIMD instructions do
            k = np.uint64(first + i)
            segment = Segment(faces[_0, k], faces[_1, k], faces[_2, k], faces[_3, k])
            squared[np.uint64(i)] = squared_distance(segment, query.x, query.y)
        for i in range(count):
            here = squared[np.uint64(i)]
            least = here if here < least else least
            numbers[found] = first + i
            found += 1 if here <= most else 0
        first += count
    nearest.found[0] = found
    return least


@kernel
def list_near_segments(
    nearest: NearestSegments, walls: SegmentGrids, entry: Row, query: NearQuery
) -> float:
    """List the segments of a map near a point; the distance of the nearest within the search."""
    nearest.found[0] = 0
    if entry.grids == 0:
        everything = NearQuery(query.x, query.y, query.near, math.inf)
        last = entry.first + entry.count
        return math.sqrt(list_near_range(nearest, walls.faces, entry.first, last, everything))
    least = query.search * query.search
    for k in range(entry.first_grid, entry.first_grid + entry.grids):
        g = walls.grids[k]
        reach = query.search + g.reach
        left, right = cell_columns(g, query.x, reach)
        low, high = cell_rows(g, query.y, reach)
        if right < left:
            continue
        for row in range(low, high + 1):
            # The segments of neighbouring cells of a row are contiguous.
            cell = g.first + row * g.width
            first, last = walls.cells[cell + left].first, walls.cells[cell + right + 1].first
            closer = NearQuery(query.x, query.y, query.near, least)
            least = list_near_range(nearest, walls.faces, first, last, closer)
    return math.sqrt(least)


@kernel
def nearest_segment_distance(ends: Array, entry: Row, x: float, y: float) -> float:
    """The distance of the nearest of all segments of a map, m."""
    least = math.inf
    for k in range(entry.first, entry.first + entry.count):
        segment = Segment(ends[k, 0], ends[k, 1], ends[k, 2], ends[k, 3])
        least = min(least, squared_distance(segment, x, y))
    return math.sqrt(least)


# The cells that a segment touches.


@kernel
def row_border(row: int, side: int, origin: float, cell: float) -> float:
    """The lower (0) or upper (1) border of a row of cells, moved outwards by the rim."""
    return origin + (row + side) * cell + (2 * side - 1) * RIM * cell


@kernel
def columns_touched(ends: Array, g: Row, row: int) -> tuple[int, int]:
    """The first and last cell of a row that a segment touches; (0, −1) for none."""
    ax, ay, bx, by = ends[0], ends[1], ends[2], ends[3]
    if ay > by:
        ax, ay, bx, by = bx, by, ax, ay
    low, high = row_border(row, 0, g.y, g.cell), row_border(row, 1, g.y, g.cell)
    if by < low or ay > high:
        return 0, -1
    x0, x1 = ax, bx
    if ay < low:
        x0 = ax + (bx - ax) * ((low - ay) / (by - ay))
    if by > high:
        x1 = ax + (bx - ax) * ((high - ay) / (by - ay))
    left, right = min(x0, x1) - g.x, max(x0, x1) - g.x
    rim = RIM * g.cell
    return (
        max(0, math.floor((left - rim) / g.cell)),
        min(g.width - 1, math.floor((right + rim) / g.cell)),
    )


@kernel
def rows_touched(ends: Array, g: Row) -> tuple[int, int]:
    """The first and last row of cells that a segment touches."""
    low, high = min(ends[1], ends[3]) - g.y, max(ends[1], ends[3]) - g.y
    rim = RIM * g.cell
    return (
        max(0, math.floor((low - rim) / g.cell)),
        min(g.height - 1, math.floor((high + rim) / g.cell)),
    )


@kernel
def count_touched(segments: Array, g: Row, counts: Array) -> None:
    """Count the segments that touch each cell; the count of cell k is entry k + 1."""
    for i in range(len(segments)):
        first, last = rows_touched(segments[i], g)
        for row in range(first, last + 1):
            left, right = columns_touched(segments[i], g, row)
            for column in range(left, right + 1):
                counts[row * g.width + column + 1] += 1


@kernel
def list_touched(segments: Array, g: Row, starts: Array, listed: Array, number: int) -> None:
    """List the segments, numbered from `number`, in the cells that they touch; moves `starts`."""
    for i in range(len(segments)):
        first, last = rows_touched(segments[i], g)
        for row in range(first, last + 1):
            left, right = columns_touched(segments[i], g, row)
            for column in range(left, right + 1):
                cell = row * g.width + column
                listed[starts[cell]] = number + i
                starts[cell] += 1


# Building the index.


def build_segment_index(maps: Sequence[Map]) -> SegmentIndex:
    """Index the segments of these maps."""
    builder = _IndexBuilder()
    for map in maps:
        builder.add(map)
    return builder.index()


class _IndexBuilder:
    """Collects the parts of an index map by map."""

    def __init__(self) -> None:
        self.ends: list[Array] = []
        self.backface_distances: list[Array] = []
        self.cells: list[Table] = []
        self.ray_cells: list[Array] = []
        self.grids: list[Table] = []
        self.maps: list[Table] = []
        self.segments = self.starts = self.entries = 0

    def add(self, map: Map) -> None:
        """Add a map after those that the index has."""
        entry = table(INDEXED_MAP, 1)
        entry["first"], entry["count"] = self.segments, len(map)
        entry["first_grid"], entry["ray_grid"] = len(self.grids), -1
        segments, distances = map.segments, backface_distances(map)
        if len(map) > FEW:
            order = self._sort_by_middles(segments)
            segments, distances = segments[order], distances[order]
            entry["grids"] = len(self.grids) - entry["first_grid"]
            entry["ray_grid"] = len(self.grids)
            self._list_in_ray_cells(segments)
            width, height = np.maximum(np.ptp(segments.reshape(-1, 2), axis=0), 1e-3)
            entry["density"] = len(segments) / (width * height)
        self.ends.append(segments)
        self.backface_distances.append(distances)
        self.segments += len(segments)
        self.maps.append(entry)

    def index(self) -> SegmentIndex:
        """The index of all maps that were added."""
        ends = np.vstack([np.zeros((0, 4)), *self.ends])
        faces = np.zeros((5, len(ends) + PAD))
        faces[:4, : len(ends)] = ends.T
        faces[4, : len(ends)] = np.concatenate([np.zeros(0), *self.backface_distances])
        return SegmentIndex(
            ends,
            faces,
            np.concatenate([table(CELL, 1), *self.cells]),
            np.concatenate([np.zeros(0, np.int64), *self.ray_cells]),
            np.concatenate([table(GRID, 0), *self.grids]),
            np.concatenate([table(INDEXED_MAP, 0), *self.maps]),
        )

    def _grid(self, low: Array, high: Array, cell: float, reach: float) -> Table:
        grid = table(GRID, 1)
        grid["x"], grid["y"] = low
        grid["cell"], grid["reach"], grid["first"] = cell, reach, 1 + self.starts
        grid["width"], grid["height"] = np.floor((high - low) / cell).astype(np.int64) + 1
        return grid

    def _add_grid(self, grid: Table, starts: Array, circles: Array) -> None:
        cells = table(CELL, len(starts))
        cells["first"] = starts
        cells["x"], cells["y"], cells["radius"] = circles.T
        self.grids.append(grid)
        self.cells.append(cells)
        self.starts += len(starts)

    def _sort_by_middles(self, segments: Array) -> Array:
        """Sort segments into grids by their middles, coarse grids first; the new order."""
        along = segments[:, 2:] - segments[:, :2]
        length = np.sqrt((along**2).sum(axis=1))
        middle = segments[:, :2] + 0.5 * along
        fine = _cell_size(middle, len(segments) / PER_CELL)
        level = np.maximum(0, np.ceil(np.log2(length / fine))).astype(np.int64)
        parts, first = [], self.segments
        for k in np.unique(level)[::-1]:
            here = np.flatnonzero(level == k)
            # A level of few segments is a single cell: it is faster to test all of them.
            cell = fine * 2.0**k
            low, high = middle[here].min(axis=0), middle[here].max(axis=0)
            if len(here) <= FEW:
                cell = max(cell, 1.001 * float((high - low).max()))
            grid = self._grid(low, high, cell, 0.5 * float(length[here].max()))
            width, cells = int(grid["width"][0]), int(grid["width"][0] * grid["height"][0])
            column, row = np.floor((middle[here] - low) / cell).astype(np.int64).T
            number = row * width + column
            here = here[np.argsort(number, kind="stable")]
            starts = np.zeros(cells + 1, np.int64)
            np.cumsum(np.bincount(number, minlength=cells), out=starts[1:])
            parts.append(here)
            self._add_grid(grid, first + starts, _bounding_circles(segments[here], starts))
            first += len(here)
        return np.concatenate(parts)

    def _list_in_ray_cells(self, segments: Array) -> None:
        """List segments in every cell of a grid for single rays that they touch."""
        ends = segments.reshape(-1, 2)
        low, high = ends.min(axis=0), ends.max(axis=0)
        cell = _cell_size(ends, len(segments) / PER_RAY_CELL)
        total = float(np.sqrt(((segments[:, 2:] - segments[:, :2]) ** 2).sum(axis=1)).sum())
        cell = max(cell, total / (4 * len(segments)))  # long walls would be listed too often
        low, high = low - cell, high + cell  # a ray enters the grid before it meets anything
        grid = self._grid(low, high, cell, 0.0)
        starts = np.zeros(int(grid["width"][0] * grid["height"][0]) + 1, np.int64)
        count_touched(segments, grid[0], starts)
        np.cumsum(starts, out=starts)
        listed = np.empty(starts[-1], np.int64)
        list_touched(segments, grid[0], starts.copy(), listed, self.segments)
        self.ray_cells.append(listed)
        self._add_grid(grid, self.entries + starts, np.zeros((len(starts), 3)))
        self.entries += len(listed)


def backface_distances(map: Map) -> Array:
    """The distance beyond which each segment cannot be seen from behind, (n,).

    It is given as the square of twice the distance to the segment's middle; inf where a segment can
    be seen from behind at any distance. Segments that follow each other end to end around a solid
    are its sides, and of a convex solid only the sides that face a viewer outside are seen.
    """
    if not map.solid.any():
        return np.full(len(map), np.inf)
    starts, ends = map.segments[:, :2], map.segments[:, 2:]
    joined = (ends[:-1] == starts[1:]).all(axis=1) & map.solid[:-1] & map.solid[1:]
    first = np.flatnonzero(np.concatenate([[True], ~joined]))
    last = np.append(first[1:], len(map)) - 1
    along = ends - starts
    following = np.arange(len(map)) + 1
    following[last] = first
    after = along[following]
    left = along[:, 0] * after[:, 1] - along[:, 1] * after[:, 0]
    turn = np.arctan2(left, (along * after).sum(axis=1))
    convex = np.logical_and.reduceat(left > 0.0, first) & map.solid[first]
    convex &= np.abs(np.add.reduceat(turn, first) - 2.0 * math.pi) < 1e-6  # it winds once
    convex &= (ends[last] == starts[first]).all(axis=1)
    low, high = np.minimum.reduceat(starts, first), np.maximum.reduceat(starts, first)
    count = last - first + 1
    # A viewer farther from a side's middle than the diameter of its block is outside of the block.
    far = np.repeat(np.where(convex, np.sqrt(((high - low) ** 2).sum(axis=1)), np.inf), count)
    far += 0.5 * np.sqrt((along**2).sum(axis=1))
    return np.asarray(4.0 * ROUNDING_FACTOR * far * far)


def _cell_size(points: Array, cells: float) -> float:
    """The width of a cell if this many cells cover the bounding box of some points."""
    width, height = np.maximum(np.ptp(points, axis=0), 1e-6)
    return float(max(math.sqrt(width * height / cells), max(width, height) / (4.0 * cells)))


def _bounding_circles(segments: Array, starts: Array) -> Array:
    """The bounding circle of the segments of each cell, around the middle of their box, (n, 3)."""
    made = np.zeros((len(starts), 3))
    filled = np.flatnonzero(np.diff(starts))
    if not len(filled):
        return made
    ends = segments.reshape(-1, 2)
    low = np.minimum.reduceat(ends, 2 * starts[filled], axis=0)
    high = np.maximum.reduceat(ends, 2 * starts[filled], axis=0)
    middle = 0.5 * (low + high)
    apart = np.sqrt(((ends - np.repeat(middle, 2 * np.diff(starts)[filled], axis=0)) ** 2).sum(1))
    made[filled, :2] = middle
    made[filled, 2] = np.maximum.reduceat(apart, 2 * starts[filled]) * (1.0 + 1e-12)
    return made
