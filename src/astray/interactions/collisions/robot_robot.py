"""Robots that run into each other, all moving at the same time.

Time runs once from the start of the tick to its end. In each round the first touch in each world
that is still to come is certain: up to then everybody has moved as planned. It stops those of the
two whose own motion goes into the other; a robot that is hit from behind goes on, one that stands
stays. Then the pairs of those who stopped are looked at again, from that moment on. A robot stops
once, so there are at most as many rounds as robots, and in a jam all stop in the first.

Touches at the same moment are settled together, and the two of a pair are ordered by where they
are, never by their rows: the order of robots changes nothing, not even the last digit.
"""

from __future__ import annotations

import math

from astray.interactions.collisions.robot_wall import HALVINGS, contains, note
from astray.interactions.collisions.swept_motion import stance_at
from astray.interactions.collisions.time_of_impact import (
    FREE,
    NO_TOUCH,
    OVERLAP,
    Touch,
    around,
    line_at,
    meet,
    piece,
    pieces,
)
from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Column, Row, Table, columns
from astray.world.geometry import separation

SHARE = 1e-6  # of the speed at which two meet: who adds less is not stopped

PAIR = columns(
    Column("first", "", "i8"),
    Column("second", "", "i8"),
    Column("world", "", "i8"),
    "scale",
    "when",
    "nx",
    "ny",
    "x m",
    "y m",
    "into m",
    "back m",
)
"""Two robots near each other: the scale at which they are clear, and their next touch."""


@inlined_kernel
def before(p: Row, q: Row) -> bool:
    """An order of robots that does not depend on their rows."""
    if p.x != q.x:
        return bool(p.x < q.x)
    if p.y != q.y:
        return bool(p.y < q.y)
    return bool(p.yaw < q.yaw)


@kernel
def overlap(p: Row, q: Row, shapes: Table, corners: Array, scale: float) -> bool:
    """Whether two robots, shrunk about their inner points, overlap where they start."""
    one, two = stance_at(p, 0.0), stance_at(q, 0.0)
    a, b = shapes[p.footprint], shapes[q.footprint]
    for i in range(pieces(a)):
        mine = piece(a, corners, i, scale)
        line = line_at(one, mine)
        for j in range(pieces(b)):
            his = piece(b, corners, j, scale)
            if separation(line, line_at(two, his))[0] <= mine[4] + his[4]:
                return True
    inner_a = line_at(one, (a.inner_x, a.inner_y, a.inner_x, a.inner_y, 0.0))
    inner_b = line_at(two, (b.inner_x, b.inner_y, b.inner_x, b.inner_y, 0.0))
    return contains(one, a, corners, scale, (inner_b[0], inner_b[1])) or contains(
        two, b, corners, scale, (inner_a[0], inner_a[1])
    )


@kernel
def clear_pair_scale(p: Row, q: Row, shapes: Table, corners: Array) -> float:
    """How much of two overlapping robots, each shrunk about its inner point, is clear."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        scale = 0.5 * (low + high)
        if overlap(p, q, shapes, corners, scale):
            high = scale
        else:
            low = scale
    return low


@kernel
def meet_robot(p: Row, q: Row, shapes: Table, corners: Array, scale: float, t: float) -> Touch:
    """The first touch of two robots from t on; OVERLAP if they overlap there."""
    a, b = shapes[p.footprint], shapes[q.footprint]
    if scale == 1.0:
        best = meet(p, around(a), q, around(b), t, 1.0)
        if best[0] == FREE or (a.count == 0 and b.count == 0):
            return best
        t = max(best[0], t)
    best = NO_TOUCH
    end = 1.0
    for i in range(pieces(a)):
        mine = piece(a, corners, i, scale)
        for j in range(pieces(b)):
            found = meet(p, mine, q, piece(b, corners, j, scale), t, end)
            if found[0] == OVERLAP:
                return found
            if found[0] < best[0]:
                best = found
                end = found[0]
    return best


@inlined_kernel
def expect(pair: Row, touch: Touch) -> None:
    """Write down the next touch of a pair."""
    pair.when = touch[0]
    pair.nx, pair.ny, pair.x, pair.y = touch[1], touch[2], touch[3], touch[4]
    pair.into, pair.back = touch[5], touch[6]


@kernel
def look_first(pair: Row, paths: Table, shapes: Table, corners: Array) -> None:
    """Find the first touch of a pair, shrunk where it overlaps from the start."""
    p, q = paths[pair.first], paths[pair.second]
    pair.scale = 1.0
    together = (p.deep or q.deep) and overlap(p, q, shapes, corners, 1.0)
    touch = NO_TOUCH
    if not together:
        touch = meet_robot(p, q, shapes, corners, 1.0, 0.0)
        together = touch[0] == OVERLAP
    if together:
        pair.scale = clear_pair_scale(p, q, shapes, corners)
        note_overlap(p, q, pair.second)
        note_overlap(q, p, pair.first)
        touch = NO_TOUCH
        if pair.scale > 0.0:
            touch = meet_robot(p, q, shapes, corners, pair.scale, 0.0)
            if touch[0] == OVERLAP:
                touch = NO_TOUCH
    expect(pair, touch)


@inlined_kernel
def note_overlap(p: Row, q: Row, other: int) -> None:
    """Write down that a robot overlaps another, unless it was stopped by something."""
    x, y = 0.5 * (p.x + q.x), 0.5 * (p.y + q.y)
    # Of several, the one that comes first by place: not the one that is found first.
    first = not p.overlaps or p.other < 0 or x < p.at_x or (x == p.at_x and y < p.at_y)
    if first and not p.blocked:
        dx, dy = p.x - q.x, p.y - q.y
        d = math.sqrt(dx * dx + dy * dy)
        per = 1.0 / d if d > 0.0 else 0.0
        note(p, FREE, (FREE, dx * per, dy * per, x, y, 0.0, 0.0), 1.0, other)
    p.overlaps = True


@inlined_kernel
def suffer(p: Row, touch: Touch, sign: float, other: int, stops: bool) -> None:
    """Let a touch act on one robot of a pair: stop it, or only be noted."""
    t = touch[0]
    closing = max(touch[5] + touch[6], 0.0)
    sooner = t < p.when
    if t == p.when:  # of several at once the hardest, then the first by place: not by row
        sooner = closing > p.closing
        if closing == p.closing:
            sooner = touch[3] < p.at_x or (touch[3] == p.at_x and touch[4] < p.at_y)
    if (stops and (not p.blocked or sooner)) or (not p.blocked and sooner):
        note(p, t, touch, sign, other)
    p.touched = True
    if stops:
        p.blocked = True
        p.changed = p.changed or t < p.end


@kernel
def settle(pair: Row, paths: Table) -> None:
    """Let the touch of a pair act on its two robots."""
    p, q = paths[pair.first], paths[pair.second]
    touch = (pair.when, pair.nx, pair.ny, pair.x, pair.y, pair.into, pair.back)
    least = SHARE * (pair.into + pair.back)
    unclear = pair.into + pair.back <= 0.0
    suffer(p, touch, 1.0, pair.second, pair.when < p.end and (unclear or pair.into > least))
    suffer(q, touch, -1.0, pair.first, pair.when < q.end and (unclear or pair.back > least))


@kernel
def resolve_robot_collisions(
    paths: Table, pairs: Table, shapes: Table, corners: Array, fronts: Array
) -> None:
    """Let all robots of these pairs move until they run into each other."""
    for k in range(len(pairs)):
        look_first(pairs[k], paths, shapes, corners)
    for _ in range(len(paths) + 1):
        soonest = FREE
        for k in range(len(pairs)):
            fronts[pairs[k].world] = FREE
        for k in range(len(pairs)):
            w = pairs[k].world
            fronts[w] = min(fronts[w], pairs[k].when)
            soonest = min(soonest, pairs[k].when)
        if soonest == FREE:
            return
        for k in range(len(pairs)):
            pair = pairs[k]
            if pair.when < FREE and pair.when == fronts[pair.world]:
                settle(pair, paths)
        for k in range(len(pairs)):
            stop(paths[pairs[k].first], fronts[pairs[k].world])
            stop(paths[pairs[k].second], fronts[pairs[k].world])
        for k in range(len(pairs)):
            pair = pairs[k]
            p, q = paths[pair.first], paths[pair.second]
            now = fronts[pair.world]
            if p.changed or q.changed or (pair.when < FREE and pair.when == now):
                touch = NO_TOUCH
                if pair.scale > 0.0:
                    touch = meet_robot(p, q, shapes, corners, pair.scale, now)
                if touch[0] == OVERLAP:
                    touch = NO_TOUCH
                expect(pair, touch)
        for k in range(len(pairs)):
            paths[pairs[k].first].changed = False
            paths[pairs[k].second].changed = False


@inlined_kernel
def stop(p: Row, t: float) -> None:
    """End the motion of a robot that was stopped in this round."""
    if p.changed:
        p.end = min(p.end, t)
