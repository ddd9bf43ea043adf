"""Bags as datasets: ROS 1 files, ROS 2 folders and MCAP files.

A dataset needs an IMU, wheels or odometry, and the true pose. Topics are found by their types
unless they are named. A bag does not hold the size of wheels nor the quality of an IMU: a scenario
gives them (`robot`), or typical values are assumed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from astray.datasets.dataset import Dataset, Reference, Stream
from astray.datasets.wheel_conversion import differential_wheels
from astray.errors import LogError
from astray.plugin import Motion, Sensor
from astray.recording import (
    imu_reading,
    odometry_states,
    transform_states,
    wheels_reading,
)
from astray.recording.mcap import is_mcap
from astray.robot.motion import Differential
from astray.robot.sensors import Imu, Wheels
from astray.ros.messages import MessageColumns, is_known
from astray.scenario import load_scenario
from astray.tables import IMU, WHEELS, Array, Table

ROS1_MAGIC, SQLITE_MAGIC = b"#ROSBAG", b"SQLite format 3"
METADATA = "metadata.yaml"
IMU_TYPES = ("sensor_msgs/msg/Imu",)
JOINT_TYPES = ("sensor_msgs/msg/JointState",)
POSE_TYPES = (
    "nav_msgs/msg/Odometry",
    "geometry_msgs/msg/PoseStamped",
    "geometry_msgs/msg/PoseWithCovarianceStamped",
    "geometry_msgs/msg/TransformStamped",
)
TRUTH_NAMES = re.compile(r"truth|(^|[/_])gt([/_]|$)|mocap|vicon|optitrack|leica|reference", re.I)
TWO_WHEELS = (({"left"}, {"l"}), ({"right"}, {"r"}))
FOUR_WHEELS = tuple(
    ({short}, {front, side}, {alternative, side})
    for short, front, alternative, side in (
        ("fl", "front", "front", "left"),
        ("fr", "front", "front", "right"),
        ("rl", "rear", "back", "left"),
        ("rr", "rear", "back", "right"),
    )
)
"""For each wheel, the sets of words of which its joint's name has one."""
TYPICAL_IMU = Imu(grade="consumer")
TYPICAL_WHEELS = Wheels(ticks=0, radius_sd=0.01, baseline_sd=0.02, slip_density=0.01)
START_SD = (0.02, 0.01)  # m, rad: the assumed accuracy of a reference


@dataclass(frozen=True)
class BagTopics:
    """The topics to read from a bag; None finds a topic by its type."""

    imu: str | None = None
    wheels: str | None = None
    odom: str | None = None
    """Odometry, to be read instead of wheels."""
    truth: str | None = None
    robot: str | None = None
    """A scenario whose first robot has the datasheets."""

    @property
    def any(self) -> bool:
        """Whether anything was chosen."""
        return any((self.imu, self.wheels, self.odom, self.truth, self.robot))


def is_bag(path: Path) -> bool:
    """Whether there is a bag at a path, by its content."""
    if path.is_dir():
        return (path / METADATA).exists()
    magic = _read_magic(path)
    return magic.startswith((ROS1_MAGIC, SQLITE_MAGIC)) or is_mcap(magic)


def _read_magic(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)


class Bag:
    """An open bag."""

    def __init__(self, path: Path, reader: Any) -> None:
        self.path = path
        self._reader = reader
        with _damage_refused(path):
            self._is_ros2 = bool(reader.is2)
            self.topics = {c.topic: str(c.msgtype) for c in reader.connections if c.msgcount}
            """The type of each topic that has messages."""

    def of_types(self, types: Sequence[str]) -> list[str]:
        """The topics of these types."""
        return [topic for topic, type in self.topics.items() if type in types]

    def read(self, topic: str) -> tuple[MessageColumns, Array]:
        """All messages of a topic with their stamps, s; the time of writing if they have none."""
        type = self.topics[topic]
        decode = None
        if not self._is_ros2 or not is_known(type):
            decode = lambda raw: self._reader.deserialize(raw, type)  # noqa: E731
        with _damage_refused(self.path):
            connections = [c for c in self._reader.connections if c.topic == topic]
            found = [(t, bytes(raw)) for _, t, raw in self._reader.messages(connections)]
            times, data = [time for time, _ in found], [raw for _, raw in found]
            messages = MessageColumns(type, data, times, decode)
            stamps = messages.stamps()
        if not found:  # its index counts some
            raise LogError(f"{self.path}: is damaged: no message of {topic} can be found")
        return messages, stamps if stamps.any() else messages.times

    def __str__(self) -> str:
        listed = (f"{topic} ({type})" for topic, type in sorted(self.topics.items()))
        return ", ".join(listed) or "nothing"


@contextmanager
def _damage_refused(path: Path) -> Iterator[None]:
    """Raise a LogError in place of what the libraries of bags raise.

    On damaged bags they raise anything: errors of their own, of databases, of packers, of lookups.
    """
    try:
        yield
    except LogError:
        raise
    except Exception as problem:  # noqa: BLE001 - see above
        why = str(problem).strip().split("\n")[0] or type(problem).__name__
        hint = f"; `astray recover {path}` may mend it" if path.suffix == ".mcap" else ""
        raise LogError(f"{path}: cannot be read: {why}{hint}") from None


@contextmanager
def open_bag(path: Path) -> Iterator[Bag]:
    """Open a bag; LogError if it cannot be read."""
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    if path.is_file() and _read_magic(path).startswith(SQLITE_MAGIC):
        raise LogError(f"{path}: give the folder of this bag, which has its {METADATA}")
    with _damage_refused(path):
        # Old bags hold no definitions of their types; those of ROS 2 fit all that is read here.
        reader = AnyReader([path], default_typestore=get_typestore(Stores.ROS2_JAZZY))
        reader.open()
    try:
        yield Bag(path, reader)
    finally:
        with suppress(Exception):  # a damaged bag may refuse to be closed, too
            reader.close()


def read_bag(path: Path, topics: BagTopics) -> Dataset:
    """The dataset in a bag; LogError lists its topics if they cannot be chosen."""
    motion, sensors = _read_robot(topics.robot)
    imu, wheels = sensors.get("imu", TYPICAL_IMU), sensors.get("wheels", TYPICAL_WHEELS)
    streams: dict[str, Stream] = {}
    with open_bag(path) as bag:
        truth = _read_states(bag, _choose(bag, "truth", topics.truth, POSE_TYPES, TRUTH_NAMES))
        imu_topic = _choose_optional(bag, "imu", topics.imu, IMU_TYPES)
        if imu_topic is not None:
            messages, stamps = bag.read(imu_topic)
            streams["imu"] = _stream(imu, imu_reading(messages).table, stamps)
        if topics.odom:
            state = _read_states(bag, _choose(bag, "odom", topics.odom, POSE_TYPES))
            streams["wheels"] = _stream(
                wheels, _odometry_wheels(bag, motion, state), state["stamp"]
            )
        elif wheels_topic := _choose_optional(bag, "wheels", topics.wheels, JOINT_TYPES):
            messages, stamps = bag.read(wheels_topic)
            streams["wheels"] = _stream(wheels, _joint_wheels(bag, wheels_topic, messages), stamps)
        if not streams:
            raise LogError(f"{path}: no IMU and no wheels to read: {bag}")
    return _build(path, motion, streams, truth)


def _read_robot(source: str | None) -> tuple[Motion, dict[str, Sensor]]:
    """The motion of a scenario's first robot, and its first IMU and wheels by these names."""
    if source is None:
        return Differential(), {}
    plan = load_scenario(source).robots[0]
    found = {
        name: next((s for s in plan.sensors if s.measures == layout), None)
        for name, layout in (("imu", IMU), ("wheels", WHEELS))
    }
    return plan.motion, {name: sensor for name, sensor in found.items() if sensor is not None}


def _choose(
    bag: Bag,
    option: str,
    named: str | None,
    types: Sequence[str],
    likely: re.Pattern[str] | None = None,
) -> str:
    """The named topic, or the only one of these types, or the only one with a likely name."""
    if named is not None:
        topic = named if named in bag.topics else f"/{named.lstrip('/')}"
        if topic not in bag.topics:
            raise LogError(f"{bag.path}: unknown topic {named!r}: {bag}")
        if bag.topics[topic] not in types:
            usable = ", ".join(types)
            raise LogError(
                f"{bag.path}: {topic} is {bag.topics[topic]}, and {option} needs {usable}"
            )
        return topic
    candidates = bag.of_types(types)
    if likely is not None and len(candidates) > 1:
        candidates = [topic for topic in candidates if likely.search(topic)]
    if len(candidates) == 1:
        return candidates[0]
    why = "more than one topic could be it" if candidates else "no topic looks like it"
    raise LogError(f"{bag.path}: name the topic with --{option}, since {why}: {bag}")


def _choose_optional(bag: Bag, option: str, named: str | None, types: Sequence[str]) -> str | None:
    if named is None and not bag.of_types(types):
        return None
    return _choose(bag, option, named, types)


def _read_states(bag: Bag, topic: str) -> Table:
    """The poses of a topic as STATE (n,), in order."""
    messages, stamps = bag.read(topic)
    is_transform = messages.type == "geometry_msgs/msg/TransformStamped"
    states = transform_states(messages) if is_transform else odometry_states(messages)
    states["stamp"] = stamps
    return _in_order(states)


def _in_order(series: Table) -> Table:
    """Sorted by stamps, each once: bags are written as messages arrive."""
    _, first = np.unique(series["stamp"], return_index=True)
    return series[first]


def _stream(sensor: Sensor, readings: Table, stamps: Array) -> Stream:
    readings["stamp"] = stamps
    return Stream(sensor.datasheet(), _in_order(readings))


def _joint_wheels(bag: Bag, topic: str, messages: MessageColumns) -> Table:
    """WHEELS (n,) from joint states, with the wheels in astray's order."""
    names = [str(name) for name in messages.first.name]
    wheels = wheel_joints(names)
    if wheels is None:
        joints = ", ".join(names)
        raise LogError(f"{bag.path}: which joints of {topic} are wheels? It has {joints}")
    readings = wheels_reading(messages).table
    for column, path in (("angle", "position"), ("rate", "velocity")):
        values = messages[path]
        readings[column] = 0.0
        if values.ndim == 2 and values.shape[1] == len(names):
            readings[column][:, : len(wheels)] = values[:, wheels]
        elif column == "angle":
            raise LogError(f"{bag.path}: {topic} has no positions of its joints")
    steering = [k for k, name in enumerate(names) if "steer" in name.lower()]
    if steering and messages["position"].shape[1] == len(names):
        # The mean of left and right is about the angle of a wheel in the middle.
        readings["steer"] = messages["position"][:, steering].mean(axis=1)
    return readings


def wheel_joints(names: Sequence[str]) -> list[int] | None:
    """The indices of wheels among joints: left, right, or fl, fr, rl, rr; None if unknown."""
    words = {
        k: set(re.split(r"[^a-z]+", name.lower()))
        for k, name in enumerate(names)
        if "steer" not in name.lower()
    }
    for wheels in (FOUR_WHEELS, TWO_WHEELS):
        found = [
            [k for k, own in words.items() if any(one <= own for one in alternatives)]
            for alternatives in wheels
        ]
        if all(len(joints) == 1 for joints in found):
            return [joints[0] for joints in found]
    return list(words) if len(words) == 2 else None


def _odometry_wheels(bag: Bag, motion: Motion, state: Table) -> Table:
    """WHEELS (n,) of a robot that moved as odometry has it."""
    if not isinstance(motion, Differential):
        raise LogError(f"{bag.path}: --odom is for robots that move as 'differential'")
    yaw = np.unwrap(state["yaw"])
    middle = 0.5 * (yaw[1:] + yaw[:-1])
    forward = np.cos(middle) * np.diff(state["x"]) + np.sin(middle) * np.diff(state["y"])
    distance = np.concatenate([[0.0], np.cumsum(forward)])
    return differential_wheels(motion, state["stamp"], distance, yaw - yaw[0])


def _build(path: Path, motion: Motion, streams: dict[str, Stream], truth: Table) -> Dataset:
    """The part of a bag in which the truth is known, with stamps from 0 on."""
    first = max(truth["stamp"][0], *(s.stamp[0] for s in streams.values() if len(s)))
    last = truth["stamp"][-1]
    cut: dict[str, Stream] = {}
    for name, stream in streams.items():
        readings = stream.table[(stream.stamp >= first) & (stream.stamp <= last)].copy()
        readings["stamp"] -= first
        cut[name] = Stream(stream.datasheet, readings)
    if any(len(stream) < 2 for stream in cut.values()) or len(truth) < 2:
        raise LogError(f"{path}: readings and truth are not of the same time")
    stamps = truth["stamp"] - first
    reference = Reference(stamps, truth["x"], truth["y"], truth["yaw"])
    start = reference.truth(np.zeros(1))[0]
    pose = (start["x"], start["y"], start["yaw"])
    return Dataset(path.stem, motion, cut, reference, pose, START_SD)
