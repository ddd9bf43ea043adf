"""A fan: many rays from one point, cast together.

Each segment covers a run of neighbouring rays, its span. The bearings of its two ends give the
span but for rays that pass within a microradian of an end; those are settled by the predicate
itself. Within the span the inverse range is linear in the ray's direction, so a segment costs two
bearings and a multiply-add per ray, and every range is the one that testing all segments gives.

All that a scan needs is in one array, `w`, whose rows are named below: kernels hand it on for
free, while every array in a tuple would be counted in and out.
"""

from __future__ import annotations

import math

import numpy as np

from astray.kernel import inlined_kernel, kernel
from astray.maths import TAU, sincos
from astray.table import Array
from astray.world.sight import INFINITE, NEEDLE, line, prick, within

BLOCK = 16  # rays that share a bound of how far they see
SHIFT = 4  # 2⁴ = BLOCK
CHUNK = 256  # segments that are looked at together
SHORT = 32  # rays that are sooner drawn than found hidden
LANES = 3  # 2³ rays are drawn at a time
ODD = -1.0
UNSURE = 1e-6  # rad, more than the error of `bearing`
NEAREST = 1e-300
STALE = -1.0
_1, _2, _3, _4 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)

# The rows of `w`: the rays in the sensor's frame, with their inverse range; the smallest of these
# in each block of rays, or STALE; cosine and sine of the sensor's heading; segments with what is
# known of them. Rays are not turned into the map: what they are cast against is turned instead.
COS, SIN, END, BOUND, HEADING = 0, 1, 2, 3, 4
AX, AY, BX, BY, LOW, HIGH, A, B, NEAR, AREA = 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
FIRST, COUNT = 15, 16
CELL_X, CELL_Y, CELL_SIZE, CELL_LOW, CELL_HIGH, CELL_NEAR, CELL_ID = 17, 18, 19, 20, 21, 22, 23
ROWS = 24

Fan = tuple[int, float, float, float, float, float]
"""Number of rays, angle of the first, rays per rad and per turn, unsure rays, 1 / longest range."""
Ends = tuple[float, float, float, float]


def make_fan(rays: int, start: float, step: float, max_range: float) -> tuple[Array, Fan]:
    """So many rays, from an angle on, some radians apart: the room to work in, and the fan."""
    w = np.zeros((ROWS, max(rays + BLOCK, CHUNK)))
    w[END] = INFINITE  # so that behind the last ray there is none that sees far
    for k in range(rays):
        w[SIN, k], w[COS, k] = sincos(start + k * step)
    return w, (rays, start, 1.0 / step, TAU / step, UNSURE / step, 1.0 / max_range)


@inlined_kernel
def aim(w: Array, f: Fan, yaw: float) -> float:
    """Turn the rays to a heading, all as long as they can be; the bearing of the first, rad."""
    w[HEADING, 1], w[HEADING, 0] = sincos(yaw)
    for k in range(f[0]):
        w[END, k] = f[5]
    for k in range((f[0] + BLOCK - 1) >> SHIFT):
        w[BOUND, k] = f[5]
    first = yaw + f[1]
    return first - TAU * math.floor(first / TAU)


@inlined_kernel
def ray_in_map(w: Array, k: int) -> tuple[float, float]:
    """The direction of a ray in the map."""
    c, s, cosine, sine = w[COS, k], w[SIN, k], w[HEADING, 0], w[HEADING, 1]
    return c * cosine - s * sine, s * cosine + c * sine


@inlined_kernel
def in_sensor(w: Array, x: float, y: float) -> tuple[float, float]:
    """A vector of the map in the sensor's axes."""
    cosine, sine = w[HEADING, 0], w[HEADING, 1]
    return x * cosine + y * sine, y * cosine - x * sine


@inlined_kernel
def bearing(x: float, y: float, first: float) -> float:
    """The angle of (x, y) from a first one, in [0, 2π) rad, to a quarter microradian."""
    wide, high = abs(x), abs(y)
    large = wide if wide > high else high
    small = high if wide > high else wide
    a = small / (large + NEAREST)
    z = a * a
    r = -0.03360419390673412 + z * 0.006811784461817015
    r = 0.1980781511846942 + z * (-0.13233340406374666 + z * (0.07962364161278017 + z * r))
    r = a * (0.999996111533941 + z * (-0.3331736800483206 + z * r))
    r = 1.5707963267948966 - r if high > wide else r
    r = 3.141592653589793 - r if x < 0.0 else r
    r = (-r if y < 0.0 else r) - first
    r = r + TAU if r < 0.0 else r
    return r + TAU if r < 0.0 else r


@inlined_kernel
def bearings(w: Array, n: int, x: int, y: int, out: int, first: float) -> None:
    """The bearings of points, whose coordinates are in two rows, into another row."""
    for i in range(n):
        w[out, i] = bearing(w[x, i], w[y, i], first)


@inlined_kernel
def lines(w: Array, n: int) -> None:
    """A and B in the sensor's axes, inverse distance and area of segments."""
    cosine, sine = w[HEADING, 0], w[HEADING, 1]
    for i in range(n):
        area, a, b = line(w[AX, i], w[AY, i], w[BX, i], w[BY, i])
        w[A, i] = a * cosine + b * sine
        w[B, i] = b * cosine - a * sine
        w[NEAR, i] = math.sqrt(a * a + b * b)
        w[AREA, i] = area


@inlined_kernel
def spans(w: Array, n: int, per: float) -> None:
    """From where to where segments reach in the fan, counter-clockwise, in rays."""
    for i in range(n):
        low = w[LOW, i] if w[AREA, i] > 0.0 else w[HIGH, i]
        width = w[LOW, i] + w[HIGH, i] - 2.0 * low
        # Bearings wrap around; a segment covers less than half a turn.
        width = width + TAU if width < -0.5 * TAU else width
        width = width - TAU if width > 0.5 * TAU else width
        w[LOW, i] = low * per
        w[HIGH, i] = (low + width) * per


@inlined_kernel
def runs(w: Array, n: int, f: Fan) -> None:
    """The first of the rays that segments cover, and of how many: none beyond the longest range.

    It is ODD where more has to be asked: a ray is near an end, or the segment near the sensor.
    """
    last_ray, turn, slack, least = f[0] - 1.0, f[3], f[4], f[5]
    for i in range(n):
        low, high, near = w[LOW, i] + 1.0, w[HIGH, i], w[NEAR, i]
        first, last, over = np.floor(low - slack), np.floor(high + slack), high - turn
        sure = (first == np.floor(low + slack)) & (last == np.floor(high - slack))
        sure &= np.floor(over + slack) == np.floor(over - slack)
        last = last if last < last_ray else last_ray
        w[FIRST, i] = first if sure & (near <= NEEDLE) else ODD
        w[COUNT, i] = last + 1.0 - first if near > least else 0.0


@inlined_kernel
def draw(w: Array, first: int, count: int, a: float, b: float) -> None:
    """Let the rays of a span end on a line, where that is nearer than where they end now."""
    # More rays than there are, so that nobody has to guess how many.
    for j in range(((count + (1 << LANES) - 1) >> LANES) << LANES):
        k = np.uint64(first + j)  # unsigned, so that no negative index has to be thought of
        v, q = w[COS, k] * a + w[SIN, k] * b, w[END, k]
        v = v if j < count else 0.0
        # Without the zero this is compiled to a masked store, which some processors do slowly.
        w[END, k] = (v if v > q else q) + 0.0


@inlined_kernel
def mark(w: Array, first: int, count: int) -> None:
    """Note that some rays end elsewhere now."""
    for block in range(first >> SHIFT, (first + count - 1 >> SHIFT) + 1):
        w[BOUND, block] = STALE


@kernel
def draw_needle(w: Array, rays: int, i: int) -> None:
    """Let every ray that meets a segment seen end on stop there."""
    for k in range(rays):
        c, s = ray_in_map(w, k)
        v = prick(w[AX, i], w[AY, i], w[BX, i], w[BY, i], c, s)
        w[END, k] = max(w[END, k], v)
        w[BOUND, k >> SHIFT] = STALE


@inlined_kernel
def shortest(w: Array, block: int) -> float:
    """The smallest inverse range of a block of rays."""
    k = np.uint64(block << SHIFT)
    p, q, r, t = w[END, k], w[END, k + _1], w[END, k + _2], w[END, k + _3]
    for _ in range(BLOCK // 4 - 1):  # by fours: the least of all in a row would wait for each
        k += _4
        p = w[END, k] if w[END, k] < p else p
        q = w[END, k + _1] if w[END, k + _1] < q else q
        r = w[END, k + _2] if w[END, k + _2] < r else r
        t = w[END, k + _3] if w[END, k + _3] < t else t
    p, r = p if p < q else q, r if r < t else t
    return float(p if p < r else r)


@inlined_kernel
def hidden(w: Array, first: int, last: int, nearness: float) -> bool:
    """Whether all rays of a span end before something of this inverse distance."""
    for block in range(first >> SHIFT, (last >> SHIFT) + 1):
        if w[BOUND, block] == STALE:
            w[BOUND, block] = shortest(w, block)
        if w[BOUND, block] < nearness:
            return False
    return True


@kernel
def settle(w: Array, f: Fan, i: int, k: int, goal: int, side: int) -> int:
    """The first ray from k on, in the direction of side, that meets a segment; else the goal."""
    ends = (w[AX, i], w[AY, i], w[BX, i], w[BY, i])
    if w[AREA, i] < 0.0:
        ends = (w[BX, i], w[BY, i], w[AX, i], w[AY, i])
    while k != goal:
        if 0 <= k < f[0]:
            c, s = ray_in_map(w, k)
            if within(ends[0], ends[1], ends[2], ends[3], c, s):
                return k
        k += side
    return k


@kernel
def cover_odd(w: Array, f: Fan, i: int) -> None:
    """Let the rays end that a segment covers, whatever has to be asked for that."""
    nearness = w[NEAR, i]
    if not nearness <= NEEDLE:
        draw_needle(w, f[0], i)
        return
    if nearness <= f[5]:
        return
    low, high, turn, slack = w[LOW, i], w[HIGH, i], f[3], f[4]
    while True:
        # int() rounds towards 0; the ones keep what it gets positive.
        first, sure = int(low + 1.0 - slack), int(low + 1.0 + slack)
        if first != sure:
            first = settle(w, f, i, first, sure, 1)
        last, sure = int(high + 1.0 + slack) - 1, int(high + 1.0 - slack) - 1
        if last != sure:
            last = settle(w, f, i, last, sure, -1)
        first, last = max(first, 0), min(last, f[0] - 1)
        if first <= last:
            draw(w, first, last + 1 - first, w[A, i], w[B, i])
            mark(w, first, last + 1 - first)
        if high + slack < turn:
            return
        low, high = max(low - turn, -1.0), high - turn


@inlined_kernel
def cover(w: Array, f: Fan, i: int, few: bool) -> None:
    """Let the rays end that a segment covers, unless they are found to end before it."""
    first, count = int(w[FIRST, i]), int(w[COUNT, i])
    if first < 0:
        cover_odd(w, f, i)
        return
    a, b, near = w[A, i], w[B, i], w[NEAR, i]
    if few or count <= SHORT or not hidden(w, first, first + count - 1, near):
        draw(w, first, count, a, b)
        if not few:
            mark(w, first, count)
    beyond = w[HIGH, i] + f[4] - f[3]
    if beyond >= 0.0 and near > f[5]:  # it reaches around to the first rays
        count = min(int(beyond) + 1, f[0])
        draw(w, 0, count, a, b)
        if not few:
            mark(w, 0, count)


@kernel
def cast(w: Array, f: Fan, n: int, first: float, few: bool) -> None:
    """Let the rays end on n segments; if they are few and the last, no bounds are worth to keep."""
    bearings(w, n, AX, AY, LOW, first)
    bearings(w, n, BX, BY, HIGH, first)
    lines(w, n)
    spans(w, n, f[2])
    runs(w, n, f)
    if few:  # two loops, for the question would be asked of every segment
        for i in range(n):
            cover(w, f, i, True)
    else:
        for i in range(n):
            cover(w, f, i, False)
