"""How a robot that navigates drives: towards its carrot, braking, waiting, and out of tight places.

What it should do is in `navigate.py`. Here it is told what is ahead, and turns that into a command.
"""

from __future__ import annotations

import math

from astray.numerics import atan2, kernel, wrap
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
"""The goal that a robot heads for and how many it reached and skipped; whether its field is waited
for; whether it was told a goal, the only one then, and where that is; the way that is left, the
carrot, the curvature towards it and what is free ahead and behind; whether it escapes ahead (1) or
back (−1); when and where it last got on or began to escape; and its size."""

TURN = 0.8  # rad of bearing beyond which a robot turns on the spot
CREEP = 0.02  # m/s; slower is standing
ESCAPE = 0.8  # m that a robot escapes at most
STRAIGHT = 0.3  # rad of bearing at which a car has turned back enough
STUCK = 3.0  # s without getting on after which a robot has run into something
GETS_ON = 0.05  # m and rad that it has to move in this time
CONTENT = 0.5  # s before a goal that is as near as it gets counts as reached
SAME = 1e-9  # m; what is nearer has no direction


@kernel
def move_on(m: Row, p: Row, goals: int) -> None:
    """Turn to the next goal, if there is one."""
    if m.goal + 1 < goals:
        m.goal += 1
    elif p.loop and not m.told:
        m.goal = 0
    else:
        m.done = True


@kernel
def fastest(m: Row, p: Row, ends: bool) -> float:
    """The speed from which a robot can stop before what it sees and, at the last goal, there."""
    v: float = min(p.speed, math.sqrt(2.0 * p.decel * max(m.gap - p.stop_distance, 0.0)))
    return min(v, math.sqrt(2.0 * p.decel * m.rest)) if ends else v


@kernel
def mark(m: Row, b: Row, now: float, escape: float) -> None:
    """Note that a robot gets on, or escapes, from here."""
    m.escape = escape
    m.mark_time, m.mark_x, m.mark_y, m.mark_yaw = now, b.x, b.y, b.yaw


@kernel
def escape(m: Row, p: Row, b: Row, now: float, v: float) -> None:
    """Begin or end to escape."""
    dx, dy = b.x - m.mark_x, b.y - m.mark_y
    moved, still = math.sqrt(dx * dx + dy * dy), now - m.mark_time
    if m.escape == 0.0:
        sharpest = min(m.tightest, 2.0 / p.lookahead)
        if m.tightest < math.inf and v < CREEP and abs(m.bend) >= sharpest:
            mark(m, b, now, -1.0)
        elif moved > GETS_ON or abs(wrap(b.yaw - m.mark_yaw)) > GETS_ON:
            mark(m, b, now, 0.0)
        elif still > STUCK and m.gap > p.stop_distance + GETS_ON:
            mark(m, b, now, 1.0 if m.gap > m.gap_behind else -1.0)
        return
    gap = m.gap if m.escape > 0.0 else m.gap_behind
    turned = m.tightest < math.inf and m.x > 0.0 and abs(m.y) < STRAIGHT * m.x
    if still > STUCK and moved < GETS_ON:  # stuck on that side as well: try the other
        mark(m, b, now, -m.escape)
    elif still > STUCK or turned or moved > ESCAPE or gap < 0.5 * p.stop_distance:
        mark(m, b, now, 0.0)


@kernel
def drive(c: Row, m: Row, p: Row, v: float) -> None:
    """Choose speed and turn, or speed and curvature, of one robot."""
    if m.tightest < math.inf:
        c.mode, c.vx, c.curvature = CURVATURE, v, m.bend
        if m.escape < 0.0:
            c.vx, c.curvature = -0.5 * p.speed, math.copysign(m.tightest, -m.y)
        return
    c.mode = TWIST
    if m.escape != 0.0:
        c.vx = 0.5 * p.speed * m.escape
        return
    b = atan2(m.y, m.x) if abs(m.x) + abs(m.y) > SAME else 0.0
    c.vx = v * max(1.0 - abs(b) / TURN, 0.0)
    c.wz = min(max(max(2.0 * c.vx / p.lookahead, 1.0) * b, -p.turn), p.turn)


@kernel
def wait(m: Row, p: Row, b: Row, now: float, goals: int) -> None:
    """Stand before something: be content if the goal is near, and lose patience if it is not."""
    still = now - m.mark_time
    if still > CONTENT and m.rest <= p.tolerance + p.stop_distance:
        m.reached += 1
    elif still > p.patience and ((p.loop and not m.told) or m.goal + 1 < goals):
        m.skipped += 1
    else:
        return
    mark(m, b, now, -1.0 if m.tightest < math.inf else 0.0)  # a car needs room to turn away
    move_on(m, p, goals)


@kernel
def decide(c: Row, m: Row, p: Row, b: Row, now: float, goals: int) -> None:
    """Choose the command of one robot that has looked ahead."""
    c.mode, c.vx, c.vy, c.wz, c.curvature = TWIST, 0.0, 0.0, 0.0, 0.0
    if m.done or not m.rest < math.inf:
        return
    v = fastest(m, p, m.goal == goals - 1 and (m.told or not p.loop))
    escape(m, p, b, now, v)
    drive(c, m, p, v)
    if v < CREEP and m.escape == 0.0:
        wait(m, p, b, now, goals)


@kernel
def decide_all(
    command: Table,
    memory: Table,
    params: Table,
    belief: Table,
    clock: tuple[Array, int],
    rows: Rows,
) -> None:
    """Choose the commands of these rows; the clock is the time of each, and the number of goals."""
    time, goals = clock
    for i in rows:
        mine = 1 if memory[i].told else goals
        decide(command[i], memory[i], params[i], belief[i], time[i], mine)
