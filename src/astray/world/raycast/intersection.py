"""Intersection tests: where a ray meets a segment, a circle or the footprint of a robot.

All of them give the inverse of the range, 1/m: the largest is the nearest, and 0 means no hit.

A segment is given relative to the origin of the ray, with the ends a and b; (c, s) is the direction
d of the ray. Let a → b run counter-clockwise around the origin, so that a × b > 0. A ray meets the
segment where

    a × d ≥ 0  and  d × b ≥ 0                      ends included: a segment is closed

Two segments that share an end compute the same two products there, with opposite signs, so no
ray passes between them. On the line of the segment the inverse of the range is linear in d,

    1 / r = c · A + s · B,   A = (b_y − a_y) / (a × b),   B = (a_x − b_x) / (a × b)

and 1 / √(A² + B²) is the distance of that line from the origin. A line nearer than a nanometre is
seen edge-on: the range of its segment is that of the nearer end, and 0 between the ends.

A circle of radius r around m is met where

    h = d × m,   r² − h² ≥ 0   and   t = d · m ∓ √(r² − h²) > 0

with the upper sign from outside and the lower from within. A polygon is the segments of its edges.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Row
from astray.world.geometry import Segment

EDGE_ON = 1e18  # 1/m², the squared inverse distance beyond which a line is seen edge-on
INFINITE = math.inf


class Ray(NamedTuple):
    """The origin of a ray and its direction as a unit vector."""

    x: float  # m
    y: float  # m
    cosine: float
    sine: float


@inlined_kernel
def line_coefficients(p: Segment) -> tuple[float, float, float]:
    """A × b, and A and B of the inverse range; nan or inf where a × b is 0."""
    area = p.ax * p.by - p.ay * p.bx
    per = 1.0 / area
    return area, (p.by - p.ay) * per, (p.ax - p.bx) * per


@inlined_kernel
def is_edge_on(a: float, b: float) -> bool:
    """Whether a line with this A and B passes the origin within a nanometre; nan does."""
    return not a * a + b * b <= EDGE_ON


@inlined_kernel
def is_between(p: Segment, c: float, s: float) -> bool:
    """Whether a direction lies between a and b, which run counter-clockwise; ends included."""
    return p.ax * s - p.ay * c >= 0.0 and c * p.by - s * p.bx >= 0.0


@inlined_kernel
def is_beside(p: Segment, c: float, s: float) -> bool:
    """Whether both ends lie strictly on the same side of a ray's line: there is no hit then."""
    left, right = p.ax * s - p.ay * c, p.bx * s - p.by * c
    return (left > 0.0 and right > 0.0) or (left < 0.0 and right < 0.0)


@inlined_kernel
def intersect_edge_on(p: Segment, c: float, s: float) -> float:
    """The inverse range of a segment seen edge-on; infinite between its ends."""
    if is_beside(p, c, s):
        return 0.0
    if p.ax * p.bx + p.ay * p.by <= 0.0:
        return INFINITE
    if p.ax * c + p.ay * s <= 0.0:
        return 0.0
    return 1.0 / math.sqrt(min(p.ax * p.ax + p.ay * p.ay, p.bx * p.bx + p.by * p.by))


@inlined_kernel
def intersect_ray_segment(p: Segment, c: float, s: float) -> float:
    """The inverse range at which a ray meets a segment."""
    if is_beside(p, c, s):
        return 0.0
    area, a, b = line_coefficients(p)
    if is_edge_on(a, b):
        return intersect_edge_on(p, c, s)
    hit = is_between(p, c, s) if area > 0.0 else is_between(Segment(p.bx, p.by, p.ax, p.ay), c, s)
    return c * a + s * b if hit else 0.0


@inlined_kernel
def intersect_ray_circle(x: float, y: float, radius: float, c: float, s: float) -> float:
    """The inverse range at which a ray meets a circle around (x, y), relative to its origin."""
    h = c * y - s * x
    left = radius * radius - h * h
    if left < 0.0:
        return 0.0
    along, half = c * x + s * y, math.sqrt(left)
    near = along - half
    t = near if near > 0.0 else along + half
    if x * x + y * y > radius * radius and near <= 0.0:
        return 0.0
    return 1.0 / t if t > 0.0 else 0.0


@inlined_kernel
def corner_from(b: Row, corners: Array, k: int, x: float, y: float) -> tuple[float, float]:
    """Corner k of the footprint of a body, relative to a point."""
    return (
        b.x - x + b.cosine * corners[0, k] - b.sine * corners[1, k],
        b.y - y + b.sine * corners[0, k] + b.cosine * corners[1, k],
    )


@kernel
def intersect_ray_robot(b: Row, shape: Row, corners: Array, ray: Ray) -> float:
    """The inverse range at which a ray meets the footprint of a body."""
    x, y, c, s = ray
    if shape.count == 0:
        return intersect_ray_circle(b.middle_x - x, b.middle_y - y, b.radius, c, s)
    h = c * (b.middle_y - y) - s * (b.middle_x - x)
    if h * h > b.radius * b.radius:
        return 0.0
    best = 0.0
    px, py = corner_from(b, corners, shape.first + shape.count - 1, x, y)
    for k in range(shape.first, shape.first + shape.count):
        qx, qy = corner_from(b, corners, k, x, y)
        best = max(best, intersect_ray_segment(Segment(px, py, qx, qy), c, s))
        px, py = qx, qy
    return best
