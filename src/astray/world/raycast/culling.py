"""Culling: which segments a ray bundle has to be cast against.

Cells are visited from near to far, ring by ring around the sensor. A cell is skipped if all rays
that could meet one of its segments already end before it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from astray.numerics import HALF_PI, inlined_kernel, kernel
from astray.tables import Array, Row, Table
from astray.world.geometry import (
    ROUNDING_FACTOR,
    SegmentGrids,
    cell_columns,
    cell_rows,
    padded_count,
)
from astray.world.raycast.angular_interval import (
    BundleOrigin,
    bearing_32,
    cast_at_chunk,
    cast_at_kept,
)
from astray.world.raycast.ray_bundle import (
    AX,
    AY,
    BX,
    BY,
    CELL_HIGH,
    CELL_LOW,
    CELL_NEARNESS,
    CELL_NUMBER,
    CELL_RADIUS,
    CELL_X,
    CELL_Y,
    CHUNK,
    KEPT,
    RayBundle,
    RayWorkspace,
    is_occluded,
)

_0, _1, _2, _3, _4 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
PART = 64  # segments of a run that are loaded together


class CellRing(NamedTuple):
    """The cells that are `distance` cells away from the sensor's cell in column or row."""

    column: int
    row: int
    distance: int


class SegmentRun(NamedTuple):
    """Contiguous segments that are cast together."""

    first: int
    stop: int
    too_far: float
    """m², see `out_of_reach_bound`."""
    keep_bounds: bool
    """Whether bounds of blocks of rays are kept for what follows."""


# Segments.


@inlined_kernel
def load_segments(w: Array, faces: Array, run: SegmentRun, n: int, origin: BundleOrigin) -> None:
    """Load a run after n segments of the chunk, relative to the sensor, and mark which are kept.

    Dropped are those out of reach, and sides of convex solids that face away: seen from farther off
    than the diameter of the solid they are behind its other sides.
    """
    x, y = origin.x, origin.y
    for i in range(padded_count(run.stop - run.first)):
        j, k = np.uint64(n + i), np.uint64(run.first + i)
        ax, ay, bx, by = faces[_0, k] - x, faces[_1, k] - y, faces[_2, k] - x, faces[_3, k] - y
        w[AX + j], w[AY + j], w[BX + j], w[BY + j] = ax, ay, bx, by
        across, up = ax + bx, ay + by  # twice the vector to its middle
        away = across * across + up * up
        behind = (ax * by - ay * bx > 0.0) & (away > faces[_4, k])
        w[KEPT + j] = 0.0 if behind | (away > run.too_far) else 1.0


@inlined_kernel
def gather_run(
    workspace: RayWorkspace,
    bundle: RayBundle,
    faces: Array,
    run: SegmentRun,
    origin: BundleOrigin,
    n: int,
) -> int:
    """Add the segments of a run that are kept to the n of the chunk; how many there are then.

    A full chunk is cast and emptied.
    """
    w, (begin, stop, too_far, keep_bounds) = workspace.values, run
    while begin < stop:
        count = min(stop - begin, PART)
        if n + count > CHUNK:
            cast_at_chunk(workspace, bundle, n, origin.first, keep_bounds)
            n = 0
        part = SegmentRun(begin, begin + count, too_far, keep_bounds)
        load_segments(w, faces, part, n, origin)
        found = np.uint64(n)
        for i in range(n, n + count):
            k = np.uint64(i)
            w[AX + found], w[AY + found] = w[AX + k], w[AY + k]
            w[BX + found], w[BY + found] = w[BX + k], w[BY + k]
            found += _1 if w[KEPT + k] > 0.0 else _0
        n = int(np.int64(found))  # signed, like the n it came from
        begin += count
    return n


@inlined_kernel
def out_of_reach_bound(bundle: RayBundle, reach: float) -> float:
    """The bound beyond which the middle of a segment is out of reach of the rays, m².

    It is the square of twice the distance; no segment extends farther than `reach` from its middle.
    """
    far = 1.0 / bundle.limit + reach
    return 4.0 * ROUNDING_FACTOR * far * far


# Cells from near to far.


@inlined_kernel
def compute_cell_intervals(
    w: Array, cells: Table, n: int, bundle: RayBundle, origin: BundleOrigin
) -> None:
    """Write how near the bounding circles of n cells are, and the intervals of rays they cover."""
    for i in range(n):
        k = np.uint64(i)
        c = cells[int(w[CELL_NUMBER + k])]
        w[CELL_X + k] = c.x - origin.x
        w[CELL_Y + k] = c.y - origin.y
        w[CELL_RADIUS + k] = c.radius
    first = np.float32(origin.first)
    for i in range(n):
        k = np.uint64(i)
        x, y, radius = w[CELL_X + k], w[CELL_Y + k], w[CELL_RADIUS + k]
        near = math.sqrt(x * x + y * y) - radius
        nearness = 1.0 / near
        # asin t ≤ π/2 t: at least half the angle that the circle covers.
        half = HALF_PI * radius * nearness * bundle.per_radian + bundle.slack
        middle = float(bearing_32(np.float32(x), np.float32(y), first)) * bundle.per_radian
        w[CELL_NEARNESS + k] = nearness
        w[CELL_LOW + k] = middle - half
        w[CELL_HIGH + k] = middle + half


@inlined_kernel
def is_cell_occluded(w: Array, bundle: RayBundle, i: int) -> bool:
    """Whether all rays that could meet a segment of a cell end before the cell."""
    k = np.uint64(i)
    nearness, low, high = w[CELL_NEARNESS + k], w[CELL_LOW + k], w[CELL_HIGH + k]
    turn, last = bundle.per_turn, bundle.rays - 1
    if not nearness > 0.0:
        return False  # the sensor is within the circle
    if nearness <= bundle.limit:
        return True
    if high - low >= 0.5 * turn:
        return is_occluded(w, 0, last, nearness)
    if high >= turn and not is_occluded(w, 0, min(last, int(high - turn)), nearness):
        return False
    if low < 0.0 and low + turn <= last and not is_occluded(w, int(low + turn), last, nearness):
        return False
    first, end = int(max(low, 0.0)), min(last, int(high))
    return first > end or is_occluded(w, first, end, nearness)


@kernel
def cast_at_cells(
    workspace: RayWorkspace,
    bundle: RayBundle,
    walls: SegmentGrids,
    n: int,
    g: Row,
    origin: BundleOrigin,
) -> None:
    """Cast the rays at the segments in n listed cells that are in reach and not occluded."""
    w, too_far = workspace.values, out_of_reach_bound(bundle, g.reach)
    compute_cell_intervals(w, walls.cells, n, bundle, origin)
    found = 0
    for i in range(n):
        if not is_cell_occluded(w, bundle, i):
            cell = int(w[CELL_NUMBER + np.uint64(i)])
            run = SegmentRun(walls.cells[cell].first, walls.cells[cell + 1].first, too_far, True)
            found = gather_run(workspace, bundle, walls.faces, run, origin, found)
    cast_at_chunk(workspace, bundle, found, origin.first, True)


@inlined_kernel
def cast_at_ring(
    workspace: RayWorkspace,
    bundle: RayBundle,
    walls: SegmentGrids,
    g: Row,
    ring: CellRing,
    origin: BundleOrigin,
) -> None:
    """Cast the rays at the cells of a ring that are not empty, a chunk of cells at a time."""
    w, cells, (column, row, distance) = workspace.values, walls.cells, ring
    n = 0
    for j in range(max(0, row - distance), min(g.height - 1, row + distance) + 1):
        # The first and last row of a ring are whole; of the others only both ends belong to it.
        step = 1 if abs(j - row) == distance else max(1, 2 * distance)
        i = column - distance
        if i < 0:
            i = 0 if step == 1 else i + step
        while i <= column + distance and i < g.width:
            cell = g.first + j * g.width + i
            if i >= 0 and cells[cell].first != cells[cell + 1].first:
                w[CELL_NUMBER + np.uint64(n)] = cell
                n += 1
                if n == CHUNK:
                    cast_at_cells(workspace, bundle, walls, n, g, origin)
                    n = 0
            i += step
    cast_at_cells(workspace, bundle, walls, n, g, origin)


@kernel
def cast_at_grid(
    workspace: RayWorkspace, bundle: RayBundle, walls: SegmentGrids, g: Row, origin: BundleOrigin
) -> None:
    """Cast the rays at the segments of a grid, from near to far."""
    column = math.floor((origin.x - g.x) / g.cell)
    row = math.floor((origin.y - g.y) / g.cell)
    distance = max(0, -column, column - g.width + 1, -row, row - g.height + 1)
    last = max(column, g.width - 1 - column, row, g.height - 1 - row)
    while distance <= last:
        near = (distance - 1) * g.cell - g.reach
        if near > 0.0 and is_occluded(workspace.values, 0, bundle.rays - 1, 1.0 / near):
            return
        ring = CellRing(column, row, distance)
        cast_at_ring(workspace, bundle, walls, g, ring, origin)
        distance += 1


# Few segments: all cells in reach, or all segments.


@inlined_kernel
def is_cell_out_of_reach(cells: Table, k: int, reach: float, origin: BundleOrigin) -> bool:
    """Whether cell k is empty or its bounding circle out of reach."""
    cell = cells[k]
    dx, dy, most = cell.x - origin.x, cell.y - origin.y, reach + cell.radius
    return bool((cell.first == cells[k + 1].first) | (dx * dx + dy * dy > most * most))


@inlined_kernel
def gather_in_reach(
    workspace: RayWorkspace,
    bundle: RayBundle,
    walls: SegmentGrids,
    g: Row,
    origin: BundleOrigin,
    n: int,
) -> int:
    """Add the segments of a grid in reach of the rays to the n of the chunk; how many there are."""
    cells, reach, too_far = walls.cells, 1.0 / bundle.limit, out_of_reach_bound(bundle, g.reach)
    left, right = cell_columns(g, origin.x, reach + g.reach)
    low, high = cell_rows(g, origin.y, reach + g.reach)
    for row in range(low, high + 1):
        # The segments of neighbouring cells of a row are contiguous.
        k, last = g.first + row * g.width + left, g.first + row * g.width + right
        while k <= last and is_cell_out_of_reach(cells, k, reach, origin):
            k += 1
        while k < last and is_cell_out_of_reach(cells, last, reach, origin):
            last -= 1
        if k <= last:
            run = SegmentRun(cells[k].first, cells[last + 1].first, too_far, False)
            n = gather_run(workspace, bundle, walls.faces, run, origin, n)
    return n


@kernel
def cast_in_reach(
    workspace: RayWorkspace,
    bundle: RayBundle,
    walls: SegmentGrids,
    entry: Row,
    origin: BundleOrigin,
) -> None:
    """Cast the rays at all segments of a map in their reach, which are not very many."""
    n = 0
    for k in range(entry.first_grid, entry.first_grid + entry.grids):
        n = gather_in_reach(workspace, bundle, walls, walls.grids[k], origin, n)
    cast_at_chunk(workspace, bundle, n, origin.first, False)


@inlined_kernel
def cast_at_all(
    workspace: RayWorkspace, bundle: RayBundle, faces: Array, entry: Row, origin: BundleOrigin
) -> None:
    """Cast the rays at all segments of a map, which are few."""
    begin, last = entry.first, entry.first + entry.count
    while begin < last:
        stop = min(begin + PART, last)
        load_segments(workspace.values, faces, SegmentRun(begin, stop, math.inf, False), 0, origin)
        cast_at_kept(workspace, bundle, stop - begin, origin.first)
        begin = stop
