"""Ray bundles: many rays from one origin that are cast together.

Each ray keeps the inverse of the range to what it has met so far; the larger is the nearer. Every
obstacle covers an interval of neighbouring rays, and on a straight segment the inverse range is
linear in the ray's direction: one multiply-add per ray, which SIMD instructions do for several rays
at a time.

The rays are fixed in the sensor's axes. Obstacles are turned into these axes, never the rays.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from astray.numerics import TAU, inlined_kernel, sincos
from astray.tables import Array
from astray.world.raycast.intersection import INFINITE

MOST_RAYS = 1 << 16
BLOCK = 16  # rays that share a bound of how far they see
BLOCK_SHIFT = 4  # 2⁴ = BLOCK
LANES_SHIFT = 3  # 2³ rays are updated at a time
CHUNK = 256  # segments, or cells, that are processed together
ANGLE_ERROR = 6e-6  # rad, more than the error of the 32-bit bearings in angular_interval.py
UNKNOWN = -1.0  # a bound that has to be computed again
CACHE_LINE, PAGE = 64, 4096  # bytes
_1, _2, _3, _4 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


class RayBundle(NamedTuple):
    """Rays at equal angles from one origin."""

    rays: int
    """How many."""
    first: float
    """Angle of the first ray from the sensor's heading, rad."""
    per_radian: float
    """Rays per radian."""
    per_turn: float
    """Rays per full turn."""
    slack: float
    """The angle error in rays: so near to its end an interval is decided by the exact test."""
    limit: float
    """The inverse of the longest range, 1/m."""


class RayWorkspace(NamedTuple):
    """What a scan computes with, as three arrays of fixed columns.

    A column begins at a constant offset, as in `values[AX + k]`, so the compiler knows that columns
    do not overlap and compiles loops over them to SIMD instructions. With an array for each column
    the innermost loops take 1.1 to 6 times as long.
    """

    values: Array
    """64-bit columns: segments, cells, and the rays themselves."""
    angles: Array
    """32-bit columns: ends and angular intervals of segments."""
    intervals: Array
    """32-bit integer columns: the intervals of rays that segments cover."""


# The columns. Each begins at a line of the processor's cache, and one line more than a power of two
# keeps columns from sharing the same sets of the cache; arrays begin at a page of memory. Without
# this some runs took a tenth longer, see benchmarks/rays.py.
_COLUMN, _COLUMN_32 = CHUNK + CACHE_LINE // 8, CHUNK + CACHE_LINE // 4

# Of a segment in the chunk: its ends relative to the sensor, A and B of its line in the sensor's
# axes, A² + B², and 1 if it is kept.
AX, AY, BX, BY, A, B, LINE_NEARNESS, KEPT = (np.uint64(k * _COLUMN) for k in range(8))
# Of a cell or circle in the chunk: centre relative to the sensor, radius, its interval in rays, the
# inverse of its distance, and its number.
CELL_X, CELL_Y, CELL_RADIUS, CELL_LOW, CELL_HIGH = (np.uint64(k * _COLUMN) for k in range(8, 13))
CELL_NEARNESS, CELL_NUMBER = np.uint64(13 * _COLUMN), np.uint64(14 * _COLUMN)
# Cosine and sine of the sensor's heading; of each block of rays the smallest inverse range, or
# UNKNOWN; of each ray cosine and sine in the sensor's axes, and its inverse range.
HEADING = np.uint64(15 * _COLUMN)
BOUND = np.uint64(16 * _COLUMN)
_RAYS, _BLOCKS = MOST_RAYS + 6 * BLOCK, MOST_RAYS // BLOCK + CACHE_LINE // 8
COS, SIN, NEARNESS = (np.uint64(int(BOUND) + _BLOCKS + k * _RAYS) for k in range(3))
# Of a segment in the chunk, 32 bits: its right and left end relative to the sensor, and its angular
# interval in rays.
RIGHT_X, RIGHT_Y, LEFT_X, LEFT_Y, LOW, HIGH = (np.uint64(k * _COLUMN_32) for k in range(6))
# Of a segment in the chunk, 32-bit integers: the first and last ray that it covers, the last one
# beyond the full turn, and the numbers of the segments that are kept.
FIRST, LAST, WRAPPED, KEPT_NUMBERS = (np.uint64(k * _COLUMN_32) for k in range(4))


def make_ray_bundle(
    rays: int, start: float, step: float, max_range: float
) -> tuple[RayWorkspace, RayBundle]:
    """Make a bundle of rays and a workspace for it.

    Args:
        rays: How many.
        start: The angle of the first ray from the sensor's heading, rad.
        step: The angle from ray to ray, rad.
        max_range: The longest range, m.
    """
    workspace = _make_workspace()
    w, cosines, sines = workspace.values, int(COS), int(SIN)
    for k in range(rays):
        w[sines + k], w[cosines + k] = sincos(start + k * step)
    end = int(NEARNESS) + rays
    w[end : end + BLOCK] = INFINITE  # beyond the last ray there is nothing to be seen
    bundle = RayBundle(rays, start, 1.0 / step, TAU / step, ANGLE_ERROR / step, 1.0 / max_range)
    return workspace, bundle


def copy_workspace(workspace: RayWorkspace, bundle: RayBundle) -> RayWorkspace:
    """Make another workspace with the same rays, for another thread."""
    made = _make_workspace()
    for column in (COS, SIN, NEARNESS):
        rays = slice(int(column), int(column) + bundle.rays + BLOCK)
        made.values[rays] = workspace.values[rays]
    return made


def _make_workspace() -> RayWorkspace:
    """Allocate a workspace; the system provides memory only where there are rays."""
    values = _page_aligned_zeros(int(NEARNESS) + _RAYS, np.float64)
    values[int(AX) : int(AY)] = values[int(BY) : int(A)] = 1.0  # no segment is a point
    return RayWorkspace(
        values,
        _page_aligned_zeros(6 * _COLUMN_32, np.float32),
        _page_aligned_zeros(4 * _COLUMN_32, np.int32),
    )


def _page_aligned_zeros(count: int, kind: type[np.generic]) -> Array:
    size = count * np.dtype(kind).itemsize
    memory = np.zeros(size + PAGE, np.uint8)
    first = -memory.ctypes.data % PAGE
    return memory[first : first + size].view(kind)


# In all kernels below, w is `values` of the workspace.


@inlined_kernel
def set_heading(w: Array, bundle: RayBundle, yaw: float) -> float:
    """Start a scan with this heading of the sensor; the bearing of the first ray, ±π rad."""
    w[HEADING + _1], w[HEADING] = sincos(yaw)
    for k in range(bundle.rays):
        w[NEARNESS + np.uint64(k)] = bundle.limit
    for k in range((bundle.rays + BLOCK - 1) >> BLOCK_SHIFT):
        w[BOUND + np.uint64(k)] = bundle.limit
    first = yaw + bundle.first
    return first - TAU * math.floor(first / TAU + 0.5)


@inlined_kernel
def ray_in_map(w: Array, k: int) -> tuple[float, float]:
    """The direction of ray k in the map."""
    i = np.uint64(k)
    c, s, cosine, sine = w[COS + i], w[SIN + i], w[HEADING], w[HEADING + _1]
    return c * cosine - s * sine, s * cosine + c * sine


@inlined_kernel
def in_sensor_axes(w: Array, x: float, y: float) -> tuple[float, float]:
    """A vector of the map in the sensor's axes."""
    cosine, sine = w[HEADING], w[HEADING + _1]
    return x * cosine + y * sine, y * cosine - x * sine


@inlined_kernel
def end_on_line(w: Array, first: int, count: int, a: float, b: float) -> None:
    """Let rays end on the line with coefficients a and b where that is nearer than they end now."""
    # The number of iterations is rounded up to whole SIMD vectors.
    vectors = max(count + (1 << LANES_SHIFT) - 1, 1 << LANES_SHIFT) >> LANES_SHIFT
    for j in range(vectors << LANES_SHIFT):
        k = np.uint64(first + j)  # unsigned: no test for a negative index is compiled in
        v, nearness = w[COS + k] * a + w[SIN + k] * b, w[NEARNESS + k]
        v = v if j < count else 0.0
        # Without the zero this is compiled to a masked store, which some processors do slowly.
        w[NEARNESS + k] = (v if v > nearness else nearness) + 0.0


@inlined_kernel
def invalidate_bounds(w: Array, first: int, count: int) -> None:
    """Forget the bounds of the blocks of rays that end elsewhere now."""
    for block in range(first >> BLOCK_SHIFT, (first + count - 1 >> BLOCK_SHIFT) + 1):
        w[BOUND + np.uint64(block)] = UNKNOWN


@inlined_kernel
def block_bound(w: Array, block: int) -> float:
    """The smallest inverse range of a block of rays."""
    k = NEARNESS + np.uint64(block << BLOCK_SHIFT)
    p, q, r, t = w[k], w[k + _1], w[k + _2], w[k + _3]
    for _ in range(BLOCK // 4 - 1):  # four minima side by side, which do not wait for each other
        k += _4
        p = w[k] if w[k] < p else p
        q = w[k + _1] if w[k + _1] < q else q
        r = w[k + _2] if w[k + _2] < r else r
        t = w[k + _3] if w[k + _3] < t else t
    p, r = p if p < q else q, r if r < t else t
    return float(p if p < r else r)


@inlined_kernel
def is_occluded(w: Array, first: int, last: int, nearness: float) -> bool:
    """Whether the rays `first` to `last` all end before this inverse distance."""
    for block in range(first >> BLOCK_SHIFT, (last >> BLOCK_SHIFT) + 1):
        k = BOUND + np.uint64(block)
        if w[k] == UNKNOWN:
            w[k] = block_bound(w, block)
        if w[k] < nearness:
            return False
    return True
