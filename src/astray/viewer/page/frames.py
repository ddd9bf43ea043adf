"""The binary frame: one moment of one world, as the page reads it.

    float64 × 13   version, serial of the scene, step, time s, factor, speed (0: as fast as it can),
                   flags (1 held, 2 no one runs it), and the numbers of robots, beliefs, tracks,
                   values, readings, and all numbers that the readings take
    float32        ROBOT of each robot: x, y, yaw, vx, vy, wz, flags, and where it touches
                   BELIEF of each belief: x, y, yaw, age s, and its covariance xx xy xt yy yt tt
                   TRACK of each contact: whose it is, number, the robot that it is taken for or
                   −1, age s, seconds unseen then, x, y, map_vx, map_vy, and covariance xx xy yy
                   each value that is plotted: robot, signal, value
                   each reading: robot, sensor, age s, count, and then so many numbers

Robots are ordered by group and number, beliefs by group, then by whose they are, then by robot. The
scene, in JSON, names all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from astray.tables import Array

VERSION = 2
HEADER = 13  # float64
ROBOT, BELIEF, TRACK, VALUE, READING = 9, 10, 12, 3, 4  # float32 of each
HELD, RESTING = 1, 2  # flags of a frame
ALIVE, TOUCHING, STALLED, IN_HAND, BUMPED, GHOST = 1, 2, 4, 8, 16, 32  # flags of a robot

Shown = tuple[int, int, float, Array]
"""A reading: which robot, which of its sensors, how old, and its numbers."""


@dataclass
class FrameMoment:
    """What a frame tells."""

    serial: int
    step: int
    time: float
    factor: float
    speed: float | None
    flags: int
    robots: Array
    """(n, ROBOT)."""
    beliefs: Array
    """(m, BELIEF)."""
    tracks: Array
    """(k, TRACK)."""
    values: Sequence[tuple[int, int, float]] = ()
    readings: Sequence[Shown] = ()


def encode(moment: FrameMoment) -> bytes:
    """The moment as a frame."""
    values = np.array(moment.values, np.float32).reshape(-1, VALUE)
    parts = [moment.robots, moment.beliefs, moment.tracks, values]
    for robot, sensor, age, numbers in moment.readings:
        parts += [np.array((robot, sensor, age, len(numbers))), numbers]
    body = np.concatenate([part.ravel() for part in parts], dtype=np.float32, casting="unsafe")
    rest = body.size - sum(part.size for part in parts[:4])
    header = np.array(
        (
            VERSION,
            moment.serial,
            moment.step,
            moment.time,
            moment.factor,
            moment.speed or 0.0,
            moment.flags,
            len(moment.robots),
            len(moment.beliefs),
            len(moment.tracks),
            len(values),
            len(moment.readings),
            rest,
        )
    )
    return header.tobytes() + body.tobytes()
