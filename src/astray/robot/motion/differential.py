"""A differential drive: two driven wheels on one axle.

Over one tick the acceleration of v and the angular acceleration of w are constant, and limited:

    v' = v + a dt        ds = v dt + a dt² / 2        (the same for w and the turn)

The body then follows the arc of (ds, turn), and each wheel rolls without slip:

    left = (ds − turn · baseline / 2) / radius        right = (ds + turn · baseline / 2) / radius

so that the integral of exact wheel angles, tick by tick, is the true pose.

With a `lag` the direction of motion is that of the heading `lag` seconds ago, to first order:

    vy = −lag · w · v

A simulator that moves straight within each cycle, along the heading at its start, has such a lag:
half a cycle.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from astray.numerics import CHUNK, arc_given_heading, effective_limit, kernel, sincos, sincos_all
from astray.plugin import Motion, NonNegative, Positive
from astray.robot.motion.limits import acceleration_towards, turn_limits
from astray.tables import Array, Row, Rows, Table

Tables = tuple[Table, Table, Table]
"""Truth, drive and parameters."""


class DifferentialStep(NamedTuple):
    """The motion of one tick."""

    accel: float  # m/s²
    turn_accel: float  # rad/s²
    ds: float  # m
    turn: float  # rad


@kernel
def plan(s: Row, u: Row, p: Row, dt: float) -> DifferentialStep:
    """The motion of one tick towards the drive, within the limits."""
    half = 0.5 * p.baseline
    v = min(max(u.vx, -p.max_speed), p.max_speed)
    w = u.wz if math.isnan(u.curvature) else v * u.curvature
    w = min(max(w, -p.max_turn), p.max_turn)
    # Both are scaled down where a wheel would be too fast, so that the curvature is kept.
    rim_speed = abs(v) + abs(w) * half  # of the faster wheel
    if rim_speed > p.max_speed:
        v *= p.max_speed / rim_speed
        w *= p.max_speed / rim_speed
    a = acceleration_towards(
        s.vx, v, effective_limit(u.accel, p.accel), effective_limit(u.decel, p.decel), dt
    )
    turn_accel, turn_decel = turn_limits(u, p.turn_accel)
    alpha = acceleration_towards(s.wz, w, turn_accel, turn_decel, dt)
    return DifferentialStep(a, alpha, (s.vx + 0.5 * a * dt) * dt, (s.wz + 0.5 * alpha * dt) * dt)


@kernel
def apply(s: Row, p: Row, step: DifferentialStep, middle: tuple[float, float], dt: float) -> None:
    """Move one robot by an increment, given sine and cosine of the heading in the middle of it."""
    half, (a, alpha, ds, turn) = 0.5 * p.baseline, step
    across = 0.0 - p.lag * turn * ds / dt
    s.x, s.y, s.yaw = arc_given_heading((s.x, s.y, s.yaw), ds, across, turn, middle)
    s.vx += a * dt
    s.wz += alpha * dt
    s.ax, s.ay = a, s.vx * s.wz
    before, s.vy = s.vy, 0.0  # a collision may have left some sideways velocity
    if p.lag > 0.0:
        s.vy = 0.0 - p.lag * s.wz * s.vx
        s.ax, s.ay = a - s.wz * s.vy, s.ay + (s.vy - before) / dt
    s.alpha = alpha
    s.wheel[0] += (ds - turn * half) / p.radius
    s.wheel[1] += (ds + turn * half) / p.radius
    s.wheel_rate[0] = (s.vx - s.wz * half) / p.radius
    s.wheel_rate[1] = (s.vx + s.wz * half) / p.radius


@kernel
def move(s: Row, u: Row, p: Row, dt: float) -> None:
    """Advance one robot by one tick."""
    step = plan(s, u, p, dt)
    apply(s, p, step, sincos(s.yaw + 0.5 * step.turn), dt)


@kernel
def move_chunk(tables: Tables, rows: Rows, dt: float, w: Array) -> None:
    """Advance at most CHUNK rows by one tick, in passes; w is scratch memory, (6, CHUNK)."""
    truth, drive, params = tables
    for j in range(len(rows)):
        i = rows[j]
        w[2, j], w[3, j], w[4, j], w[5, j] = plan(truth[i], drive[i], params[i], dt)
        w[0, j] = truth[i].yaw + 0.5 * w[5, j]
    sincos_all(w, len(rows))
    for j in range(len(rows)):
        i, step = rows[j], DifferentialStep(w[2, j], w[3, j], w[4, j], w[5, j])
        apply(truth[i], params[i], step, (w[0, j], w[1, j]), dt)


@kernel
def move_all(tables: Tables, rows: Rows, dt: float, steps: int, w: Array) -> None:
    """Advance these rows by some ticks."""
    truth, drive, params = tables
    if steps == 1:
        for start in range(0, len(rows), CHUNK):
            move_chunk(tables, rows[start : start + CHUNK], dt, w)
        return
    for i in rows:
        for _ in range(steps):
            move(truth[i], drive[i], params[i], dt)


class Differential(Motion, kind="differential"):
    """Two driven wheels on one axle, with speed and acceleration limits."""

    wheels = 2
    radius: Positive = 0.1  # m, of the wheels
    baseline: Positive = 0.4  # m between the wheels
    max_speed: Positive = 1.0  # m/s, of the robot and of each wheel
    max_turn: Positive = 2.0  # rad/s
    accel: Positive = 1.0  # m/s²
    decel: Positive = 1.0  # m/s²
    turn_accel: Positive = 4.0  # rad/s²
    lag: NonNegative = 0.0  # s by which the direction of motion lags behind the heading

    def speed_bound(self) -> Array:
        """The largest speed, m/s, (n,)."""
        limit: Array = self.params["max_speed"] * (
            1.0 + self.params["lag"] * self.params["max_turn"]
        )
        return limit

    def move(self, rows: Rows, truth: Table, drive: Table, dt: float, steps: int) -> None:
        """Advance these rows by some ticks."""
        move_all((truth, drive, self.params), rows, dt, steps, self.scratch(6))
