"""What becomes of a robot that ran into something.

`stop`: it stays where it touched, its wheels stand, and only the rest of its turn goes on as far
as that is free. `slide`: the rest of its motion is made without the part that goes into what it
touched, with v the velocity of its origin, r from there to the contact, n away from it,

    v' = v + max(0, −n · (v + turn × r)) n

so a box that turns at a wall pushes itself off.
"""

from __future__ import annotations

import math

from astray.interactions.collisions.collision_context import CollisionContext
from astray.interactions.collisions.swept_motion import begin, pose_at, stance_at
from astray.numerics import inlined_kernel, kernel, sincos
from astray.tables import WHEELS_PER_ROBOT, Row, Rows

LOST = 1e-6  # of the speed: what is left of a robot that is held


@kernel
def turn_on(stage: CollisionContext, rows: Rows) -> int:
    """Let stopped robots turn where they are, all others stand; list as busy who must be swept."""
    truth, paths, shapes, turning = stage.truth, stage.paths, stage.shapes, stage.busy
    count = 0
    for i in rows:
        p, s, shape = paths[i], truth[i], shapes[paths[i].footprint]
        if not p.blocked:
            begin(p, (s.x, s.y, s.yaw), 0.0, 0.0, 0.0)
            continue
        p.gone, p.stopped = p.end, True
        rest = (1.0 - p.end) * p.turn
        begin(p, pose_at(p, p.end), 0.0, 0.0, rest)
        if rest != 0.0 and not (shape.count == 0 and shape.x == 0.0 and shape.y == 0.0):
            turning[count] = i
            count += 1
    return count


@inlined_kernel
def settle_pose(p: Row, s: Row) -> bool:
    """Put a robot where its last motion ended; whether it could turn as far as it was driven."""
    x, y, yaw = pose_at(p, p.end)
    whole = bool(p.end == 1.0)
    s.x, s.y = x, y
    if not whole:
        s.yaw = yaw
    return whole


@kernel
def hold(stage: CollisionContext, rows: Rows, dt: float) -> None:
    """Give stopped robots the state of one that stands and may turn."""
    truth, last, paths = stage.truth, stage.last, stage.paths
    for i in rows:
        p, s, m = paths[i], truth[i], last[i]
        if not p.stopped:
            continue
        whole = settle_pose(p, s)
        s.vx, s.vy = 0.0, 0.0
        if not whole:
            s.wz = 0.0
        accelerate(s, m, dt)
        for k in range(WHEELS_PER_ROBOT):
            s.wheel[k] = m.wheel[k] + (s.wheel[k] - m.wheel[k]) * p.gone
            s.wheel_rate[k] = 0.0


@inlined_kernel
def accelerate(s: Row, m: Row, dt: float) -> None:
    """The mean acceleration over the tick."""
    s.ax, s.ay, s.alpha = (s.vx - m.vx) / dt, (s.vy - m.vy) / dt, (s.wz - m.wz) / dt


@inlined_kernel
def deflect(p: Row, v: tuple[float, float], turn: float, at: tuple[float, float]) -> float:
    """How fast a contact goes into what it touches; at is where the origin of the body is."""
    rx, ry = p.at_x - at[0], p.at_y - at[1]
    return max(0.0, float(-(p.nx * (v[0] - turn * ry) + p.ny * (v[1] + turn * rx))))


@kernel
def slide_on(stage: CollisionContext, rows: Rows) -> int:
    """Turn the rest of stopped robots' motion along what they touch; list as busy who goes on."""
    truth, paths, sliding = stage.truth, stage.paths, stage.busy
    count = 0
    for i in rows:
        p, s = paths[i], truth[i]
        if not p.blocked:
            if p.stopped:
                begin(p, pose_at(p, p.end), 0.0, 0.0, 0.0)
            else:
                begin(p, (s.x, s.y, s.yaw), 0.0, 0.0, 0.0)
            continue
        p.stopped = True
        at = pose_at(p, p.end)
        end, rest = p.end, 1.0 - p.end
        p.end = 1.0  # so that it has the velocity with which it would go on
        moment = stance_at(p, end)
        vx, vy, turn = moment[4] * rest, moment[5] * rest, p.turn * rest
        into = deflect(p, (vx, vy), turn, (at[0], at[1]))
        vx, vy = vx + into * p.nx, vy + into * p.ny
        sine, cosine = sincos(s.yaw)
        ux, uy = cosine * s.vx - sine * s.vy, sine * s.vx + cosine * s.vy
        into = deflect(p, (ux, uy), s.wz, (at[0], at[1]))
        ux, uy = ux + into * p.nx, uy + into * p.ny
        s.vx, s.vy = cosine * ux + sine * uy, cosine * uy - sine * ux
        begin(p, at, vx, vy, turn)
        sliding[count] = i
        count += 1
    return count


@kernel
def glide(stage: CollisionContext, rows: Rows, dt: float) -> None:
    """Give robots that slid the state they ended in."""
    truth, last, paths, contacts = stage.truth, stage.last, stage.paths, stage.contacts
    for i in rows:
        p, s = paths[i], truth[i]
        if not p.stopped:
            continue
        whole = settle_pose(p, s)
        if not whole:
            s.vx, s.vy = 0.0, 0.0
            s.wz = 0.0 if p.turn != 0.0 else s.wz
        accelerate(s, last[i], dt)
        left = math.sqrt(s.vx * s.vx + s.vy * s.vy)
        c = contacts[i]
        c.stalled = stage.memory[i].deep or not whole or left <= LOST * c.speed
