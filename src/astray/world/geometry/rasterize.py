"""Obstacles as cells: those that a wall passes through, and those within something solid."""

from __future__ import annotations

import numpy as np

from astray.errors import MapError
from astray.tables import Array
from astray.world.map import MAX_PIXELS, Map

INWARD = 1e-3  # of a cell: an edge between cells belongs to the one that is solid
ALIGNED = 1e-6  # of a cell


def rasterise(found: Map, resolution: float) -> tuple[Array, tuple[float, float]]:
    """Occupied cells [y, x], with a free cell around, and the lower left corner of the first, m."""
    if not 0.0 < resolution < 1e6:
        raise MapError(f"a resolution above 0 is needed, not {resolution}")
    west, south, east, north = (bound / resolution for bound in found.bounds)
    x0, y0 = np.floor(west + ALIGNED) - 1.0, np.floor(south + ALIGNED) - 1.0
    columns, rows = np.ceil(east - x0 - ALIGNED) + 1.0, np.ceil(north - y0 - ALIGNED) + 1.0
    if columns * rows > MAX_PIXELS:
        raise MapError(
            f"{columns:.0f} x {rows:.0f} pixels of {resolution:g} m are more than {MAX_PIXELS}; "
            "take a coarser resolution"
        )
    shape = (int(rows), int(columns))
    ends = found.segments / resolution - np.array([x0, y0, x0, y0])
    mask = _filled(ends[found.solid], shape)
    moved = ends.copy()
    moved[found.solid] += _inward(ends[found.solid])
    _, cells = cells_crossed(moved)
    kept = ((cells >= 0) & (cells < shape[::-1])).all(axis=1)
    mask[cells[kept, 1], cells[kept, 0]] = True
    return mask, (_tidy(x0 * resolution), _tidy(y0 * resolution))


def _tidy(value: float) -> float:
    return float(round(float(value), 9))


def _inward(ends: Array) -> Array:
    """A little step to the left of each segment, (n, 4)."""
    along = ends[:, 2:] - ends[:, :2]
    length = np.sqrt((along**2).sum(axis=1))[:, None]
    left = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.maximum(length, 1e-300)
    return np.tile(left * INWARD, 2)


def _filled(ends: Array, shape: tuple[int, int]) -> Array:
    """Cells [y, x] around whose middle the segments wind; lengths in cells."""
    rows, columns = shape
    low, high = np.minimum(ends[:, 1], ends[:, 3]), np.maximum(ends[:, 1], ends[:, 3])
    first = np.clip(np.ceil(low - 0.5), 0, rows).astype(np.int64)
    last = np.clip(np.ceil(high - 0.5), 0, rows).astype(np.int64)  # the row after
    which = np.repeat(np.arange(len(ends)), last - first)
    row = np.arange(len(which)) - np.repeat(np.cumsum(last - first) - (last - first), last - first)
    row += first[which]
    ax, ay, bx, by = ends[which].T
    x = ax + (row + 0.5 - ay) * (bx - ax) / np.where(by == ay, 1.0, by - ay)
    column = np.clip(np.ceil(x - 0.5), 0, columns).astype(np.int64)
    turns = np.zeros((rows, columns + 1), np.int16)
    np.add.at(turns, (row, column), np.where(by > ay, -1, 1).astype(np.int16))
    np.cumsum(turns, axis=1, out=turns)
    inside: Array = turns[:, :-1] != 0
    return inside


def cells_crossed(ends: Array) -> tuple[Array, Array]:
    """Which segments pass through which cells: indices (m,) and cells (m, 2); lengths in cells."""
    ends = np.asarray(ends, np.float64).reshape(-1, 4)
    index = np.arange(len(ends))
    whose, where = [index, index], [np.zeros(len(ends)), np.ones(len(ends))]
    for axis in (0, 1):
        a, b = ends[:, axis], ends[:, axis + 2]
        low = np.floor(np.minimum(a, b)) + 1.0
        count = np.maximum(0, np.ceil(np.maximum(a, b)) - low).astype(np.int64)
        which = np.repeat(index, count)
        k = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
        whose.append(which)
        where.append((low[which] + k - a[which]) / (b - a)[which])
    segment, t = np.concatenate(whose), np.concatenate(where)
    order = np.lexsort((t, segment))
    segment, t = segment[order], t[order]
    same = segment[1:] == segment[:-1]
    middle = 0.5 * (t[1:] + t[:-1])[same]
    segment = segment[1:][same]
    point = ends[segment, :2] + middle[:, None] * (ends[segment, 2:] - ends[segment, :2])
    return segment, np.floor(point).astype(np.int64)
