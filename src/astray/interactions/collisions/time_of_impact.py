"""Time of impact: when two moving pieces first touch, by conservative advancement.

A piece is a capsule of a footprint or of a wall. Let two pieces be a gap d apart along the
direction n. A line across n separates them, so nothing touches before a point a of one and a point
b of the other have come nearer along n by

    d + (height of a above the lowest of its piece) + (depth of b below the highest of its piece)

Along n each point comes at most c t + a t² / 2 far (`swept_motion.py`), and of an edge only the two
ends matter. Up to the first t at which that sum can be reached there is no contact, so time is
advanced to it and the separation is computed again (Mirtich, Impulse-based Dynamic Simulation of
Rigid Body Systems, 1996). A pair that moves apart or alongside has no such t and is free for the
whole tick. Straight motion towards a wall takes two iterations.

Pieces stop SKIN before they touch. Within the skin a motion may still use up CREEP of it, or half
of what is left, so rounding never holds a robot that moves along a wall or away from it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from astray.interactions.collisions.swept_motion import (
    BodyState,
    approach,
    body_at,
    earliest_time,
    point_in_map,
)
from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Row
from astray.world.geometry import Capsule, Segment, segment_separation

SKIN = 1e-6  # m that are left between two bodies that touch
CREEP = 1e-9  # m of the skin that a motion may use up
SETTLED = 4.0 * CREEP  # m: two pieces that may come no nearer than that touch
SAME_NORMAL = 2e-12  # squared change of the normal between iterations of pieces that touch
PASSES = 16  # times that two pieces may pass each other within the skin
ITERATIONS = 200  # then the pieces stop where they are still apart
FREE = math.inf
OVERLAP = -1.0


class Touch(NamedTuple):
    """When and where two bodies touch."""

    time: float  # fraction of the tick; FREE: not at all, OVERLAP: from the start
    nx: float  # unit vector from the second to the first
    ny: float
    x: float  # m
    y: float  # m
    first_speed: float  # m per tick, of the first body into the second
    second_speed: float  # m per tick, of the second body into the first


NO_TOUCH = Touch(FREE, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inlined_kernel
def footprint_piece(shape: Row, corners: Array, k: int, scale: float) -> Capsule:
    """Piece k of a footprint in the body frame, shrunk about its inner point."""
    if shape.count == 0:
        return Capsule(shape.x, shape.y, shape.x, shape.y, shape.radius * scale)
    i = shape.first + k
    j = shape.first + (k + 1 if k + 1 < shape.count else 0)
    x, y = shape.inner_x, shape.inner_y
    if scale == 1.0:
        return Capsule(corners[0, i], corners[1, i], corners[0, j], corners[1, j], 0.0)
    return Capsule(
        x + scale * (corners[0, i] - x),
        y + scale * (corners[1, i] - y),
        x + scale * (corners[0, j] - x),
        y + scale * (corners[1, j] - y),
        0.0,
    )


@inlined_kernel
def piece_count(shape: Row) -> int:
    """How many pieces a footprint has: one for a circle, one per edge of a polygon."""
    return max(1, int(shape.count))


@inlined_kernel
def bounding_circle(shape: Row) -> Capsule:
    """The circle around a footprint, in the body frame."""
    return Capsule(shape.x, shape.y, shape.x, shape.y, shape.radius)


@inlined_kernel
def piece_in_map(body: BodyState, piece: Capsule) -> Segment:
    """The segment of a piece of a body, in the map."""
    ax, ay = point_in_map(body, piece.ax, piece.ay)
    if piece.ax == piece.bx and piece.ay == piece.by:
        return Segment(ax, ay, ax, ay)
    bx, by = point_in_map(body, piece.bx, piece.by)
    return Segment(ax, ay, bx, by)


@inlined_kernel
def allowed_approach(gap: float) -> float:
    """How much nearer two pieces may come."""
    return max(gap - SKIN, 0.0) + min(CREEP, 0.5 * gap)


@kernel
def time_of_impact(p: Row, a: Capsule, q: Row, b: Capsule, t: float, end: float) -> Touch:
    """The first touch from t to `end` of piece a of motion p and piece b of motion q."""
    nx, ny, x, y, first_speed, second_speed = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    last_nx, last_ny, passes = 0.0, 0.0, 0
    for iteration in range(ITERATIONS):
        first, second = body_at(p, t), body_at(q, t)
        s = segment_separation(piece_in_map(first, a), piece_in_map(second, b))
        gap, nx, ny = s.distance - a.radius - b.radius, s.nx, s.ny
        if iteration == 0:
            last_nx, last_ny = nx, ny
        half = b.radius + 0.5 * gap
        x, y = s.x + half * nx, s.y + half * ny
        if gap <= 0.0 and iteration == 0:
            return Touch(OVERLAP, nx, ny, x, y, 0.0, 0.0)
        # No motion is extrapolated beyond its end.
        until = end
        if t < p.end < until:
            until = p.end
        if t < q.end < until:
            until = q.end
        ends_a = (approach(first, a.ax, a.ay, nx, ny), approach(first, a.bx, a.by, nx, ny))
        ends_b = (approach(second, b.ax, b.ay, nx, ny), approach(second, b.bx, b.by, nx, ny))
        low = min(ends_a[0].height, ends_a[1].height)
        high = max(ends_b[0].height, ends_b[1].height)
        allowed = allowed_approach(max(gap, 0.0))
        wait, needed, first_speed, second_speed = FREE, 0.0, 0.0, 0.0
        for i in range(2):
            for j in range(2):
                distance = allowed + (ends_a[i].height - low) + (high - ends_b[j].height)
                speed = ends_a[i].speed - ends_b[j].speed
                if distance <= 0.0:
                    here = 0.0 if speed > 0.0 else FREE
                else:
                    acceleration = ends_a[i].acceleration + ends_b[j].acceleration
                    here = earliest_time(distance, speed, acceleration)
                if here < wait:
                    wait, needed = here, distance
                    first_speed, second_speed = ends_a[i].speed, -ends_b[j].speed
        if t + wait >= until:
            if until >= end:
                return NO_TOUCH
            t = until
            continue
        # They touch if their speeds, and not only the bound of what turning adds, close the gap.
        if needed <= SETTLED and (first_speed + second_speed) * wait >= 0.5 * needed:
            # Corners that pass each other within the skin continue with the next normal.
            dx, dy = nx - last_nx, ny - last_ny
            if dx * dx + dy * dy < SAME_NORMAL or passes == PASSES:
                break
            passes += 1
        last_nx, last_ny = nx, ny
        t += wait
    return Touch(t, nx, ny, x, y, first_speed, second_speed)
