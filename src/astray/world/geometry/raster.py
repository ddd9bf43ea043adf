"""Between segments and cells: rasterised maps, and the contours of occupied cells."""

from __future__ import annotations

import numpy as np

from astray.errors import MapError
from astray.tables import Array
from astray.world.map import MAX_PIXELS, MAX_SEGMENTS, Map

INWARD = 1e-3  # of a cell: an edge between two cells belongs to the one that is solid
ALIGNED = 1e-6  # of a cell
EAST, NORTH, WEST, SOUTH = range(4)
STEP = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])  # of one cell in each direction

# From segments to cells.


def rasterise(map: Map, resolution: float) -> tuple[Array, tuple[float, float]]:
    """Mark the cells that a wall passes through and those inside of something solid.

    Returns the mask [y, x], which has a margin of one free cell, and the lower left corner of its
    first cell, m.
    """
    if not 0.0 < resolution < 1e6:
        raise MapError(f"a resolution above 0 is needed, not {resolution}")
    west, south, east, north = (bound / resolution for bound in map.bounds)
    x0, y0 = np.floor(west + ALIGNED) - 1.0, np.floor(south + ALIGNED) - 1.0
    columns, rows = np.ceil(east - x0 - ALIGNED) + 1.0, np.ceil(north - y0 - ALIGNED) + 1.0
    if columns * rows > MAX_PIXELS:
        raise MapError(
            f"{columns:.0f} x {rows:.0f} pixels of {resolution:g} m are more than {MAX_PIXELS}; "
            "take a coarser resolution"
        )
    shape = (int(rows), int(columns))
    ends = map.segments / resolution - np.array([x0, y0, x0, y0])
    mask = _fill_polygons(ends[map.solid], shape)
    moved = ends.copy()
    moved[map.solid] += _inward_shift(ends[map.solid])
    _, cells = cells_crossed(moved)
    kept = ((cells >= 0) & (cells < shape[::-1])).all(axis=1)
    mask[cells[kept, 1], cells[kept, 0]] = True
    return mask, (_rounded(x0 * resolution), _rounded(y0 * resolution))


def _rounded(value: float) -> float:
    return float(round(float(value), 9))


def _inward_shift(ends: Array) -> Array:
    """A small shift of each segment to its left, (n, 4)."""
    along = ends[:, 2:] - ends[:, :2]
    length = np.sqrt((along**2).sum(axis=1))[:, None]
    left = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.maximum(length, 1e-300)
    return np.tile(left * INWARD, 2)


def _fill_polygons(ends: Array, shape: tuple[int, int]) -> Array:
    """Mark the cells [y, x] around whose centre the segments wind; lengths in cells."""
    rows, columns = shape
    low, high = np.minimum(ends[:, 1], ends[:, 3]), np.maximum(ends[:, 1], ends[:, 3])
    first = np.clip(np.ceil(low - 0.5), 0, rows).astype(np.int64)
    stop = np.clip(np.ceil(high - 0.5), 0, rows).astype(np.int64)
    count = stop - first
    segment = np.repeat(np.arange(len(ends)), count)
    row = np.arange(len(segment)) - np.repeat(np.cumsum(count) - count, count)
    row += first[segment]
    ax, ay, bx, by = ends[segment].T
    x = ax + (row + 0.5 - ay) * (bx - ax) / np.where(by == ay, 1.0, by - ay)
    column = np.clip(np.ceil(x - 0.5), 0, columns).astype(np.int64)
    winding = np.zeros((rows, columns + 1), np.int16)
    np.add.at(winding, (row, column), np.where(by > ay, -1, 1).astype(np.int16))
    np.cumsum(winding, axis=1, out=winding)
    inside: Array = winding[:, :-1] != 0
    return inside


def cells_crossed(ends: Array) -> tuple[Array, Array]:
    """The cells that segments pass through; all lengths in cells.

    Returns the number of the segment (m,) and the column and row of the cell (m, 2) of each pair.
    """
    ends = np.asarray(ends, np.float64).reshape(-1, 4)
    index = np.arange(len(ends))
    segments, positions = [index, index], [np.zeros(len(ends)), np.ones(len(ends))]
    for axis in (0, 1):
        a, b = ends[:, axis], ends[:, axis + 2]
        low = np.floor(np.minimum(a, b)) + 1.0
        count = np.maximum(0, np.ceil(np.maximum(a, b)) - low).astype(np.int64)
        which = np.repeat(index, count)
        k = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
        segments.append(which)
        positions.append((low[which] + k - a[which]) / (b - a)[which])
    # Between two crossings of grid lines that follow each other, a segment is in one cell.
    segment, t = np.concatenate(segments), np.concatenate(positions)
    order = np.lexsort((t, segment))
    segment, t = segment[order], t[order]
    same = segment[1:] == segment[:-1]
    middle = 0.5 * (t[1:] + t[:-1])[same]
    segment = segment[1:][same]
    point = ends[segment, :2] + middle[:, None] * (ends[segment, 2:] - ends[segment, :2])
    return segment, np.floor(point).astype(np.int64)


# From cells to segments. Occupied cells lie on the left of a contour, so outer rings run
# counter-clockwise and those of holes clockwise. Cells that touch at a corner share only that
# point: each keeps a ring of its own, no ring crosses another, and no ray passes between the two.


def trace_mask_contours(mask: Array) -> Array:
    """The contours of the true cells of mask[y, x], ring after ring of longest straight segments.

    Returns segments (n, 4) in cells from the corner of mask[0, 0].
    """
    padded = np.pad(np.asarray(mask, bool), 1).view(np.int8)
    # Occupied above a grid line: the edge runs east; occupied right of one: south.
    horizontal = _straight_runs(np.diff(padded, axis=0)[:, 1:-1], EAST, WEST)
    vertical = _straight_runs(np.diff(padded, axis=1)[1:-1, :].T, SOUTH, NORTH)
    begins, ends, directions = (
        np.concatenate(part) for part in zip(horizontal, vertical, strict=True)
    )
    order = np.lexsort(_sort_keys(begins, directions))
    return _rings(begins[order], ends[order], directions[order])


def _straight_runs(change: Array, up: int, down: int) -> tuple[Array, Array, Array]:
    """Begins, ends and directions of the straight runs of edges in change[grid line, position].

    Found as runs and never edge by edge: an image may have a hundred million edges.
    """
    before = np.zeros_like(change)
    before[:, 1:] = change[:, :-1]
    first = (change != 0) & (change != before)
    _check_count(2 * int(first.sum()))  # rings are closed: as many run the opposite way
    line, start = np.nonzero(first)
    after = np.zeros_like(change)
    after[:, :-1] = change[:, 1:]
    stop = np.nonzero((change != 0) & (change != after))[1] + 1
    direction = np.where(change[line, start] > 0, up, down)
    forward = (direction == EAST) | (direction == NORTH)
    begin, end = np.where(forward, start, stop), np.where(forward, stop, start)
    pairs = ((begin, line), (end, line)) if up == EAST else ((line, begin), (line, end))
    begins, ends = (np.stack(pair, axis=1) for pair in pairs)
    return begins, ends, direction


def trace_cell_contours(cells: Array) -> Array:
    """The contours of the cells (column, row), (n, 2), as segments (n, 4) in cells."""
    cells = np.unique(np.asarray(cells, np.int64).reshape(-1, 2), axis=0)
    if not len(cells):
        return np.zeros((0, 4), np.int64)
    keys = _keys(cells, cells)
    edges = []
    # The neighbour beyond an edge, the direction of the edge, and the corner where it begins.
    for beyond, direction, corner in (
        ((0, -1), EAST, (0, 0)),
        ((1, 0), NORTH, (1, 0)),
        ((0, 1), WEST, (1, 1)),
        ((-1, 0), SOUTH, (0, 1)),
    ):
        exposed = ~np.isin(_keys(cells + beyond, cells), keys)
        begin = cells[exposed] + corner
        edges.append(np.column_stack([begin, np.full(len(begin), direction)]))
    return _rings(*_join_edges(np.concatenate(edges)))


def _keys(points: Array, reference: Array) -> Array:
    """An integer per point, distinct for points at most one step outside of the reference's box."""
    low = reference.min(axis=0) - 2
    high = reference.max(axis=0) + 3
    made: Array = (points[:, 0] - low[0]) * (high[1] - low[1]) + (points[:, 1] - low[1])
    return made


def _rings(begins: Array, ends: Array, directions: Array) -> Array:
    """Order straight segments, which are sorted by `_sort_keys`, ring after ring."""
    if not len(begins):
        return np.zeros((0, 4), np.int64)
    _check_count(len(begins))
    order = _ring_order(_successors(begins, ends, directions))
    return np.hstack([begins, ends])[order]


def _check_count(segments: int) -> None:
    if segments > MAX_SEGMENTS:
        raise MapError(f"the outline has {segments} segments; {MAX_SEGMENTS} is the most")


def _sort_keys(begins: Array, directions: Array) -> tuple[Array, Array, Array]:
    """Keys to sort segments or edges by: position along their grid line, grid line, direction."""
    x, y = begins.T
    level = (directions == EAST) | (directions == WEST)
    sign = np.where((directions == EAST) | (directions == NORTH), 1, -1)
    return np.where(level, x, y) * sign, np.where(level, y, x), directions


def _join_edges(edges: Array) -> tuple[Array, Array, Array]:
    """Join the edges (x, y, direction) that follow each other in one direction."""
    begins, directions = edges[:, :2], edges[:, 2]
    position, line, _ = _sort_keys(begins, directions)
    order = np.lexsort((position, line, directions))
    begins, directions, line, position = (
        column[order] for column in (begins, directions, line, position)
    )
    new = np.ones(len(directions), bool)
    new[1:] = (
        (directions[1:] != directions[:-1])
        | (line[1:] != line[:-1])
        | (position[1:] != position[:-1] + 1)
    )
    first = np.flatnonzero(new)
    length = np.diff(np.append(first, len(directions)))
    ends = begins[first] + STEP[directions[first]] * length[:, None]
    return begins[first], ends, directions[first]


def _successors(begins: Array, ends: Array, directions: Array) -> Array:
    """The segment that follows each one: the one that turns left where there is a choice."""
    corner = _keys(begins, begins)
    key = corner * 4 + directions
    order = np.argsort(key)
    sorted_keys = key[order]
    end_key = _keys(ends, begins) * 4
    left = np.searchsorted(sorted_keys, end_key + (directions + 1) % 4)
    right = np.searchsorted(sorted_keys, end_key + (directions + 3) % 4)
    left = np.minimum(left, len(key) - 1)
    found = sorted_keys[left] == end_key + (directions + 1) % 4
    following: Array = order[np.where(found, left, np.minimum(right, len(key) - 1))]
    return following


def _ring_order(following: Array) -> Array:
    """The order of segments in which each ring is contiguous."""
    after = following.tolist()
    seen = bytearray(len(after))
    order = []
    for first in range(len(after)):
        k = first
        while not seen[k]:
            seen[k] = 1
            order.append(k)
            k = after[k]
    return np.array(order, np.int64)
