"""Recordings of ours as logs: each robot with its datasheets, its readings and its truth.

Of a world that was reset it is the last episode, as in a report.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from astray.datasets.dataset import Dataset, Reference, Stream
from astray.errors import LogError, RecordingError
from astray.recording import TRUTH_TOPIC, ForeignRecording, RecordedRobot, read_recording
from astray.recording.mcap import is_mcap
from astray.scenario import GroupPlan, load_scenario
from astray.tables import Array

ROUNDING = 1e-6  # s, of the difference between two times


def read_recorded(path: Path) -> list[Dataset] | None:
    """The robots of a recording; None if it is the bag of others."""
    with path.open("rb") as file:
        if not is_mcap(file.read(16)):
            return None
    try:
        recording = read_recording(path)
    except ForeignRecording:
        return None
    except RecordingError as problem:
        raise LogError(str(problem)) from None
    plans = {plan.name: plan for plan in load_scenario(recording.scenario).robots}
    made = [_log(track, plans[track.group]) for track in recording.robots.values()]
    found = [log for log in made if log is not None]
    if not found:
        raise LogError(f"{path}: no robot in it has readings and a truth")
    return found


def _log(track: RecordedRobot, plan: GroupPlan) -> Dataset | None:
    if not len(track.truth):
        return None
    sensors = {sensor.name: sensor for sensor in plan.sensors}
    streams = {}
    for name, reading in track.readings.items():
        measures = sensors[name].measures
        if reading.table.dtype != measures:  # a type of our own has the columns, not the layout
            continue
        kept = _of_last_episode(track, track.sensor_topics[name], reading.stamp)
        arrays = {key: array[kept] for key, array in reading.arrays.items()}
        streams[name] = Stream(sensors[name].datasheet(), reading.table[kept], arrays)
    truth = track.truth[_of_last_episode(track, TRUTH_TOPIC, track.truth["stamp"])]
    if not any(map(len, streams.values())) or len(truth) < 2:
        return None
    reference = Reference(truth["stamp"], truth["x"], truth["y"], truth["yaw"])
    start = (float(truth["x"][0]), float(truth["y"][0]), float(truth["yaw"][0]))
    around = track.recording.map_of(track.world) if plan.map is None else None
    return Dataset(track.name, plan.motion, streams, reference, start, (0.0, 0.0), around)


def _of_last_episode(track: RecordedRobot, topic: str, stamps: Array) -> Array:
    """Which messages are of the last episode, by the time in the file."""
    return np.asarray(track.times(topic) - stamps >= track.last_episode_start - ROUNDING)
