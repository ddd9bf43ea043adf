"""Recordings of astray as datasets: each robot with its datasheets, its readings and its truth.

Of a world that was reset, the last episode is read, as in a report.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from astray.datasets.dataset import Dataset, Reference, Stream
from astray.errors import LogError, RecordingError
from astray.recording import (
    TRUTH_TOPIC,
    ForeignRecording,
    RecordedRobot,
    read_recording,
)
from astray.recording.mcap import is_mcap
from astray.scenario import GroupPlan, load_scenario
from astray.tables import Array

ROUNDING = 1e-6  # s, of the difference between two times


def read_astray_recording(path: Path) -> list[Dataset] | None:
    """The robots of a recording; None if astray did not write the file."""
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
    logs = [_robot_log(robot, plans[robot.group]) for robot in recording.robots.values()]
    found = [log for log in logs if log is not None]
    if not found:
        raise LogError(f"{path}: no robot in it has readings and a truth")
    return found


def _robot_log(robot: RecordedRobot, plan: GroupPlan) -> Dataset | None:
    """The dataset of a robot; None if it has no readings or no truth."""
    if not len(robot.truth):
        return None
    sensors = {sensor.name: sensor for sensor in plan.sensors}
    streams = {}
    for name, reading in robot.readings.items():
        if reading.table.dtype != sensors[name].measures:
            continue  # astray's generic messages have the columns, but not the layout
        kept = _in_last_episode(robot, robot.sensor_topics[name], reading.stamp)
        arrays = {key: array[kept] for key, array in reading.arrays.items()}
        streams[name] = Stream(sensors[name].datasheet(), reading.table[kept], arrays)
    truth = robot.truth[_in_last_episode(robot, TRUTH_TOPIC, robot.truth["stamp"])]
    if not any(map(len, streams.values())) or len(truth) < 2:
        return None
    reference = Reference(truth["stamp"], truth["x"], truth["y"], truth["yaw"])
    start = (float(truth["x"][0]), float(truth["y"][0]), float(truth["yaw"][0]))
    world_map = robot.recording.map_of(robot.world) if plan.map is None else None
    return Dataset(robot.name, plan.motion, streams, reference, start, (0.0, 0.0), world_map)


def _in_last_episode(robot: RecordedRobot, topic: str, stamps: Array) -> Array:
    """Whether each message of a topic was measured after the last episode began."""
    return np.asarray(robot.times(topic) - stamps >= robot.last_episode_start - ROUNDING)
