"""A car: driven rear wheels, steered front wheels; the reference point is the rear axle.

The state moves as a bicycle with the middle steering angle `steer` and the curvature k:

    x' = vx cos yaw    y' = vx sin yaw    yaw' = wz = k vx    k = tan(steer) / wheelbase

Over one tick the acceleration and the steering rate are constant and limited; both land exactly
on what is asked for, and a change of direction first stops. The way ds is exact, the turn is wz by
Simpson's rule over the tick, and the pose follows the bend of (ds, turn) from k to k' of `se2.py`.
That is of fourth order, as Runge-Kutta is, with a smaller error and one sine less; and whoever
integrates exact wheel and steering angles tick by tick gets the true pose back.

Each wheel turns by what it rolled, of which the speeds are

    rear   vx (1 ∓ k track / 2)                               so it rolls ds ∓ turn · track / 2
    front  vx √((1 ∓ k track / 2)² + (k wheelbase)²)          by Simpson's rule
"""

from __future__ import annotations

import math
from typing import Annotated

from annotated_types import Gt, Le, Lt

from astray.kernel import kernel
from astray.maths import atan2, tan
from astray.motion.limits import allowed, reach, slew
from astray.plugin import Motion, Positive
from astray.se2 import bend
from astray.table import Row, Rows, Table


@kernel
def steering(s: Row, u: Row, p: Row) -> float:
    """The steering angle that is asked for; as it is where a turn rate is asked at standstill."""
    goal: float = s.steer
    if math.isnan(u.curvature):
        if u.vx == 0.0:
            return goal
        goal = atan2(math.copysign(p.wheelbase, u.vx) * u.wz, abs(u.vx))
    else:
        goal = atan2(p.wheelbase * u.curvature, 1.0)
    goal = min(max(goal, -p.max_steer), p.max_steer)
    return goal


@kernel
def front(v: float, k: float, half: float, p: Row) -> float:
    """The speed of the front wheel that is `half` metres to the left of the middle."""
    along, across = 1.0 - k * half, k * p.wheelbase
    return v * math.sqrt(along * along + across * across)


@kernel
def move(s: Row, u: Row, p: Row, dt: float) -> None:
    """Advance one robot by one tick."""
    goal = min(max(u.vx, p.min_speed), p.max_speed)
    v0, k0 = s.vx, tan(s.steer) / p.wheelbase
    v1, s.ax = reach(v0, goal, allowed(u.accel, p.accel), allowed(u.decel, p.decel), dt)
    before = s.steer
    s.steer, s.steer_rate = slew(before, steering(s, u, p), p.steer_speed, dt)
    vm, km, k1 = 0.5 * (v0 + v1), k0, k0
    if s.steer != before:
        km, k1 = tan(0.5 * (before + s.steer)) / p.wheelbase, tan(s.steer) / p.wheelbase
    ds, turn = vm * dt, dt / 6.0 * (v0 * k0 + 4.0 * vm * km + v1 * k1)
    s.x, s.y, s.yaw = bend((s.x, s.y, s.yaw), ds, turn, k1 - k0)
    s.vx, s.vy, s.wz = v1, 0.0, v1 * k1
    s.ay = v1 * s.wz
    s.alpha = (s.wz - v0 * k0) / dt
    for k in range(4):
        half = 0.5 * p.track if k % 2 == 0 else -0.5 * p.track
        if k < 2:
            rate = front(v1, k1, half, p)
            way = dt / 6.0 * (front(v0, k0, half, p) + 4.0 * front(vm, km, half, p) + rate)
        else:
            rate = v1 - s.wz * half
            way = ds - turn * half
        s.wheel[k] += way / p.radius
        s.wheel_rate[k] = rate / p.radius


@kernel
def move_all(truth: Table, drive: Table, params: Table, rows: Rows, dt: float, steps: int) -> None:
    """Advance these rows by some ticks."""
    for i in rows:
        for _ in range(steps):
            move(truth[i], drive[i], params[i], dt)


class Ackermann(Motion, kind="ackermann"):
    """A car with limits of speed, acceleration and steering; its rear axle is where it is."""

    wheels = 4
    wheelbase: Positive = 0.405  # m between the axles
    track: Positive = 0.213  # m between the wheels of an axle
    radius: Positive = 0.0525  # m, of the wheels
    max_speed: Positive = 0.8  # m/s
    min_speed: Annotated[float, Le(0)] = -0.5  # m/s, backwards
    accel: Positive = 1.0  # m/s²
    decel: Positive = 2.0  # m/s²
    max_steer: Annotated[float, Gt(0), Lt(1.57)] = 0.6  # rad, of the middle steering angle
    steer_speed: Positive = 2.0  # rad/s

    def move(self, rows: Rows, truth: Table, drive: Table, dt: float, steps: int) -> None:
        """Advance these rows by some ticks."""
        move_all(truth, drive, self.params, rows, dt, steps)
