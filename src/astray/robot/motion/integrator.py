"""A point without inertia, which reaches the commanded velocity at once.

Over one tick vx, vy and wz are constant, so the body follows their arc exactly. Velocities change
gradually only if the command limits the acceleration. The acceleration is the mean over the tick,
in the rotating body frame:

    ax = Δvx / dt − wz vy        ay = Δvy / dt + wz vx        alpha = Δwz / dt
"""

from __future__ import annotations

import math

from astray.numerics import arc, effective_limit, kernel
from astray.plugin import Motion, Positive
from astray.robot.motion.limits import accelerate, turn_rate
from astray.tables import Array, Row, Rows, Table


@kernel
def next_velocity(now: float, goal: float, accel: float, decel: float, dt: float) -> float:
    """The velocity of this tick: the goal, unless the command limits the acceleration."""
    if math.isnan(accel) and math.isnan(decel):
        return goal
    return accelerate(
        now, goal, effective_limit(accel, math.inf), effective_limit(decel, math.inf), dt
    )[0]


@kernel
def move(s: Row, u: Row, p: Row, dt: float) -> None:
    """Advance one robot by one tick."""
    speed = math.sqrt(u.vx * u.vx + u.vy * u.vy)
    factor = p.max_speed / speed if speed > p.max_speed else 1.0
    wz, curvature_factor = turn_rate(u, u.vx * factor, p.max_turn)
    factor *= curvature_factor
    vx = next_velocity(s.vx, u.vx * factor, u.accel, u.decel, dt)
    vy = next_velocity(s.vy, u.vy * factor, u.accel, u.decel, dt)
    wz = next_velocity(s.wz, wz, u.turn_accel, u.turn_decel, dt)
    s.x, s.y, s.yaw = arc((s.x, s.y, s.yaw), vx * dt, vy * dt, wz * dt)
    s.ax, s.ay = (vx - s.vx) / dt - wz * vy, (vy - s.vy) / dt + wz * vx
    s.alpha = (wz - s.wz) / dt
    s.vx, s.vy, s.wz = vx, vy, wz


@kernel
def move_all(truth: Table, drive: Table, params: Table, rows: Rows, dt: float, steps: int) -> None:
    """Advance these rows by some ticks."""
    for i in rows:
        for _ in range(steps):
            move(truth[i], drive[i], params[i], dt)


class Integrator(Motion, kind="integrator"):
    """A point without inertia: it reaches the commanded velocity at once, in any direction."""

    max_speed: Positive = 1.0  # m/s, in any direction
    max_turn: Positive = 1.0  # rad/s

    def speed_bound(self) -> Array:
        """√2 times the largest speed, m/s, (n,): vx and vy may both reach it during a change."""
        return 1.42 * self.params["max_speed"]

    def move(self, rows: Rows, truth: Table, drive: Table, dt: float, steps: int) -> None:
        """Advance these rows by some ticks."""
        move_all(truth, drive, self.params, rows, dt, steps)
