"""Four mecanum wheels: a platform that moves in any direction while it turns.

Over one tick the accelerations of vx, vy and wz are constant, and limited. The body follows the
arc of what it moved, u along, v across and w around, and each wheel turns by what it rolled. With
reach = half_length + half_width,

    front left  (u − v − reach w) / radius        front right  (u + v + reach w) / radius
    rear left   (u + v − reach w) / radius        rear right   (u − v + reach w) / radius

so that whoever integrates exact wheel angles tick by tick gets the true pose back. The
acceleration of the reference point, in the axes of the body that turns, is

    ax = vx' − wz vy        ay = vy' + wz vx
"""

from __future__ import annotations

import math

from astray.numerics import arc, effective_limit, kernel
from astray.plugin import Motion, Positive
from astray.robot.motion.limits import reach, turn_limits
from astray.tables import Array, Row, Rows, Table


@kernel
def asked(u: Row, p: Row) -> tuple[float, float, float]:
    """The velocity that is asked for, slowed alike where the fastest wheel could not follow."""
    w = u.wz if math.isnan(u.curvature) else u.vx * u.curvature
    arm = p.half_length + p.half_width
    fastest = abs(u.vx) + abs(u.vy) + abs(w) * arm
    share = 1.0
    if fastest > p.max_speed:
        share = p.max_speed / fastest
    if abs(w) * share > p.max_turn:
        share = p.max_turn / abs(w)
    return u.vx * share, u.vy * share, w * share


@kernel
def rolled(k: int, u: float, v: float, around: float) -> float:
    """What wheel k rolls while the body moves by (u, v) and the wheels' circle by `around`."""
    across = -v if k == 0 or k == 3 else v
    return u + across + (-around if k % 2 == 0 else around)


@kernel
def move(s: Row, u: Row, p: Row, dt: float) -> None:
    """Advance one robot by one tick."""
    goal_x, goal_y, goal_w = asked(u, p)
    accel, decel = effective_limit(u.accel, p.accel), effective_limit(u.decel, p.decel)
    vx, ax = reach(s.vx, goal_x, accel, decel, dt)
    vy, ay = reach(s.vy, goal_y, accel, decel, dt)
    turn_accel, turn_decel = turn_limits(u, p.turn_accel)
    wz, s.alpha = reach(s.wz, goal_w, turn_accel, turn_decel, dt)
    along, across = 0.5 * (s.vx + vx) * dt, 0.5 * (s.vy + vy) * dt
    turn = 0.5 * (s.wz + wz) * dt
    s.x, s.y, s.yaw = arc((s.x, s.y, s.yaw), along, across, turn)
    s.vx, s.vy, s.wz = vx, vy, wz
    s.ax, s.ay = ax - wz * vy, ay + wz * vx
    arm = p.half_length + p.half_width
    for k in range(4):
        s.wheel[k] += rolled(k, along, across, turn * arm) / p.radius
        s.wheel_rate[k] = rolled(k, vx, vy, wz * arm) / p.radius


@kernel
def move_all(truth: Table, drive: Table, params: Table, rows: Rows, dt: float, steps: int) -> None:
    """Advance these rows by some ticks."""
    for i in rows:
        for _ in range(steps):
            move(truth[i], drive[i], params[i], dt)


class Omni(Motion, kind="omni"):
    """Four mecanum wheels that move the body in any direction while it turns."""

    wheels = 4
    radius: Positive = 0.2  # m, of the wheels
    half_length: Positive = 0.3  # m from the middle forward to an axle
    half_width: Positive = 0.6  # m from the middle sideways to a wheel
    max_speed: Positive = 1.0  # m/s, of the robot and of the rim of each wheel
    max_turn: Positive = 1.0  # rad/s
    accel: Positive = 1.0  # m/s², along and across each
    decel: Positive = 1.0  # m/s²
    turn_accel: Positive = 2.0  # rad/s²

    def speed_bound(self) -> Array:
        """The limit of its speed, along and across at once while it changes direction."""
        return 1.42 * self.params["max_speed"]

    def move(self, rows: Rows, truth: Table, drive: Table, dt: float, steps: int) -> None:
        """Advance these rows by some ticks."""
        move_all(truth, drive, self.params, rows, dt, steps)
