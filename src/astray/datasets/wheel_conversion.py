"""Wheel readings from what a log has instead: speeds, or steps.

A speed that was logged holds until the next one. Wheels of the nominal robot then turned by

    differential   (v ∓ w baseline / 2) dt / radius
    ackermann      (v ∓ w track / 2) dt / radius, behind; in front as far as they roll

so that odometry with the datasheet of that robot gives the logged motion back.
"""

from __future__ import annotations

import numpy as np

from astray.robot.motion import Ackermann, Differential
from astray.tables import WHEELS, Array, Table, table


def held(rate: Array, stamps: Array) -> Array:
    """The integral of a rate that holds from each stamp to the next, (n,), 0 at the first."""
    steps = rate[:-1] * np.diff(stamps)
    return np.concatenate([[0.0], np.cumsum(steps)])


def roll_differential(body: Differential, stamps: Array, way: Array, turn: Array) -> Table:
    """Wheel readings of a robot that has gone this way, m, and turned so much, rad, so far."""
    half = 0.5 * body.baseline
    return _readings(stamps, [(way - half * turn) / body.radius, (way + half * turn) / body.radius])


def roll_ackermann(body: Ackermann, stamps: Array, speed: Array, steer: Array) -> Table:
    """Wheel readings of a car whose rear axle has this speed, m/s, with these steering angles."""
    curvature = np.tan(steer) / body.wheelbase
    angles = []
    for ahead in (curvature * body.wheelbase, 0.0 * curvature):
        for side in (-0.5, 0.5):
            pace = speed * np.hypot(1.0 + side * body.track * curvature, ahead)
            angles.append(held(pace, stamps) / body.radius)
    made = _readings(stamps, angles)
    made["steer"] = steer
    return made


def _readings(stamps: Array, angles: list[Array]) -> Table:
    made = table(WHEELS, len(stamps))
    made["stamp"] = stamps
    gaps = np.diff(stamps)
    for k, angle in enumerate(angles):
        made["angle"][:, k] = angle
        made["rate"][1:, k] = np.diff(angle) / np.where(gaps > 0.0, gaps, np.inf)
    return made
