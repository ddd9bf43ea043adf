"""Which segments are near a place, and how far the nearest is."""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Row, Table
from astray.world.geometry.cell_grid import cell_columns, cell_rows
from astray.world.geometry.distance import squared_distance
from astray.world.geometry.segment_index import PAD, padded

PIECE = 64  # segments that are measured together
_0, _1, _2, _3 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
Disc = tuple[float, float, float, float]
"""x and y of a place, m; how near is near; and how far to look for the nearest of all."""
NearestSegments = tuple[Array, Array]
"""The numbers of segments, behind how many they are, and room to measure some."""


def make_nearest_segments(segments: int) -> NearestSegments:
    """Room for so many segments."""
    return np.zeros(segments + 1, np.int64), np.zeros(PIECE + PAD)


@inlined_kernel
def near_range(listing: NearestSegments, faces: Array, first: int, last: int, d: Disc) -> float:
    """List what is near of some segments in a row; the square of how far the nearest is."""
    near, away = listing
    most, least, found = d[2] * d[2], d[3], near[0]
    while first < last:
        count = min(last - first, PIECE)
        for i in range(padded(count)):  # in a pass of its own: several are measured at a time
            k = np.uint64(first + i)
            ends = faces[_0, k], faces[_1, k], faces[_2, k], faces[_3, k]
            away[np.uint64(i)] = squared_distance(ends, d[0], d[1])
        for i in range(count):
            here = away[np.uint64(i)]
            least = here if here < least else least
            near[found + 1] = first + i
            found += 1 if here <= most else 0
        first += count
    near[0] = found
    return least


@kernel
def list_near_segments(
    listing: NearestSegments, faces: Array, cells: Table, grids: Table, plan: Row, d: Disc
) -> float:
    """List what is near, behind how many they are; how far the nearest is, as far as one looked."""
    listing[0][0] = 0
    if plan.grids == 0:
        everything = (d[0], d[1], d[2], math.inf)
        first = plan.first
        return math.sqrt(near_range(listing, faces, first, first + plan.count, everything))
    least = d[3] * d[3]
    for k in range(plan.first_grid, plan.first_grid + plan.grids):
        g = grids[k]
        reach = d[3] + g.reach
        left, right = cell_columns(g, d[0], reach)
        low, high = cell_rows(g, d[1], reach)
        if right < left:
            continue
        for row in range(low, high + 1):
            # The segments of neighbouring cells of a row lie one behind the other.
            at = g.first + row * g.width
            first, last = cells[at + left].first, cells[at + right + 1].first
            least = near_range(listing, faces, first, last, (d[0], d[1], d[2], least))
    return math.sqrt(least)


@kernel
def nearest_segment_distance(ends: Array, plan: Row, x: float, y: float) -> float:
    """The distance of the nearest of all segments of a map, m."""
    least = math.inf
    for k in range(plan.first, plan.first + plan.count):
        least = min(least, squared_distance((ends[k, 0], ends[k, 1], ends[k, 2], ends[k, 3]), x, y))
    return math.sqrt(least)
