"""Wheel readings from what a log has instead: speeds, or distances.

A logged speed holds until the next stamp. The wheels of the nominal robot then turn by

    differential   (v ∓ w baseline / 2) dt / radius
    ackermann      (v ∓ w track / 2) dt / radius, behind; in front as far as they roll

so that odometry with the datasheet of that robot reproduces the logged motion.
"""

from __future__ import annotations

import numpy as np

from astray.robot.motion import Ackermann, Differential
from astray.tables import WHEELS, Array, Table, table


def integrate_held(rate: Array, stamps: Array) -> Array:
    """The integral of a rate that holds from each stamp to the next, (n,), 0 at the first."""
    steps = rate[:-1] * np.diff(stamps)
    return np.concatenate([[0.0], np.cumsum(steps)])


def differential_wheels(body: Differential, stamps: Array, distance: Array, yaw: Array) -> Table:
    """WHEELS (n,) of a robot from its distance, m, and its rotation, rad, since the start, (n,)."""
    half = 0.5 * body.baseline
    left, right = (distance - half * yaw) / body.radius, (distance + half * yaw) / body.radius
    return _readings(stamps, [left, right])


def ackermann_wheels(body: Ackermann, stamps: Array, speed: Array, steer: Array) -> Table:
    """WHEELS (n,) of a car from the speed of its rear axle, m/s, and its steering angles, rad."""
    curvature = np.tan(steer) / body.wheelbase
    angles = []
    for ahead in (curvature * body.wheelbase, 0.0 * curvature):
        for side in (-0.5, 0.5):
            wheel_speed = speed * np.hypot(1.0 + side * body.track * curvature, ahead)
            angles.append(integrate_held(wheel_speed, stamps) / body.radius)
    readings = _readings(stamps, angles)
    readings["steer"] = steer
    return readings


def _readings(stamps: Array, angles: list[Array]) -> Table:
    readings = table(WHEELS, len(stamps))
    readings["stamp"] = stamps
    gaps = np.diff(stamps)
    for k, angle in enumerate(angles):
        readings["angle"][:, k] = angle
        readings["rate"][1:, k] = np.diff(angle) / np.where(gaps > 0.0, gaps, np.inf)
    return readings
