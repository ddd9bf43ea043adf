"""Measurements: readings of all sensors in one layout, so that they share one queue.

`pack_*` writes a reading of a sensor into a measurement, `unpack_*` reads it back by name.
"""

from __future__ import annotations

from typing import NamedTuple

from astray.numerics import kernel
from astray.robot.estimators.ekf.state_layout import (
    FROM_COMPASS,
    FROM_FIX,
    FROM_GYRO,
    FROM_IMU,
    FROM_LANDMARK,
    FROM_WHEELS,
)
from astray.tables import WHEELS_PER_ROBOT, Array, Column, Row, columns

VALUES = 9
STEER = WHEELS_PER_ROBOT  # index of the steering angle, after the angles of the wheels
SENSOR = VALUES - 1  # index of the number of the sensor among those of its kind

MEASUREMENT = columns(
    "stamp s",
    Column("source", "", "i8"),
    Column("value", "", "f8", (VALUES,)),
)
"""A reading as the filter takes it: its stamp, what it is from (FROM_IMU …), and its numbers."""


class FixMeasurement(NamedTuple):
    """A GNSS fix: position of the antenna with the claimed covariance, and its velocity."""

    x: float
    y: float
    xx: float
    xy: float
    yy: float
    vx: float
    """In the map frame, m/s."""
    vy: float
    velocity_sd: float
    """0 if no velocity was measured."""
    sensor: int


class CompassMeasurement(NamedTuple):
    """A heading with the claimed standard deviation."""

    yaw: float
    sd: float
    sensor: int


class LandmarkMeasurement(NamedTuple):
    """Range and bearing of a landmark from the sensor's mount; its identity, or −1."""

    range: float
    bearing: float
    identity: int
    sensor: int


@kernel
def pack_imu(out: Row, model: Row, imu: Row) -> None:
    """Write a reading of the IMU, rotated from its own axes to those of the body."""
    axes = model.axes
    out.source, out.stamp = FROM_IMU if model.by_imu else FROM_GYRO, imu.stamp
    out.value[0] = axes[2, 0] * imu.wx + axes[2, 1] * imu.wy + axes[2, 2] * imu.wz
    out.value[1] = axes[0, 0] * imu.ax + axes[0, 1] * imu.ay + axes[0, 2] * imu.az
    out.value[2] = axes[1, 0] * imu.ax + axes[1, 1] * imu.ay + axes[1, 2] * imu.az


@kernel
def unpack_imu(value: Array) -> tuple[float, float, float]:
    """Turn rate, and acceleration forward and to the left."""
    return value[0], value[1], value[2]


@kernel
def pack_wheels(out: Row, wheels: Row) -> None:
    """Write the angles of the wheels and of the steering."""
    out.source, out.stamp = FROM_WHEELS, wheels.stamp
    for k in range(WHEELS_PER_ROBOT):
        out.value[k] = wheels.angle[k]
    out.value[STEER] = wheels.steer


@kernel
def pack_fix(out: Row, fix: Row, sensor: int) -> None:
    """Write a fix of one of the GNSS receivers."""
    v = out.value
    out.source, out.stamp, v[SENSOR] = FROM_FIX, fix.stamp, sensor
    v[0], v[1] = fix.x, fix.y
    v[2], v[3], v[4] = fix.cov[0, 0], fix.cov[0, 1], fix.cov[1, 1]
    v[5], v[6], v[7] = fix.map_vx, fix.map_vy, fix.velocity_sd


@kernel
def unpack_fix(v: Array) -> FixMeasurement:
    """A fix, by name."""
    return FixMeasurement(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], int(v[SENSOR]))


@kernel
def pack_compass(out: Row, compass: Row, sensor: int) -> None:
    """Write a heading of one of the compasses."""
    out.source, out.stamp, out.value[SENSOR] = FROM_COMPASS, compass.stamp, sensor
    out.value[0], out.value[1] = compass.yaw, compass.sd


@kernel
def unpack_compass(v: Array) -> CompassMeasurement:
    """A heading, by name."""
    return CompassMeasurement(v[0], v[1], int(v[SENSOR]))


@kernel
def pack_landmark(
    out: Row, stamp: float, distance: float, bearing: float, identity: float, sensor: int
) -> None:
    """Write a landmark that one of the landmark sensors observed."""
    out.source, out.stamp, out.value[SENSOR] = FROM_LANDMARK, stamp, sensor
    out.value[0], out.value[1], out.value[2] = distance, bearing, identity


@kernel
def unpack_landmark(v: Array) -> LandmarkMeasurement:
    """A landmark, by name."""
    return LandmarkMeasurement(v[0], v[1], int(v[2]), int(v[SENSOR]))
