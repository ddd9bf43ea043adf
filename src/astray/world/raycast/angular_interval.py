"""Segments against a ray bundle: each covers an interval of neighbouring rays.

The bearings of its two ends give the interval, but for rays that pass within some microradians of
an end; those are decided by the exact test of `intersection`. So bearings can be computed with 32
bits, twice as many at a time, and every range is still the one that testing each segment with each
ray gives.

A chunk of segments is processed in passes of SIMD instructions, and then segment by segment.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from astray.numerics import TAU, inlined_kernel, kernel
from astray.tables import Array
from astray.world.geometry import ROUNDING_FACTOR, Segment, padded_count
from astray.world.raycast.intersection import (
    EDGE_ON,
    intersect_edge_on,
    is_between,
    line_coefficients,
)
from astray.world.raycast.ray_bundle import (
    AX,
    AY,
    BLOCK_SHIFT,
    BOUND,
    BX,
    BY,
    FIRST,
    HEADING,
    HIGH,
    KEPT,
    KEPT_NUMBERS,
    LAST,
    LEFT_X,
    LEFT_Y,
    LINE_NEARNESS,
    LOW,
    NEARNESS,
    RIGHT_X,
    RIGHT_Y,
    UNKNOWN,
    WRAPPED,
    A,
    B,
    RayBundle,
    RayWorkspace,
    end_on_line,
    invalidate_bounds,
    is_occluded,
    ray_in_map,
)

SHORT = 32  # rays: a shorter interval is updated faster than it is tested for occlusion
_0, _1 = np.uint64(0), np.uint64(1)
# 32-bit numbers are combined only with each other: else plain Python and numba would disagree.
_ZERO, _ONE, _MINUS_ONE = np.float32(0.0), np.float32(1.0), np.float32(-1.0)
_TURN, _HALF, _QUARTER = np.float32(TAU), np.float32(0.5 * TAU), np.float32(0.25 * TAU)
_LEAST = np.float32(1e-37)
# The arc tangent of a in [0, 1] is a (C0 + C1 a² + … + C6 a¹²), to a quarter microradian.
_C0, _C1 = np.float32(0.999996111533941), np.float32(-0.3331736800483206)
_C2, _C3 = np.float32(0.1980781511846942), np.float32(-0.13233340406374666)
_C4, _C5 = np.float32(0.07962364161278017), np.float32(-0.03360419390673412)
_C6 = np.float32(0.006811784461817015)


class BundleOrigin(NamedTuple):
    """Where the rays of a bundle begin, and the bearing of the first."""

    x: float  # m
    y: float  # m
    first: float  # rad, in ±π


@inlined_kernel
def bearing_32(x: np.float32, y: np.float32, first: np.float32) -> np.float32:
    """The angle of (x, y) from a first bearing in ±π, in [0, 2π] rad, to two microradians."""
    width, height = abs(x), abs(y)
    large = width if width > height else height
    small = height if width > height else width
    a = small / (large + _LEAST)
    z = a * a
    zz = z * z
    # In pairs, so that processors need not wait for one term before the next.
    r = (_C2 + z * _C3) + zz * ((_C4 + z * _C5) + zz * _C6)
    r = a * ((_C0 + z * _C1) + zz * r)
    r = _QUARTER - r if height > width else r
    r = _HALF - r if x < _ZERO else r
    r = (-r if y < _ZERO else r) - first
    return r + _TURN if r < _ZERO else r


@inlined_kernel
def segment_of(w: Array, i: np.uint64) -> Segment:
    """Segment i of the chunk, relative to the sensor."""
    return Segment(w[AX + i], w[AY + i], w[BX + i], w[BY + i])


@inlined_kernel
def compute_lines(workspace: RayWorkspace, n: int) -> None:
    """Of n segments write A and B in the sensor's axes, A² + B², and the right and left end."""
    w, angles = workspace.values, workspace.angles
    cosine, sine = w[HEADING], w[HEADING + _1]
    for i in range(padded_count(n)):
        k = np.uint64(i)
        p = segment_of(w, k)
        area, a, b = line_coefficients(p)
        w[A + k] = a * cosine + b * sine
        w[B + k] = b * cosine - a * sine
        w[LINE_NEARNESS + k] = a * a + b * b
        angles[RIGHT_X + k] = np.float32(p.ax if area > 0.0 else p.bx)
        angles[RIGHT_Y + k] = np.float32(p.ay if area > 0.0 else p.by)
        angles[LEFT_X + k] = np.float32(p.bx if area > 0.0 else p.ax)
        angles[LEFT_Y + k] = np.float32(p.by if area > 0.0 else p.ay)


@inlined_kernel
def compute_intervals(workspace: RayWorkspace, bundle: RayBundle, n: int, start: float) -> None:
    """Write the first and last ray that n segments cover, counter-clockwise.

    WRAPPED is the last ray covered after a full turn, or −1. FIRST is −1 where a ray is so near to
    an end that the exact test has to decide.
    """
    angles, intervals = workspace.angles, workspace.intervals
    first = np.float32(start)
    per, turn = np.float32(bundle.per_radian), np.float32(bundle.per_turn)
    slack, last_ray = np.float32(bundle.slack), np.float32(bundle.rays - 1.0)
    for i in range(padded_count(n)):
        k = np.uint64(i)
        right = bearing_32(angles[RIGHT_X + k], angles[RIGHT_Y + k], first)
        width = bearing_32(angles[LEFT_X + k], angles[LEFT_Y + k], first) - right
        # Bearings wrap around; a segment covers less than half a turn.
        width = width + _TURN if width < -_HALF else width
        width = width - _TURN if width > _HALF else width
        low, high = right * per, (right + width) * per
        angles[LOW + k], angles[HIGH + k] = low, high
        low, over = low + _ONE, high - turn
        begin, end, wrapped = np.floor(low - slack), np.floor(high + slack), np.floor(over + slack)
        sure = (begin == np.floor(low + slack)) & (end == np.floor(high - slack))
        sure &= wrapped == np.floor(over - slack)
        begin = begin if begin < last_ray + _ONE else last_ray + _ONE
        end = end if end < last_ray else last_ray
        wrapped = wrapped if wrapped < last_ray else last_ray
        intervals[FIRST + k] = np.int32(begin if sure else _MINUS_ONE)
        intervals[LAST + k] = np.int32(end)
        intervals[WRAPPED + k] = np.int32(wrapped if wrapped > _MINUS_ONE else _MINUS_ONE)


@kernel
def cast_at_edge_on(w: Array, rays: int, i: np.uint64) -> None:
    """Let every ray end on a segment that the sensor sees edge-on."""
    for k in range(rays):
        c, s = ray_in_map(w, k)
        v = intersect_edge_on(segment_of(w, i), c, s)
        j = NEARNESS + np.uint64(k)
        w[j] = max(w[j], v)
        w[BOUND + np.uint64(k >> BLOCK_SHIFT)] = UNKNOWN


@kernel
def first_between(w: Array, i: np.uint64, k: int, stop: int, step: int) -> int:
    """The first ray from k on, in steps of ±1, that lies between the ends of segment i, or stop."""
    p = segment_of(w, i)
    if p.ax * p.by - p.ay * p.bx < 0.0:
        p = Segment(p.bx, p.by, p.ax, p.ay)
    while k != stop:
        c, s = ray_in_map(w, k)
        if is_between(p, c, s):
            return k
        k += step
    return k


@kernel
def cast_at_doubtful(workspace: RayWorkspace, bundle: RayBundle, i: np.uint64) -> None:
    """Let the rays end on segment i, by the exact test where bearings do not decide."""
    w, angles = workspace.values, workspace.angles
    rays, turn, slack = bundle.rays, bundle.per_turn, bundle.slack
    if not w[LINE_NEARNESS + i] <= EDGE_ON:
        cast_at_edge_on(w, rays, i)
        return
    if ROUNDING_FACTOR * w[LINE_NEARNESS + i] <= bundle.limit * bundle.limit:
        return
    low, high, most = float(angles[LOW + i]), float(angles[HIGH + i]), float(rays)
    if math.isnan(high):  # it is farther away than 32-bit numbers reach
        low, high = 0.0, most
    while True:
        # Rays before the first and behind the last are outside for sure.
        first = int(min(max(np.floor(low + 1.0 - slack), 0.0), most))
        sure = int(min(max(np.floor(low + 1.0 + slack), 0.0), most))
        first = first_between(w, i, first, sure, 1)
        last = int(min(max(np.floor(high + slack), -1.0), most - 1.0))
        sure = int(min(max(np.floor(high - slack), -1.0), most - 1.0))
        last = first_between(w, i, last, sure, -1)
        if first <= last:
            end_on_line(w, first, last + 1 - first, w[A + i], w[B + i])
            invalidate_bounds(w, first, last + 1 - first)
        if high + slack < turn:
            return
        low, high = max(low - turn, -1.0), high - turn


@inlined_kernel
def cast_at_segment(
    workspace: RayWorkspace, bundle: RayBundle, i: np.uint64, keep_bounds: bool
) -> None:
    """Let the rays that segment i covers end on it, unless they are known to end before it."""
    w, intervals = workspace.values, workspace.intervals
    first, near = int(intervals[FIRST + i]), w[LINE_NEARNESS + i]
    if first < 0 or not near <= EDGE_ON:
        cast_at_doubtful(workspace, bundle, i)
        return
    if ROUNDING_FACTOR * near <= bundle.limit * bundle.limit:  # it is out of reach
        return
    last, wrapped = int(intervals[LAST + i]), int(intervals[WRAPPED + i])
    a, b, count = w[A + i], w[B + i], last + 1 - first
    if not keep_bounds or count <= SHORT or not is_occluded(w, first, last, math.sqrt(near)):
        end_on_line(w, first, count, a, b)
        if keep_bounds:
            invalidate_bounds(w, first, count)
    if wrapped >= 0:  # it reaches around to the first rays
        end_on_line(w, 0, wrapped + 1, a, b)
        if keep_bounds:
            invalidate_bounds(w, 0, wrapped + 1)


@kernel
def cast_at_chunk(
    workspace: RayWorkspace, bundle: RayBundle, n: int, first: float, keep_bounds: bool
) -> None:
    """Let the rays end on the n segments of the chunk; `first` is the bearing of the first ray.

    Bounds serve to skip what is occluded: where little follows they are not worth their cost.
    """
    compute_lines(workspace, n)
    compute_intervals(workspace, bundle, n, first)
    if keep_bounds:  # two loops, each compiled without the test
        for i in range(n):
            cast_at_segment(workspace, bundle, np.uint64(i), True)
    else:
        for i in range(n):
            cast_at_segment(workspace, bundle, np.uint64(i), False)


@inlined_kernel
def cast_at_kept(workspace: RayWorkspace, bundle: RayBundle, n: int, first: float) -> None:
    """Let the rays end on those of the n segments of the chunk that are marked as kept.

    Where there are few, computing the others too takes less time than moving the kept together.
    """
    w, intervals = workspace.values, workspace.intervals
    compute_lines(workspace, n)
    compute_intervals(workspace, bundle, n, first)
    kept = _0
    for i in range(n):
        intervals[KEPT_NUMBERS + kept] = np.int32(i)
        kept += _1 if w[KEPT + np.uint64(i)] > 0.0 else _0
    for k in range(np.int64(kept)):
        number = np.uint64(intervals[KEPT_NUMBERS + np.uint64(k)])
        cast_at_segment(workspace, bundle, number, False)
