"""Propagation of the error-state Kalman filter by wheels, and the displacement that they measure.

The displacement (u, v, w) and its Jacobians are those of odometry.py, corrected for the estimated
errors of the wheels. By an IMU it is this displacement that the wheels measure.
"""

from __future__ import annotations

import math

from astray.numerics import arc, clothoid_step, inlined_kernel, kernel, sincos, tan
from astray.robot.estimators.ekf.covariance import (
    add_lost_heading_noise,
    clear_transition,
    propagate_covariance,
    propagate_errors,
)
from astray.robot.estimators.ekf.state_layout import DX, DYAW, YAW, X, Y
from astray.robot.estimators.odometry import Displacement
from astray.tables import WHEELS_PER_ROBOT, Row

# The displacement.


@kernel
def reset_displacement(state: Row, model: Row) -> None:
    """Set the displacement since the wheels or the IMU were read to zero, exactly known."""
    state.dx = state.dy = state.dyaw = 0.0
    for i in range(3):
        state.residual[i] = 0.0
        for j in range(3):
            state.residual_cov[i, j] = 0.0
    for i in range(DX, DYAW + 1):
        for j in range(model.states):
            state.cov[i, j] = 0.0
            state.cov[j, i] = 0.0


@kernel
def add_tick_covariance(state: Row, model: Row) -> None:
    """Add to the displacement that the wheels may have begun it anywhere in a tick."""
    if model.moving <= DYAW:
        return
    if not model.by_imu:
        state.cov[DYAW, DYAW] += model.turn_quantization_variance
        return
    variance = tick_variance(model)
    for k in range(WHEELS_PER_ROBOT):
        weights = (model.forward[k], model.left[k], model.turn[k] / model.arm)
        for i in range(3):
            for j in range(3):
                state.cov[DX + i, DX + j] += variance * weights[i] * weights[j]
                state.residual_cov[i, j] += variance * weights[i] * weights[j]


@kernel
def tick_variance(model: Row) -> float:
    """The variance of a wheel's distance that is counted in whole ticks, about its mean."""
    return float(model.encoder_tick * model.encoder_tick / 12.0)


@inlined_kernel
def rolled_distance(model: Row, k: int, step: Displacement) -> float:
    """The distance that a wheel rolls in a displacement of the body."""
    weights = 0.0
    for j in range(WHEELS_PER_ROBOT):
        weights += abs(model.turn[j])
    distance = step[0] + model.turn[k] * step[2] * model.arm / weights
    if model.left[k] != 0.0:
        distance += math.copysign(step[1], model.left[k] * step[1])
    return float(distance)


# Propagation.


@kernel
def wheel_displacement(state: Row, model: Row) -> Displacement:
    """The displacement of the body while the wheels turn to `next_angle`, errors corrected."""
    u, v, turn = 0.0, 0.0, 0.0
    for k in range(WHEELS_PER_ROBOT):
        distance = (model.next_angle[k] - state.wheel_angle[k]) * model.radius
        if model.wheel[k] >= 0:
            distance *= 1.0 + state.error[model.wheel[k]]
        model.distance[k] = distance
        u += model.forward[k] * distance
        v += model.left[k] * distance
        turn += model.turn[k] * distance
    arm = model.arm
    if model.arm_error >= 0:
        arm = model.arm * (1.0 + state.error[model.arm_error])
    return u, v, turn / arm


@kernel
def wheel_jacobian(state: Row, model: Row, step: Displacement) -> None:
    """F and G of a step by wheels: by heading, wheel radii and arm, and by slip of each wheel.

    Beside a gyro the turn by errors of radii and arm follows at its next reading.
    """
    u, v, turn = step
    clear_transition(model)
    s, c = sincos(state.yaw + 0.5 * turn)
    tx, ty = -(s * u + c * v), c * u - s * v  # of x and y by the yaw
    f, g = model.transition, model.noise_input
    f[X, YAW], f[Y, YAW] = tx, ty
    for k in range(WHEELS_PER_ROBOT):
        turn_k = model.turn[k] / model.arm
        g[X, k] = model.forward[k] * c - model.left[k] * s + 0.5 * tx * turn_k
        g[Y, k] = model.forward[k] * s + model.left[k] * c + 0.5 * ty * turn_k
        g[YAW, k] = turn_k
        model.noise_variance[k] = model.slip_density * model.slip_density * abs(model.distance[k])
        radius_error = model.wheel[k]
        if radius_error >= 0:
            f[X, radius_error] = g[X, k] * model.distance[k]
            f[Y, radius_error] = g[Y, k] * model.distance[k]
            f[YAW, radius_error] = turn_k * model.distance[k]
    if model.arm_error >= 0:
        f[X, model.arm_error] = -0.5 * tx * turn
        f[Y, model.arm_error] = -0.5 * ty * turn
        f[YAW, model.arm_error] = -turn
    if state.gyro_started:
        for i in range(model.moving, model.states):
            f[YAW, i] = 0.0
        for k in range(WHEELS_PER_ROBOT):
            g[DYAW, k] = g[YAW, k]


@kernel
def propagate_turn_errors(state: Row, model: Row, turn: float) -> None:
    """Propagate the errors of radii and arm to the turn by wheels since the last reading of a gyro.

    They are in proportion to the true turn, which is best known by the gyro. The slip in the turn
    by wheels would count as a turn: on a straight way it would teach a wrong arm.
    """
    clear_transition(model)
    f = model.transition
    for k in range(WHEELS_PER_ROBOT):
        error = model.wheel[k]
        if error >= 0:
            distance = rolled_distance(model, k, (state.dx, state.dy, turn))
            f[YAW, error] = f[DYAW, error] = model.turn[k] / model.arm * distance
    if model.arm_error >= 0:
        f[YAW, model.arm_error] = f[DYAW, model.arm_error] = -turn
    state.dx = state.dy = 0.0
    propagate_covariance(state, model)


@kernel
def propagate_by_wheels(state: Row, model: Row, steer: float, stamp: float) -> None:
    """Propagate to a stamp, at which the wheels have turned to `next_angle`."""
    dt = stamp - state.stamp
    step = wheel_displacement(state, model)
    u, v, turn = step
    wheel_jacobian(state, model, step)
    propagate_covariance(state, model)
    if state.heading_lost:
        add_lost_heading_noise(state, math.sqrt(u * u + v * v))
    pose = (state.x, state.y, state.yaw)
    if model.wheelbase > 0.0:
        curvature_change = (tan(steer) - tan(state.steer)) / model.wheelbase
        state.x, state.y, state.yaw = clothoid_step(pose, u, turn, curvature_change)
    else:
        state.x, state.y, state.yaw = arc(pose, u, v, turn)
    if dt > 0.0:
        propagate_errors(state, model, dt)
    for k in range(WHEELS_PER_ROBOT):
        state.wheel_angle[k] = model.next_angle[k]
    if state.gyro_started:
        state.dx, state.dy, state.dyaw = state.dx + u, state.dy + v, state.dyaw + turn
    state.steer, state.stamp = steer, stamp


@kernel
def velocity_from_wheel_rates(state: Row, model: Row) -> None:
    """Set the velocity to that of wheels that turn at the rates that were last read."""
    for k in range(WHEELS_PER_ROBOT):
        model.next_angle[k] = state.wheel_angle[k] + state.wheel_rate[k]
    state.vx, state.vy, state.wz = wheel_displacement(state, model)
