"""Navigation functions: the length of the shortest path to a goal, from everywhere on a map.

The length t obeys the eikonal equation |∇t| = slowness. The slowness is 1 in free space, grows to 2
along the rim of what has to be kept clear, and is infinite beyond it. Fast marching (Sethian, A
fast marching level set method for monotonically advancing fronts, 1996) solves it over square cells
of width h in the order of t: with the lesser a and b of the neighbours along x and y

    t = (a + b + √(2 f² − (a − b)²)) / 2        f = slowness · h        min(a, b) + f if |a − b| ≥ f

so descending its gradient follows the shortest path in any direction, not only in eight. A cell
that has to be kept clear gets the length of the nearest cell that need not, plus STEEP times the
distance: a robot that is there is led out. Where no path leads to the goal the length is infinite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Column, Row, columns
from astray.world.geometry import Segment, rasterise, squared_distance
from astray.world.map import Map, block, merge, wall

STEEP = 3.0  # the slowness where no robot should be
MARGIN = 1.0  # m around the map and its goals
EXACT = 8.0  # cells around a goal in the open where the length is the distance
FLAT = 1e-9  # a gradient that leads nowhere

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
"""A navigation function among many in one array: its first cell (−1: not computed yet), width and
height, lower left corner, size of a cell, and goal."""

# Fast marching.


@kernel
def mark_clearances(
    clearances: Array, ends: Array, corner: tuple[float, float], cell: float
) -> None:
    """Lower the clearances [y, x] of cells to the distance of their centres from segments (n, 4).

    Cells hold the largest clearance that matters.
    """
    height, width = clearances.shape
    reach = clearances[0, 0]  # of a cell of the empty border
    for k in range(len(ends)):
        p = Segment(ends[k, 0], ends[k, 1], ends[k, 2], ends[k, 3])
        low_y, high_y = min(p.ay, p.by), max(p.ay, p.by)
        first = max(0, math.floor((low_y - reach - corner[1]) / cell))
        last = min(height - 1, math.floor((high_y + reach - corner[1]) / cell))
        for row in range(first, last + 1):
            y = corner[1] + (row + 0.5) * cell
            x0, x1 = p.ax, p.bx
            if high_y > low_y:  # only the part of the segment that is in reach of this row
                t0 = min(max((y - reach - p.ay) / (p.by - p.ay), 0.0), 1.0)
                t1 = min(max((y + reach - p.ay) / (p.by - p.ay), 0.0), 1.0)
                x0, x1 = p.ax + t0 * (p.bx - p.ax), p.ax + t1 * (p.bx - p.ax)
            left = max(0, math.floor((min(x0, x1) - reach - corner[0]) / cell))
            right = min(width - 1, math.floor((max(x0, x1) + reach - corner[0]) / cell))
            for column in range(left, right + 1):
                x = corner[0] + (column + 0.5) * cell
                clearance = math.sqrt(squared_distance(p, x, y))
                if clearance < clearances[row, column]:
                    clearances[row, column] = clearance


@inlined_kernel
def push(keys: Array, cells: Array, count: int, key: float, cell: int) -> int:
    """Add a cell to a binary heap; how many it then holds."""
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
    """Remove the first cell of a heap and put it after the last; how many it then holds."""
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
def solve_eikonal(length: Array, row: int, column: int, f: float) -> float:
    """The length at a cell from those of its neighbours."""
    height, width = length.shape
    a = length[row, column - 1] if column > 0 else math.inf
    b = length[row - 1, column] if row > 0 else math.inf
    a = min(a, length[row, column + 1]) if column + 1 < width else a
    b = min(b, length[row + 1, column]) if row + 1 < height else b
    if abs(a - b) < f:  # never where one is infinite
        return 0.5 * (a + b + math.sqrt(2.0 * f * f - (a - b) * (a - b)))
    return min(a, b) + f


@kernel
def march(length: Array, slowness: Array, cell: float, keys: Array, cells: Array) -> None:
    """Propagate lengths, which are inf but around the goal, to all cells that can be reached."""
    height, width = length.shape
    count = 0
    for k in range(height * width):
        t = length[k // width, k % width]
        if t < math.inf:
            count = push(keys, cells, count, t, k)
    while count:
        count = pop(keys, cells, count)
        k = cells[count]
        if keys[count] > length[k // width, k % width]:
            continue  # a shorter path was found since
        for side in range(4):
            row = k // width + (1 if side == 0 else -1 if side == 1 else 0)
            column = k % width + (1 if side == 2 else -1 if side == 3 else 0)
            if 0 <= row < height and 0 <= column < width and slowness[row, column] < math.inf:
                t = solve_eikonal(length, row, column, slowness[row, column] * cell)
                if t < length[row, column]:
                    length[row, column] = t
                    count = push(keys, cells, count, t, row * width + column)


@kernel
def lead_out(
    length: Array, slowness: Array, cell: float, keys: Array, cells: Array, distance: Array
) -> None:
    """Extend the lengths to cells that have to be kept clear, from the nearest that need not.

    `distance` is memory for a number per cell.
    """
    height, width = length.shape
    count = 0
    for k in range(height * width):
        distance[k] = math.inf
        if length[k // width, k % width] < math.inf:
            distance[k] = 0.0
            count = push(keys, cells, count, 0.0, k)
    while count:
        count = pop(keys, cells, count)
        k = cells[count]
        if keys[count] > distance[k]:
            continue
        for side in range(9):
            row, column = k // width + side // 3 - 1, k % width + side % 3 - 1
            if not (0 <= row < height and 0 <= column < width) or slowness[row, column] < math.inf:
                continue
            step = cell * (1.0 if side % 2 else math.sqrt(2.0))
            to = row * width + column
            if distance[k] + step < distance[to]:
                distance[to] = distance[k] + step
                length[row, column] = length[k // width, k % width] + STEEP * step
                count = push(keys, cells, count, distance[to], to)


# Reading a navigation function.


@inlined_kernel
def centre_before(x: float, corner: float, cell: float, count: int) -> tuple[int, float]:
    """The column whose centre is left of a coordinate, and the share of a cell beyond it."""
    u = min(max((x - corner) / cell - 0.5, 0.0), count - 1.0)
    k = min(int(u), count - 2)
    return k, u - k


@kernel
def value_and_gradient(lengths: Array, f: Row, x: float, y: float) -> tuple[float, float, float]:
    """The length of the path from a point to the goal, m, and its gradient; inf without a path."""
    i, u = centre_before(x, f.x, f.cell, f.width)
    j, v = centre_before(y, f.y, f.cell, f.height)
    k = f.first + j * f.width + i
    a, b, c, d = lengths[k], lengths[k + 1], lengths[k + f.width], lengths[k + f.width + 1]
    if not a + b + c + d < math.inf:  # beside a cell from which no path leads to the goal
        best = min(a, b, c, d)
        if best == math.inf:
            return best, 0.0, 0.0
        return best, u - (1.0 if best in (b, d) else 0.0), v - (1.0 if best in (c, d) else 0.0)
    low, high = a + u * (b - a), c + u * (d - c)
    return low + v * (high - low), (b - a + v * (d - c - b + a)) / f.cell, (high - low) / f.cell


@kernel
def descend(lengths: Array, f: Row, x: float, y: float, distance: float) -> tuple[float, float]:
    """The point that lies this distance, m, further along the path to the goal."""
    step = 0.5 * f.cell
    for _ in range(int(distance / step)):
        dx, dy = f.goal_x - x, f.goal_y - y
        if dx * dx + dy * dy < f.cell * f.cell:
            return f.goal_x, f.goal_y
        _, gx, gy = value_and_gradient(lengths, f, x, y)
        steep = math.sqrt(gx * gx + gy * gy)
        if steep < FLAT:
            return f.goal_x, f.goal_y
        x, y = x - step * gx / steep, y - step * gy / steep
    return x, y


# Planning.


@dataclass(frozen=True)
class NavigationGrid:
    """The cells [y, x] of a map with their slowness, and their lower left corner."""

    slowness: Array
    corner: tuple[float, float]  # m
    cell: float  # m

    def distance_to_goal(self, x: float, y: float) -> Array:
        """The length of the shortest path to a goal from every cell [y, x], m."""
        length: Array = np.full(self.slowness.shape, np.inf)
        u, v = (x - self.corner[0]) / self.cell - 0.5, (y - self.corner[1]) / self.cell - 0.5
        dx, dy = np.arange(length.shape[1]) - u, np.arange(length.shape[0]) - v
        far = np.sqrt(dx**2 + dy[:, None] ** 2)
        # Near the goal fronts are bent too much for their cells: there the distance is exact.
        exact = far[self.slowness > 1.0].min(initial=EXACT)
        begin = (far < max(exact, math.sqrt(2.0))) & (self.slowness < np.inf)
        length[begin] = self.cell * far[begin]
        capacity = 4 * length.size + 8  # a cell is added again when a shorter path is found
        keys, cells = np.empty(capacity), np.empty(capacity, np.int64)
        march(length, self.slowness, self.cell, keys, cells)
        keys, cells = np.empty(2 * capacity), np.empty(2 * capacity, np.int64)
        lead_out(length, self.slowness, self.cell, keys, cells, np.empty(length.size))
        return length


def make_navigation_grid(
    map: Map, goals: Array, cell: float, clearance: float, keep: float
) -> NavigationGrid:
    """Compute the slowness of the cells of a map.

    Args:
        map: The map; its forbidden areas and lines are obstacles like any other.
        goals: Points that the grid has to contain, (n, 2) m.
        cell: The size of a cell, m.
        clearance: The distance from obstacles that is always kept, m.
        keep: The further distance that is kept where there is space, m.
    """
    parts = [map]
    for place in map.places:
        if place.kind == "forbidden_area" and len(place.points) >= 3:
            parts.append(block(place.points))
        elif place.kind in ("forbidden_line", "forbidden_area"):
            parts.append(wall(place.points))
    obstacles = merge(parts)
    mask, corner = _occupied_cells(obstacles, goals, cell, clearance + keep)
    clearances = np.full(mask.shape, clearance + keep)
    mark_clearances(clearances, obstacles.segments, corner, cell)
    slowness = 2.0 - np.clip((clearances - clearance) / max(keep, 1e-9), 0.0, 1.0)
    slowness[mask | (clearances < clearance)] = np.inf
    return NavigationGrid(slowness, corner, cell)


def _occupied_cells(
    obstacles: Map, goals: Array, cell: float, reach: float
) -> tuple[Array, tuple[float, float]]:
    """Mark the occupied cells [y, x], with a margin around the map and the goals."""
    mask, (x, y) = np.zeros((1, 1), bool), (goals[0, 0], goals[0, 1])
    if len(obstacles):
        mask, (x, y) = rasterise(obstacles, cell)
    margin = MARGIN + reach + cell
    low = np.ceil((np.array([x, y]) - goals.min(axis=0) + margin) / cell).astype(int)
    size = np.array(mask.shape[::-1]) * cell
    high = np.ceil((goals.max(axis=0) + margin - (np.array([x, y]) + size)) / cell).astype(int)
    border = math.ceil(margin / cell)
    low, high = np.maximum(low, border), np.maximum(high, border)
    padded = np.pad(mask, ((low[1], high[1]), (low[0], high[0])))
    return padded, (float(x - low[0] * cell), float(y - low[1] * cell))
