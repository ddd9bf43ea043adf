"""Zero-velocity update: the filter detects by wheels or IMU that the robot stands still.

Wheels whose angles have not changed for half a second stand still: a robot that creeps by less than
a tick in this time is slower than a millimetre per second. Until one of them turns the displacement
by the filter has to be zero.

Without wheels the IMU tells. The readings of half a second are compared with their mean. If they
differ by no more than the white noise and the resolution of the datasheet explain, the motion did
not change in that time. If the displacement by the filter also agrees with zero, it was zero:

    Σ (y_i − ȳ)² / σ² ≤ n − 1 + 4 √(2 (n − 1))    for the turn rate and both accelerations
    dx = 0,  dyaw = 0                               the measurement, as by wheels that stand still

That corrects the speed and the bias of the gyro. An IMU measures the same at rest and at a constant
speed straight ahead; the two differ where the filter is certain of its speed. A robot that creeps
more slowly than the filter can tell is taken to stand, so updates without wheels have to be asked
for.
"""

from __future__ import annotations

import math

from astray.numerics import kernel
from astray.robot.estimators.ekf.propagation import ImuReading
from astray.robot.estimators.ekf.state_layout import DX, DY, DYAW, FROM_WHEELS, VX
from astray.robot.estimators.ekf.update import (
    clear_measurement,
    compute_nis,
    gated_update,
    kalman_update,
)
from astray.robot.estimators.ekf.wheel_propagation import add_tick_covariance, reset_displacement
from astray.tables import WHEELS_PER_ROBOT, Array, Row

STANDSTILL = 0.5  # s, of wheels that do not turn
WINDOW = 0.5  # s
MIN_READINGS = 8  # in a window
SIGMAS = 4.0  # of a sum of squares
MAX_SPEED_SD = 0.1  # m/s, of a filter that can tell rest from a constant speed
SPEED_SD = 1e-4  # m/s, of the measurement
TURN_SHARE = 0.01  # of the noise of one reading, as the variance of the measured turn
MIN_TURN_VARIANCE = 1e-16  # rad², of it


# By wheels.


@kernel
def detect_standstill(state: Row, model: Row, angles: Array, stamp: float) -> None:
    """Find out by a reading of the wheels whether the robot stands still."""
    for k in range(WHEELS_PER_ROBOT):
        if angles[k] != state.wheel_reading[k]:
            state.still_since = stamp
    was_at_rest, state.at_rest = state.at_rest, stamp - state.still_since >= STANDSTILL
    if was_at_rest and not state.at_rest:
        add_tick_covariance(state, model)


@kernel
def standstill_update(state: Row, model: Row, elapsed: float) -> None:
    """Update by a displacement of zero since the wheels were last read."""
    sd = SPEED_SD * elapsed
    white = model.gyro_density * model.gyro_density * elapsed
    clear_measurement(model)
    model.innovation[0], model.innovation[1] = -state.dx, -state.dyaw
    model.jacobian[0, DX] = model.jacobian[1, DYAW] = 1.0
    model.noise[0, 0], model.noise[1, 1] = sd * sd, max(TURN_SHARE * white, MIN_TURN_VARIANCE)
    gated_update(state, model, 2, FROM_WHEELS)
    if model.sideways:
        clear_measurement(model)
        model.innovation[0], model.jacobian[0, DY] = -state.dy, 1.0
        model.noise[0, 0] = sd * sd
        gated_update(state, model, 1, FROM_WHEELS)
    reset_displacement(state, model)


# By the IMU.


@kernel
def start_window(state: Row, model: Row) -> None:
    """Start a window of readings, and the displacement in it."""
    reset_displacement(state, model)
    state.window_start, state.window_count = state.stamp, 0
    for k in range(3):
        state.window_mean[k] = state.window_squares[k] = 0.0


@kernel
def is_motion_constant(state: Row, model: Row, elapsed: float) -> bool:
    """Whether the readings in the window differ by no more than their noise."""
    n = state.window_count
    if n < MIN_READINGS:
        return False
    rate = n / elapsed
    limit = n - 1.0 + SIGMAS * math.sqrt(2.0 * (n - 1.0))
    for k in range(3):
        density, rounding = model.gyro_density, model.gyro_rounding
        if k > 0:
            density, rounding = model.accel_density, model.accel_rounding
        if state.window_squares[k] > limit * (density * density * rate + rounding):
            return False
    return True


@kernel
def zero_velocity_update(state: Row, model: Row, elapsed: float) -> None:
    """Update by a displacement and a turn of zero, if they are within the gate."""
    clear_measurement(model)
    model.innovation[0], model.innovation[1] = -state.dx, -state.dyaw
    model.jacobian[0, DX] = model.jacobian[1, DYAW] = 1.0
    sd = SPEED_SD * elapsed
    step = elapsed / state.window_count
    white = model.gyro_density * model.gyro_density * step
    turn_variance = TURN_SHARE * (white + model.gyro_rounding * step * step)
    model.noise[0, 0], model.noise[1, 1] = sd * sd, turn_variance
    if compute_nis(state, model, 2) <= model.gate[2]:
        kalman_update(state, model, 2)


@kernel
def detect_rest(state: Row, model: Row, reading: ImuReading) -> None:
    """Add a reading to the window; at its end make a zero-velocity update if the robot stood."""
    if state.window_count < 0 or state.stamp - state.window_start > 2.0 * WINDOW:
        start_window(state, model)
        return
    state.window_count += 1
    weight = 1.0 / state.window_count
    for k in range(3):
        difference = reading[k] - state.window_mean[k]
        state.window_mean[k] += weight * difference
        state.window_squares[k] += (1.0 - weight) * difference * difference
    elapsed = state.stamp - state.window_start
    if elapsed < WINDOW * (1.0 - 1e-9):
        return
    is_certain = state.cov[VX, VX] < MAX_SPEED_SD * MAX_SPEED_SD
    if is_certain and is_motion_constant(state, model, elapsed):
        zero_velocity_update(state, model, elapsed)
    start_window(state, model)
