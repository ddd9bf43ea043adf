"""The outline of cells: where occupied cells end, as rings of the longest straight segments.

What is occupied lies on the left, so outer rings run counter-clockwise and those of holes
clockwise. Cells that touch at a corner only share that point and nothing else: each keeps a ring of
its own, no ring crosses another, and no ray passes between the two.
"""

from __future__ import annotations

import numpy as np

from astray.errors import MapError
from astray.tables import Array
from astray.world.map import MAX_SEGMENTS

EAST, NORTH, WEST, SOUTH = range(4)
STEP = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])


def trace_mask_contours(mask: Array) -> Array:
    """The outline of the true cells of mask[y, x], (n, 4) in cells from that of mask[0, 0]."""
    padded = np.pad(np.asarray(mask, bool), 1).view(np.int8)
    # Occupied above a line: the edge runs east; occupied right of one: south.
    across = _runs(np.diff(padded, axis=0)[:, 1:-1], EAST, WEST)
    along = _runs(np.diff(padded, axis=1)[1:-1, :].T, SOUTH, NORTH)
    begins, ends, ways = (np.concatenate(part) for part in zip(across, along, strict=True))
    order = np.lexsort(_places(begins, ways))
    return _rings(begins[order], ends[order], ways[order])


def _runs(change: Array, up: int, down: int) -> tuple[Array, Array, Array]:
    """The straight segments of the edges change[line, place], which run one way or the other.

    Found as runs, never as edges one by one: an image may have a hundred million of those.
    """
    before = np.zeros_like(change)
    before[:, 1:] = change[:, :-1]
    first = (change != 0) & (change != before)
    _check_count(2 * int(first.sum()))  # as many again the other way: rings are closed
    line, start = np.nonzero(first)
    after = np.zeros_like(change)
    after[:, :-1] = change[:, 1:]
    stop = np.nonzero((change != 0) & (change != after))[1] + 1
    way = np.where(change[line, start] > 0, up, down)
    forth = (way == EAST) | (way == NORTH)
    begin, end = np.where(forth, start, stop), np.where(forth, stop, start)
    pairs = ((begin, line), (end, line)) if up == EAST else ((line, begin), (line, end))
    begins, ends = (np.stack(pair, axis=1) for pair in pairs)
    return begins, ends, way


def trace_cell_contours(cells: Array) -> Array:
    """The outline of some cells (n, 2), wherever they are, (n, 4) in cells."""
    cells = np.unique(np.asarray(cells, np.int64).reshape(-1, 2), axis=0)
    if not len(cells):
        return np.zeros((0, 4), np.int64)
    keys = _keys(cells, cells)
    edges = []
    # The neighbour beyond an edge, the direction of the edge, and the corner where it begins.
    for beyond, way, corner in (
        ((0, -1), EAST, (0, 0)),
        ((1, 0), NORTH, (1, 0)),
        ((0, 1), WEST, (1, 1)),
        ((-1, 0), SOUTH, (0, 1)),
    ):
        bare = ~np.isin(_keys(cells + beyond, cells), keys)
        begin = cells[bare] + corner
        edges.append(np.column_stack([begin, np.full(len(begin), way)]))
    return _rings(*_straight(np.concatenate(edges)))


def _keys(points: Array, among: Array) -> Array:
    """One integer per point, distinct for all points that are at most one step from `among`."""
    low = among.min(axis=0) - 2
    high = among.max(axis=0) + 3
    made: Array = (points[:, 0] - low[0]) * (high[1] - low[1]) + (points[:, 1] - low[1])
    return made


def _rings(begins: Array, ends: Array, ways: Array) -> Array:
    """Straight segments, in the order of their places, ring after ring."""
    if not len(begins):
        return np.zeros((0, 4), np.int64)
    _check_count(len(begins))
    order = _in_rings(_next(begins, ends, ways))
    return np.hstack([begins, ends])[order]


def _check_count(segments: int) -> None:
    if segments > MAX_SEGMENTS:
        raise MapError(f"the outline has {segments} segments; {MAX_SEGMENTS} is the most")


def _places(begins: Array, ways: Array) -> tuple[Array, Array, Array]:
    """Where segments or edges are, as keys to sort by: along their line, which line, which way."""
    x, y = begins.T
    level = (ways == EAST) | (ways == WEST)
    sign = np.where((ways == EAST) | (ways == NORTH), 1, -1)
    return np.where(level, x, y) * sign, np.where(level, y, x), ways


def _straight(edges: Array) -> tuple[Array, Array, Array]:
    """Join the edges (x, y, way) that follow each other in one direction."""
    begins, ways = edges[:, :2], edges[:, 2]
    place, line, _ = _places(begins, ways)
    order = np.lexsort((place, line, ways))
    begins, ways, line, place = (column[order] for column in (begins, ways, line, place))
    new = np.ones(len(ways), bool)
    new[1:] = (ways[1:] != ways[:-1]) | (line[1:] != line[:-1]) | (place[1:] != place[:-1] + 1)
    first = np.flatnonzero(new)
    length = np.diff(np.append(first, len(ways)))
    return begins[first], begins[first] + STEP[ways[first]] * length[:, None], ways[first]


def _next(begins: Array, ends: Array, ways: Array) -> Array:
    """The segment that follows each one: that which turns left where there is a choice."""
    corner = _keys(begins, begins)
    key = corner * 4 + ways
    order = np.argsort(key)
    sorted_keys = key[order]
    at = _keys(ends, begins) * 4
    left = np.searchsorted(sorted_keys, at + (ways + 1) % 4)
    right = np.searchsorted(sorted_keys, at + (ways + 3) % 4)
    left = np.minimum(left, len(key) - 1)
    found = sorted_keys[left] == at + (ways + 1) % 4
    following: Array = order[np.where(found, left, np.minimum(right, len(key) - 1))]
    return following


def _in_rings(following: Array) -> Array:
    """The segments in an order in which each ring is whole."""
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
