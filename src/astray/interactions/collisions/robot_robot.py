"""Robot-robot collisions: how far robots move until they touch, all moving at the same time.

Time runs once from the start of the tick to its end, in rounds. In each round the earliest contact
of each world is final, since all robots have moved as planned until then. It stops each of the two
robots whose own motion goes into the other: a robot that is hit from behind continues, a robot that
stands is not moved. Then the contacts of the stopped robots are computed again, from that time on.
A robot is stopped once, so there are at most as many rounds as robots; in a jam all stop in the
first.

Contacts at the same time are resolved together, and the two robots of a pair are ordered by their
poses, never by their rows: the order of robots changes no result, not even its last digit.
"""

from __future__ import annotations

import math

from astray.interactions.collisions.context import CollisionContext
from astray.interactions.collisions.robot_wall import HALVINGS, contains, write_contact
from astray.interactions.collisions.swept_motion import body_at
from astray.interactions.collisions.time_of_impact import (
    FREE,
    NO_TOUCH,
    OVERLAP,
    Touch,
    bounding_circle,
    footprint_piece,
    piece_count,
    piece_in_map,
    time_of_impact,
)
from astray.numerics import inlined_kernel, kernel
from astray.tables import Row, Table
from astray.world.geometry import Capsule, Shapes, segment_separation

SHARE = 1e-6  # of the closing speed: a robot that contributes less is not stopped

# Overlap.


@kernel
def robots_overlap(p: Row, q: Row, shapes: Shapes, scale: float) -> bool:
    """Whether two robots, shrunk about their inner points, overlap where their motions start."""
    first, second = body_at(p, 0.0), body_at(q, 0.0)
    corners = shapes.corners
    a, b = shapes.table[p.footprint], shapes.table[q.footprint]
    for i in range(piece_count(a)):
        piece_a = footprint_piece(a, corners, i, scale)
        segment_a = piece_in_map(first, piece_a)
        for j in range(piece_count(b)):
            piece_b = footprint_piece(b, corners, j, scale)
            segment_b = piece_in_map(second, piece_b)
            gap = segment_separation(segment_a, segment_b).distance
            if gap <= piece_a.radius + piece_b.radius:
                return True
    inner_a = piece_in_map(first, Capsule(a.inner_x, a.inner_y, a.inner_x, a.inner_y, 0.0))
    inner_b = piece_in_map(second, Capsule(b.inner_x, b.inner_y, b.inner_x, b.inner_y, 0.0))
    return contains(first, a, corners, scale, (inner_b.ax, inner_b.ay)) or contains(
        second, b, corners, scale, (inner_a.ax, inner_a.ay)
    )


@kernel
def clear_pair_scale(p: Row, q: Row, shapes: Shapes) -> float:
    """The scale at which two robots, each shrunk about its inner point, do not overlap."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        scale = 0.5 * (low + high)
        if robots_overlap(p, q, shapes, scale):
            high = scale
        else:
            low = scale
    return low


# The next touch of a pair.


@kernel
def touch_robot(p: Row, q: Row, shapes: Shapes, scale: float, t: float) -> Touch:
    """The first touch of two robots from t on; OVERLAP if they overlap there."""
    a, b = shapes.table[p.footprint], shapes.table[q.footprint]
    if scale == 1.0:
        best = time_of_impact(p, bounding_circle(a), q, bounding_circle(b), t, 1.0)
        if best.time == FREE or (a.count == 0 and b.count == 0):
            return best
        t = max(best.time, t)
    best = NO_TOUCH
    end = 1.0
    for i in range(piece_count(a)):
        piece_a = footprint_piece(a, shapes.corners, i, scale)
        for j in range(piece_count(b)):
            piece_b = footprint_piece(b, shapes.corners, j, scale)
            touch = time_of_impact(p, piece_a, q, piece_b, t, end)
            if touch.time == OVERLAP:
                return touch
            if touch.time < best.time:
                best = touch
                end = touch.time
    return best


@inlined_kernel
def write_touch(pair: Row, touch: Touch) -> None:
    """Write the next touch of a pair."""
    pair.time = touch.time
    pair.nx, pair.ny, pair.x, pair.y = touch.nx, touch.ny, touch.x, touch.y
    pair.first_speed, pair.second_speed = touch.first_speed, touch.second_speed


@kernel
def find_first_touch(pair: Row, motions: Table, shapes: Shapes) -> None:
    """Write the first touch of a pair; robots that overlap from the start are shrunk."""
    p, q = motions[pair.first], motions[pair.second]
    pair.scale = 1.0
    overlapping = (p.deep or q.deep) and robots_overlap(p, q, shapes, 1.0)
    touch = NO_TOUCH
    if not overlapping:
        touch = touch_robot(p, q, shapes, 1.0, 0.0)
        overlapping = touch.time == OVERLAP
    if overlapping:
        pair.scale = clear_pair_scale(p, q, shapes)
        write_robot_overlap(p, q, pair.second)
        write_robot_overlap(q, p, pair.first)
        touch = NO_TOUCH
        if pair.scale > 0.0:
            touch = touch_robot(p, q, shapes, pair.scale, 0.0)
            if touch.time == OVERLAP:
                touch = NO_TOUCH
    write_touch(pair, touch)


@kernel
def find_next_touch(pair: Row, motions: Table, shapes: Shapes, t: float) -> None:
    """Write the first touch of a pair from t on."""
    touch = NO_TOUCH
    if pair.scale > 0.0:
        touch = touch_robot(motions[pair.first], motions[pair.second], shapes, pair.scale, t)
    if touch.time == OVERLAP:
        touch = NO_TOUCH
    write_touch(pair, touch)


# What a touch does.


@inlined_kernel
def write_robot_overlap(p: Row, q: Row, other: int) -> None:
    """Mark a robot as overlapping another; write the contact too, unless something stopped it."""
    x, y = 0.5 * (p.x + q.x), 0.5 * (p.y + q.y)
    # Of several, the first by position: not the first by row.
    first = (
        not p.overlaps or p.other < 0 or x < p.contact_x or (x == p.contact_x and y < p.contact_y)
    )
    if first and not p.blocked:
        dx, dy = p.x - q.x, p.y - q.y
        d = math.sqrt(dx * dx + dy * dy)
        per = 1.0 / d if d > 0.0 else 0.0
        write_contact(p, FREE, Touch(FREE, dx * per, dy * per, x, y, 0.0, 0.0), 1.0, other)
    p.overlaps = True


@inlined_kernel
def apply_touch(p: Row, touch: Touch, sign: float, other: int, stops: bool) -> None:
    """Let a touch stop one robot of a pair, or only write its contact."""
    t = touch.time
    closing = max(touch.first_speed + touch.second_speed, 0.0)
    sooner = t < p.contact_time
    if t == p.contact_time:  # of several at once the hardest, then the first by position
        sooner = closing > p.closing
        if closing == p.closing:
            sooner = touch.x < p.contact_x or (touch.x == p.contact_x and touch.y < p.contact_y)
    first_stop = stops and not p.blocked
    if first_stop or (sooner and (stops or not p.blocked)):  # a stop outranks a graze
        write_contact(p, t, touch, sign, other)
    p.touched = True
    if stops:
        p.blocked = True
        p.changed = p.changed or t < p.end


@kernel
def resolve_touch(pair: Row, motions: Table) -> None:
    """Let the touch of a pair act on its two robots."""
    p, q = motions[pair.first], motions[pair.second]
    speed_p, speed_q = pair.first_speed, pair.second_speed
    touch = Touch(pair.time, pair.nx, pair.ny, pair.x, pair.y, speed_p, speed_q)
    min_speed = SHARE * (speed_p + speed_q)
    neither_closes = speed_p + speed_q <= 0.0
    stops_p = neither_closes or speed_p > min_speed
    stops_q = neither_closes or speed_q > min_speed
    # A robot whose motion has ended before is not stopped again.
    apply_touch(p, touch, 1.0, pair.second, pair.time < p.end and stops_p)
    apply_touch(q, touch, -1.0, pair.first, pair.time < q.end and stops_q)


@inlined_kernel
def end_motion(motion: Row, t: float) -> None:
    """End the motion of a robot that was stopped in this round."""
    if motion.changed:
        motion.end = min(motion.end, t)


@kernel
def resolve_robot_collisions(ctx: CollisionContext, pairs: Table) -> None:
    """End the motions of all robots of these pairs where they run into each other."""
    motions, shapes, by_world = ctx.motions, ctx.shapes, ctx.by_world
    for k in range(len(pairs)):
        find_first_touch(pairs[k], motions, shapes)
    for _ in range(len(motions) + 1):
        soonest = FREE
        for k in range(len(pairs)):
            by_world[pairs[k].world].next_touch = FREE
        for k in range(len(pairs)):
            world = by_world[pairs[k].world]
            world.next_touch = min(world.next_touch, pairs[k].time)
            soonest = min(soonest, pairs[k].time)
        if soonest == FREE:
            return
        for k in range(len(pairs)):
            pair = pairs[k]
            if pair.time < FREE and pair.time == by_world[pair.world].next_touch:
                resolve_touch(pair, motions)
        for k in range(len(pairs)):
            now = by_world[pairs[k].world].next_touch
            end_motion(motions[pairs[k].first], now)
            end_motion(motions[pairs[k].second], now)
        for k in range(len(pairs)):
            pair = pairs[k]
            p, q, now = motions[pair.first], motions[pair.second], by_world[pair.world].next_touch
            # A touch that was resolved without a stop must not be found again.
            if p.changed or q.changed or (pair.time < FREE and pair.time == now):
                find_next_touch(pair, motions, shapes, now)
        for k in range(len(pairs)):
            motions[pairs[k].first].changed = False
            motions[pairs[k].second].changed = False
