"""A car: driven rear wheels, steered front wheels; the reference point is the rear axle.

The state moves as a bicycle with the middle steering angle `steer` and the curvature k:

    x' = vx cos yaw    y' = vx sin yaw    yaw' = wz = k vx    k = tan(steer) / wheelbase

Over one tick the acceleration and the steering rate are constant and limited; both land exactly
on what is asked for, and a change of direction first stops. The way ds is exact, the turn is wz by
Simpson's rule over the tick, and the pose follows the bend of (ds, turn) from k to k' of `se2.py`.
That is of fourth order, as Runge-Kutta is, with a smaller error and one sine less; and whoever
integrates exact wheel and steering angles tick by tick gets the true pose back.

At the end of the tick the body turns ever faster by

    alpha = wz' = (vx' tan(steer) + vx steer' / cos²(steer)) / wheelbase

Each wheel turns by what it rolled, of which the speeds are

    rear   vx (1 ∓ k track / 2)                               so it rolls ds ∓ turn · track / 2
    front  vx √((1 ∓ k track / 2)² + (k wheelbase)²)          by Simpson's rule
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le, Lt

from astray.numerics import (
    atan2,
    clothoid_chord,
    compiled_for,
    displace,
    effective_limit,
    inlined_kernel,
    kernel,
    tan,
)
from astray.plugin import Datasheets, Motion, Positive
from astray.robot.motion.limits import reach, slew
from astray.tables import Array, Row, Rows, Table

Aim = tuple[float, float, float, float]
Step = tuple[float, float, float, float, float, float, float]
"""Along, across and turn of a tick, and what each wheel turned."""


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
def aim(s: Row, u: Row, p: Row) -> Aim:
    """Speed and steering angle that are asked for, and how fast they may be reached."""
    goal = min(max(u.vx, p.min_speed), p.max_speed)
    return (
        goal,
        steering(s, u, p),
        effective_limit(u.accel, p.accel),
        effective_limit(u.decel, p.decel),
    )


@inlined_kernel
def front(v: float, k: float, half: float, wheelbase: float) -> float:
    """The speed of the front wheel that is `half` metres to the left of the middle."""
    along, across = 1.0 - k * half, k * wheelbase
    return v * math.sqrt(along * along + across * across)


@inlined_kernel
def feel(s: Row, k: float, per_angle: float) -> None:
    """The accelerations of a car whose speed and steering change at the rates it has."""
    s.ay = s.vx * s.wz
    s.alpha = s.ax * k + s.vx * s.steer_rate * per_angle


@inlined_kernel
def roll(s: Row, step: Step) -> None:
    """Move one robot by a step."""
    s.x, s.y, s.yaw = displace((s.x, s.y, s.yaw), step[0], step[1], step[2])
    for k in range(4):
        s.wheel[k] += step[3 + k]


@kernel
def move(s: Row, p: Row, aim: Aim, k0: float, dt: float) -> tuple[float, bool, Step]:
    """Advance one robot by one tick, from the curvature k0.

    Its curvature afterwards, whether it will go on just so, and the step it made.
    """
    v0, before, base = s.vx, s.steer, p.wheelbase
    v1, s.ax = reach(v0, aim[0], aim[2], aim[3], dt)
    s.steer, s.steer_rate = slew(before, aim[1], p.steer_speed, dt)
    vm, km, k1 = 0.5 * (v0 + v1), k0, k0
    if s.steer != before:
        km, k1 = tan(0.5 * (before + s.steer)) / base, tan(s.steer) / base
    ds, turn = vm * dt, dt / 6.0 * (v0 * k0 + 4.0 * vm * km + v1 * k1)
    along, across = clothoid_chord(ds, turn, k1 - k0)
    s.vx, s.vy, s.wz = v1, 0.0, v1 * k1
    feel(s, k1, (1.0 + k1 * k1 * base * base) / base)
    half, per = 0.5 * p.track, 1.0 / p.radius
    left, right = front(v1, k1, half, base), front(v1, k1, -half, base)
    rolled_left, rolled_right = dt * left * per, dt * right * per
    steady = v1 == v0 and s.steer == before
    if not steady:
        sixth = dt / 6.0 * per
        middle = 4.0 * front(vm, km, half, base)
        rolled_left = sixth * (front(v0, k0, half, base) + middle + left)
        middle = 4.0 * front(vm, km, -half, base)
        rolled_right = sixth * (front(v0, k0, -half, base) + middle + right)
    s.wheel_rate[0], s.wheel_rate[1] = left * per, right * per
    s.wheel_rate[2], s.wheel_rate[3] = (v1 - s.wz * half) * per, (v1 + s.wz * half) * per
    behind = ((ds - turn * half) * per, (ds + turn * half) * per)
    step = (along, across, turn, rolled_left, rolled_right, behind[0], behind[1])
    roll(s, step)
    return k1, steady, step


@kernel
def move_all(truth: Table, drive: Table, params: Table, rows: Rows, dt: float, steps: int) -> None:
    """Advance these rows by some ticks."""
    for i in rows:
        s, p = truth[i], params[i]
        goal, k = aim(s, drive[i], p), tan(s.steer) / p.wheelbase
        done = 0
        while done < steps:
            k, steady, step = move(s, p, goal, k, dt)
            done += 1
            if steady:  # all ticks are alike from here on
                for _ in range(done, steps):
                    roll(s, step)
                break


@kernel
def predict_all(truth: Table, drive: Table, params: Table, rows: Rows, dt: float) -> None:
    """Give these rows the accelerations with which they are about to go on."""
    for i in rows:
        s, p = truth[i], params[i]
        goal = aim(s, drive[i], p)
        s.ax = reach(s.vx, goal[0], goal[2], goal[3], dt)[1]
        s.steer_rate = slew(s.steer, goal[1], p.steer_speed, dt)[1]
        k = tan(s.steer) / p.wheelbase
        feel(s, k, (1.0 + k * k * p.wheelbase * p.wheelbase) / p.wheelbase)


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

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Nothing has moved yet."""
        self._moved: Table | None = None
        self._move = move_all

    def speed_bound(self) -> Array:
        """The limit of its speed."""
        limit: Array = np.maximum(self.params["max_speed"], -self.params["min_speed"])
        return limit

    def move(self, rows: Rows, truth: Table, drive: Table, dt: float, steps: int) -> None:
        """Advance these rows by some ticks."""
        if truth is not self._moved:  # to look at the types takes as long as to move a car
            self._move = compiled_for(move_all, truth, drive, self.params, rows, dt, steps)
            self._moved = truth
        self._move(truth, drive, self.params, rows, dt, steps)

    def predict_accelerations(self, rows: Rows, truth: Table, drive: Table, dt: float) -> None:
        """Write the accelerations with which these rows are about to go on."""
        predict_all(truth, drive, self.params, rows, dt)
