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
SURELY = 1.000001  # times what would do but for rounding
Walls = tuple[Array, Table]
"""Ends and cells of an index."""
Run = tuple[int, int, int, float, float, bool]
"""The first segment, how many of them are sides of blocks, where they end, `limits`, and whether
no bounds of the rays are kept."""
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
def gather_run(w: Array, f: Fan, walls: Walls, run: Run, at: Place, n: int) -> int:
    """Gather segments that lie one behind the other, where n others are; how many there are then.

    Not those out of reach, nor sides of convex blocks that face away: from farther off than a
    block is wide, they are behind the others. If there is no more room, all are cast.
    """
    ends, (x, y, first), (begin, sides, end, far, wide, few) = walls[0], at, run
    k, found = np.uint64(begin), np.uint64(n)
    one_sided, stop = k + np.uint64(sides), np.uint64(end)
    while k < stop:
        ax, ay, bx, by = ends[k, 0] - x, ends[k, 1] - y, ends[k, 2] - x, ends[k, 3] - y
        w[AX, found], w[AY, found], w[BX, found], w[BY, found] = ax, ay, bx, by
        across, up = ax + bx, ay + by  # twice the way to its middle
        away = across * across + up * up
        behind = (k < one_sided) & (ax * by - ay * bx > 0.0) & (away > wide)
        found += _0 if behind | (away > far) else _1
        k += _1
        if found == CHUNK:
            cast(w, f, CHUNK, first, few)
            found = _0
    return int(found)


@inlined_kernel
def limits(f: Fan, reach: float, extent: float) -> tuple[float, float]:
    """For segments that reach so far from their middles, when these are out of reach of the rays,
    and when they see no far side of a block; as squares of twice their distance.
    """
    far, wide = 1.0 / f[5] + reach, extent + min(reach, 0.5 * extent)
    return 4.0 * SURELY * far * far, 4.0 * SURELY * wide * wide


@inlined_kernel
def cast_cells(w: Array, f: Fan, walls: Walls, found: int, g: Row, at: Place) -> None:
    """Cast the rays against what is within their reach and not hidden in the listed cells."""
    cells = walls[1]
    far, wide = limits(f, g.reach, g.extent)
    n = 0
    for i in range(found):
        if not cell_hidden(w, f, i):
            cell = int(w[CELL_ID, i])
            c = cells[cell]
            run = (c.first, c.sides, cells[cell + 1].first, far, wide, False)
            n = gather_run(w, f, walls, run, at, n)
    cast(w, f, n, at[2], False)


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
    """Gather the segments of a grid that are in reach of the rays, where n others are."""
    cells, reach = walls[1], 1.0 / f[5]
    far, wide = limits(f, g.reach, g.extent)
    left, right = in_reach(g, at[0], g.x, g.wide, reach + g.reach)
    low, high = in_reach(g, at[1], g.y, g.high, reach + g.reach)
    for row in range(low, high + 1):
        for k in range(g.first + row * g.wide + left, g.first + row * g.wide + right + 1):
            cell, end = cells[k], cells[k + 1].first
            dx, dy, most = cell.x - at[0], cell.y - at[1], reach + cell.radius
            if cell.first < end and dx * dx + dy * dy <= most * most:
                n = gather_run(w, f, walls, (cell.first, cell.sides, end, far, wide, True), at, n)
    return n


@kernel
def cast_near(w: Array, f: Fan, walls: Walls, grids: Table, p: Row, at: Place) -> None:
    """Cast the rays against all segments of a plan in their reach, which are not very many."""
    n = 0
    for k in range(p.first_grid, p.first_grid + p.grids):
        n = gather_near(w, f, walls, grids[k], at, n)
    cast(w, f, n, at[2], True)


@kernel
def cast_all(w: Array, f: Fan, walls: Walls, p: Row, at: Place) -> None:
    """Cast the rays against all segments of a plan, which are few."""
    _, wide = limits(f, math.inf, p.extent)
    run = (p.first, p.sides, p.first + p.count, math.inf, wide, True)
    n = gather_run(w, f, walls, run, at, 0)
    cast(w, f, n, at[2], True)
