"""When two moving pieces first touch, by conservative advancement along the direction between them.

Let the pieces be a gap d apart along n. A plane across n separates them, so nothing touches before
a point a of one and a point b of the other have come nearer along n by

    d + (height of a above the lowest of its piece) + (depth of b below the highest of its piece)

Along n each comes at most c t + a t² / 2 far (`path.py`), and of an edge only the two ends matter.
The first t at which that sum can be reached is therefore free of contact, and one may advance to
it and look again. A pair that moves apart or along has no such t and is free for the whole tick.
Straight motion towards a wall takes two looks.

Pieces stop SKIN before they touch. Within the skin a motion may still use up CREEP of it, or half
of what is left: so that rounding never holds a robot that moves along a wall or away from it.
"""

from __future__ import annotations

import math

from astray.interactions.collisions.swept_motion import Stance, course, point_at, soonest, stance_at
from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Row
from astray.world.geometry import Line, Piece, separation

SKIN = 1e-6  # m that are left between two bodies that touch
CREEP = 1e-9  # m per motion that may be used up of it
SETTLED = 4.0 * CREEP  # m: two pieces with no more room than that between them touch
ROUND = 2e-12  # squared change of direction between two looks at what is passed, not hit
PASSES = 16  # looks that a pair in touch has to pass
LOOKS = 200  # after so many a pair is held where it is known to be free
FREE = math.inf
OVERLAP = -1.0

Touch = tuple[float, float, float, float, float, float, float]
"""When (FREE: not at all, OVERLAP: from the start), n from the second to the first, where, and how
fast the first and the second go into each other, m per tick."""

NO_TOUCH = (FREE, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inlined_kernel
def piece(shape: Row, corners: Array, k: int, scale: float) -> Piece:
    """Piece k of a footprint in the body frame, shrunk about its inner point."""
    if shape.count == 0:
        return shape.x, shape.y, shape.x, shape.y, shape.radius * scale
    i = shape.first + k
    j = shape.first + (k + 1 if k + 1 < shape.count else 0)
    x, y = shape.inner_x, shape.inner_y
    if scale == 1.0:
        return corners[0, i], corners[1, i], corners[0, j], corners[1, j], 0.0
    return (
        x + scale * (corners[0, i] - x),
        y + scale * (corners[1, i] - y),
        x + scale * (corners[0, j] - x),
        y + scale * (corners[1, j] - y),
        0.0,
    )


@inlined_kernel
def pieces(shape: Row) -> int:
    """How many pieces a footprint has."""
    return max(1, int(shape.count))


@inlined_kernel
def around(shape: Row) -> Piece:
    """The circle around a footprint."""
    return shape.x, shape.y, shape.x, shape.y, shape.radius


@inlined_kernel
def line_at(b: Stance, a: Piece) -> Line:
    """The ends of a piece of a body, in the map."""
    x1, y1 = point_at(b, a[0], a[1])
    if a[0] == a[2] and a[1] == a[3]:
        return x1, y1, x1, y1
    x2, y2 = point_at(b, a[2], a[3])
    return x1, y1, x2, y2


@inlined_kernel
def room(gap: float) -> float:
    """How much nearer two pieces may come."""
    return max(gap - SKIN, 0.0) + min(CREEP, 0.5 * gap)


@kernel
def meet(p: Row, a: Piece, q: Row, b: Piece, t: float, end: float) -> Touch:
    """The first touch from t to `end` of piece a of the body on path p and piece b of that on q."""
    nx, ny, x, y, into, back = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    last_x, last_y, passed = 0.0, 0.0, 0
    for look in range(LOOKS):
        one, two = stance_at(p, t), stance_at(q, t)
        g = separation(line_at(one, a), line_at(two, b))
        gap, nx, ny = g[0] - a[4] - b[4], g[1], g[2]
        if look == 0:
            last_x, last_y = nx, ny
        half = b[4] + 0.5 * gap
        x, y = g[3] + half * nx, g[4] + half * ny
        if gap <= 0.0 and look == 0:
            return OVERLAP, nx, ny, x, y, 0.0, 0.0
        # Neither path may be thought to go on beyond its end.
        until = end
        if t < p.end < until:
            until = p.end
        if t < q.end < until:
            until = q.end
        mine = (course(one, a[0], a[1], nx, ny), course(one, a[2], a[3], nx, ny))
        his = (course(two, b[0], b[1], nx, ny), course(two, b[2], b[3], nx, ny))
        low, high = min(mine[0][0], mine[1][0]), max(his[0][0], his[1][0])
        left = room(max(gap, 0.0))
        wait, way, into, back = FREE, 0.0, 0.0, 0.0
        for i in range(2):
            for j in range(2):
                far = left + (mine[i][0] - low) + (high - his[j][0])
                speed = mine[i][1] - his[j][1]
                if far <= 0.0:
                    here = 0.0 if speed > 0.0 else FREE
                else:
                    here = soonest(far, speed, mine[i][2] + his[j][2])
                if here < wait:
                    wait, way, into, back = here, far, mine[i][1], -his[j][1]
        if t + wait >= until:
            if until >= end:
                return NO_TOUCH
            t = until
            continue
        # It is their speed, not what their turning may add to it, that would bring them together.
        if way <= SETTLED and (into + back) * wait >= 0.5 * way:
            # Corners that pass each other within the skin are led around by the next direction.
            turned = (nx - last_x) * (nx - last_x) + (ny - last_y) * (ny - last_y)
            if turned < ROUND or passed == PASSES:
                break
            passed += 1
        last_x, last_y = nx, ny
        t += wait
    return t, nx, ny, x, y, into, back
