"""A fan: many rays from one point, cast together.

A ray is known by its inverse range so far, the larger of which is the nearer. Whatever is drawn
covers a run of neighbouring rays, and within it the inverse range of a line is linear in the ray's
direction: a multiply-add per ray, several of them at a time.

Rays are not turned into the map: what they are cast against is turned into the sensor's axes.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import TAU, inlined_kernel, sincos
from astray.tables import Array
from astray.world.raycast.ray_segment import INFINITE

MOST_RAYS = 1 << 16
BLOCK = 16  # rays that share a bound of how far they see
SHIFT = 4  # 2⁴ = BLOCK
LANES = 3  # 2³ rays are drawn at a time
CHUNK = 256  # segments, or cells, that are looked at together
UNSURE = 6e-6  # rad, more than the error of angles as they are first worked out, see span.py
STALE = -1.0
LINE, PAGE = 64, 4096  # bytes, of a line of a cache and of memory that is mapped together
_1, _2, _3, _4 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)

RayWorkspace = tuple[Array, Array, Array]
"""What a scan works on: numbers of rays, segments and cells; angles of segments, of 32 bits; and
the runs of rays that they cover. Each is one array in which columns begin at places that are known
to the compiler, so that it knows that they do not overlap. Arrays begin with a page and columns
with a line of a cache: where they began wherever memory was free, some runs took a tenth longer."""
RayBundle = tuple[int, float, float, float, float, float]
"""Number of rays, angle of the first, rays per rad and per turn, unsure rays, 1 / longest range."""

# Columns of what a chunk holds, of 64 and of 32 bits; a line more keeps them from sharing the same
# places of a cache.
_COLUMN, _NARROW = CHUNK + LINE // 8, CHUNK + LINE // 4
AX, AY, BX, BY, A, B, NEAR, KEPT = (np.uint64(k * _COLUMN) for k in range(8))
CELL_X, CELL_Y, CELL_SIZE, CELL_LOW, CELL_HIGH = (np.uint64(k * _COLUMN) for k in range(8, 13))
CELL_NEAR, CELL_ID = np.uint64(13 * _COLUMN), np.uint64(14 * _COLUMN)
LEFT_X, LEFT_Y, RIGHT_X, RIGHT_Y, LOW, HIGH = (np.uint64(k * _NARROW) for k in range(6))
FIRST, LAST, BEYOND, ORDER = (np.uint64(k * _NARROW) for k in range(4))
# Cosine and sine of the sensor's heading; of each block of rays the smallest inverse range, or
# STALE; of each ray, in the sensor's axes, cosine, sine and inverse range.
HEADING = np.uint64(15 * _COLUMN)
BOUND = np.uint64(16 * _COLUMN)
_RAYS, _BLOCKS = MOST_RAYS + 6 * BLOCK, MOST_RAYS // BLOCK + LINE // 8
COS, SIN, END = (np.uint64(int(BOUND) + _BLOCKS + k * _RAYS) for k in range(3))


def make_ray_bundle(
    rays: int, start: float, step: float, max_range: float
) -> tuple[RayWorkspace, RayBundle]:
    """So many rays, from an angle on, some radians apart: the board to work on, and the fan."""
    board = make_board()
    w, cosines, sines = board[0], int(COS), int(SIN)
    for k in range(rays):
        w[sines + k], w[cosines + k] = sincos(start + k * step)
    w[int(END) + rays : int(END) + rays + BLOCK] = INFINITE  # behind the last ray none sees far
    return board, (rays, start, 1.0 / step, TAU / step, UNSURE / step, 1.0 / max_range)


def make_board() -> RayWorkspace:
    """Room for a scan; memory is taken only where there are rays."""
    w = _zeros(int(END) + _RAYS, np.float64)
    w[int(AX) : int(AY)] = w[int(BY) : int(A)] = 1.0  # segments, of which none is a point
    return w, _zeros(6 * _NARROW, np.float32), _zeros(4 * _NARROW, np.int32)


def _zeros(count: int, kind: type[np.generic]) -> Array:
    """So many zeros that begin with a page."""
    size = count * np.dtype(kind).itemsize
    memory = np.zeros(size + PAGE, np.uint8)
    first = -memory.ctypes.data % PAGE
    return memory[first : first + size].view(kind)


def copy_workspace(board: RayWorkspace, f: RayBundle) -> RayWorkspace:
    """A board with the same rays, for another thread."""
    made = make_board()
    for column in (COS, SIN, END):
        rays = slice(int(column), int(column) + f[0] + BLOCK)
        made[0][rays] = board[0][rays]
    return made


@inlined_kernel
def aim(w: Array, f: RayBundle, yaw: float) -> float:
    """Turn the rays to a heading, all as long as they can be; the bearing of the first, ±π rad."""
    w[HEADING + _1], w[HEADING] = sincos(yaw)
    for k in range(f[0]):
        w[END + np.uint64(k)] = f[5]
    for k in range((f[0] + BLOCK - 1) >> SHIFT):
        w[BOUND + np.uint64(k)] = f[5]
    first = yaw + f[1]
    return first - TAU * math.floor(first / TAU + 0.5)


@inlined_kernel
def ray_in_map(w: Array, k: int) -> tuple[float, float]:
    """The direction of a ray in the map."""
    at = np.uint64(k)
    c, s, cosine, sine = w[COS + at], w[SIN + at], w[HEADING], w[HEADING + _1]
    return c * cosine - s * sine, s * cosine + c * sine


@inlined_kernel
def in_sensor(w: Array, x: float, y: float) -> tuple[float, float]:
    """A vector of the map in the sensor's axes."""
    cosine, sine = w[HEADING], w[HEADING + _1]
    return x * cosine + y * sine, y * cosine - x * sine


@inlined_kernel
def draw(w: Array, first: int, count: int, a: float, b: float) -> None:
    """Let the rays of a span end on a line, where that is nearer than where they end now."""
    # More rays than there are, so that nobody has to guess how many.
    for j in range((max(count + (1 << LANES) - 1, 1 << LANES) >> LANES) << LANES):
        k = np.uint64(first + j)  # unsigned, so that no negative index has to be thought of
        v, q = w[COS + k] * a + w[SIN + k] * b, w[END + k]
        v = v if j < count else 0.0
        # Without the zero this is compiled to a masked store, which some processors do slowly.
        w[END + k] = (v if v > q else q) + 0.0


@inlined_kernel
def mark(w: Array, first: int, count: int) -> None:
    """Note that some rays end elsewhere now."""
    for block in range(first >> SHIFT, (first + count - 1 >> SHIFT) + 1):
        w[BOUND + np.uint64(block)] = STALE


@inlined_kernel
def shortest(w: Array, block: int) -> float:
    """The smallest inverse range of a block of rays."""
    k = END + np.uint64(block << SHIFT)
    p, q, r, t = w[k], w[k + _1], w[k + _2], w[k + _3]
    for _ in range(BLOCK // 4 - 1):  # by fours: the least of all in a row would wait for each
        k += _4
        p = w[k] if w[k] < p else p
        q = w[k + _1] if w[k + _1] < q else q
        r = w[k + _2] if w[k + _2] < r else r
        t = w[k + _3] if w[k + _3] < t else t
    p, r = p if p < q else q, r if r < t else t
    return float(p if p < r else r)


@inlined_kernel
def hidden(w: Array, first: int, last: int, nearness: float) -> bool:
    """Whether all rays of a span end before something of this inverse distance."""
    for block in range(first >> SHIFT, (last >> SHIFT) + 1):
        at = BOUND + np.uint64(block)
        if w[at] == STALE:
            w[at] = shortest(w, block)
        if w[at] < nearness:
            return False
    return True
