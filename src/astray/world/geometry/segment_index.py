"""Segments sorted by place, so that a query looks only at those nearby. Nothing to tune.

Segments lie in grids of square cells by their middles, each in exactly one: short ones in a fine
grid, longer ones in coarser grids, whose cells are at least as wide as their segments are long. A
cell remembers the circle around all that it holds. For single rays there is a second grid per
map, in which a segment is listed in every cell that it touches.

One index holds the maps of all worlds, one behind the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Column, Row, Table, columns, table
from astray.world.geometry.cell_grid import GRID
from astray.world.map import Map

FEW = 32  # segments of a map that needs no grid
PER_CELL = 6.0  # segments in a cell, on average
PAD = 8  # segments that may be read behind the last
ROUNDING_FACTOR = 1.000001  # times what would do but for rounding
PER_STEP = 1.5  # segments in a cell of the grid for single rays, on average
RIM = 1e-9  # of a cell: what lies so near to its border is listed on both sides

CELL = columns(Column("first", "", "i8"), "x m", "y m", "radius m")
"""A cell: its first segment, which ends those of the cell before, and the circle around them."""

PLAN = columns(
    Column("first", "", "i8"),
    Column("count", "", "i8"),
    Column("first_grid", "", "i8"),
    Column("grids", "", "i8"),
    Column("steps", "", "i8"),
    "density 1/m²",
)
"""A map in an index: its segments, its grids by middles and its grid for single rays (−1: none),
and how many segments it has per area."""


@inlined_kernel
def padded(n: int) -> int:
    """So many segments that they can be done several at a time; some of them are nobody's."""
    return ((n + PAD - 1) // PAD) * PAD


class SegmentIndex(NamedTuple):
    """The segments of all maps as kernels read them."""

    ends: Array
    """x and y of one end and of the other, (n, 4), ordered by map, grid and cell."""
    faces: Array
    """The same as columns, (5, n and some more), for those who look at many in a row; and from how
    far off, as the square of twice the distance to its middle, no one sees a side from behind."""
    cells: Table
    """CELL records of each grid, with one more at the end of a grid."""
    listed: Array
    """Segments listed cell by cell in the grids for single rays."""
    grids: Table
    """GRID records."""
    plans: Table
    """PLAN records."""


@kernel
def band(row: int, side: int, origin: float, cell: float) -> float:
    """The lower (0) or upper (1) border of a row of cells, moved outwards by the rim."""
    return origin + (row + side) * cell + (2 * side - 1) * RIM * cell


@kernel
def touched(ends: Array, g: Row, row: int) -> tuple[int, int]:
    """The first and last cell of a row of cells that a segment touches; (0, −1) for none."""
    ax, ay, bx, by = ends[0], ends[1], ends[2], ends[3]
    if ay > by:
        ax, ay, bx, by = bx, by, ax, ay
    low, high = band(row, 0, g.y, g.cell), band(row, 1, g.y, g.cell)
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
    """Count the segments that touch each cell, one place further on."""
    for i in range(len(segments)):
        first, last = rows_touched(segments[i], g)
        for row in range(first, last + 1):
            left, right = touched(segments[i], g, row)
            for column in range(left, right + 1):
                counts[row * g.width + column + 1] += 1


@kernel
def list_touched(segments: Array, g: Row, places: Array, listed: Array, number: int) -> None:
    """List the segments, numbered from `number` on, in the cells that they touch."""
    for i in range(len(segments)):
        first, last = rows_touched(segments[i], g)
        for row in range(first, last + 1):
            left, right = touched(segments[i], g, row)
            for column in range(left, right + 1):
                at = row * g.width + column
                listed[places[at]] = number + i
                places[at] += 1


def build_segment_index(maps: Sequence[Map]) -> SegmentIndex:
    """The index of some maps."""
    makers = _Makers()
    for map in maps:
        makers.add(map)
    return makers.index()


class _Makers:
    """The parts of an index while maps are added."""

    def __init__(self) -> None:
        self.ends: list[Array] = []
        self.seen_from_behind: list[Array] = []
        self.cells: list[Table] = []
        self.listed: list[Array] = []
        self.grids: list[Table] = []
        self.plans: list[Table] = []
        self.segments = self.starts = self.entries = 0

    def add(self, map: Map) -> None:
        plan = table(PLAN, 1)
        plan["first"], plan["count"] = self.segments, len(map)
        plan["first_grid"], plan["steps"] = len(self.grids), -1
        segments, seen = map.segments, seen_from_behind(map)
        if len(map) > FEW:
            order = self._by_middles(segments)
            segments, seen = segments[order], seen[order]
            plan["grids"] = len(self.grids) - plan["first_grid"]
            plan["steps"] = len(self.grids)
            self._by_touch(segments)
            wide, high = np.maximum(np.ptp(segments.reshape(-1, 2), axis=0), 1e-3)
            plan["density"] = len(segments) / (wide * high)
        self.ends.append(segments)
        self.seen_from_behind.append(seen)
        self.segments += len(segments)
        self.plans.append(plan)

    def index(self) -> SegmentIndex:
        ends = np.vstack([np.zeros((0, 4)), *self.ends])
        faces = np.zeros((5, len(ends) + PAD))
        faces[:4, : len(ends)] = ends.T
        faces[4, : len(ends)] = np.concatenate([np.zeros(0), *self.seen_from_behind])
        return SegmentIndex(
            ends,
            faces,
            np.concatenate([table(CELL, 1), *self.cells]),
            np.concatenate([np.zeros(0, np.int64), *self.listed]),
            np.concatenate([table(GRID, 0), *self.grids]),
            np.concatenate([table(PLAN, 0), *self.plans]),
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

    def _by_middles(self, segments: Array) -> Array:
        """Sort segments into grids by their middles, coarse grids first; their order then."""
        along = segments[:, 2:] - segments[:, :2]
        length = np.sqrt((along**2).sum(axis=1))
        middle = segments[:, :2] + 0.5 * along
        fine = _cell_size(middle, len(segments) / PER_CELL)
        level = np.maximum(0, np.ceil(np.log2(length / fine))).astype(np.int64)
        parts, first = [], self.segments
        for k in np.unique(level)[::-1]:
            here = np.flatnonzero(level == k)
            # A level of few segments is one cell: walking through it would cost more.
            cell = fine * 2.0**k
            low, high = middle[here].min(axis=0), middle[here].max(axis=0)
            if len(here) <= FEW:
                cell = max(cell, 1.001 * float((high - low).max()))
            grid = self._grid(low, high, cell, 0.5 * float(length[here].max()))
            wide, cells = int(grid["width"][0]), int(grid["width"][0] * grid["height"][0])
            at = np.floor((middle[here] - low) / cell).astype(np.int64)
            number = at[:, 1] * wide + at[:, 0]
            here = here[np.argsort(number, kind="stable")]
            starts = np.zeros(cells + 1, np.int64)
            np.cumsum(np.bincount(number, minlength=cells), out=starts[1:])
            parts.append(here)
            self._add_grid(grid, first + starts, _circles(segments[here], starts))
            first += len(here)
        return np.concatenate(parts)

    def _by_touch(self, segments: Array) -> None:
        """List segments in every cell that they touch."""
        ends = segments.reshape(-1, 2)
        low, high = ends.min(axis=0), ends.max(axis=0)
        cell = _cell_size(ends, len(segments) / PER_STEP)
        total = float(np.sqrt(((segments[:, 2:] - segments[:, :2]) ** 2).sum(axis=1)).sum())
        cell = max(cell, total / (4 * len(segments)))  # long walls must not be listed without end
        low, high = low - cell, high + cell  # so that a ray enters before it meets anything
        grid = self._grid(low, high, cell, 0.0)
        starts = np.zeros(int(grid["width"][0] * grid["height"][0]) + 1, np.int64)
        count_touched(segments, grid[0], starts)
        np.cumsum(starts, out=starts)
        listed = np.empty(starts[-1], np.int64)
        list_touched(segments, grid[0], starts.copy(), listed, self.segments)
        self.listed.append(listed)
        self._add_grid(grid, self.entries + starts, np.zeros((len(starts), 3)))
        self.entries += len(listed)


def seen_from_behind(map: Map) -> Array:
    """From within what distance of its middle a segment may be seen from behind, (n,).

    As the square of twice that distance. Segments that follow each other end to end around a solid
    are its sides. From outside of a convex block only the sides that face the viewer can be seen.
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
    # Who is farther from a side's middle than any two points of its block can be is outside of it.
    wide = np.repeat(np.where(convex, np.sqrt(((high - low) ** 2).sum(axis=1)), np.inf), count)
    wide += 0.5 * np.sqrt((along**2).sum(axis=1))
    return np.asarray(4.0 * ROUNDING_FACTOR * wide * wide)


def _cell_size(points: Array, cells: float) -> float:
    """The width of a cell if this many cover the extent of some points."""
    wide, high = np.maximum(np.ptp(points, axis=0), 1e-6)
    return float(max(math.sqrt(wide * high / cells), max(wide, high) / (4.0 * cells)))


def _circles(segments: Array, starts: Array) -> Array:
    """The circle around the segments of each cell: the middle of their box, and its reach."""
    made = np.zeros((len(starts), 3))
    some = np.flatnonzero(np.diff(starts))
    if not len(some):
        return made
    ends = segments.reshape(-1, 2)
    low = np.minimum.reduceat(ends, 2 * starts[some], axis=0)
    high = np.maximum.reduceat(ends, 2 * starts[some], axis=0)
    middle = 0.5 * (low + high)
    apart = np.sqrt(((ends - np.repeat(middle, 2 * np.diff(starts)[some], axis=0)) ** 2).sum(1))
    made[some, :2] = middle
    made[some, 2] = np.maximum.reduceat(apart, 2 * starts[some]) * (1.0 + 1e-12)
    return made
