"""A car: driven rear wheels, steered front wheels; the reference point is the rear axle.

The state moves as a bicycle with the middle steering angle `steer` and the curvature k:

    x' = vx cos yaw    y' = vx sin yaw    yaw' = wz = k vx    k = tan(steer) / wheelbase

Over one tick the acceleration and the steering rate are constant and limited. Speed and steering
reach their targets exactly, and a change of direction first brakes to a stop. The distance ds is
exact, the turn is wz by Simpson's rule over the tick, and the pose follows the clothoid of (ds,
turn) from k to k' of `se2.py`. That is of fourth order, as Runge-Kutta, with a smaller error and
one sine less. The integral of exact wheel and steering angles, tick by tick, is the true pose.

At the end of the tick the angular acceleration is

    alpha = wz' = (vx' tan(steer) + vx steer' / cos²(steer)) / wheelbase

Each wheel rolls without slip, at the speed

    rear   vx (1 ∓ k track / 2)                               so it rolls ds ∓ turn · track / 2
    front  vx √((1 ∓ k track / 2)² + (k wheelbase)²)          by Simpson's rule
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

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
from astray.robot.motion.limits import accelerate, slew
from astray.tables import Array, Row, Rows, Table


class CarTarget(NamedTuple):
    """What a car is asked for, and the limits on the way there."""

    speed: float  # m/s
    steer: float  # rad
    accel: float  # m/s²
    decel: float  # m/s²


class CarStep(NamedTuple):
    """The motion of one tick: displacement in the body frame, turn, and turn of each wheel."""

    along: float  # m
    across: float  # m
    turn: float  # rad
    wheels: tuple[float, float, float, float]  # rad


@kernel
def target_steer(s: Row, u: Row, p: Row) -> float:
    """The steering angle of a drive; it stays where a turn rate is asked for at standstill."""
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
def target_of(s: Row, u: Row, p: Row) -> CarTarget:
    """What a drive asks for, within the limits of the car."""
    speed = min(max(u.vx, p.min_speed), p.max_speed)
    accel, decel = effective_limit(u.accel, p.accel), effective_limit(u.decel, p.decel)
    return CarTarget(speed, target_steer(s, u, p), accel, decel)


@inlined_kernel
def front_wheel_speed(v: float, k: float, left: float, wheelbase: float) -> float:
    """The speed of the front wheel that is `left` metres to the left of the middle."""
    along, across = 1.0 - k * left, k * wheelbase
    return v * math.sqrt(along * along + across * across)


@inlined_kernel
def set_accelerations(s: Row, k: float, curvature_per_steer: float) -> None:
    """Write ay and alpha of a car from its speed, ax and steering rate."""
    s.ay = s.vx * s.wz
    s.alpha = s.ax * k + s.vx * s.steer_rate * curvature_per_steer


@inlined_kernel
def apply(s: Row, step: CarStep) -> None:
    """Move one robot by an increment."""
    s.x, s.y, s.yaw = displace((s.x, s.y, s.yaw), step.along, step.across, step.turn)
    for k in range(4):
        s.wheel[k] += step.wheels[k]


@kernel
def move(s: Row, p: Row, target: CarTarget, k0: float, dt: float) -> tuple[float, bool, CarStep]:
    """Advance one robot by one tick, from the curvature k0.

    Returns the curvature afterwards, whether all further ticks are the same, and the increment.
    """
    v0, before, base = s.vx, s.steer, p.wheelbase
    v1, s.ax = accelerate(v0, target.speed, target.accel, target.decel, dt)
    s.steer, s.steer_rate = slew(before, target.steer, p.steer_speed, dt)
    vm, km, k1 = 0.5 * (v0 + v1), k0, k0
    if s.steer != before:
        km, k1 = tan(0.5 * (before + s.steer)) / base, tan(s.steer) / base
    ds, turn = vm * dt, dt / 6.0 * (v0 * k0 + 4.0 * vm * km + v1 * k1)
    along, across = clothoid_chord(ds, turn, k1 - k0)
    s.vx, s.vy, s.wz = v1, 0.0, v1 * k1
    set_accelerations(s, k1, (1.0 + k1 * k1 * base * base) / base)
    half, per = 0.5 * p.track, 1.0 / p.radius
    left, right = front_wheel_speed(v1, k1, half, base), front_wheel_speed(v1, k1, -half, base)
    rolled_left, rolled_right = dt * left * per, dt * right * per
    steady = v1 == v0 and s.steer == before
    if not steady:
        sixth = dt / 6.0 * per
        middle = 4.0 * front_wheel_speed(vm, km, half, base)
        rolled_left = sixth * (front_wheel_speed(v0, k0, half, base) + middle + left)
        middle = 4.0 * front_wheel_speed(vm, km, -half, base)
        rolled_right = sixth * (front_wheel_speed(v0, k0, -half, base) + middle + right)
    s.wheel_rate[0], s.wheel_rate[1] = left * per, right * per
    s.wheel_rate[2], s.wheel_rate[3] = (v1 - s.wz * half) * per, (v1 + s.wz * half) * per
    rear_left, rear_right = (ds - turn * half) * per, (ds + turn * half) * per
    step = CarStep(along, across, turn, (rolled_left, rolled_right, rear_left, rear_right))
    apply(s, step)
    return k1, steady, step


@kernel
def move_all(truth: Table, drive: Table, params: Table, rows: Rows, dt: float, steps: int) -> None:
    """Advance these rows by some ticks."""
    for i in rows:
        s, p = truth[i], params[i]
        target, k = target_of(s, drive[i], p), tan(s.steer) / p.wheelbase
        done = 0
        while done < steps:
            k, steady, step = move(s, p, target, k, dt)
            done += 1
            if steady:
                for _ in range(done, steps):
                    apply(s, step)
                break


@kernel
def predict_all(truth: Table, drive: Table, params: Table, rows: Rows, dt: float) -> None:
    """Write the accelerations with which these rows begin the next tick."""
    for i in rows:
        s, p = truth[i], params[i]
        target = target_of(s, drive[i], p)
        s.ax = accelerate(s.vx, target.speed, target.accel, target.decel, dt)[1]
        s.steer_rate = slew(s.steer, target.steer, p.steer_speed, dt)[1]
        k = tan(s.steer) / p.wheelbase
        set_accelerations(s, k, (1.0 + k * k * p.wheelbase * p.wheelbase) / p.wheelbase)


class Ackermann(Motion, kind="ackermann"):
    """A car with limits of speed, acceleration and steering; its pose is that of the rear axle."""

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
        """Compile the kernel for the tables at the first move."""
        self._compiled_for: Table | None = None
        self._move = move_all

    def speed_bound(self) -> Array:
        """The largest speed in either direction, m/s, (n,)."""
        limit: Array = np.maximum(self.params["max_speed"], -self.params["min_speed"])
        return limit

    def move(self, rows: Rows, truth: Table, drive: Table, dt: float, steps: int) -> None:
        """Advance these rows by some ticks."""
        if truth is not self._compiled_for:  # to find out the types takes as long as to move a car
            self._move = compiled_for(move_all, truth, drive, self.params, rows, dt, steps)
            self._compiled_for = truth
        self._move(truth, drive, self.params, rows, dt, steps)

    def predict_accelerations(self, rows: Rows, truth: Table, drive: Table, dt: float) -> None:
        """Write the accelerations with which these rows begin the next tick."""
        predict_all(truth, drive, self.params, rows, dt)
