"""Segments against a fan of rays: each covers a run of neighbouring rays, its span.

The bearings of its two ends give the span but for rays that pass within some microradians of an
end; those are settled by the predicate itself. So it is enough to work out bearings in numbers of
32 bits, of which processors do twice as many at a time, and every range is still the one that
testing all segments gives.

A chunk of segments is worked through in passes, several segments at a time, and then drawn.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import TAU, inlined_kernel, kernel
from astray.tables import Array
from astray.world.geometry import ROUNDING_FACTOR, padded
from astray.world.raycast.ray_bundle import (
    AX,
    AY,
    BEYOND,
    BOUND,
    BX,
    BY,
    END,
    FIRST,
    HEADING,
    HIGH,
    KEPT,
    LAST,
    LEFT_X,
    LEFT_Y,
    LOW,
    NEAR,
    ORDER,
    RIGHT_X,
    RIGHT_Y,
    SHIFT,
    STALE,
    A,
    B,
    RayBundle,
    RayWorkspace,
    draw,
    hidden,
    mark,
    ray_in_map,
)
from astray.world.raycast.ray_segment import NEEDLE, line, prick, within

SHORT = 32  # rays that are sooner drawn than found hidden
_0, _1 = np.uint64(0), np.uint64(1)
# Numbers of 32 bits meet only their like: with others, plain Python and numba would disagree.
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_ODD = np.float32(-1.0)
_TURN, _HALF, _QUARTER = np.float32(TAU), np.float32(0.5 * TAU), np.float32(0.25 * TAU)
_LEAST = np.float32(1e-37)
# The arc tangent of a in [0, 1] is a (C0 + C1 a² + … + C6 a¹²), to a quarter microradian.
_C0, _C1 = np.float32(0.999996111533941), np.float32(-0.3331736800483206)
_C2, _C3 = np.float32(0.1980781511846942), np.float32(-0.13233340406374666)
_C4, _C5 = np.float32(0.07962364161278017), np.float32(-0.03360419390673412)
_C6 = np.float32(0.006811784461817015)
Place = tuple[float, float, float]
"""x and y of the sensor, m, and the bearing of its first ray, rad."""


@inlined_kernel
def bearing(x: np.float32, y: np.float32, first: np.float32) -> np.float32:
    """The angle of (x, y) from a first one of ±π, in [0, 2π] rad, to two microradians."""
    wide, high = abs(x), abs(y)
    large = wide if wide > high else high
    small = high if wide > high else wide
    a = small / (large + _LEAST)
    z = a * a
    zz = z * z
    # In pairs, so that processors need not wait for one term before the next.
    r = (_C2 + z * _C3) + zz * ((_C4 + z * _C5) + zz * _C6)
    r = a * ((_C0 + z * _C1) + zz * r)
    r = _QUARTER - r if high > wide else r
    r = _HALF - r if x < _ZERO else r
    r = (-r if y < _ZERO else r) - first
    return r + _TURN if r < _ZERO else r


@inlined_kernel
def lines(board: RayWorkspace, n: int) -> None:
    """Of segments as seen from a place A and B in the sensor's axes, A² + B², their two ends."""
    w, angles, _ = board
    cosine, sine = w[HEADING], w[HEADING + _1]
    for i in range(padded(n)):
        k = np.uint64(i)
        ax, ay, bx, by = w[AX + k], w[AY + k], w[BX + k], w[BY + k]
        area, a, b = line(ax, ay, bx, by)
        w[A + k] = a * cosine + b * sine
        w[B + k] = b * cosine - a * sine
        w[NEAR + k] = a * a + b * b
        angles[RIGHT_X + k] = np.float32(ax if area > 0.0 else bx)
        angles[RIGHT_Y + k] = np.float32(ay if area > 0.0 else by)
        angles[LEFT_X + k] = np.float32(bx if area > 0.0 else ax)
        angles[LEFT_Y + k] = np.float32(by if area > 0.0 else ay)


@inlined_kernel
def spans(board: RayWorkspace, f: RayBundle, n: int, start: float) -> None:
    """From which ray to which segments reach, counter-clockwise, and how many rays anew at 0.

    The first is −1 where a ray is so near to an end that more has to be asked.
    """
    _, angles, runs = board
    first, per, turn = np.float32(start), np.float32(f[2]), np.float32(f[3])
    slack, last_ray = np.float32(f[4]), np.float32(f[0] - 1.0)
    for i in range(padded(n)):
        k = np.uint64(i)
        right = bearing(angles[RIGHT_X + k], angles[RIGHT_Y + k], first)
        width = bearing(angles[LEFT_X + k], angles[LEFT_Y + k], first) - right
        # Bearings wrap around; a segment covers less than half a turn.
        width = width + _TURN if width < -_HALF else width
        width = width - _TURN if width > _HALF else width
        low, high = right * per, (right + width) * per
        angles[LOW + k], angles[HIGH + k] = low, high
        low, over = low + _ONE, high - turn
        begin, end, beyond = np.floor(low - slack), np.floor(high + slack), np.floor(over + slack)
        sure = (begin == np.floor(low + slack)) & (end == np.floor(high - slack))
        sure &= beyond == np.floor(over - slack)
        begin = begin if begin < last_ray + _ONE else last_ray + _ONE
        end = end if end < last_ray else last_ray
        beyond = beyond if beyond < last_ray else last_ray
        runs[FIRST + k] = np.int32(begin if sure else _ODD)
        runs[LAST + k] = np.int32(end)
        runs[BEYOND + k] = np.int32(beyond if beyond > _ODD else _ODD)


@kernel
def draw_needle(w: Array, rays: int, i: np.uint64) -> None:
    """Let every ray that meets a segment seen end on stop there."""
    for k in range(rays):
        c, s = ray_in_map(w, k)
        v = prick(w[AX + i], w[AY + i], w[BX + i], w[BY + i], c, s)
        at = END + np.uint64(k)
        w[at] = max(w[at], v)
        w[BOUND + np.uint64(k >> SHIFT)] = STALE


@kernel
def settle(w: Array, i: np.uint64, k: int, goal: int, side: int) -> int:
    """The first ray from k on, in the direction of side, that meets a segment; else the goal."""
    ax, ay, bx, by = w[AX + i], w[AY + i], w[BX + i], w[BY + i]
    if ax * by - ay * bx < 0.0:
        ax, ay, bx, by = bx, by, ax, ay
    while k != goal:
        c, s = ray_in_map(w, k)
        if within(ax, ay, bx, by, c, s):
            return k
        k += side
    return k


@kernel
def cover_odd(board: RayWorkspace, f: RayBundle, i: np.uint64) -> None:
    """Let the rays end that a segment covers, whatever has to be asked for that."""
    w, angles, _ = board
    rays, turn, slack = f[0], f[3], f[4]
    if not w[NEAR + i] <= NEEDLE:
        draw_needle(w, rays, i)
        return
    if ROUNDING_FACTOR * w[NEAR + i] <= f[5] * f[5]:
        return
    low, high, most = float(angles[LOW + i]), float(angles[HIGH + i]), float(rays)
    if math.isnan(high):  # it is farther away than such numbers go
        low, high = 0.0, most
    while True:
        # Those before the first ray and behind the last need no question.
        first = int(min(max(np.floor(low + 1.0 - slack), 0.0), most))
        sure = int(min(max(np.floor(low + 1.0 + slack), 0.0), most))
        first = settle(w, i, first, sure, 1)
        last = int(min(max(np.floor(high + slack), -1.0), most - 1.0))
        sure = int(min(max(np.floor(high - slack), -1.0), most - 1.0))
        last = settle(w, i, last, sure, -1)
        if first <= last:
            draw(w, first, last + 1 - first, w[A + i], w[B + i])
            mark(w, first, last + 1 - first)
        if high + slack < turn:
            return
        low, high = max(low - turn, -1.0), high - turn


@inlined_kernel
def cover(board: RayWorkspace, f: RayBundle, i: np.uint64, few: bool) -> None:
    """Let the rays end that a segment covers, unless they are found to end before it."""
    w, _, runs = board
    first, near = int(runs[FIRST + i]), w[NEAR + i]
    if first < 0 or not near <= NEEDLE:
        cover_odd(board, f, i)
        return
    if ROUNDING_FACTOR * near <= f[5] * f[5]:  # it is out of reach
        return
    last, beyond = int(runs[LAST + i]), int(runs[BEYOND + i])
    a, b, count = w[A + i], w[B + i], last + 1 - first
    if few or count <= SHORT or not hidden(w, first, last, math.sqrt(near)):
        draw(w, first, count, a, b)
        if not few:
            mark(w, first, count)
    if beyond >= 0:  # it reaches around to the first rays
        draw(w, 0, beyond + 1, a, b)
        if not few:
            mark(w, 0, beyond + 1)


@kernel
def cast(board: RayWorkspace, f: RayBundle, n: int, at: Place, few: bool) -> None:
    """Let the rays end on n segments; if they are few and the last, no bounds are worth to keep."""
    lines(board, n)
    spans(board, f, n, at[2])
    if few:  # two loops, for the question would be asked of every segment
        for i in range(n):
            cover(board, f, np.uint64(i), True)
    else:
        for i in range(n):
            cover(board, f, np.uint64(i), False)


@inlined_kernel
def cast_kept(board: RayWorkspace, f: RayBundle, n: int, at: Place) -> None:
    """Let the rays end on those of n segments that are marked to be kept.

    Where they are few, to work out all of them takes less time than to move the others together.
    """
    w, _, runs = board
    lines(board, n)
    spans(board, f, n, at[2])
    kept = _0
    for i in range(n):
        runs[ORDER + kept] = np.int32(i)
        kept += _1 if w[KEPT + np.uint64(i)] > 0.0 else _0
    for k in range(np.int64(kept)):
        cover(board, f, np.uint64(runs[ORDER + np.uint64(k)]), True)
