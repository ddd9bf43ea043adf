"""The outline of cells: where occupied cells end, as rings of the longest straight segments.

What is occupied lies on the left, so outer rings run counter-clockwise and those of holes
clockwise. Cells that touch at a corner only share that point and nothing else: each keeps a ring of
its own, no ring crosses another, and no ray passes between the two.
"""

from __future__ import annotations

import numpy as np

from astray.errors import MapError
from astray.table import Array
from astray.world.findings import MOST_SEGMENTS

EAST, NORTH, WEST, SOUTH = range(4)
STEP = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])


def outline_of_mask(mask: Array) -> Array:
    """The outline of the true cells of mask[y, x], (n, 4) in cells from that of mask[0, 0]."""
    padded = np.pad(np.asarray(mask, bool), 1)
    change = np.diff(padded.view(np.int8), axis=0)[:, 1:-1]  # [line y, cell x]
    y, x = np.nonzero(change)
    up = change[y, x] > 0  # occupied above the line: the edge runs east
    across = np.stack([x + ~up, y, np.where(up, EAST, WEST)], axis=1)
    change = np.diff(padded.view(np.int8), axis=1)[1:-1, :]  # [cell y, line x]
    y, x = np.nonzero(change)
    right = change[y, x] > 0  # occupied right of the line: the edge runs south
    along = np.stack([x, y + right, np.where(right, SOUTH, NORTH)], axis=1)
    return _rings(np.concatenate([across, along]))


def outline_of_cells(cells: Array) -> Array:
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
    return _rings(np.concatenate(edges))


def _keys(points: Array, among: Array) -> Array:
    """One integer per point, distinct for all points that are at most one step from `among`."""
    low = among.min(axis=0) - 2
    high = among.max(axis=0) + 3
    made: Array = (points[:, 0] - low[0]) * (high[1] - low[1]) + (points[:, 1] - low[1])
    return made


def _rings(edges: Array) -> Array:
    """Unit edges (x, y, way) as straight segments, ring after ring."""
    if not len(edges):
        return np.zeros((0, 4), np.int64)
    begins, ends, ways = _straight(edges.astype(np.int64))
    if len(begins) > MOST_SEGMENTS:
        raise MapError(f"the outline has {len(begins)} segments; {MOST_SEGMENTS} is the most")
    order = _in_rings(_next(begins, ends, ways))
    return np.hstack([begins, ends])[order]


def _straight(edges: Array) -> tuple[Array, Array, Array]:
    """Join the edges that follow each other in one direction."""
    x, y, way = edges.T
    level = (way == EAST) | (way == WEST)
    line = np.where(level, y, x)
    place = np.where(level, x, y) * np.where((way == EAST) | (way == NORTH), 1, -1)
    order = np.lexsort((place, line, way))
    x, y, way, line, place = (column[order] for column in (x, y, way, line, place))
    new = np.ones(len(x), bool)
    new[1:] = (way[1:] != way[:-1]) | (line[1:] != line[:-1]) | (place[1:] != place[:-1] + 1)
    first = np.flatnonzero(new)
    length = np.diff(np.append(first, len(x)))
    begins = np.stack([x[first], y[first]], axis=1)
    return begins, begins + STEP[way[first]] * length[:, None], way[first]


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
