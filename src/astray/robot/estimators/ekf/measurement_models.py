"""Measurement models: the innovation ν = z − h(x), its Jacobian H and the noise R of each sensor.

Wheels (by an IMU) measure the displacement since they were last read. A wheel that by the filter
rolled d metres turned by d / (1 + error of its radius), ± slip; the measured turn differs by the
error of the arm. A robot that cannot go sideways is not displaced sideways.

Counts of encoders are cumulative, so their rounding does not add up. Therefore the displacement is
not forgotten when it is measured: filter and wheels go on from their difference, the residual. Slip
and errors of the radii drive it, and each reading says that it is zero but for a tick. Where the
wheels stand still the displacement is zero: see zero_velocity.py.

A gyro beside wheels that propagate the filter is the same with the parts exchanged: white noise and
bias drive the difference of the two turns, which is zero but for a tick.

Fix: position of the antenna at l in the body, p + Rot(yaw) l + drift.
Velocity of a fix: that of the antenna in the map frame, Rot(yaw) (v + w × l).
Compass: yaw + lasting error.

Landmark b, from the mount at l: range |b − p − Rot(yaw) l|, bearing of that vector less the yaws of
body and mount. Near a landmark that is measured precisely H is only valid for an error that is
already small. So the update is iterated (Gauss-Newton; Bell and Cathey, 1993): with H and ν at a
state that is δ from the prior, the innovation is ν + H δ, and the update is that of the prior. A
landmark without identity is taken for the one beacon within the gate; if there are several, for
none.
"""

from __future__ import annotations

import math

from astray.numerics import atan2, kernel, sincos, wrap
from astray.robot.estimators.ekf.covariance import (
    clear_transition,
    propagate_covariance,
    propagate_displacement,
)
from astray.robot.estimators.ekf.measurements import (
    CompassMeasurement,
    FixMeasurement,
    LandmarkMeasurement,
)
from astray.robot.estimators.ekf.propagation import (
    GYRO,
    ImuReading,
    corrected_imu,
    extrapolated_time,
    extrapolated_yaw_variance,
)
from astray.robot.estimators.ekf.recovery import (
    Point,
    forget_fixes,
    record_fix,
    relocalise,
    reset_pose_for_fix,
)
from astray.robot.estimators.ekf.state_layout import (
    DX,
    DY,
    DYAW,
    FROM_COMPASS,
    FROM_FIX,
    FROM_GYRO,
    FROM_LANDMARK,
    FROM_VELOCITY,
    FROM_WHEELS,
    VX,
    VY,
    YAW,
    X,
    Y,
)
from astray.robot.estimators.ekf.update import (
    accept,
    clear_measurement,
    compute_nis,
    gated_update,
    inflate_and_accept,
    is_rejected_for_long,
    kalman_update,
    reject,
)
from astray.robot.estimators.ekf.wheel_propagation import (
    add_tick_covariance,
    propagate_turn_errors,
    reset_displacement,
    rolled_distance,
    tick_variance,
)
from astray.robot.estimators.odometry import Displacement
from astray.tables import WHEELS_PER_ROBOT, Array, Row

MIN_WHITE = 0.05  # share of a claimed variance that counts as white noise, at least
NO_MATCH, AMBIGUOUS = -1, -2  # beacons for a landmark without identity
MAX_ITERATIONS, MAX_CURVATURE = 5, 0.05  # of a landmark update; share of the noise
MIN_TURN_VARIANCE = 1e-14  # rad², of encoders that claim to be perfect
MIN_RANGE = 1e-6  # m; a nearer landmark has no direction


# Wheels.


@kernel
def write_wheel_distances(state: Row, model: Row, dx: float, dyaw: float) -> None:
    """Write the `distance` that each wheel rolls in a displacement of the body."""
    for k in range(WHEELS_PER_ROBOT):
        model.distance[k] = rolled_distance(model, k, (dx, state.dy, dyaw))


@kernel
def wheel_noise(model: Row, slips: float) -> tuple[float, float, float]:
    """Variances of the displacement ahead and of the turn, and their covariance, by the wheels.

    A wheel has the variance of its ticks, and `slips` times that of its slip.
    """
    ahead, turning, both = 0.0, 0.0, 0.0
    slip = slips * model.slip_density * model.slip_density
    for k in range(WHEELS_PER_ROBOT):
        turn = model.turn[k] / model.arm
        variance = tick_variance(model) + slip * abs(model.distance[k])
        ahead += model.forward[k] * model.forward[k] * variance
        turning += turn * turn * variance
        both += model.forward[k] * turn * variance
    return ahead, turning, both


@kernel
def estimate_displacement(state: Row, model: Row, measured: Displacement) -> tuple[float, float]:
    """The likeliest displacement ahead and turn, by the filter and the wheels together.

    Slip and the errors of the radii are in proportion to it. By the filter alone these proportions
    would err with the innovation, by the wheels alone with the slip: either is a bias.
    """
    write_wheel_distances(state, model, state.dx, state.dyaw)
    ahead, turning, both = wheel_noise(model, 1.0)
    ahead += state.residual_cov[0, 0]
    turning += state.residual_cov[2, 2]
    both += state.residual_cov[0, 2]
    a = max(state.cov[DX, DX] - state.residual_cov[0, 0], 0.0)  # of the displacement alone
    b = state.cov[DX, DYAW] - state.residual_cov[0, 2]
    c = max(state.cov[DYAW, DYAW] - state.residual_cov[2, 2], 0.0)
    determinant = (a + ahead) * (c + turning) - (b + both) * (b + both)
    if not determinant > 0.0:
        return state.dx, state.dyaw
    n0 = measured[0] - state.dx - state.residual[0]
    n1 = measured[2] - state.dyaw - state.residual[2]
    w0 = ((c + turning) * n0 - (b + both) * n1) / determinant
    w1 = ((a + ahead) * n1 - (b + both) * n0) / determinant
    return state.dx + a * w0 + b * w1, state.dyaw + b * w0 + c * w1


@kernel
def propagate_residual(state: Row, model: Row, dyaw: float) -> None:
    """Propagate the covariance of the body's displacement to that of the wheels' displacement."""
    f, g = model.transition, model.noise_input
    for i in range(DX, DYAW + 1):
        for j in range(model.moving, model.states):
            f[i, j] = 0.0
        for k in range(WHEELS_PER_ROBOT):
            g[i, k] = 0.0
    for k in range(WHEELS_PER_ROBOT):
        distance, error = model.distance[k], model.wheel[k]
        g[DX, k], g[DYAW, k] = model.forward[k], model.turn[k] / model.arm
        if model.sideways:
            g[DY, k] = model.left[k]
        model.noise_variance[k] = model.slip_density * model.slip_density * abs(distance)
        if error >= 0:
            for i in range(DX, DYAW + 1):
                f[i, error] = -g[i, k] * distance
    if model.arm_error >= 0:
        f[DYAW, model.arm_error] = dyaw
    propagate_displacement(state, model)


@kernel
def update_with_wheels(state: Row, model: Row, measured: Displacement) -> None:
    """Update by the displacement that the wheels measured, and start the next one."""
    dx, dyaw = estimate_displacement(state, model, measured)
    write_wheel_distances(state, model, dx, dyaw)
    propagate_residual(state, model, dyaw)
    clear_measurement(model)
    h, r = model.jacobian, model.noise
    model.innovation[0] = measured[0] - state.dx - state.residual[0]
    model.innovation[1] = measured[2] - state.dyaw - state.residual[2]
    h[0, DX] = h[1, DYAW] = 1.0
    r[0, 0], r[1, 1], r[0, 1] = wheel_noise(model, 0.0)
    r[1, 0] = r[0, 1]
    time = extrapolated_time(state, model)
    step = 0.5 * state.accel_change * time * time
    r[0, 0] += step * step
    r[1, 1] += extrapolated_yaw_variance(state, model)
    gated_update(state, model, 2, FROM_WHEELS)
    if model.sideways and state.rejected[FROM_WHEELS] == 0:
        clear_measurement(model)
        model.innovation[0] = measured[1] - state.dy - state.residual[1]
        h[0, DY] = 1.0
        for k in range(WHEELS_PER_ROBOT):
            r[0, 0] += model.left[k] * model.left[k] * tick_variance(model)
        gated_update(state, model, 1, FROM_WHEELS)
    if state.rejected[FROM_WHEELS] > 0:
        reset_displacement(state, model)
        add_tick_covariance(state, model)
        return
    state.residual[0] += state.dx - measured[0]
    state.residual[1] += state.dy - measured[1]
    state.residual[2] += state.dyaw - measured[2]
    state.dx = state.dy = state.dyaw = 0.0
    for i in range(3):
        for j in range(3):
            state.residual_cov[i, j] = state.cov[DX + i, DX + j]


# Gyro, beside wheels.


@kernel
def update_with_gyro(
    state: Row, model: Row, reading: ImuReading, elapsed: float, rests: bool
) -> None:
    """Update by the turn that a gyro measured over a time, where the wheels propagate.

    A turn that it contradicts by more than the gate is slip of the wheels. Where the wheels were
    not read at the same time, their turn is extrapolated, and errs by changes of the turn rate.
    """
    turn_rate = corrected_imu(state, model, reading)[GYRO]
    turn = turn_rate * elapsed
    change = (turn_rate - state.wz) * extrapolated_time(state, model)
    propagate_turn_errors(state, model, turn)
    clear_transition(model)
    f = model.transition
    for error, factor in (
        (model.gyro, elapsed),
        (model.gyro_drift, elapsed),
        (model.gyro_scale, turn),
    ):
        if error >= 0:
            f[DYAW, error] = factor
    model.noise_input[DYAW, GYRO] = 1.0
    white = model.gyro_density * model.gyro_density * elapsed
    model.noise_variance[GYRO] = white + model.gyro_rounding * elapsed * elapsed
    propagate_covariance(state, model)
    state.dyaw -= turn
    clear_measurement(model)
    model.innovation[0], model.jacobian[0, DYAW] = -state.dyaw, 1.0
    rounding = 0.0 if rests else model.turn_quantization_variance
    model.noise[0, 0] = max(rounding, MIN_TURN_VARIANCE)
    model.noise[0, 0] += change * change + extrapolated_yaw_variance(state, model)
    nis = compute_nis(state, model, 1)
    if nis > model.gate[1]:
        slip = state.dyaw * state.dyaw
        state.cov[YAW, YAW] += slip
        state.cov[DYAW, DYAW] += slip
        state.cov[YAW, DYAW] += slip
        state.cov[DYAW, YAW] = state.cov[YAW, DYAW]
        nis = compute_nis(state, model, 1)
    accept(state, model, 1, FROM_GYRO, nis)


# GNSS.


@kernel
def fix_model(state: Row, model: Row, fix: FixMeasurement) -> Point:
    """Write ν, H and R of a fix; give the predicted position of the antenna."""
    clear_measurement(model)
    h, r, nu, k = model.jacobian, model.noise, model.innovation, fix.sensor
    s, c = sincos(state.yaw)
    x = c * model.antenna_x[k] - s * model.antenna_y[k]
    y = s * model.antenna_x[k] + c * model.antenna_y[k]
    nu[0], nu[1] = fix.x - state.x - x, fix.y - state.y - y
    h[0, X] = h[1, Y] = 1.0
    h[0, YAW], h[1, YAW] = -y, x
    xx, xy, yy = fix.xx, fix.xy, fix.yy
    if not (xx > 0.0 and yy > 0.0):
        xx, xy, yy = model.fix_variance, 0.0, model.fix_variance
    r[0, 0] = max(xx - model.drift_variance[k], MIN_WHITE * xx)
    r[1, 1] = max(yy - model.drift_variance[k], MIN_WHITE * yy)
    r[0, 1] = r[1, 0] = xy
    drift = model.fix[k]
    if drift >= 0:
        nu[0] -= state.error[drift]
        nu[1] -= state.error[drift + 1]
        h[0, drift] = h[1, drift + 1] = 1.0
    return state.x + x, state.y + y


@kernel
def update_with_fix(state: Row, model: Row, fix: FixMeasurement) -> None:
    """Update by a fix within the gate; recover by fixes that are rejected and fit each other."""
    antenna = fix_model(state, model, fix)
    nis = compute_nis(state, model, 2)
    if nis <= model.gate[2] and not state.heading_lost:
        accept(state, model, 2, FROM_FIX, nis)
        forget_fixes(state)
        return
    drift, white = model.fix[fix.sensor], max(model.noise[0, 0], model.noise[1, 1])
    variance, tau = white, math.inf
    if drift >= 0:
        variance, tau = white + model.sd[drift] * model.sd[drift], model.tau[drift]
    is_recorded = record_fix(state, antenna, (fix.x, fix.y), variance, tau)
    reject(state, FROM_FIX)
    is_due = state.heading_lost or is_rejected_for_long(state, model, FROM_FIX, 1.0)
    if not is_recorded or not is_due:
        return
    if model.has_compass:
        inflate_and_accept(state, model, 2, FROM_FIX)
        forget_fixes(state)
        return
    reset_pose_for_fix(state, model, white, drift)
    antenna = fix_model(state, model, fix)
    compute_nis(state, model, 2)
    if state.heading_lost:
        model.corrected = YAW
    kalman_update(state, model, 2)
    if state.heading_lost:
        corrected = fix_model(state, model, fix)
        state.correction[0] += corrected[0] - antenna[0]
        state.correction[1] += corrected[1] - antenna[1]
    else:
        forget_fixes(state)
        state.rejected[FROM_FIX] = 0


@kernel
def update_with_velocity(state: Row, model: Row, fix: FixMeasurement) -> None:
    """Update by the velocity of a fix (Doppler), if it is within the gate."""
    clear_measurement(model)
    h, k = model.jacobian, fix.sensor
    s, c = sincos(state.yaw)
    u = state.vx - state.wz * model.antenna_y[k]
    v = state.vy + state.wz * model.antenna_x[k]
    x, y = c * u - s * v, s * u + c * v
    model.innovation[0], model.innovation[1] = fix.vx - x, fix.vy - y
    h[0, YAW], h[1, YAW] = -y, x
    h[0, VX], h[1, VX] = c, s
    if model.sideways:
        h[0, VY], h[1, VY] = -s, c
    model.noise[0, 0] = model.noise[1, 1] = fix.velocity_sd * fix.velocity_sd
    gated_update(state, model, 2, FROM_VELOCITY)


# Compass.


@kernel
def update_with_compass(state: Row, model: Row, compass: CompassMeasurement) -> None:
    """Update by a heading, if it is within the gate."""
    clear_measurement(model)
    k, error = compass.sensor, model.compass[compass.sensor]
    model.innovation[0] = wrap(compass.yaw - state.yaw)
    model.jacobian[0, YAW] = 1.0
    variance = compass.sd * compass.sd if compass.sd > 0.0 else model.compass_variance
    model.noise[0, 0] = max(variance - model.compass_error_variance[k], MIN_WHITE * variance)
    model.noise[0, 0] += extrapolated_yaw_variance(state, model)
    if error >= 0:
        model.innovation[0] = wrap(model.innovation[0] - state.error[error])
        model.jacobian[0, error] = 1.0
    gated_update(state, model, 1, FROM_COMPASS)


# Landmarks.


@kernel
def landmark_model(
    state: Row, model: Row, landmark: LandmarkMeasurement, x: float, y: float
) -> bool:
    """Write ν, H and R of a landmark that is the beacon at x, y; whether it has a direction."""
    clear_measurement(model)
    h, k = model.jacobian, landmark.sensor
    s, c = sincos(state.yaw)
    mount_x = c * model.mount_x[k] - s * model.mount_y[k]
    mount_y = s * model.mount_x[k] + c * model.mount_y[k]
    dx, dy = x - state.x - mount_x, y - state.y - mount_y
    square = dx * dx + dy * dy
    distance = math.sqrt(square)
    if distance < MIN_RANGE:
        return False
    model.innovation[0] = landmark.range - distance
    model.innovation[1] = wrap(landmark.bearing - atan2(dy, dx) + state.yaw + model.mount_yaw[k])
    h[0, X], h[0, Y] = -dx / distance, -dy / distance
    h[0, YAW] = (dx * mount_y - dy * mount_x) / distance
    h[1, X], h[1, Y] = dy / square, -dx / square
    h[1, YAW] = -1.0 - (dx * mount_x + dy * mount_y) / square
    sd = model.range_sd[k] + model.range_sd_per_m[k] * distance
    model.noise[0, 0], model.noise[1, 1] = sd * sd, model.bearing_sd[k] * model.bearing_sd[k]
    model.noise[1, 1] += extrapolated_yaw_variance(state, model)
    return True


@kernel
def iterate_landmark_model(
    state: Row, model: Row, landmark: LandmarkMeasurement, x: float, y: float
) -> None:
    """Relinearise the model of a landmark at x, y where the update leads; the state stays."""
    prior, k = (state.x, state.y, state.yaw), landmark.sensor
    s, ph, nu, h = model.innovation_cov, model.cross_cov, model.innovation, model.jacobian
    dx, dy, turn = 0.0, 0.0, 0.0  # δ, from the prior
    for _ in range(MAX_ITERATIONS):
        compute_nis(state, model, 2)
        determinant = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]
        if not determinant > 0.0:
            break
        a = (s[1, 1] * nu[0] - s[0, 1] * nu[1]) / determinant
        b = (s[0, 0] * nu[1] - s[1, 0] * nu[0]) / determinant
        next_dx, next_dy = ph[X, 0] * a + ph[X, 1] * b, ph[Y, 0] * a + ph[Y, 1] * b
        next_turn = ph[YAW, 0] * a + ph[YAW, 1] * b
        distance = max(landmark.range, MIN_RANGE)
        step = abs(next_dx - dx) + abs(next_dy - dy) + distance * abs(next_turn - turn)
        precision = min(model.range_sd[k], model.bearing_sd[k] * distance)
        if step * step < MAX_CURVATURE * distance * precision:
            break
        dx, dy, turn = next_dx, next_dy, next_turn
        state.x, state.y, state.yaw = prior[0] + dx, prior[1] + dy, prior[2] + turn
        if not landmark_model(state, model, landmark, x, y):
            break
        for i in range(2):
            nu[i] += h[i, X] * dx + h[i, Y] * dy + h[i, YAW] * turn
    state.x, state.y, state.yaw = prior


@kernel
def identify_landmark(state: Row, model: Row, landmark: LandmarkMeasurement, beacons: Array) -> int:
    """The one beacon within the gate of a landmark; NO_MATCH, or AMBIGUOUS if there are several."""
    found = NO_MATCH
    known = model.beacons[landmark.sensor]
    for k in range(known[0], known[1]):
        x, y = beacons[k, 0], beacons[k, 1]
        is_visible = landmark_model(state, model, landmark, x, y)
        if is_visible and compute_nis(state, model, 2) <= model.gate[2]:
            if found >= 0:
                return AMBIGUOUS
            found = k
    return found


@kernel
def update_with_landmark(
    state: Row, model: Row, landmark: LandmarkMeasurement, beacons: Array
) -> None:
    """Update by a landmark within the gate; relocalise by two that are rejected for long."""
    known = model.beacons[landmark.sensor]
    k = landmark.identity
    if k >= known[1] - known[0]:
        return
    k = known[0] + k if k >= 0 else identify_landmark(state, model, landmark, beacons)
    if k == NO_MATCH:
        reject(state, FROM_LANDMARK)
        if is_rejected_for_long(state, model, FROM_LANDMARK, 1.0):
            relocalise(state, model, landmark, beacons, -1)
        return
    if k < 0:
        return
    x, y = beacons[k, 0], beacons[k, 1]
    if not landmark_model(state, model, landmark, x, y):
        return
    if (
        is_rejected_for_long(state, model, FROM_LANDMARK, 1.0)
        and compute_nis(state, model, 2) > model.gate[2]
        and relocalise(state, model, landmark, beacons, k)
    ):
        return
    iterate_landmark_model(state, model, landmark, x, y)
    gated_update(state, model, 2, FROM_LANDMARK)
