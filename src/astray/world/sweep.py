"""Which segments a fan of rays has to be cast against.

Cells are visited from near to far, ring by ring around the sensor, and left out when all the rays
that could meet what they hold already end before it.
"""

from __future__ import annotations

import math

import numpy as np

from astray.kernel import inlined_kernel, kernel
from astray.maths import HALF_PI
from astray.table import Array, Row, Table
from astray.world.fan import (
    AX,
    AY,
    BX,
    BY,
    CELL_HIGH,
    CELL_ID,
    CELL_LOW,
    CELL_NEAR,
    CELL_SIZE,
    CELL_X,
    CELL_Y,
    CHUNK,
    Fan,
    bearing,
    cast,
    hidden,
)
from astray.world.grid import in_reach

_0, _1 = np.uint64(0), np.uint64(1)
Walls = tuple[Array, Table]
"""Ends and cells of an index."""
Place = tuple[float, float, float]
"""x and y of the sensor, m, and the bearing of its first ray, rad."""


@inlined_kernel
def ring_cells(w: Array, cells: Table, g: Row, column: int, row: int, ring: int) -> int:
    """List the cells of a ring that hold something; how many there are, at most CHUNK."""
    n = 0
    for j in range(max(0, row - ring), min(g.high - 1, row + ring) + 1):
        across = 1 if abs(j - row) == ring else max(1, 2 * ring)
        i = column - ring
        if i < 0:
            i = 0 if across == 1 else i + across
        while i <= column + ring and i < g.wide:
            cell = g.first + j * g.wide + i
            if i >= 0 and cells[cell].first != cells[cell + 1].first and n < CHUNK:
                w[CELL_ID, n] = cell
                n += 1
            i += across
    return n


@inlined_kernel
def look_at_cells(w: Array, cells: Table, n: int, f: Fan, at: Place) -> None:
    """How near the circles of cells are, and from where to where they reach in the fan."""
    for i in range(n):
        c = cells[int(w[CELL_ID, i])]
        w[CELL_X, i] = c.x - at[0]
        w[CELL_Y, i] = c.y - at[1]
        w[CELL_SIZE, i] = c.radius
    for i in range(n):
        x, y, radius = w[CELL_X, i], w[CELL_Y, i], w[CELL_SIZE, i]
        near = math.sqrt(x * x + y * y) - radius
        nearness = 1.0 / near
        # asin t ≤ π/2 t: half the angle that the circle takes up, at most.
        half = HALF_PI * radius * nearness * f[2] + f[4]
        middle = bearing(x, y, at[2]) * f[2]
        w[CELL_NEAR, i] = nearness
        w[CELL_LOW, i] = middle - half
        w[CELL_HIGH, i] = middle + half


@inlined_kernel
def cell_hidden(w: Array, f: Fan, i: int) -> bool:
    """Whether all rays that could meet what a cell holds end before it."""
    nearness, low, high = w[CELL_NEAR, i], w[CELL_LOW, i], w[CELL_HIGH, i]
    rays, turn = f[0], f[3]
    last = rays - 1
    if not nearness > 0.0:
        return False  # the sensor is within the circle
    if nearness <= f[5]:
        return True
    if high - low >= 0.5 * turn:
        return hidden(w, 0, last, nearness)
    if high >= turn and not hidden(w, 0, min(last, int(high - turn)), nearness):
        return False
    if low < 0.0 and low + turn <= last and not hidden(w, int(low + turn), last, nearness):
        return False
    k, j = int(max(low, 0.0)), min(last, int(high))
    return k > j or hidden(w, k, j, nearness)


@inlined_kernel
def cast_cells(w: Array, f: Fan, walls: Walls, found: int, g: Row, at: Place) -> None:
    """Cast the rays against what is within their reach and not hidden in the listed cells."""
    ends, cells = walls
    x, y, first = at
    reach = 2.000001 * (1.0 / f[5] + g.reach)
    n = _0
    for i in range(found):
        if cell_hidden(w, f, i):
            continue
        cell = int(w[CELL_ID, i])
        # From farther off than a block is wide, its far sides are behind its near ones.
        outside = w[CELL_NEAR, i] > 0.0 and w[CELL_NEAR, i] * g.extent < 1.0
        k, stop = np.uint64(cells[cell].first), np.uint64(cells[cell + 1].first)
        one_sided = k + np.uint64(cells[cell].sides if outside else 0)
        while k < stop:
            ax, ay, bx, by = ends[k, 0] - x, ends[k, 1] - y, ends[k, 2] - x, ends[k, 3] - y
            w[AX, n], w[AY, n], w[BX, n], w[BY, n] = ax, ay, bx, by
            left_out = (k < one_sided) & (ax * by - ay * bx > 0.0)
            across, up = ax + bx, ay + by  # twice the way to its middle
            left_out |= across * across + up * up > reach * reach
            n += _0 if left_out else _1
            k += _1
            if n == CHUNK:
                cast(w, f, CHUNK, first, False)
                n = _0
    cast(w, f, int(n), first, False)


@kernel
def cast_grid(w: Array, f: Fan, walls: Walls, g: Row, at: Place) -> None:
    """Cast the rays against the segments of a grid, from near to far."""
    cells = walls[1]
    column = math.floor((at[0] - g.x) / g.cell)
    row = math.floor((at[1] - g.y) / g.cell)
    ring = max(0, -column, column - g.wide + 1, -row, row - g.high + 1)
    last = max(column, g.wide - 1 - column, row, g.high - 1 - row)
    while ring <= last:
        near = (ring - 1) * g.cell - g.reach
        if near > 0.0 and hidden(w, 0, f[0] - 1, 1.0 / near):
            return
        n = ring_cells(w, cells, g, column, row, ring)
        look_at_cells(w, cells, n, f, at)
        cast_cells(w, f, walls, n, g, at)
        ring += 1


@inlined_kernel
def gather_near(w: Array, f: Fan, walls: Walls, g: Row, at: Place, n: int) -> int:
    """Gather the segments of a grid that are in reach of the rays, n others being there."""
    ends, cells = walls
    x, y, first = at
    reach = 1.0 / f[5]
    left, right = in_reach(g, x, g.x, g.wide, reach + g.reach)
    low, high = in_reach(g, y, g.y, g.high, reach + g.reach)
    far, wide = 2.000001 * (reach + g.reach), 2.000001 * (g.extent + g.reach)
    found = np.uint64(n)
    for row in range(low, high + 1):
        for c in range(g.first + row * g.wide + left, g.first + row * g.wide + right + 1):
            cell, k, stop = cells[c], np.uint64(cells[c].first), np.uint64(cells[c + 1].first)
            dx, dy, within = cell.x - x, cell.y - y, reach + cell.radius
            if k == stop or dx * dx + dy * dy > within * within:
                continue
            one_sided = k + np.uint64(cell.sides)
            while k < stop:
                ax, ay, bx, by = ends[k, 0] - x, ends[k, 1] - y, ends[k, 2] - x, ends[k, 3] - y
                w[AX, found], w[AY, found], w[BX, found], w[BY, found] = ax, ay, bx, by
                across, up = ax + bx, ay + by  # twice the way to its middle
                away = across * across + up * up
                # From farther off than a block is wide, its far sides are behind its near ones.
                behind = (k < one_sided) & (ax * by - ay * bx > 0.0) & (away > wide * wide)
                found += _0 if behind | (away > far * far) else _1
                k += _1
                if found == CHUNK:
                    cast(w, f, CHUNK, first, True)
                    found = _0
    return int(found)


@kernel
def cast_near(w: Array, f: Fan, walls: Walls, grids: Table, p: Row, at: Place) -> None:
    """Cast the rays against all segments of a plan in their reach, which are few."""
    n = 0
    for k in range(p.first_grid, p.first_grid + p.grids):
        n = gather_near(w, f, walls, grids[k], at, n)
    cast(w, f, n, at[2], True)


@kernel
def cast_all(w: Array, f: Fan, ends: Array, sides: Array, p: Row, at: Place) -> None:
    """Cast the rays against all segments of a plan, which are few."""
    x, y, first = at
    n, k, stop = _0, np.uint64(p.first), np.uint64(p.first + p.count)
    while k < stop:
        # The sides of a convex block are there together; those that face away are not cast if
        # some do not, for then it is seen from outside.
        together = np.uint64(max(1, sides[k]))
        if n + together > CHUNK:
            cast(w, f, int(n), first, True)
            n = _0
        begun, is_block, end = n, together > _1, k + together
        for facing in range(2):  # if none faces the sensor, it is inside, and sees them all
            j = k
            while j < end:
                ax, ay, bx, by = ends[j, 0] - x, ends[j, 1] - y, ends[j, 2] - x, ends[j, 3] - y
                w[AX, n], w[AY, n], w[BX, n], w[BY, n] = ax, ay, bx, by
                left_out = is_block & (ax * by - ay * bx > 0.0) & (facing == 0)
                n += _0 if left_out else _1
                j += _1
            if n > begun:
                break
        k = end
    cast(w, f, int(n), first, True)
