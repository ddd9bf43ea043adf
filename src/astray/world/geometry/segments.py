"""Segments: how far they are from points and from each other, and in which direction.

The direction n of a separation runs from the second shape to the first, so a line across n
separates the two. It is computed from a segment wherever the closest point lies inside of one, and
not from the difference of two nearly equal points: the normal of a wall is then the same at any
distance from it (Ericson, Real-Time Collision Detection, 2005, section 5.1).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from astray.numerics import inlined_kernel, kernel


class Segment(NamedTuple):
    """The ends a and b of a straight segment; equal ends make it a point."""

    ax: float  # m
    ay: float  # m
    bx: float  # m
    by: float  # m


class Capsule(NamedTuple):
    """A segment with a radius: 0 for the edge of a polygon; a circle has equal ends."""

    ax: float  # m
    ay: float  # m
    bx: float  # m
    by: float  # m
    radius: float  # m


class Separation(NamedTuple):
    """How far two shapes are apart, along which direction, and the closest point of the second."""

    distance: float  # m
    nx: float  # unit vector from the second to the first
    ny: float
    x: float  # m
    y: float  # m


@inlined_kernel
def squared_distance(segment: Segment, x: float, y: float) -> float:
    """The squared distance of a point from a segment."""
    ex, ey = segment.bx - segment.ax, segment.by - segment.ay
    px, py = x - segment.ax, y - segment.ay
    size = ex * ex + ey * ey
    along, across = px * ex + py * ey, ex * py - ey * px
    beyond = max(-along, along - size, 0.0)
    # Where the foot is beyond an end, across² + beyond² = size · |p − end|²: no case is needed.
    return (across * across + beyond * beyond) / max(size, 1e-300)


@kernel
def point_segment_separation(x: float, y: float, segment: Segment) -> Separation:
    """The separation of a point, which is the first shape, from a segment."""
    ex, ey = segment.bx - segment.ax, segment.by - segment.ay
    px, py = x - segment.ax, y - segment.ay
    size = ex * ex + ey * ey
    along = px * ex + py * ey
    if 0.0 < along < size:
        length = math.sqrt(size)
        nx, ny = -ey / length, ex / length
        d = nx * px + ny * py
        if d < 0.0:
            d, nx, ny = -d, -nx, -ny
        return Separation(d, nx, ny, x - d * nx, y - d * ny)
    if along > 0.0:
        px, py = x - segment.bx, y - segment.by
    d = math.sqrt(px * px + py * py)
    if d == 0.0:
        return Separation(d, 1.0, 0.0, x, y)
    return Separation(d, px / d, py / d, x - px, y - py)


@inlined_kernel
def reversed_separation(s: Separation) -> Separation:
    """The same separation with the two shapes exchanged."""
    return Separation(s.distance, -s.nx, -s.ny, s.x + s.distance * s.nx, s.y + s.distance * s.ny)


@inlined_kernel
def side_of(segment: Segment, x: float, y: float) -> float:
    """The side of a segment's line on which a point lies: > 0 on the left."""
    return (segment.bx - segment.ax) * (y - segment.ay) - (segment.by - segment.ay) * (
        x - segment.ax
    )


@kernel
def segments_cross(p: Segment, q: Segment) -> bool:
    """Whether the ends of each segment lie strictly on different sides of the other."""
    a1, a2 = side_of(q, p.ax, p.ay), side_of(q, p.bx, p.by)
    b1, b2 = side_of(p, q.ax, q.ay), side_of(p, q.bx, q.by)
    return ((a1 > 0.0 and a2 < 0.0) or (a1 < 0.0 and a2 > 0.0)) and (
        (b1 > 0.0 and b2 < 0.0) or (b1 < 0.0 and b2 > 0.0)
    )


@kernel
def segment_separation(p: Segment, q: Segment) -> Separation:
    """The separation of two segments, either of which may be a point; 0 where they cross."""
    if p.ax == p.bx and p.ay == p.by:
        return point_segment_separation(p.ax, p.ay, q)
    if q.ax == q.bx and q.ay == q.by:
        return reversed_separation(point_segment_separation(q.ax, q.ay, p))
    # Unless they cross, one of the two closest points is an end.
    best = point_segment_separation(p.ax, p.ay, q)
    other = point_segment_separation(p.bx, p.by, q)
    if other.distance < best.distance:
        best = other
    other = reversed_separation(point_segment_separation(q.ax, q.ay, p))
    if other.distance < best.distance:
        best = other
    other = reversed_separation(point_segment_separation(q.bx, q.by, p))
    if other.distance < best.distance:
        best = other
    if segments_cross(p, q):
        return Separation(0.0, best.nx, best.ny, best.x, best.y)
    return best
