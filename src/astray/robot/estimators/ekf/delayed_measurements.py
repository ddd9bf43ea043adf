"""Delayed (out-of-sequence) measurements: the filter rolls back and processes them in order.

The measurements of the last `horizon` seconds are queued in the order of their stamps, in a ring
buffer. A second filter, the base, is in the state before the oldest of them. A measurement that is
older than the newest one, such as a late GNSS fix, is inserted at its stamp; the filter is reset to
the base and processes the queue again. The result is as if all had arrived in time. Measurements
that leave the horizon are processed by the base for good. A robot whose datasheets have no delay
has no queue; a measurement that is late all the same is then dropped.
"""

from __future__ import annotations

from astray.numerics import kernel
from astray.robot.estimators.ekf.measurement_models import (
    update_with_compass,
    update_with_fix,
    update_with_gyro,
    update_with_landmark,
    update_with_velocity,
    update_with_wheels,
)
from astray.robot.estimators.ekf.measurements import (
    STEER,
    VALUES,
    unpack_compass,
    unpack_fix,
    unpack_imu,
    unpack_landmark,
)
from astray.robot.estimators.ekf.propagation import (
    ImuReading,
    extrapolate,
    propagate_to_imu_reading,
)
from astray.robot.estimators.ekf.state_layout import (
    FROM_COMPASS,
    FROM_FIX,
    FROM_GYRO,
    FROM_IMU,
    FROM_WHEELS,
)
from astray.robot.estimators.ekf.wheel_propagation import (
    add_tick_covariance,
    propagate_by_wheels,
    propagate_turn_errors,
    reset_displacement,
    velocity_from_wheel_rates,
    wheel_displacement,
)
from astray.robot.estimators.ekf.zero_velocity import (
    detect_rest,
    detect_standstill,
    standstill_update,
)
from astray.tables import WHEELS_PER_ROBOT, Array, Row, Table

SAME_TIME = 1e-9  # s; stamps that differ by less are equal


# Processing in order.


@kernel
def process(state: Row, model: Row, measurement: Row, beacons: Array) -> None:
    """Propagate to the stamp of a measurement and update by it."""
    if measurement.source == FROM_IMU:
        reading = unpack_imu(measurement.value)
        propagate_to_imu_reading(state, model, reading, measurement.stamp)
        if model.zero_velocity:
            detect_rest(state, model, reading)
        return
    if measurement.source == FROM_WHEELS:
        process_wheels(state, model, measurement)
        return
    extrapolate(state, model, measurement.stamp)
    if measurement.source == FROM_FIX:
        fix = unpack_fix(measurement.value)
        update_with_fix(state, model, fix)
        if model.by_imu and fix.velocity_sd > 0.0 and not state.heading_lost:
            update_with_velocity(state, model, fix)
    elif measurement.source == FROM_GYRO:
        process_gyro(state, model, unpack_imu(measurement.value), measurement.stamp)
    elif measurement.source == FROM_COMPASS:
        update_with_compass(state, model, unpack_compass(measurement.value))
    else:
        update_with_landmark(state, model, unpack_landmark(measurement.value), beacons)


@kernel
def process_wheels(state: Row, model: Row, measurement: Row) -> None:
    """Update by the wheels if the filter propagates by an IMU, else propagate by them."""
    angles, steer, stamp = measurement.value, measurement.value[STEER], measurement.stamp
    by_imu = model.by_imu
    if by_imu and state.wheels_started and is_too_early(state, model, stamp):
        return
    if by_imu:
        extrapolate(state, model, stamp)
    if state.wheels_started:
        was_at_rest = state.at_rest
        detect_standstill(state, model, angles, stamp)
        set_next_angle(model, angles)
        if not by_imu:
            process_leading_wheels(state, model, measurement)
        elif was_at_rest and state.at_rest:
            standstill_update(state, model, stamp - state.wheel_stamp)
        else:
            update_with_wheels(state, model, wheel_displacement(state, model))
            if state.at_rest:
                reset_displacement(state, model)
    else:
        state.still_since = stamp
        if by_imu:
            reset_displacement(state, model)
            add_tick_covariance(state, model)
    for k in range(WHEELS_PER_ROBOT):
        state.wheel_angle[k] = state.wheel_reading[k] = angles[k]
    state.steer, state.wheel_stamp = steer, stamp
    if not by_imu and not state.wheels_started:
        state.started, state.stamp = True, max(stamp, state.stamp)
    state.wheels_started = True


@kernel
def process_leading_wheels(state: Row, model: Row, measurement: Row) -> None:
    """Propagate by the wheels, which have turned to `next_angle`."""
    angles, stamp = measurement.value, measurement.stamp
    if stamp > state.wheel_stamp:
        elapsed = stamp - state.wheel_stamp
        for k in range(WHEELS_PER_ROBOT):
            state.wheel_rate[k] = (angles[k] - state.wheel_reading[k]) / elapsed
        turn_rate = state.wz
        velocity_from_wheel_rates(state, model)
        state.turn_rate_change = state.wz - turn_rate
        set_next_angle(model, angles)
    propagate_by_wheels(state, model, measurement.value[STEER], max(stamp, state.stamp))


@kernel
def is_too_early(state: Row, model: Row, stamp: float) -> bool:
    """Whether a reading of wheels between two of a slower IMU is left out.

    One per period of the IMU is enough: counts are cumulative, and what the filter extrapolates is
    not what the IMU will have measured.
    """
    is_first = state.imu_stamp > state.wheel_stamp + SAME_TIME
    return bool(not is_first and stamp - state.imu_stamp < 1.5 * model.imu_period)


@kernel
def process_gyro(state: Row, model: Row, reading: ImuReading, stamp: float) -> None:
    """Update by the gyro of an IMU beside wheels, if no reading was lost since the last one."""
    elapsed = stamp - state.imu_stamp
    is_next = elapsed < 1.5 * model.imu_period or model.imu_period == 0.0
    is_whole = state.gyro_started and is_next and elapsed > 0.0
    rests = state.at_rest and state.still_since <= state.imu_stamp
    if state.gyro_started and not is_whole:
        propagate_turn_errors(state, model, state.dyaw)
    if rests or not is_whole:
        reset_displacement(state, model)
    if not rests and not is_whole:
        add_tick_covariance(state, model)
    if is_whole:
        update_with_gyro(state, model, reading, elapsed, rests)
        if rests:
            reset_displacement(state, model)
    state.gyro_started, state.imu_stamp = state.started, stamp


@kernel
def set_next_angle(model: Row, angles: Array) -> None:
    """Let the wheels turn to these angles in the next step."""
    for k in range(WHEELS_PER_ROBOT):
        model.next_angle[k] = angles[k]


# Out of order.


@kernel
def take_measurement(
    filters: Table, queue: Table, model: Row, measurement: Row, beacons: Array
) -> None:
    """Process a measurement, delayed or not.

    `filters[0]` is the filter of a row, `filters[1]` its base.
    """
    state, base = filters[0], filters[1]
    if len(queue) == 0:
        if measurement.stamp >= state.stamp - SAME_TIME or not state.started:
            process(state, model, measurement, beacons)
        return
    if base.started and measurement.stamp < base.stamp - SAME_TIME:
        return  # older than what the base has already processed
    if model.queued == len(queue):
        retire_oldest(base, model, queue, beacons)
    if insert(queue, model, measurement):
        process(state, model, measurement, beacons)
    else:
        nis_sum, nis_dof = state.nis_sum, state.nis_dof
        filters[0] = base  # roll back: `state` is a view of filters[0]
        state.nis_sum, state.nis_dof = nis_sum, nis_dof
        replay(state, model, queue, measurement, beacons)
    while model.queued > 0 and queue[model.oldest].stamp < state.stamp - model.horizon - SAME_TIME:
        retire_oldest(base, model, queue, beacons)


@kernel
def insert(queue: Table, model: Row, measurement: Row) -> bool:
    """Insert a measurement by its stamp, and by its source at the same time; whether it is last."""
    k = model.queued
    size = len(queue)
    while k > 0:
        before = queue[(model.oldest + k - 1) % size]
        later = before.stamp - measurement.stamp
        if later < -SAME_TIME or (later <= SAME_TIME and before.source <= measurement.source):
            break
        copy_measurement(queue[(model.oldest + k) % size], before)
        k -= 1
    copy_measurement(queue[(model.oldest + k) % size], measurement)
    model.queued += 1
    return bool(k == model.queued - 1)


@kernel
def copy_measurement(out: Row, measurement: Row) -> None:
    """Copy a measurement."""
    out.stamp, out.source = measurement.stamp, measurement.source
    for k in range(VALUES):
        out.value[k] = measurement.value[k]


@kernel
def replay(state: Row, model: Row, queue: Table, new: Row, beacons: Array) -> None:
    """Process the queue from the base on; the NIS is only counted for the new measurement."""
    for k in range(model.queued):
        measurement = queue[(model.oldest + k) % len(queue)]
        model.count_nis = measurement.stamp == new.stamp and measurement.source == new.source
        process(state, model, measurement, beacons)
    model.count_nis = True


@kernel
def retire_oldest(base: Row, model: Row, queue: Table, beacons: Array) -> None:
    """Process the oldest measurement by the base, and remove it from the queue."""
    count_nis = model.count_nis
    model.count_nis = False
    process(base, model, queue[model.oldest], beacons)
    model.count_nis = count_nis
    model.oldest = (model.oldest + 1) % len(queue)
    model.queued -= 1
