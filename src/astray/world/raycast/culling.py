"""Which segments a fan of rays has to be cast against.

Cells are visited from near to far, ring by ring around the sensor, and left out when all the rays
that could meet what they hold already end before it.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import HALF_PI, inlined_kernel, kernel
from astray.tables import Array, Row, Table
from astray.world.geometry import ROUNDING_FACTOR, cell_columns, cell_rows, padded
from astray.world.raycast.angular_interval import Place, bearing, cast, cast_kept
from astray.world.raycast.ray_bundle import (
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
    KEPT,
    RayBundle,
    RayWorkspace,
    hidden,
)

_0, _1, _2, _3, _4 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
PIECE = 64  # segments of a run that are looked at together
Walls = tuple[Array, Table]
"""Faces and cells of an index."""
Ring = tuple[int, int, int]
"""The column and the row of the sensor's cell, and how many cells away from it."""
Run = tuple[int, int, float, bool]
"""The first segment of a run and where it ends, `too_far`, and whether no bounds are kept."""


@inlined_kernel
def look_at_cells(w: Array, cells: Table, n: int, f: RayBundle, at: Place) -> None:
    """How near the circles of cells are, and from where to where they reach in the fan."""
    for i in range(n):
        k = np.uint64(i)
        c = cells[int(w[CELL_ID + k])]
        w[CELL_X + k] = c.x - at[0]
        w[CELL_Y + k] = c.y - at[1]
        w[CELL_SIZE + k] = c.radius
    first = np.float32(at[2])
    for i in range(n):
        k = np.uint64(i)
        x, y, radius = w[CELL_X + k], w[CELL_Y + k], w[CELL_SIZE + k]
        near = math.sqrt(x * x + y * y) - radius
        nearness = 1.0 / near
        # asin t ≤ π/2 t: half the angle that the circle takes up, at most.
        half = HALF_PI * radius * nearness * f[2] + f[4]
        middle = float(bearing(np.float32(x), np.float32(y), first)) * f[2]
        w[CELL_NEAR + k] = nearness
        w[CELL_LOW + k] = middle - half
        w[CELL_HIGH + k] = middle + half


@inlined_kernel
def cell_hidden(w: Array, f: RayBundle, i: int) -> bool:
    """Whether all rays that could meet what a cell holds end before it."""
    k = np.uint64(i)
    nearness, low, high = w[CELL_NEAR + k], w[CELL_LOW + k], w[CELL_HIGH + k]
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
    first, end = int(max(low, 0.0)), min(last, int(high))
    return first > end or hidden(w, first, end, nearness)


@inlined_kernel
def approach(w: Array, faces: Array, run: Run, n: int, at: Place) -> None:
    """Bring some segments behind n others, as seen from a place, and which have to be cast.

    Not those out of reach, nor sides of convex blocks that face away: from farther off than a
    block is wide, they are behind the others.
    """
    begin, end, too_far, _ = run
    x, y = at[0], at[1]
    for i in range(padded(end - begin)):
        j, k = np.uint64(n + i), np.uint64(begin + i)
        ax, ay, bx, by = faces[_0, k] - x, faces[_1, k] - y, faces[_2, k] - x, faces[_3, k] - y
        w[AX + j], w[AY + j], w[BX + j], w[BY + j] = ax, ay, bx, by
        across, up = ax + bx, ay + by  # twice the way to its middle
        away = across * across + up * up
        behind = (ax * by - ay * bx > 0.0) & (away > faces[_4, k])
        w[KEPT + j] = 0.0 if behind | (away > too_far) else 1.0


@inlined_kernel
def gather_run(board: RayWorkspace, f: RayBundle, faces: Array, run: Run, at: Place, n: int) -> int:
    """Gather what has to be cast of segments that lie one behind the other, where n others are.

    How many there are then. If there is no more room, all are cast.
    """
    w, (begin, end, too_far, few) = board[0], run
    while begin < end:
        count = min(end - begin, PIECE)
        if n + count > CHUNK:
            cast(board, f, n, at, few)
            n = 0
        approach(w, faces, (begin, begin + count, too_far, few), n, at)
        found = np.uint64(n)
        for i in range(n, n + count):
            k = np.uint64(i)
            w[AX + found], w[AY + found] = w[AX + k], w[AY + k]
            w[BX + found], w[BY + found] = w[BX + k], w[BY + k]
            found += _1 if w[KEPT + k] > 0.0 else _0
        n = int(np.int64(found))  # not unsigned, as it would be without
        begin += count
    return n


@inlined_kernel
def too_far(f: RayBundle, reach: float) -> float:
    """When middles of segments that reach so far from them are out of reach of the rays.

    It is the square of twice their distance.
    """
    far = 1.0 / f[5] + reach
    return 4.0 * ROUNDING_FACTOR * far * far


@kernel
def cast_cells(
    board: RayWorkspace, f: RayBundle, walls: Walls, found: int, g: Row, at: Place
) -> None:
    """Cast the rays against what is within their reach and not hidden in the listed cells."""
    faces, cells = walls
    w, far = board[0], too_far(f, g.reach)
    look_at_cells(w, cells, found, f, at)
    n = 0
    for i in range(found):
        if not cell_hidden(w, f, i):
            cell = int(w[CELL_ID + np.uint64(i)])
            run = (cells[cell].first, cells[cell + 1].first, far, False)
            n = gather_run(board, f, faces, run, at, n)
    cast(board, f, n, at, False)


@inlined_kernel
def cast_ring(
    board: RayWorkspace, f: RayBundle, walls: Walls, g: Row, ring: Ring, at: Place
) -> None:
    """Cast the rays against the cells of a ring that hold something, some at a time."""
    w, cells, (column, row, away) = board[0], walls[1], ring
    n = 0
    for j in range(max(0, row - away), min(g.height - 1, row + away) + 1):
        across = 1 if abs(j - row) == away else max(1, 2 * away)
        i = column - away
        if i < 0:
            i = 0 if across == 1 else i + across
        while i <= column + away and i < g.width:
            cell = g.first + j * g.width + i
            if i >= 0 and cells[cell].first != cells[cell + 1].first:
                w[CELL_ID + np.uint64(n)] = cell
                n += 1
                if n == CHUNK:
                    cast_cells(board, f, walls, n, g, at)
                    n = 0
            i += across
    cast_cells(board, f, walls, n, g, at)


@kernel
def cast_grid(board: RayWorkspace, f: RayBundle, walls: Walls, g: Row, at: Place) -> None:
    """Cast the rays against the segments of a grid, from near to far."""
    w = board[0]
    column = math.floor((at[0] - g.x) / g.cell)
    row = math.floor((at[1] - g.y) / g.cell)
    ring = max(0, -column, column - g.width + 1, -row, row - g.height + 1)
    last = max(column, g.width - 1 - column, row, g.height - 1 - row)
    while ring <= last:
        near = (ring - 1) * g.cell - g.reach
        if near > 0.0 and hidden(w, 0, f[0] - 1, 1.0 / near):
            return
        cast_ring(board, f, walls, g, (column, row, ring), at)
        ring += 1


@inlined_kernel
def out_of_reach(cells: Table, k: int, reach: float, at: Place) -> bool:
    """Whether a cell holds nothing that is in reach."""
    cell = cells[k]
    dx, dy, most = cell.x - at[0], cell.y - at[1], reach + cell.radius
    return bool((cell.first == cells[k + 1].first) | (dx * dx + dy * dy > most * most))


@inlined_kernel
def gather_near(board: RayWorkspace, f: RayBundle, walls: Walls, g: Row, at: Place, n: int) -> int:
    """Gather the segments of a grid that are in reach of the rays, where n others are."""
    (faces, cells), reach, far = walls, 1.0 / f[5], too_far(f, g.reach)
    left, right = cell_columns(g, at[0], reach + g.reach)
    low, high = cell_rows(g, at[1], reach + g.reach)
    for row in range(low, high + 1):
        # The segments of neighbouring cells of a row lie one behind the other.
        k, last = g.first + row * g.width + left, g.first + row * g.width + right
        while k <= last and out_of_reach(cells, k, reach, at):
            k += 1
        while k < last and out_of_reach(cells, last, reach, at):
            last -= 1
        if k <= last:
            run = (cells[k].first, cells[last + 1].first, far, True)
            n = gather_run(board, f, faces, run, at, n)
    return n


@kernel
def cast_near(
    board: RayWorkspace, f: RayBundle, walls: Walls, grids: Table, p: Row, at: Place
) -> None:
    """Cast the rays against all segments of a plan in their reach, which are not very many."""
    n = 0
    for k in range(p.first_grid, p.first_grid + p.grids):
        n = gather_near(board, f, walls, grids[k], at, n)
    cast(board, f, n, at, True)


@inlined_kernel
def cast_all(board: RayWorkspace, f: RayBundle, walls: Walls, p: Row, at: Place) -> None:
    """Cast the rays against all segments of a plan, which are few."""
    begin, last = p.first, p.first + p.count
    while begin < last:
        end = min(begin + PIECE, last)
        approach(board[0], walls[0], (begin, end, math.inf, True), 0, at)
        cast_kept(board, f, end - begin, at)
        begin = end
