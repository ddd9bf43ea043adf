"""A unicycle: a body that drives forward and turns, without a model of its wheels.

Over one tick the acceleration of vx and the angular acceleration of wz are constant, and limited.
The body follows the arc of ds = (vx + vx') dt / 2 and turn = (wz + wz') dt / 2. Its acceleration in
the body frame is

    ax = vx'        ay = wz vx
"""

from __future__ import annotations

from astray.numerics import arc, effective_limit, kernel
from astray.plugin import Motion, Positive
from astray.robot.motion.limits import accelerate, turn_limits, turn_rate
from astray.tables import Array, Row, Rows, Table


@kernel
def move(s: Row, u: Row, p: Row, dt: float) -> None:
    """Advance one robot by one tick."""
    goal_v = min(max(u.vx, -p.max_speed), p.max_speed)
    goal_w, factor = turn_rate(u, goal_v, p.max_turn)
    accel, decel = effective_limit(u.accel, p.accel), effective_limit(u.decel, p.decel)
    vx, s.ax = accelerate(s.vx, goal_v * factor, accel, decel, dt)
    turn_accel, turn_decel = turn_limits(u, p.turn_accel)
    wz, s.alpha = accelerate(s.wz, goal_w, turn_accel, turn_decel, dt)
    ds, turn = 0.5 * (s.vx + vx) * dt, 0.5 * (s.wz + wz) * dt
    s.x, s.y, s.yaw = arc((s.x, s.y, s.yaw), ds, 0.0, turn)
    s.vx, s.vy, s.wz = vx, 0.0, wz
    s.ay = wz * vx


@kernel
def move_all(truth: Table, drive: Table, params: Table, rows: Rows, dt: float, steps: int) -> None:
    """Advance these rows by some ticks."""
    for i in rows:
        for _ in range(steps):
            move(truth[i], drive[i], params[i], dt)


class Unicycle(Motion, kind="unicycle"):
    """A body that drives forward and turns, with limits, without a model of its wheels."""

    max_speed: Positive = 1.0  # m/s
    max_turn: Positive = 1.0  # rad/s
    accel: Positive = 1.0  # m/s²
    decel: Positive = 1.0  # m/s²
    turn_accel: Positive = 4.0  # rad/s²

    def speed_bound(self) -> Array:
        """The largest speed, m/s, (n,)."""
        return self.params["max_speed"]

    def move(self, rows: Rows, truth: Table, drive: Table, dt: float, steps: int) -> None:
        """Advance these rows by some ticks."""
        move_all(truth, drive, self.params, rows, dt, steps)
