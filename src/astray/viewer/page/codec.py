"""A recording as few bytes: quantised, differences over time, planes of bytes, deflated.

    uint32 size of the JSON, the JSON (scene, events, names and lengths of the arrays),
    float64 times, and then every array: int32 differences of whole quanta, or float32,
    all first bytes of its numbers before all second ones and so on

Poses are kept to a tenth of a millimetre, ranges to one. What is too much for a page is thinned.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from astray.tables import Array
from astray.viewer.page.sources import ReplaySource

MOST_NUMBERS = 24_000_000  # that a page is given
FAR = 1 << 30  # stands for infinity
ROBOT_QUANTA = (1e-4, 1e-4, 1e-4, 1e-3, 1e-3, 1e-3, 1.0, 1e-3, 1e-3)
BELIEF_QUANTA = (1e-4, 1e-4, 1e-4, 1e-3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # 0: as it is, float32
TRACK_QUANTA = (1.0, 1.0, 1.0, 1e-3, 1e-3, 1e-4, 1e-4, 1e-3, 1e-3, 0.0, 0.0, 0.0)
RANGE_QUANTUM = 1e-3

Part = tuple[str, Array, float]
"""A name, numbers (moments, n), and their quantum."""


def pack(recording: ReplaySource) -> bytes:
    """The recording as the page reads it."""
    stride = max(1, math.ceil(recording.size / MOST_NUMBERS))
    recording = recording.thinned(stride) if stride > 1 else recording
    parts = list(_parts(recording))
    about: dict[str, Any] = {
        "scene": recording.scene,
        "moments": len(recording.times),
        "tracks": recording.tracks.shape[1],
        "hits": recording.hits,
        "events": recording.events,
        "arrays": [
            {"name": name, "length": values.shape[1], "quantum": quantum}
            for name, values, quantum in parts
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
    made = zlib.compressobj(9)
    pieces = [made.compress(len(text).to_bytes(4, "little") + text)]
    pieces.append(made.compress(np.ascontiguousarray(recording.times, "<f8").tobytes()))
    pieces += [made.compress(_planes(values, quantum)) for _, values, quantum in parts]
    return b"".join([*pieces, made.flush()])


def _parts(recording: ReplaySource) -> Iterator[Part]:
    tables = (
        ("robots", recording.robots, ROBOT_QUANTA),
        ("beliefs", recording.beliefs, BELIEF_QUANTA),
        ("tracks", recording.tracks, TRACK_QUANTA),
    )
    for name, table, quanta in tables:
        for k, quantum in enumerate(quanta):
            yield f"{name}/{k}", table[:, :, k], quantum
    for one in recording.readings:
        yield f"reading/{one.robot}/{one.sensor}", one.numbers, RANGE_QUANTUM
    for group, signals in recording.values.items():
        for signal, values in signals.items():
            yield f"value/{group}/{signal}", values, 0.0


def _planes(values: Array, quantum: float) -> bytes:
    """The numbers of an array, sorted by the bytes of each."""
    if quantum:
        whole = np.nan_to_num(np.asarray(values, float) / quantum, nan=0.0, posinf=FAR, neginf=-FAR)
        steps = np.clip(np.rint(whole), -FAR, FAR).astype("<i8")
        steps[1:] -= steps[:-1].copy()
        # Differences of far ones may need more than 32 bits: they wrap, there and back.
        raw = np.ascontiguousarray(steps.astype("<i4")).view(np.uint8)
    else:
        raw = np.ascontiguousarray(values, "<f4").view(np.uint8)
    return raw.reshape(-1, 4).T.tobytes()
