"""Two driven wheels on one axle.

Over one tick the acceleration of v and the angular acceleration of w are constant, and limited:

    v' = v + a dt        ds = v dt + a dt² / 2        (the same for w and the turn)

The body then follows the arc of (ds, turn), and each wheel turns by what it rolled:

    left = (ds − turn · baseline / 2) / radius        right = (ds + turn · baseline / 2) / radius

so that whoever integrates exact wheel angles tick by tick gets the true pose back.

Simulators that go straight on within each of their cycles, along the heading it began with, drift
outwards in turns as a body does whose way lags behind its heading by half a cycle:

    vy = −lag · w · v
"""

from __future__ import annotations

import math

from astray.numerics import CHUNK, arc_given_heading, effective_limit, kernel, sincos, sincos_all
from astray.plugin import Motion, NonNegative, Positive
from astray.robot.motion.limits import approach, turn_limits
from astray.tables import Array, Row, Rows, Table

Tables = tuple[Table, Table, Table]
"""Truth, drive and parameters."""

Way = tuple[float, float, float, float]
"""Of a tick: the acceleration, m/s², the angular one, rad/s², the way, m, and the turn, rad."""


@kernel
def plan(s: Row, u: Row, p: Row, dt: float) -> Way:
    """What one tick brings of what is asked for."""
    half = 0.5 * p.baseline
    v = min(max(u.vx, -p.max_speed), p.max_speed)
    w = u.wz if math.isnan(u.curvature) else v * u.curvature
    w = min(max(w, -p.max_turn), p.max_turn)
    # A wheel that would turn faster than it can slows both, so that the curvature is kept.
    fastest = abs(v) + abs(w) * half
    if fastest > p.max_speed:
        v *= p.max_speed / fastest
        w *= p.max_speed / fastest
    a = approach(s.vx, v, effective_limit(u.accel, p.accel), effective_limit(u.decel, p.decel), dt)
    turn_accel, turn_decel = turn_limits(u, p.turn_accel)
    alpha = approach(s.wz, w, turn_accel, turn_decel, dt)
    return a, alpha, (s.vx + 0.5 * a * dt) * dt, (s.wz + 0.5 * alpha * dt) * dt


@kernel
def follow(s: Row, p: Row, way: Way, middle: tuple[float, float], dt: float) -> None:
    """Go a way, given sine and cosine of the heading in its middle."""
    half, (a, alpha, ds, turn) = 0.5 * p.baseline, way
    across = 0.0 - p.lag * turn * ds / dt
    s.x, s.y, s.yaw = arc_given_heading((s.x, s.y, s.yaw), ds, across, turn, middle)
    s.vx += a * dt
    s.wz += alpha * dt
    s.ax, s.ay = a, s.vx * s.wz
    before, s.vy = s.vy, 0.0  # what a slide along a wall has left is gone
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
    way = plan(s, u, p, dt)
    follow(s, p, way, sincos(s.yaw + 0.5 * way[3]), dt)


@kernel
def move_some(tables: Tables, rows: Rows, dt: float, w: Array) -> None:
    """Advance at most CHUNK rows by one tick, in passes; w is room for six numbers of each."""
    truth, drive, params = tables
    for j in range(len(rows)):
        i = rows[j]
        w[2, j], w[3, j], w[4, j], w[5, j] = plan(truth[i], drive[i], params[i], dt)
        w[0, j] = truth[i].yaw + 0.5 * w[5, j]
    sincos_all(w, len(rows))
    for j in range(len(rows)):
        i, way = rows[j], (w[2, j], w[3, j], w[4, j], w[5, j])
        follow(truth[i], params[i], way, (w[0, j], w[1, j]), dt)


@kernel
def move_all(tables: Tables, rows: Rows, dt: float, steps: int, w: Array) -> None:
    """Advance these rows by some ticks."""
    truth, drive, params = tables
    if steps == 1:
        for start in range(0, len(rows), CHUNK):
            move_some(tables, rows[start : start + CHUNK], dt, w)
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
    lag: NonNegative = 0.0  # s by which the way lags behind the heading

    def speed_bound(self) -> Array:
        """The limit of its speed."""
        limit: Array = self.params["max_speed"] * (
            1.0 + self.params["lag"] * self.params["max_turn"]
        )
        return limit

    def move(self, rows: Rows, truth: Table, drive: Table, dt: float, steps: int) -> None:
        """Advance these rows by some ticks."""
        move_all((truth, drive, self.params), rows, dt, steps, self.scratch(6))
