"""Propagation of the error-state Kalman filter: by the IMU, or by the wheels without one.

With F the Jacobian of the moving states (`transition`), and white noise of variance q_j over the
step that enters along g_j (the columns of `noise_input`),

    P ← F P Fᵀ + Σ q_j g_j g_jᵀ

By wheels, the displacement (u, v, w) and its Jacobians are those of odometry.py, corrected for the
estimated errors of the wheels. By the IMU, with h half the turn in a step dt, the velocity V of the
mount in body axes propagates by V ← R(−2h) V + R(−h) a dt, with R a rotation and a the mean
specific acceleration; it is exact for readings that are means over dt.
A robot that cannot go sideways keeps vy = 0, and its speed changes by a_x dt / cos h.

One second-order term matters where the covariance is small: an error of the heading turns the true
speed, not the believed one. Lasting errors δv and δyaw displace the body sideways by ∫ δv δyaw dt,
with the standard deviation Σ √(P_vv P_yy + P_vy²) dt. It is added as noise, and shrinks as those
two do when they are corrected.

Between two readings of the IMU or the wheels the filter extrapolates the last one; the next reading
then makes up for the difference.

A reading of the IMU is a mean over its period T: it does not tell when in T the robot turned or
sped up. With Δw and Δa the changes from the reading before, the body is displaced against one of
constant turn rate and acceleration by about

    along  k Δa T²        to the left  k v Δw T²

For changes that are linear in time k is 1/12; for a step that is anywhere in T it is 1/9 in the
root mean square, of what both readings tell of the step. It is added as noise, with k = 1/10. At
100 Hz it is nothing; at 5 Hz, and with good sensors, it is the largest error of all.
"""

from __future__ import annotations

import math

from astray.numerics import arc, clothoid_step, exp, inlined_kernel, kernel, sincos, tan
from astray.robot.estimators.ekf.state_layout import DX, DY, DYAW, VX, VY, YAW, X, Y
from astray.robot.estimators.odometry import Displacement
from astray.tables import WHEELS_PER_ROBOT, Array, Row

ImuReading = tuple[float, float, float]
"""Turn rate, rad/s, and accelerations forward and to the left, m/s², in the body's axes."""
GYRO, ACCEL_X, ACCEL_Y = range(3)
"""The noise inputs of the IMU: columns of `noise_input`. By wheels they are the wheels."""
CHANGE = 0.1  # k, of a motion that changes within a period


# Covariance.


@kernel
def propagate_covariance(state: Row, model: Row) -> None:
    """P ← F P Fᵀ + Σ q g gᵀ: F is the identity but for the rows of the moving states."""
    n, moving = model.states, model.moving
    for r in range(moving):
        for j in range(n):
            model.transition_cov[r, j] = 0.0
        for i in range(n):
            factor = model.transition[r, i]
            if factor != 0.0:
                for j in range(n):
                    model.transition_cov[r, j] += factor * state.cov[i, j]
    for r in range(moving):
        for j in range(moving, n):
            state.cov[r, j] = model.transition_cov[r, j]
            state.cov[j, r] = model.transition_cov[r, j]
        for c in range(r + 1):
            total = 0.0
            for i in range(n):
                total += model.transition_cov[r, i] * model.transition[c, i]
            for q in range(WHEELS_PER_ROBOT):
                total += model.noise_variance[q] * model.noise_input[r, q] * model.noise_input[c, q]
            state.cov[r, c] = total
            state.cov[c, r] = total


@kernel
def clear_transition(model: Row) -> None:
    """F ← I, without noise."""
    for r in range(model.moving):
        for i in range(model.states):
            model.transition[r, i] = 1.0 if r == i else 0.0
        for q in range(WHEELS_PER_ROBOT):
            model.noise_input[r, q] = 0.0
    for q in range(WHEELS_PER_ROBOT):
        model.noise_variance[q] = 0.0


@kernel
def propagate_errors(state: Row, model: Row, dt: float) -> None:
    """Propagate the sensor errors: Gauss-Markov ones decay and are driven, others walk."""
    for i in range(model.moving, model.states):
        if model.tau[i] < math.inf:
            decay = exp(-dt / model.tau[i])
            state.error[i] *= decay
            for j in range(model.states):
                state.cov[i, j] *= decay
                state.cov[j, i] *= decay
            state.cov[i, i] += model.sd[i] * model.sd[i] * (1.0 - decay * decay)
        state.cov[i, i] += model.walk[i] * model.walk[i] * dt


@kernel
def add_lateral_noise(state: Row, dt: float) -> None:
    """Add the sideways displacement by errors of speed and heading together (second order)."""
    squared_cov = state.cov[VX, YAW] * state.cov[VX, YAW]
    rate = math.sqrt(max(0.0, state.cov[VX, VX] * state.cov[YAW, YAW] + squared_cov))
    if rate < state.lateral_rate:
        state.lateral_sd *= rate / state.lateral_rate
    state.lateral_rate = rate
    sd = state.lateral_sd + rate * dt
    variance = sd * sd - state.lateral_sd * state.lateral_sd
    state.lateral_sd = sd
    s, c = sincos(state.yaw)
    state.cov[X, X] += s * s * variance
    state.cov[Y, Y] += c * c * variance
    state.cov[X, Y] -= s * c * variance
    state.cov[Y, X] = state.cov[X, Y]


@kernel
def add_lost_heading_noise(state: Row, distance: float) -> None:
    """Add what a displacement does to the position while the heading is unknown.

    Over a distance d in any direction the error along an axis is d (cos − 1) of a uniform angle,
    of the variance 3/2 d².
    """
    total = state.lost_distance + distance
    variance = 1.5 * (total * total - state.lost_distance * state.lost_distance)
    state.lost_distance = total
    state.cov[X, X] += variance
    state.cov[Y, Y] += variance


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


# By wheels.


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


# By the IMU.


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
        sine, cosine = sincos(wz * dt)
        f[X, VY], f[Y, VY], f[DY, VY] = -s * dt, c * dt, dt
        f[VX, VX], f[VX, VY] = cosine, sine
        f[VY, VX], f[VY, VY] = -sine, cosine
        g[VX, GYRO], g[VY, GYRO] = velocity[1], -velocity[0]
        g[X, ACCEL_Y], g[Y, ACCEL_Y] = -0.5 * s * dt, 0.5 * c * dt
        g[VY, ACCEL_Y], g[DY, ACCEL_Y] = 1.0, 0.5 * dt
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
    state.x, state.y, state.yaw = arc((state.x, state.y, state.yaw), u, v, wz * dt)
    state.dx += u
    state.dy += v
    state.dyaw += wz * dt
    state.vx, state.vy, state.wz = velocity[0], velocity[1], wz
    state.stamp = stamp


@kernel
def add_change_noise(state: Row, model: Row, reading: ImuReading, period: float) -> None:
    """Add the displacement by a motion that changed within a period of the IMU."""
    last = state.imu_reading
    lever = CHANGE * period * period
    speed = state.vx - 0.5 * period * reading[ACCEL_X]  # the mean of the period
    along = lever * (reading[ACCEL_X] - last[ACCEL_X])
    left = lever * speed * (reading[GYRO] - last[GYRO])
    across = lever * (reading[ACCEL_Y] - last[ACCEL_Y]) if model.sideways else 0.0
    add_displacement_noise(state, along * along, across * across)
    s, c = sincos(state.yaw)
    state.cov[X, X] += s * s * left * left
    state.cov[Y, Y] += c * c * left * left
    state.cov[X, Y] -= s * c * left * left
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
        add_change_noise(state, model, reading, stamp - state.imu_stamp)
    elif not state.started:
        state.wz, state.stamp = corrected_imu(state, model, reading)[0], stamp
    last[0], last[1], last[2] = reading
    state.started, state.imu_stamp = True, stamp


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
