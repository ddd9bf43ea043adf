"""Where two bodies touch that lie flat against each other: in the middle of what they share."""

from __future__ import annotations

import math

from astray.interactions.collisions.swept_motion import Stance, point_at, stance_at
from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Row, Table

FLAT = 1e-5  # m: corners so near to the plane between two bodies lie in it

Plane = tuple[float, float, float]
"""Its direction, and its height along it."""

Span = tuple[float, float]
"""From where to where along a plane."""


@inlined_kernel
def widen(span: Span, f: Plane, x: float, y: float) -> Span:
    """A span with one more point, if that lies in the plane."""
    if abs(f[0] * x + f[1] * y - f[2]) > FLAT:
        return span
    along = f[0] * y - f[1] * x
    return min(span[0], along), max(span[1], along)


@kernel
def span_of_body(b: Stance, shape: Row, corners: Array, f: Plane) -> Span:
    """What of a footprint that stands there lies in a plane."""
    span = (math.inf, -math.inf)
    for k in range(shape.first, shape.first + shape.count):
        x, y = point_at(b, corners[0, k], corners[1, k])
        span = widen(span, f, x, y)
    if shape.count == 0:
        x, y = point_at(b, shape.x, shape.y)
        along = f[0] * y - f[1] * x
        span = (along, along)
    return span


@kernel
def span_of_wall(ends: Array, k: int, f: Plane) -> Span:
    """What of a wall lies in a plane."""
    span = widen((math.inf, -math.inf), f, ends[k, 0], ends[k, 1])
    return widen(span, f, ends[k, 2], ends[k, 3])


@kernel
def contact_point(
    p: Row, paths: Table, shapes: Table, corners: Array, ends: Array
) -> tuple[float, float]:
    """The place of the contact that ended or met a motion."""
    x, y = p.at_x, p.at_y
    if p.when == math.inf:
        return x, y
    f = (p.nx, p.ny, p.nx * x + p.ny * y)
    mine = span_of_body(stance_at(p, p.when), shapes[p.footprint], corners, f)
    if p.other < 0:
        his = span_of_wall(ends, p.wall, f)
    else:
        q = paths[p.other]
        his = span_of_body(stance_at(q, p.when), shapes[q.footprint], corners, f)
    low, high = max(mine[0], his[0]), min(mine[1], his[1])
    if low > high:
        return x, y
    shift = 0.5 * (low + high) - (f[0] * y - f[1] * x)
    return x - shift * f[1], y + shift * f[0]
