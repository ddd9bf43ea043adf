"""A recording for the page: every moment of a run as arrays, and these as few bytes.

    uint32     the size of the JSON text
    JSON       scene, events, collisions, names and lengths of the arrays
    float64    the times
    4 bytes    each number of each array: int32 differences over time of whole quanta, or float32;
               all first bytes of an array come before all its second bytes, and so on

All of that is deflated. Poses are rounded to a tenth of a millimetre, ranges to a millimetre. A
recording that is too large for a page is thinned.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from astray.tables import Array

MAX_NUMBERS = 24_000_000  # that a page is given
INFINITE = 1 << 30  # quanta that stand for infinity
ROBOT_QUANTA = (1e-4, 1e-4, 1e-4, 1e-3, 1e-3, 1e-3, 1.0, 1e-3, 1e-3)
BELIEF_QUANTA = (1e-4, 1e-4, 1e-4, 1e-3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # 0: not rounded, float32
TRACK_QUANTA = (1.0, 1.0, 1.0, 1e-3, 1e-3, 1e-4, 1e-4, 1e-3, 1e-3, 0.0, 0.0, 0.0)
RANGE_QUANTUM = 1e-3


@dataclass
class ReplayReadings:
    """The readings of one robot by one of its sensors that can be drawn."""

    robot: int
    """Its number on the page."""
    sensor: int
    """The index of the sensor in its group."""
    numbers: Array
    """(moments, numbers)."""


@dataclass
class ReplaySource:
    """One world of a recorded run, with the scene of `scene.py` and the columns of `frames.py`."""

    scene: dict[str, Any]
    times: Array
    """(moments,) s."""
    robots: Array
    """(moments, robots, ROBOT)."""
    beliefs: Array
    """(moments, beliefs, BELIEF)."""
    tracks: Array
    """(moments, tracks, TRACK); a number of 0 where there is none."""
    readings: list[ReplayReadings] = field(default_factory=list)
    values: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)
    """Signals by group and name, (moments, robots of the group)."""
    collisions: list[list[float]] = field(default_factory=list)
    """Time, robot, the other robot or −1, x, y, speed."""
    events: list[dict[str, Any]] = field(default_factory=list)
    """The `time` and `kind` of the run's events."""

    def thinned(self, stride: int) -> ReplaySource:
        """Every `stride`-th moment."""
        kept = slice(None, None, stride)
        return ReplaySource(
            self.scene,
            self.times[kept],
            self.robots[kept],
            self.beliefs[kept],
            self.tracks[kept],
            [ReplayReadings(one.robot, one.sensor, one.numbers[kept]) for one in self.readings],
            {g: {name: v[kept] for name, v in of.items()} for g, of in self.values.items()},
            self.collisions,
            self.events,
        )

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        plotted = sum(v.size for of in self.values.values() for v in of.values())
        drawn = sum(one.numbers.size for one in self.readings)
        return int(self.robots.size + self.beliefs.size + self.tracks.size + plotted + drawn)


class EncodedArray(NamedTuple):
    """One array of an encoded recording."""

    name: str
    values: Array
    """(moments, n)."""
    quantum: float


def encode_recording(recording: ReplaySource) -> bytes:
    """The bytes of a recording, as `static/player.js` decodes them."""
    stride = max(1, math.ceil(recording.size / MAX_NUMBERS))
    recording = recording.thinned(stride) if stride > 1 else recording
    columns = list(_columns(recording))
    about: dict[str, Any] = {
        "scene": recording.scene,
        "moments": len(recording.times),
        "tracks": recording.tracks.shape[1],
        "hits": recording.collisions,
        "events": recording.events,
        "arrays": [
            {"name": column.name, "length": column.values.shape[1], "quantum": column.quantum}
            for column in columns
        ],
        "readings": [
            {
                "robot": one.robot,
                "sensor": one.sensor,
                "length": one.numbers.shape[1],
                "name": f"reading/{one.robot}/{one.sensor}",
            }
            for one in recording.readings
        ],
    }
    text = json.dumps(about, allow_nan=False).encode()
    deflate = zlib.compressobj(9)
    pieces = [deflate.compress(len(text).to_bytes(4, "little") + text)]
    pieces.append(deflate.compress(np.ascontiguousarray(recording.times, "<f8").tobytes()))
    pieces += [deflate.compress(_byte_planes(c.values, c.quantum)) for c in columns]
    return b"".join([*pieces, deflate.flush()])


def _columns(recording: ReplaySource) -> Iterator[EncodedArray]:
    tables = (
        ("robots", recording.robots, ROBOT_QUANTA),
        ("beliefs", recording.beliefs, BELIEF_QUANTA),
        ("tracks", recording.tracks, TRACK_QUANTA),
    )
    for name, table, quanta in tables:
        for k, quantum in enumerate(quanta):
            yield EncodedArray(f"{name}/{k}", table[:, :, k], quantum)
    for one in recording.readings:
        yield EncodedArray(f"reading/{one.robot}/{one.sensor}", one.numbers, RANGE_QUANTUM)
    for group, signals in recording.values.items():
        for signal, values in signals.items():
            yield EncodedArray(f"value/{group}/{signal}", values, 0.0)


def _byte_planes(values: Array, quantum: float) -> bytes:
    """The numbers of an array, their first bytes first, then their second bytes, and so on."""
    if quantum:
        quanta = np.asarray(values, float) / quantum
        quanta = np.nan_to_num(quanta, nan=0.0, posinf=INFINITE, neginf=-INFINITE)
        steps = np.clip(np.rint(quanta), -INFINITE, INFINITE).astype("<i8")
        steps[1:] -= steps[:-1].copy()
        # Large differences may need more than 32 bits: they wrap around, here and in the page.
        raw = np.ascontiguousarray(steps.astype("<i4")).view(np.uint8)
    else:
        raw = np.ascontiguousarray(values, "<f4").view(np.uint8)
    return raw.reshape(-1, 4).T.tobytes()
