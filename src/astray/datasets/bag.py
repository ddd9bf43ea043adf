"""A bag as a log: an IMU, wheels or odometry, and where the robot really was.

Topics are found by their types unless they are named. Nothing in a bag says how large wheels are
or how good an IMU is: that comes from a scenario (`robot`), or is assumed to be usual.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from astray.datasets.bag_file import Bag, open_bag
from astray.datasets.dataset import Dataset, Reference, Stream
from astray.datasets.wheel_conversion import roll_differential
from astray.errors import LogError
from astray.plugin import Motion, Sensor
from astray.recording import imu_reading, odometry_states, transform_states, wheels_reading
from astray.robot.motion import Differential
from astray.robot.sensors import Imu, Wheels
from astray.ros.messages import MessageColumns
from astray.scenario import load_scenario
from astray.tables import IMU, WHEELS, Array, Table

IMUS = ("sensor_msgs/msg/Imu",)
JOINTS = ("sensor_msgs/msg/JointState",)
POSES = (
    "nav_msgs/msg/Odometry",
    "geometry_msgs/msg/PoseStamped",
    "geometry_msgs/msg/PoseWithCovarianceStamped",
    "geometry_msgs/msg/TransformStamped",
)
TRUE = re.compile(r"truth|(^|[/_])gt([/_]|$)|mocap|vicon|optitrack|leica|reference", re.I)
TWO = (({"left"}, {"l"}), ({"right"}, {"r"}))  # words in the names of wheels, any of them
FOUR = tuple(
    ({short}, {where, side}, {also, side})
    for short, where, also, side in (
        ("fl", "front", "front", "left"),
        ("fr", "front", "front", "right"),
        ("rl", "rear", "back", "left"),
        ("rr", "rear", "back", "right"),
    )
)
USUAL_IMU = Imu(grade="consumer")
USUAL_WHEELS = Wheels(ticks=0, radius_sd=0.01, baseline_sd=0.02, slip_density=0.01)
START_SD = (0.02, 0.01)  # m, rad: as well as a reference is believed


@dataclass(frozen=True)
class BagTopics:
    """The topics to read, and a scenario whose first robot has the datasheets; None to look."""

    imu: str | None = None
    wheels: str | None = None
    odom: str | None = None
    truth: str | None = None
    robot: str | None = None

    @property
    def any(self) -> bool:
        """Whether something was asked for."""
        return any((self.imu, self.wheels, self.odom, self.truth, self.robot))


def read_bag(path: Path, wanted: BagTopics) -> Dataset:
    """The log in a bag; LogError lists what there is if topics cannot be chosen."""
    motion, sheets = _robot(wanted.robot)
    with open_bag(path) as bag:
        truth = _states(bag, _choose(bag, "truth", wanted.truth, POSES, TRUE))
        streams: dict[str, Stream] = {}
        imu = _choose_maybe(bag, "imu", wanted.imu, IMUS)
        if imu is not None:
            said, stamps = bag.read(imu)
            streams["imu"] = _stream(sheets.get("imu", USUAL_IMU), imu_reading(said).table, stamps)
        wheels = None if wanted.odom else _choose_maybe(bag, "wheels", wanted.wheels, JOINTS)
        rolling = sheets.get("wheels", USUAL_WHEELS)
        if wheels is not None:
            said, stamps = bag.read(wheels)
            streams["wheels"] = _stream(rolling, _wheels(bag, wheels, said), stamps)
        elif wanted.odom:
            state = _states(bag, _choose(bag, "odom", wanted.odom, POSES))
            streams["wheels"] = _stream(rolling, _rolled(bag, motion, state), state["stamp"])
        if not streams:
            raise LogError(f"{path}: no IMU and no wheels to read: {_listed(bag)}")
    return _log(path.stem, motion, streams, truth, path)


def _robot(source: str | None) -> tuple[Motion, dict[str, Sensor]]:
    """The motion and the sensors of a scenario's first robot, by what they measure."""
    if source is None:
        return Differential(), {}
    plan = load_scenario(source).robots[0]
    named = {"imu": IMU, "wheels": WHEELS}
    found = {
        name: next((s for s in plan.sensors if s.measures == layout), None)
        for name, layout in named.items()
    }
    return plan.motion, {name: sensor for name, sensor in found.items() if sensor is not None}


def _choose(
    bag: Bag, what: str, named: str | None, types: Sequence[str], likely: Any = None
) -> str:
    """The topic that was named, or the only one of these types, or the only likely one."""
    if named is not None:
        topic = named if named in bag.topics else f"/{named.lstrip('/')}"
        if topic not in bag.topics:
            raise LogError(f"{bag.path}: no topic {named!r}: {_listed(bag)}")
        if bag.topics[topic] not in types:
            usable = ", ".join(types)
            raise LogError(f"{bag.path}: {topic} is {bag.topics[topic]}, and {what} needs {usable}")
        return topic
    some = bag.of_types(types)
    if likely is not None and len(some) > 1:
        some = [topic for topic in some if likely.search(topic)]
    if len(some) == 1:
        return some[0]
    why = "more than one topic could be it" if some else "no topic looks like it"
    raise LogError(f"{bag.path}: name the topic with --{what}, since {why}: {_listed(bag)}")


def _choose_maybe(bag: Bag, what: str, named: str | None, types: Sequence[str]) -> str | None:
    if named is None and not bag.of_types(types):
        return None
    return _choose(bag, what, named, types)


def _listed(bag: Bag) -> str:
    return ", ".join(f"{topic} ({type})" for topic, type in sorted(bag.topics.items())) or "nothing"


def _states(bag: Bag, topic: str) -> Table:
    said, stamps = bag.read(topic)
    made = (
        transform_states(said)
        if said.type == "geometry_msgs/msg/TransformStamped"
        else odometry_states(said)
    )
    made["stamp"] = stamps
    return _in_order(made)


def _in_order(series: Table) -> Table:
    """Sorted by stamps, each once: bags are written as messages arrive."""
    _, first = np.unique(series["stamp"], return_index=True)
    return series[first]


def _stream(sensor: Sensor, readings: Table, stamps: Array) -> Stream:
    readings["stamp"] = stamps
    return Stream(sensor.datasheet(), _in_order(readings))


def _wheels(bag: Bag, topic: str, said: MessageColumns) -> Table:
    """Wheel readings, the joints in the order that ours have."""
    names = [str(name) for name in said.first.name]
    places = joints_of(names)
    if places is None:
        joints = ", ".join(names)
        raise LogError(f"{bag.path}: which joints of {topic} are wheels? It has {joints}")
    made = wheels_reading(said)
    for column, path in (("angle", "position"), ("rate", "velocity")):
        values = said[path]
        made.table[column] = 0.0
        if values.ndim == 2 and values.shape[1] == len(names):
            made.table[column][:, : len(places)] = values[:, places]
        elif column == "angle":
            raise LogError(f"{bag.path}: {topic} has no positions of its joints")
    steering = [k for k, name in enumerate(names) if "steer" in name.lower()]
    if steering and said["position"].shape[1] == len(names):  # left and right: about the middle
        made.table["steer"] = said["position"][:, steering].mean(axis=1)
    return made.table


def joints_of(names: Sequence[str]) -> list[int] | None:
    """Where the wheels are among some joints: left, right or fl, fr, rl, rr; None if not known."""
    words = {k: set(re.split(r"[^a-z]+", n.lower())) for k, n in enumerate(names)}
    words = {k: said for k, said in words.items() if "steer" not in names[k].lower()}
    for sides in (FOUR, TWO):
        found = [[k for k, said in words.items() if any(w <= said for w in s)] for s in sides]
        if all(len(some) == 1 for some in found):
            return [some[0] for some in found]
    return list(words) if len(words) == 2 else None


def _rolled(bag: Bag, motion: Motion, state: Table) -> Table:
    """Wheel readings of a robot that went as odometry has it."""
    if not isinstance(motion, Differential):
        raise LogError(f"{bag.path}: --odom is for robots that move as 'differential'")
    yaw = np.unwrap(state["yaw"])
    middle = 0.5 * (yaw[1:] + yaw[:-1])
    along = np.cos(middle) * np.diff(state["x"]) + np.sin(middle) * np.diff(state["y"])
    way = np.concatenate([[0.0], np.cumsum(along)])
    return roll_differential(motion, state["stamp"], way, yaw - yaw[0])


def _log(
    name: str, motion: Motion, streams: dict[str, Stream], truth: Table, path: Path
) -> Dataset:
    """The part of a bag for which the truth is known, with stamps from 0 on."""
    first = max(truth["stamp"][0], *(s.stamp[0] for s in streams.values() if len(s)))
    last = truth["stamp"][-1]
    kept: dict[str, Stream] = {}
    for key, stream in streams.items():
        some = stream.table[(stream.stamp >= first) & (stream.stamp <= last)].copy()
        some["stamp"] -= first
        kept[key] = Stream(stream.sheet, some)
    if any(len(stream) < 2 for stream in kept.values()) or len(truth) < 2:
        raise LogError(f"{path}: readings and truth are not of the same time")
    shifted = truth.copy()
    shifted["stamp"] -= first
    reference = Reference(shifted["stamp"], shifted["x"], shifted["y"], shifted["yaw"])
    at = reference.truth(np.zeros(1))[0]
    return Dataset(name, motion, kept, reference, (at["x"], at["y"], at["yaw"]), START_SD)
