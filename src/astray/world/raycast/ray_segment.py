"""The one predicate: whether a ray meets a segment, and how far away.

Everything is seen from the origin of the ray: a and b are the ends of the segment relative to it,
(c, s) the direction. Let a → b run counter-clockwise around the origin, so that a × b > 0. A ray
meets the segment where

    a × d ≥ 0  and  d × b ≥ 0                      ends included: a segment is closed

Two segments that share an end compute the same two products there, with opposite signs, so no
ray passes between them. On the line of the segment the inverse of the range is linear in d,

    1 / r = c · A + s · B,   A = (b_y − a_y) / (a × b),   B = (a_x − b_x) / (a × b)

and 1 / √(A² + B²) is the distance of that line from the origin. A line nearer than a nanometre is
seen end on, as a needle: its range is that of the nearer end, and 0 from its midst.
"""

from __future__ import annotations

import math

from astray.numerics import inlined_kernel

NEEDLE = 1e18  # 1/m², of the square of the distance to a line that is seen end on
INFINITE = math.inf


@inlined_kernel
def line(ax: float, ay: float, bx: float, by: float) -> tuple[float, float, float]:
    """A × b, and A and B of the inverse range; nan or inf where a × b is 0."""
    area = ax * by - ay * bx
    per = 1.0 / area
    return area, (by - ay) * per, (ax - bx) * per


@inlined_kernel
def is_needle(a: float, b: float) -> bool:
    """Whether a line with this A and B passes within a nanometre; nan does."""
    return not a * a + b * b <= NEEDLE


@inlined_kernel
def within(ax: float, ay: float, bx: float, by: float, c: float, s: float) -> bool:
    """Whether a direction lies between a and b, which run counter-clockwise; ends included."""
    return ax * s - ay * c >= 0.0 and c * by - s * bx >= 0.0


@inlined_kernel
def passes(ax: float, ay: float, bx: float, by: float, c: float, s: float) -> bool:
    """Whether both ends lie strictly on the same side of a ray's line: then it meets nothing."""
    left, right = ax * s - ay * c, bx * s - by * c
    return (left > 0.0 and right > 0.0) or (left < 0.0 and right < 0.0)


@inlined_kernel
def prick(ax: float, ay: float, bx: float, by: float, c: float, s: float) -> float:
    """The inverse range of a needle: infinite on it, that of its nearer end before it, else 0."""
    if passes(ax, ay, bx, by, c, s):
        return 0.0
    if ax * bx + ay * by <= 0.0:
        return INFINITE
    if ax * c + ay * s <= 0.0:
        return 0.0
    return 1.0 / math.sqrt(min(ax * ax + ay * ay, bx * bx + by * by))


@inlined_kernel
def meet(ax: float, ay: float, bx: float, by: float, c: float, s: float) -> float:
    """The inverse range at which a ray meets a segment; 0 if it does not."""
    if passes(ax, ay, bx, by, c, s):
        return 0.0
    area, a, b = line(ax, ay, bx, by)
    if is_needle(a, b):
        return prick(ax, ay, bx, by, c, s)
    met = within(ax, ay, bx, by, c, s) if area > 0.0 else within(bx, by, ax, ay, c, s)
    return c * a + s * b if met else 0.0
