"""Four mecanum wheels: a platform that moves in any direction while it turns.

Over one tick the accelerations of vx, vy and wz are constant, and limited. The body follows the arc
of its displacement (u, v) and turn w, and each wheel rolls without slip. With the arm =
half_length + half_width (Muir and Neuman, 1987),

    front left  (u − v − arm w) / radius        front right  (u + v + arm w) / radius
    rear left   (u + v − arm w) / radius        rear right   (u − v + arm w) / radius

so that the integral of exact wheel angles, tick by tick, is the true pose. The acceleration of the
reference point in the rotating body frame is

    ax = vx' − wz vy        ay = vy' + wz vx
"""

from __future__ import annotations

import math

from astray.numerics import arc, effective_limit, kernel
from astray.plugin import Motion, Positive
from astray.robot.motion.limits import accelerate, turn_limits
from astray.tables import Array, Row, Rows, Table


@kernel
def limit_velocity(u: Row, p: Row) -> tuple[float, float, float]:
    """The velocity of a drive, scaled down as a whole where a wheel or the turn is too fast."""
    w = u.wz if math.isnan(u.curvature) else u.vx * u.curvature
    arm = p.half_length + p.half_width
    rim_speed = abs(u.vx) + abs(u.vy) + abs(w) * arm  # of the fastest wheel
    factor = 1.0
    if rim_speed > p.max_speed:
        factor = p.max_speed / rim_speed
    if abs(w) * factor > p.max_turn:
        factor = p.max_turn / abs(w)
    return u.vx * factor, u.vy * factor, w * factor


@kernel
def wheel_travel(k: int, u: float, v: float, arm_turn: float) -> float:
    """The distance that wheel k rolls while the body moves by (u, v); arm_turn = arm · turn."""
    sideways = -v if k == 0 or k == 3 else v
    return u + sideways + (-arm_turn if k % 2 == 0 else arm_turn)


@kernel
def move(s: Row, u: Row, p: Row, dt: float) -> None:
    """Advance one robot by one tick."""
    goal_x, goal_y, goal_w = limit_velocity(u, p)
    accel, decel = effective_limit(u.accel, p.accel), effective_limit(u.decel, p.decel)
    vx, ax = accelerate(s.vx, goal_x, accel, decel, dt)
    vy, ay = accelerate(s.vy, goal_y, accel, decel, dt)
    turn_accel, turn_decel = turn_limits(u, p.turn_accel)
    wz, s.alpha = accelerate(s.wz, goal_w, turn_accel, turn_decel, dt)
    along, across = 0.5 * (s.vx + vx) * dt, 0.5 * (s.vy + vy) * dt
    turn = 0.5 * (s.wz + wz) * dt
    s.x, s.y, s.yaw = arc((s.x, s.y, s.yaw), along, across, turn)
    s.vx, s.vy, s.wz = vx, vy, wz
    s.ax, s.ay = ax - wz * vy, ay + wz * vx
    arm = p.half_length + p.half_width
    for k in range(4):
        s.wheel[k] += wheel_travel(k, along, across, turn * arm) / p.radius
        s.wheel_rate[k] = wheel_travel(k, vx, vy, wz * arm) / p.radius


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
    accel: Positive = 1.0  # m/s², of vx and of vy
    decel: Positive = 1.0  # m/s²
    turn_accel: Positive = 2.0  # rad/s²

    def speed_bound(self) -> Array:
        """√2 times the largest speed, m/s, (n,): vx and vy may both reach it during a change."""
        return 1.42 * self.params["max_speed"]

    def move(self, rows: Rows, truth: Table, drive: Table, dt: float, steps: int) -> None:
        """Advance these rows by some ticks."""
        move_all(truth, drive, self.params, rows, dt, steps)
