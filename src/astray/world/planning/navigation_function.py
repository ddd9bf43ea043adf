"""How far it is to a goal from everywhere on a map, around whatever is in the way.

The length t of the shortest way obeys |∇t| = slowness. It is 1 where there is room, grows to 2
along the rim of what has to be kept clear, and is infinite beyond it. Fast marching (Sethian, 1996)
solves this over square cells of width h in the order of t: with the lesser a and b of the
neighbours along x and y

    t = (a + b + √(2 f² − (a − b)²)) / 2        f = slowness · h        min(a, b) + f if |a − b| ≥ f

so that going down its slope leads along the shortest way in any direction, not only in eight. Cells
that must be kept clear get the length of the nearest that need not, and STEEP more: whoever is
there is led out. Where no way leads to the goal the length is infinite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Column, Row, columns
from astray.world.geometry import rasterise, squared_distance
from astray.world.map import Map, block, merge, wall

STEEP = 3.0  # of the slope where nobody should be
ROOM = 1.0  # m around the map and its goals
BEGIN = 8.0  # cells around a goal in the open
FLAT = 1e-9  # of a slope that leads nowhere

NAVIGATION_FIELD = columns(
    Column("first", "", "i8"),
    Column("width", "cells", "i8"),
    Column("height", "cells", "i8"),
    "x m",
    "y m",
    "cell m",
    "goal_x m",
    "goal_y m",
)
"""A field in an array of many: its first cell (−1: not there yet), lower left corner, and goal."""


@kernel
def mark_gaps(gaps: Array, ends: Array, corner: tuple[float, float], cell: float) -> None:
    """Lower the gaps [y, x] of cells to how far their middles are from some segments (n, 4).

    What they hold is how far one has to look.
    """
    high, wide = gaps.shape
    reach = gaps[0, 0]  # a cell of the empty border
    for k in range(len(ends)):
        e = (ends[k, 0], ends[k, 1], ends[k, 2], ends[k, 3])
        low_y, high_y = min(e[1], e[3]), max(e[1], e[3])
        first = max(0, math.floor((low_y - reach - corner[1]) / cell))
        last = min(high - 1, math.floor((high_y + reach - corner[1]) / cell))
        for row in range(first, last + 1):
            y = corner[1] + (row + 0.5) * cell
            x0, x1 = e[0], e[2]
            if high_y > low_y:  # only the part of the segment that is in reach of this row
                t0 = min(max((y - reach - e[1]) / (e[3] - e[1]), 0.0), 1.0)
                t1 = min(max((y + reach - e[1]) / (e[3] - e[1]), 0.0), 1.0)
                x0, x1 = e[0] + t0 * (e[2] - e[0]), e[0] + t1 * (e[2] - e[0])
            left = max(0, math.floor((min(x0, x1) - reach - corner[0]) / cell))
            right = min(wide - 1, math.floor((max(x0, x1) + reach - corner[0]) / cell))
            for column in range(left, right + 1):
                x = corner[0] + (column + 0.5) * cell
                gap = math.sqrt(squared_distance(e, x, y))
                if gap < gaps[row, column]:
                    gaps[row, column] = gap


@inlined_kernel
def push(keys: Array, cells: Array, count: int, key: float, cell: int) -> int:
    """Put a cell into a heap; how many it then holds."""
    k = count
    while k > 0:
        above = (k - 1) >> 1
        if keys[above] <= key:
            break
        keys[k], cells[k] = keys[above], cells[above]
        k = above
    keys[k], cells[k] = key, cell
    return count + 1


@inlined_kernel
def pop(keys: Array, cells: Array, count: int) -> int:
    """Take the first cell out of a heap; it is found behind the last of those that stay."""
    count -= 1
    first_key, first_cell = keys[0], cells[0]
    key, cell, k = keys[count], cells[count], 0
    while True:
        below = 2 * k + 1
        if below >= count:
            break
        if below + 1 < count and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[k], cells[k] = keys[below], cells[below]
        k = below
    keys[k], cells[k] = key, cell
    keys[count], cells[count] = first_key, first_cell
    return count


@inlined_kernel
def solve(way: Array, row: int, column: int, f: float) -> float:
    """The length of the way at a cell from those of its neighbours."""
    high, wide = way.shape
    a = way[row, column - 1] if column > 0 else math.inf
    b = way[row - 1, column] if row > 0 else math.inf
    a = min(a, way[row, column + 1]) if column + 1 < wide else a
    b = min(b, way[row + 1, column]) if row + 1 < high else b
    if abs(a - b) < f:  # never where one is infinite
        return 0.5 * (a + b + math.sqrt(2.0 * f * f - (a - b) * (a - b)))
    return min(a, b) + f


@kernel
def march(way: Array, slowness: Array, cell: float, keys: Array, cells: Array) -> None:
    """Let ways (inf but for the cells around the goal) spread over all that can be reached."""
    high, wide = way.shape
    count = 0
    for k in range(high * wide):
        t = way[k // wide, k % wide]
        if t < math.inf:
            count = push(keys, cells, count, t, k)
    while count:
        count = pop(keys, cells, count)
        k = cells[count]
        if keys[count] > way[k // wide, k % wide]:
            continue  # a better way was found since
        for side in range(4):
            row = k // wide + (1 if side == 0 else -1 if side == 1 else 0)
            column = k % wide + (1 if side == 2 else -1 if side == 3 else 0)
            if 0 <= row < high and 0 <= column < wide and slowness[row, column] < math.inf:
                t = solve(way, row, column, slowness[row, column] * cell)
                if t < way[row, column]:
                    way[row, column] = t
                    count = push(keys, cells, count, t, row * wide + column)


@kernel
def lead_out(
    way: Array, slowness: Array, cell: float, keys: Array, cells: Array, apart: Array
) -> None:
    """Give cells that must be kept clear the way of the nearest that need not, and some more."""
    high, wide = way.shape
    count = 0
    for k in range(high * wide):
        apart[k] = math.inf
        if way[k // wide, k % wide] < math.inf:
            apart[k] = 0.0
            count = push(keys, cells, count, 0.0, k)
    while count:
        count = pop(keys, cells, count)
        k = cells[count]
        if keys[count] > apart[k]:
            continue
        for side in range(9):
            row, column = k // wide + side // 3 - 1, k % wide + side % 3 - 1
            if not (0 <= row < high and 0 <= column < wide) or slowness[row, column] < math.inf:
                continue
            step = cell * (1.0 if side % 2 else math.sqrt(2.0))
            to = row * wide + column
            if apart[k] + step < apart[to]:
                apart[to] = apart[k] + step
                way[row, column] = way[k // wide, k % wide] + STEEP * step
                count = push(keys, cells, count, apart[to], to)


@inlined_kernel
def spot(at: float, corner: float, cell: float, count: int) -> tuple[int, float]:
    """The column of middles left of a coordinate, and how far on it is to the next, from 0 to 1."""
    u = min(max((at - corner) / cell - 0.5, 0.0), count - 1.0)
    k = min(int(u), count - 2)
    return k, u - k


@kernel
def value_and_gradient(ways: Array, f: Row, x: float, y: float) -> tuple[float, float, float]:
    """The way from a point to the goal, m, and its gradient; inf where none leads there."""
    i, u = spot(x, f.x, f.cell, f.width)
    j, v = spot(y, f.y, f.cell, f.height)
    at = f.first + j * f.width + i
    a, b, c, d = ways[at], ways[at + 1], ways[at + f.width], ways[at + f.width + 1]
    if not a + b + c + d < math.inf:  # beside a pocket that cannot be left
        best = min(a, b, c, d)
        if best == math.inf:
            return best, 0.0, 0.0
        return best, u - (1.0 if best in (b, d) else 0.0), v - (1.0 if best in (c, d) else 0.0)
    low, high = a + u * (b - a), c + u * (d - c)
    return low + v * (high - low), (b - a + v * (d - c - b + a)) / f.cell, (high - low) / f.cell


@kernel
def descend(ways: Array, f: Row, x: float, y: float, far: float) -> tuple[float, float]:
    """The point that lies some metres further along the way to the goal."""
    step = 0.5 * f.cell
    for _ in range(int(far / step)):
        dx, dy = f.goal_x - x, f.goal_y - y
        if dx * dx + dy * dy < f.cell * f.cell:
            return f.goal_x, f.goal_y
        _, gx, gy = value_and_gradient(ways, f, x, y)
        steep = math.sqrt(gx * gx + gy * gy)
        if steep < FLAT:
            return f.goal_x, f.goal_y
        x, y = x - step * gx / steep, y - step * gy / steep
    return x, y


@dataclass(frozen=True)
class NavigationGrid:
    """Where one may go on a map: cells [y, x] with their slowness, and their lower left corner."""

    slowness: Array
    corner: tuple[float, float]  # m
    cell: float  # m

    def distance_to_goal(self, x: float, y: float) -> Array:
        """The length of the shortest way to a goal from every cell [y, x], m."""
        way: Array = np.full(self.slowness.shape, np.inf)
        u, v = (x - self.corner[0]) / self.cell - 0.5, (y - self.corner[1]) / self.cell - 0.5
        across, along = np.arange(way.shape[1]) - u, np.arange(way.shape[0]) - v
        far = np.sqrt(across**2 + along[:, None] ** 2)
        # Where waves begin they are bent too much for their cells: there the distance is exact.
        crowded = far[self.slowness > 1.0].min(initial=BEGIN)
        begin = (far < max(crowded, math.sqrt(2.0))) & (self.slowness < np.inf)
        way[begin] = self.cell * far[begin]
        room = 4 * way.size + 8  # a cell is put in again when a better way to it is found
        keys, cells = np.empty(room), np.empty(room, np.int64)
        march(way, self.slowness, self.cell, keys, cells)
        keys, cells = np.empty(2 * room), np.empty(2 * room, np.int64)
        lead_out(way, self.slowness, self.cell, keys, cells, np.empty(way.size))
        return way


def make_navigation_grid(
    found: Map, goals: Array, cell: float, clearance: float, keep: float
) -> NavigationGrid:
    """Where one may go that keeps a clearance, and some more where there is room; goals (n, 2).

    What is forbidden on the map is an obstacle like any other.
    """
    parts = [found]
    for place in found.places:
        if place.kind == "forbidden_area" and len(place.points) >= 3:
            parts.append(block(place.points))
        elif place.kind in ("forbidden_line", "forbidden_area"):
            parts.append(wall(place.points))
    whole = merge(parts)
    mask, corner = _cells(whole, goals, cell, clearance + keep)
    gaps = np.full(mask.shape, clearance + keep)
    mark_gaps(gaps, whole.segments, corner, cell)
    slowness = 2.0 - np.clip((gaps - clearance) / max(keep, 1e-9), 0.0, 1.0)
    slowness[mask | (gaps < clearance)] = np.inf
    return NavigationGrid(slowness, corner, cell)


def _cells(
    whole: Map, goals: Array, cell: float, reach: float
) -> tuple[Array, tuple[float, float]]:
    """Cells [y, x] that are occupied, with room around them and around the goals."""
    mask, (x, y) = np.zeros((1, 1), bool), (goals[0, 0], goals[0, 1])
    if len(whole):
        mask, (x, y) = rasterise(whole, cell)
    room = ROOM + reach + cell
    low = np.ceil((np.array([x, y]) - goals.min(axis=0) + room) / cell).astype(int)
    size = np.array(mask.shape[::-1]) * cell
    high = np.ceil((goals.max(axis=0) + room - (np.array([x, y]) + size)) / cell).astype(int)
    rim = math.ceil(room / cell)
    low, high = np.maximum(low, rim), np.maximum(high, rim)
    padded = np.pad(mask, ((low[1], high[1]), (low[0], high[0])))
    return padded, (float(x - low[0] * cell), float(y - low[1] * cell))
