"""The binary frame: one moment of one world, as the page reads it (`static/frame.js`).

    float64 × 13   version, serial of the scene, step, time s, real-time factor, speed (0: as fast
                   as possible), flags (1 paused, 2 no thread runs it), and the numbers of robots,
                   beliefs, tracks, values, readings, and of all numbers that the readings take
    float32        ROBOT of each robot: x, y, yaw, vx, vy, wz, flags, and its contact point
                   BELIEF of each belief: x, y, yaw, age s, and its covariance xx xy xt yy yt tt
                   TRACK of each track: its observer, number, the robot that it is taken for or −1,
                   age s, seconds unseen then, x, y, map_vx, map_vy, and its covariance xx xy yy
                   each value that is plotted: robot, signal, value
                   each reading: robot, sensor, age s, count, and then so many numbers

Robots are ordered by group and number, beliefs by group, then by estimator, then by robot. The
scene, in JSON, names all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from astray.tables import Array

VERSION = 2
HEADER = 13  # float64
ROBOT, BELIEF, TRACK, VALUE, READING = 9, 10, 12, 3, 4  # float32 of each
PAUSED, IDLE = 1, 2  # flags of a frame
UPPER = (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)  # the entries of a covariance that are sent
ALIVE, TOUCHING, STALLED, OVERRIDDEN, BUMPED, GHOST = 1, 2, 4, 8, 16, 32  # flags of a robot


class FrameReading(NamedTuple):
    """The reading of one robot by one of its sensors."""

    robot: int
    sensor: int
    age: float
    numbers: Array


@dataclass
class FrameMoment:
    """The content of a frame."""

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
    readings: Sequence[FrameReading] = ()


def encode_frame(moment: FrameMoment) -> bytes:
    """A moment as the bytes of a frame."""
    values = np.array(moment.values, np.float32).reshape(-1, VALUE)
    parts = [moment.robots, moment.beliefs, moment.tracks, values]
    for reading in moment.readings:
        head = (reading.robot, reading.sensor, reading.age, len(reading.numbers))
        parts += [np.array(head), reading.numbers]
    body = np.concatenate([part.ravel() for part in parts], dtype=np.float32, casting="unsafe")
    size_of_readings = body.size - sum(part.size for part in parts[:4])
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
            size_of_readings,
        )
    )
    return header.tobytes() + body.tobytes()
