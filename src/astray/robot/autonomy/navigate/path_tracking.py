"""Path tracking: drive towards the carrot, brake, wait, and escape from where the robot is stuck.

`navigate.py` chooses the goal and the carrot. Here ranges become gaps on the arc ahead, and both
become a command.

A body drives along an arc of radius R around (0, R), with its front edge at x = f and its sides at
±w. It meets a point at the distance q from the centre of the arc and the angle a = atan2(x, R − y),
if at all, with its front edge after

    R (a − asin(f / q))        R − w < q < √((R + w)² + f²)

since the outer front corner reaches farthest out. Points beside the body are not met.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import atan2, kernel, wrap
from astray.plugin import Datasheet, Reading
from astray.robot.autonomy.wander import ray_bearings
from astray.tables import CURVATURE, TWIST, Array, Column, Row, Rows, Table, columns

MEMORY = columns(
    Column("goal", "", "i8"),
    Column("reached", "", "i8"),
    Column("skipped", "", "i8"),
    Column("done", "", "?"),
    Column("waits", "", "?"),
    Column("told", "", "?"),
    "told_x m",
    "told_y m",
    "rest m",
    "x m",
    "y m",
    "bend 1/m",
    "gap m",
    "gap_behind m",
    "escape",
    "mark_time s",
    "mark_x m",
    "mark_y m",
    "mark_yaw rad",
    "tightest 1/m",
    "half m",
    "front m",
    "back m",
)
"""The goal that a robot heads for, how many it reached and skipped, and whether all are done.
`waits`: its field has to be computed. `told`: it has a goal by event, at (told_x, told_y), and then
no other. `rest`: the path length to the goal. (x, y): the carrot in the body frame; `bend`: the
curvature towards it; gaps ahead and behind. `escape`: whether it escapes forward (1) or backward
(−1). The mark: when and where it last made progress or began to escape. The rest is its size."""

TURN_ANGLE = 0.8  # rad of bearing beyond which a robot turns on the spot
STANDSTILL = 0.02  # m/s; slower is standing
ESCAPE_DISTANCE = 0.8  # m that a robot escapes at most
AHEAD_SLOPE = 0.3  # |y| / x of the carrot at which a car has turned back enough
STUCK_TIME = 3.0  # s without progress after which a robot is stuck
PROGRESS = 0.05  # m and rad that it has to move in this time
SETTLE_TIME = 0.5  # s of standing near a goal after which it counts as reached
SIDE_MARGIN = 0.03  # m to either side that a passed point must be clear of the body
SAME_POSITION = 1e-9  # m; there is no direction to a point that is nearer
STRAIGHT = 1e-3  # 1/m; arcs of less curvature are treated as straight
CONTACT_MARGIN = 0.02  # m by which a point in front may seem to be within the body


@kernel
def free_distance(x: float, y: float, curvature: float, half: float, front: float) -> float:
    """How far a body can drive along an arc until it meets a point; inf if it passes by."""
    if abs(curvature) < STRAIGHT:
        met = x > front - CONTACT_MARGIN and abs(y) < half
        return max(x - front, 0.0) if met else math.inf
    radius = 1.0 / abs(curvature)
    across = radius - y if curvature > 0.0 else radius + y
    square = x * x + across * across
    inner, outer = max(radius - half, 0.0), radius + half
    if square <= inner * inner or square >= outer * outer + front * front:
        return math.inf
    lead = atan2(front, math.sqrt(max(square - front * front, 0.0)))
    free = radius * (atan2(x, across) - lead)
    return max(free, 0.0) if free > -CONTACT_MARGIN else math.inf


def beams_of(sheet: Datasheet, reading: Reading) -> Array:
    """Origin and direction of the beams of a sensor in the body: x, y, cosine, sine; (beams, 4)."""
    count = reading.arrays["ranges"].shape[1]
    if "mounts" in sheet.values:
        x, y, angle = np.array(sheet["mounts"], float).T
    else:
        x, y = (np.full(count, float(sheet.values.get(name, 0.0))) for name in ("x", "y"))
        if "step" in (reading.table.dtype.names or ()):
            row = np.flatnonzero(~np.isnan(reading.stamp))[0]
            start, step = reading["start"][row], reading["step"][row]
            angle = start + step * np.arange(count) + float(sheet.values.get("yaw", 0.0))
        else:
            angle = ray_bearings(sheet, count)
    return np.stack([x, y, np.cos(angle), np.sin(angle)], axis=1)


@kernel
def update_gaps(m: Row, p: Row, ranges: Array, beams: Array) -> None:
    """Update the gaps ahead and, should the robot have to go back, behind from one sensor."""
    braking = p.speed * p.speed / (2.0 * p.decel)
    relevant = braking + m.front + m.back + p.stop_distance + ESCAPE_DISTANCE
    backward = math.copysign(m.tightest, -m.y) if m.tightest < math.inf else 0.0
    half = m.half + SIDE_MARGIN
    for k in range(len(beams)):
        if 0.0 < ranges[k] < relevant:
            x = beams[k, 0] + ranges[k] * beams[k, 2]
            y = beams[k, 1] + ranges[k] * beams[k, 3]
            m.gap = min(m.gap, free_distance(x, y, m.bend, half, m.front))
            m.gap_behind = min(m.gap_behind, free_distance(-x, y, backward, half, m.back))


@kernel
def update_gaps_all(
    memory: Table, params: Table, ranges: Array, stamp: Array, beams: Array, rows: Rows
) -> None:
    """Update the gaps of these rows where a reading has arrived."""
    for i in rows:
        if not math.isnan(stamp[i]):
            update_gaps(memory[i], params[i], ranges[i], beams)


@kernel
def next_goal(m: Row, p: Row, goals: int) -> None:
    """Turn to the next goal, if there is one."""
    if m.goal + 1 < goals:
        m.goal += 1
    elif p.loop and not m.told:
        m.goal = 0
    else:
        m.done = True


@kernel
def braking_speed(m: Row, p: Row, is_last: bool) -> float:
    """The speed from which a robot can stop before an obstacle and, if it is the last, the goal."""
    v: float = min(p.speed, math.sqrt(2.0 * p.decel * max(m.gap - p.stop_distance, 0.0)))
    return min(v, math.sqrt(2.0 * p.decel * m.rest)) if is_last else v


@kernel
def mark(m: Row, b: Row, now: float, escape: float) -> None:
    """Mark time and pose at which a robot makes progress or begins to escape."""
    m.escape = escape
    m.mark_time, m.mark_x, m.mark_y, m.mark_yaw = now, b.x, b.y, b.yaw


@kernel
def update_escape(m: Row, p: Row, b: Row, now: float, v: float) -> None:
    """Begin or end an escape."""
    dx, dy = b.x - m.mark_x, b.y - m.mark_y
    moved, elapsed = math.sqrt(dx * dx + dy * dy), now - m.mark_time
    if m.escape == 0.0:
        sharpest = min(m.tightest, 2.0 / p.lookahead)
        if m.tightest < math.inf and v < STANDSTILL and abs(m.bend) >= sharpest:
            mark(m, b, now, -1.0)
        elif moved > PROGRESS or abs(wrap(b.yaw - m.mark_yaw)) > PROGRESS:
            mark(m, b, now, 0.0)
        elif elapsed > STUCK_TIME and m.gap > p.stop_distance + PROGRESS:
            mark(m, b, now, 1.0 if m.gap > m.gap_behind else -1.0)
        return
    gap = m.gap if m.escape > 0.0 else m.gap_behind
    turned = m.tightest < math.inf and m.x > 0.0 and abs(m.y) < AHEAD_SLOPE * m.x
    if elapsed > STUCK_TIME and moved < PROGRESS:  # stuck on that side as well: try the other
        mark(m, b, now, -m.escape)
    elif elapsed > STUCK_TIME or turned or moved > ESCAPE_DISTANCE or gap < 0.5 * p.stop_distance:
        mark(m, b, now, 0.0)


@kernel
def drive(c: Row, m: Row, p: Row, v: float) -> None:
    """Choose speed and turn rate, or speed and curvature, of one robot."""
    if m.tightest < math.inf:
        c.mode, c.vx, c.curvature = CURVATURE, v, m.bend
        if m.escape < 0.0:
            c.vx, c.curvature = -0.5 * p.speed, math.copysign(m.tightest, -m.y)
        return
    c.mode = TWIST
    if m.escape != 0.0:
        c.vx = 0.5 * p.speed * m.escape
        return
    b = atan2(m.y, m.x) if abs(m.x) + abs(m.y) > SAME_POSITION else 0.0
    c.vx = v * max(1.0 - abs(b) / TURN_ANGLE, 0.0)
    c.wz = min(max(max(2.0 * c.vx / p.lookahead, 1.0) * b, -p.turn), p.turn)


@kernel
def wait(m: Row, p: Row, b: Row, now: float, goals: int) -> None:
    """Stand before an obstacle: the goal counts as reached if it is near, or is skipped."""
    elapsed = now - m.mark_time
    if elapsed > SETTLE_TIME and m.rest <= p.tolerance + p.stop_distance:
        m.reached += 1
    elif elapsed > p.patience and ((p.loop and not m.told) or m.goal + 1 < goals):
        m.skipped += 1
    else:
        return
    mark(m, b, now, -1.0 if m.tightest < math.inf else 0.0)  # a car goes back before it turns away
    next_goal(m, p, goals)


@kernel
def decide(c: Row, m: Row, p: Row, b: Row, now: float, goals: int) -> None:
    """Choose the command of one robot from its carrot and its gaps."""
    c.mode, c.vx, c.vy, c.wz, c.curvature = TWIST, 0.0, 0.0, 0.0, 0.0
    if m.done or not m.rest < math.inf:
        return
    v = braking_speed(m, p, m.goal == goals - 1 and (m.told or not p.loop))
    update_escape(m, p, b, now, v)
    drive(c, m, p, v)
    if v < STANDSTILL and m.escape == 0.0:
        wait(m, p, b, now, goals)


@kernel
def decide_all(
    command: Table,
    memory: Table,
    params: Table,
    belief: Table,
    time: Array,
    goals: int,
    rows: Rows,
) -> None:
    """Choose the commands of these rows; goals is how many the scenario has."""
    for i in rows:
        own_goals = 1 if memory[i].told else goals
        decide(command[i], memory[i], params[i], belief[i], time[i], own_goals)
