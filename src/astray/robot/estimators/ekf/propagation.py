"""Propagation of the error-state Kalman filter by the IMU, and between two readings.

With h half the turn in a step dt, the velocity V of the mount in body axes propagates by

    V ← R(−2h) V + R(−h) a dt

with R a rotation and a the mean specific acceleration; it is exact for readings that are means over
dt. A robot that cannot go sideways keeps vy = 0, and its speed changes by a_x dt / cos h.

Between two readings of the IMU or the wheels the filter extrapolates the last one; the next reading
then makes up for the difference.

A reading of the IMU is a mean over its period T: it does not tell when in T the robot turned or
sped up. With Δw and Δa the changes from the reading before, turn rate and acceleration that are
linear in time displace the body, against constant ones, by

    along  −Δa T² / 12        to the left  −v Δw T² / 12

That is corrected. A step that is anywhere in T, and seen in two readings, displaces it by as much
on average, with a standard deviation of 0.046 in place of 1/12 = 0.083; more is added as noise. At
100 Hz it is nothing; at 5 Hz, and with good sensors, it is the largest error of all. Changes that
repeat with the period of the IMU, as by commands at its rate, have no such average.
"""

from __future__ import annotations

import math

from astray.numerics import arc, inlined_kernel, kernel, sincos
from astray.robot.estimators.ekf.covariance import (
    add_lateral_noise,
    add_lost_heading_noise,
    clear_transition,
    propagate_covariance,
    propagate_errors,
)
from astray.robot.estimators.ekf.state_layout import DX, DY, DYAW, VX, VY, YAW, X, Y
from astray.robot.estimators.ekf.wheel_propagation import propagate_by_wheels
from astray.tables import WHEELS_PER_ROBOT, Array, Row

ImuReading = tuple[float, float, float]
"""Turn rate, rad/s, and accelerations forward and to the left, m/s², in the body's axes."""
GYRO, ACCEL_X, ACCEL_Y = range(3)
"""The noise inputs of the IMU: columns of `noise_input`. By wheels they are the wheels."""
CHANGE, CHANGE_SD = 1.0 / 12.0, 1.0 / 10.0  # of the displacement by a motion that changes
FAST_PERIOD = 0.015  # s; in a shorter one this displacement is a hundredth of a millimetre


@kernel
def corrected_imu(state: Row, model: Row, reading: ImuReading) -> ImuReading:
    """A reading with the estimated biases and scale error removed."""
    wz, ax, ay = reading
    if model.gyro >= 0:
        wz -= state.error[model.gyro]
    if model.gyro_drift >= 0:
        wz -= state.error[model.gyro_drift]
    if model.gyro_scale >= 0:
        wz /= 1.0 + state.error[model.gyro_scale]
    if model.accel >= 0:
        ax -= state.error[model.accel]
        ay -= state.error[model.accel + 1]
    if model.accel_drift >= 0:
        ax -= state.error[model.accel_drift]
        ay -= state.error[model.accel_drift + 1]
    return wz, ax, ay


@kernel
def next_velocity(state: Row, model: Row, imu: ImuReading, dt: float) -> tuple[float, float]:
    """The body's velocity after a step of turn rate and acceleration at the mount."""
    wz, ax, ay = imu
    s, c = sincos(0.5 * wz * dt)
    if not model.sideways:
        centripetal = 2.0 * s * wz * model.imu_x  # of the mount, over the step
        return state.vx + (ax * dt + centripetal) / c + (wz - state.wz) * model.imu_y, 0.0
    vx, vy = state.vx - state.wz * model.imu_y, state.vy + state.wz * model.imu_x  # of the mount
    vx, vy = c * vx + s * vy + ax * dt, c * vy - s * vx + ay * dt
    vx, vy = c * vx + s * vy, c * vy - s * vx
    return vx + wz * model.imu_y, vy - wz * model.imu_x


@kernel
def gyro_bias_jacobian(model: Row, index: int, factor: float) -> None:
    """F by a bias of the turn rate: it acts like noise of the opposite sign for the whole step.

    The factor is dt; for a scale error, which is a bias of wz per unit, it is wz · dt.
    """
    for r in range(model.moving):
        model.transition[r, index] -= model.noise_input[r, GYRO] * factor


@kernel
def accel_bias_jacobian(model: Row, index: int, dt: float) -> None:
    """F by the biases of both accelerations, like noise of the opposite sign for the whole step."""
    for r in range(model.moving):
        model.transition[r, index] -= model.noise_input[r, ACCEL_X] * dt
        model.transition[r, index + 1] -= model.noise_input[r, ACCEL_Y] * dt


@kernel
def sideways_jacobian(
    state: Row, model: Row, velocity: tuple[float, float], wz: float, dt: float
) -> None:
    """F and G of a body that can go sideways: its velocity keeps its direction while it turns.

    With R the rotation by −w dt the velocity is R v at the end of the step, and the displacement is
    that of the mean of both.
    """
    f, g = model.transition, model.noise_input
    sine, cosine = sincos(wz * dt)
    half_sine, half_cosine = sincos(0.5 * wz * dt)  # from the middle of the step to its end
    f[VX, VX], f[VX, VY] = cosine, sine
    f[VY, VX], f[VY, VY] = -sine, cosine
    g[VX, GYRO], g[VY, GYRO] = velocity[1], -velocity[0]
    g[VX, ACCEL_X], g[VX, ACCEL_Y] = half_cosine, half_sine
    g[VY, ACCEL_X], g[VY, ACCEL_Y] = -half_sine, half_cosine
    s, c = sincos(state.yaw + 0.5 * wz * dt)
    for i in range(VX, VY + 1):
        f[DX, i] = 0.5 * dt * (f[VX, i] + (1.0 if i == VX else 0.0))
        f[DY, i] = 0.5 * dt * (f[VY, i] + (1.0 if i == VY else 0.0))
        f[X, i], f[Y, i] = c * f[DX, i] - s * f[DY, i], s * f[DX, i] + c * f[DY, i]
    for j in range(GYRO, ACCEL_Y + 1):
        g[DX, j], g[DY, j] = 0.5 * dt * g[VX, j], 0.5 * dt * g[VY, j]
    for j in range(ACCEL_X, ACCEL_Y + 1):
        g[X, j], g[Y, j] = c * g[DX, j] - s * g[DY, j], s * g[DX, j] + c * g[DY, j]
    g[X, GYRO] += c * g[DX, GYRO] - s * g[DY, GYRO]
    g[Y, GYRO] += s * g[DX, GYRO] + c * g[DY, GYRO]


@kernel
def imu_jacobian(
    state: Row, model: Row, velocity: tuple[float, float], wz: float, dt: float
) -> None:
    """The transition F and the noise input G of a step by the IMU that ends at a velocity.

    First order in dt; the lever arm of the mount and 1/cos h are left out. The noise inputs are
    integrals over the step, rad and m/s, so their variance is density² · dt.
    """
    clear_transition(model)
    s, c = sincos(state.yaw + 0.5 * wz * dt)
    u, v = 0.5 * (state.vx + velocity[0]) * dt, 0.5 * (state.vy + velocity[1]) * dt
    tx, ty = -(s * u + c * v), c * u - s * v  # of x and y by the yaw
    f, g = model.transition, model.noise_input
    f[X, YAW], f[Y, YAW] = tx, ty
    f[X, VX], f[Y, VX], f[DX, VX] = c * dt, s * dt, dt
    g[X, GYRO], g[Y, GYRO] = 0.5 * tx, 0.5 * ty
    g[YAW, GYRO] = g[DYAW, GYRO] = 1.0
    g[X, ACCEL_X], g[Y, ACCEL_X] = 0.5 * c * dt, 0.5 * s * dt
    g[VX, ACCEL_X], g[DX, ACCEL_X] = 1.0, 0.5 * dt
    if model.sideways:
        sideways_jacobian(state, model, velocity, wz, dt)
    if model.gyro >= 0:
        gyro_bias_jacobian(model, model.gyro, dt)
    if model.gyro_drift >= 0:
        gyro_bias_jacobian(model, model.gyro_drift, dt)
    if model.gyro_scale >= 0:
        gyro_bias_jacobian(model, model.gyro_scale, wz * dt)
    if model.accel >= 0:
        accel_bias_jacobian(model, model.accel, dt)
    if model.accel_drift >= 0:
        accel_bias_jacobian(model, model.accel_drift, dt)
    model.noise_variance[GYRO] = model.gyro_density * model.gyro_density * dt
    model.noise_variance[ACCEL_X] = model.accel_density * model.accel_density * dt
    model.noise_variance[ACCEL_Y] = model.noise_variance[ACCEL_X]


@kernel
def propagate_by_imu(state: Row, model: Row, reading: ImuReading, stamp: float) -> None:
    """Propagate to a stamp by the mean turn rate and acceleration until then."""
    dt = stamp - state.stamp
    imu = corrected_imu(state, model, reading)
    wz = imu[0]
    velocity = next_velocity(state, model, imu, dt)
    imu_jacobian(state, model, velocity, wz, dt)
    propagate_covariance(state, model)
    add_lateral_noise(state, dt)
    propagate_errors(state, model, dt)
    u, v = 0.5 * (state.vx + velocity[0]) * dt, 0.5 * (state.vy + velocity[1]) * dt
    if state.heading_lost:
        add_lost_heading_noise(state, math.sqrt(u * u + v * v))
    along, left = u, v
    if model.sideways:  # a velocity that changes while the body turns leads off the arc of its mean
        lever = wz * dt * dt / 12.0
        along -= lever * (velocity[1] - state.vy)
        left += lever * (velocity[0] - state.vx)
    state.x, state.y, state.yaw = arc((state.x, state.y, state.yaw), along, left, wz * dt)
    state.dx += u
    state.dy += v
    state.dyaw += wz * dt
    state.vx, state.vy, state.wz = velocity[0], velocity[1], wz
    state.stamp = stamp


@kernel
def spread_changes(state: Row, model: Row, reading: ImuReading, period: float, step: float) -> None:
    """Move the body as if its motion had changed linearly over the period, and add the noise.

    The filter extrapolated up to the last step, and made up for the change within it. What that
    displaced is undone.
    """
    last = state.imu_reading
    speed = state.vx - 0.5 * period * reading[ACCEL_X]  # the mean of the period
    accel, turn_accel = reading[ACCEL_X] - last[ACCEL_X], reading[GYRO] - last[GYRO]
    curve = -CHANGE * period * period
    lever = 0.5 * (period - step) * period + curve
    along, left, across = lever * accel, lever * speed * turn_accel, 0.0
    since = step if state.wheel_stamp > state.imu_stamp else period
    state.dx += (0.5 * (period - step) * since + curve) * accel
    if model.sideways:  # without the centripetal part, which does not displace in the body's axes
        earlier = speed - 0.5 * period * (reading[ACCEL_X] + last[ACCEL_X])
        across = reading[ACCEL_Y] - last[ACCEL_Y] - reading[GYRO] * speed + last[GYRO] * earlier
        left += lever * across
        state.dy += (0.5 * (period - step) * since + curve) * across
    s, c = sincos(state.yaw)
    state.x += c * along - s * left
    state.y += s * along + c * left
    scale = CHANGE_SD * period * period
    sd = scale * speed * turn_accel
    add_displacement_noise(state, scale * scale * accel * accel, scale * scale * across * across)
    state.cov[X, X] += s * s * sd * sd
    state.cov[Y, Y] += c * c * sd * sd
    state.cov[X, Y] -= s * c * sd * sd
    state.cov[Y, X] = state.cov[X, Y]


@kernel
def add_displacement_noise(state: Row, along: float, across: float) -> None:
    """Add variances to the displacement of the body, and to the position that it leads to."""
    s, c = sincos(state.yaw)
    cov = state.cov
    cov[X, X] += c * c * along + s * s * across
    cov[Y, Y] += s * s * along + c * c * across
    cov[X, Y] += s * c * (along - across)
    cov[DX, DX] += along
    cov[X, DX] += c * along
    cov[Y, DX] += s * along
    cov[DY, DY] += across
    cov[X, DY] -= s * across
    cov[Y, DY] += c * across
    cov[Y, X], cov[DX, X], cov[DX, Y] = cov[X, Y], cov[X, DX], cov[Y, DX]
    cov[DY, X], cov[DY, Y] = cov[X, DY], cov[Y, DY]


@kernel
def propagate_to_imu_reading(state: Row, model: Row, reading: ImuReading, stamp: float) -> None:
    """Propagate by a reading of the IMU, which is the mean since the reading before.

    The filter may have extrapolated a part of that time with the old reading. The new one is then
    weighted so that both together come to the measured mean.
    """
    dt = stamp - state.stamp
    last = state.imu_reading
    if state.started and dt > 0.0:
        weight = (stamp - state.imu_stamp) / dt
        wz = reading[0] * weight - last[0] * (weight - 1.0)
        ax = reading[1] * weight - last[1] * (weight - 1.0)
        ay = reading[2] * weight - last[2] * (weight - 1.0)
        propagate_by_imu(state, model, (wz, ax, ay), stamp)
        period = stamp - state.imu_stamp
        if period > FAST_PERIOD:
            spread_changes(state, model, reading, period, dt)
        state.turn_rate_change = reading[GYRO] - last[GYRO]
        state.accel_change = reading[ACCEL_X] - last[ACCEL_X]
    elif not state.started:
        state.wz, state.stamp = corrected_imu(state, model, reading)[0], stamp
    last[0], last[1], last[2] = reading
    state.started, state.imu_stamp = True, stamp


# Between readings.


@inlined_kernel
def extrapolated_time(state: Row, model: Row) -> float:
    """How long the filter has gone on without a reading of what propagates it, s."""
    last = state.imu_stamp if model.by_imu else state.wheel_stamp
    return float(max(state.stamp - last, 0.0))


@inlined_kernel
def extrapolated_yaw_variance(state: Row, model: Row) -> float:
    """The variance of an extrapolated yaw by the unknown change of the turn rate.

    The next reading makes up for this error, so it counts as noise of what is measured now.
    """
    turn = state.turn_rate_change * extrapolated_time(state, model)
    return float(turn * turn)


@kernel
def extrapolate(state: Row, model: Row, stamp: float) -> None:
    """Propagate to a stamp for which there is no reading yet, by the last one."""
    if not stamp > state.stamp or not state.started:
        return
    if model.by_imu:
        last: Array = state.imu_reading
        propagate_by_imu(state, model, (last[0], last[1], last[2]), stamp)
        return
    for k in range(WHEELS_PER_ROBOT):
        dt = stamp - state.stamp
        model.next_angle[k] = state.wheel_angle[k] + state.wheel_rate[k] * dt
    propagate_by_wheels(state, model, state.steer, stamp)
