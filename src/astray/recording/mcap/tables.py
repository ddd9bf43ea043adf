"""Messages back to tables: the columns that sensors measure and states have, as they were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from astray.plugin import Reading
from astray.ros.messages import PLANAR_INDICES, MessageColumns, quaternion_yaw
from astray.ros.publishers import EARTH_RADIUS, FIX_LOST, NORTH_RADIUS, STEERING, TRACK_FIELDS
from astray.tables import (
    FIX,
    IMU,
    INS,
    RANGE,
    SCAN,
    STATE,
    TRACK,
    WHEELS,
    WHEELS_PER_ROBOT,
    Array,
    Column,
    Columns,
    Table,
    columns,
    table,
)

ASKED = columns("stamp s", "vx m/s", "vy m/s", "wz rad/s")
"""What the motion of a robot was asked for; a curvature is told as the turn that it means."""


def headings(said: MessageColumns, path: str) -> Array:
    """The headings of quaternions, (n,)."""
    yaw: Array = quaternion_yaw(*(said[f"{path}.{axis}"] for axis in "xyzw"))
    return yaw


def covariance_of(said: MessageColumns, path: str) -> Array:
    """The covariance of (x, y, yaw), (n, 3, 3)."""
    whole = said[path].reshape(-1, 6, 6)
    return whole[:, PLANAR_INDICES][:, :, PLANAR_INDICES]


def states(said: MessageColumns) -> Table:
    """STATE of nav_msgs/Odometry, PoseWithCovarianceStamped or PoseStamped messages."""
    made = table(STATE, len(said))
    made["stamp"], made["alive"] = said.stamps(), True
    pose = "pose" if "pose.position.x" in said else "pose.pose"
    for axis in "xyz":
        made[axis] = said[f"{pose}.position.{axis}"]
    made["yaw"] = headings(said, f"{pose}.orientation")
    if "pose.covariance" in said:
        made["cov"] = covariance_of(said, "pose.covariance")
    if "twist.twist.linear.x" in said:
        for axis in "xyz":
            made[f"v{axis}"] = said[f"twist.twist.linear.{axis}"]
        made["wz"] = said["twist.twist.angular.z"]
    return made


def transform_states(said: MessageColumns) -> Table:
    """STATE of geometry_msgs/TransformStamped messages."""
    made = table(STATE, len(said))
    made["stamp"], made["alive"] = said.stamps(), True
    for axis in "xyz":
        made[axis] = said[f"transform.translation.{axis}"]
    made["yaw"] = headings(said, "transform.rotation")
    return made


def drives(said: MessageColumns) -> Table:
    """What a robot was asked for: `stamp` and the speeds of DRIVE."""
    made = table(ASKED, len(said))
    made["stamp"] = said.stamps()
    made["vx"], made["vy"] = said["twist.linear.x"], said["twist.linear.y"]
    made["wz"] = said["twist.angular.z"]
    return made


@dataclass
class TrackTable:
    """What a robot believed of others over time."""

    stamp: Array = field(default_factory=lambda: np.zeros(0))
    """Of which times it is, (times,)."""
    tracks: Table = field(default_factory=lambda: np.zeros((0, 0), TRACK))
    """TRACK, (times, slots); an empty slot has a stamp of nan."""


def contacts(said: MessageColumns) -> TrackTable:
    """The tracks of all messages."""
    slots = said["number"].shape[1]
    made = np.zeros((len(said), slots), TRACK)
    for column, path in TRACK_FIELDS.items():
        made[column] = said[path].reshape(len(said), slots, *TRACK[column].shape)
    return TrackTable(said.stamps(), made)


def _reading(layout: Columns, said: MessageColumns, **arrays: Array) -> Reading:
    made = Reading(layout, len(said), {name: a.shape[1:] for name, a in arrays.items()})
    made.stamp[:] = said.stamps()
    for name, array in arrays.items():
        made.arrays[name][:] = array
    return made


def imu(said: MessageColumns) -> Reading:
    """Rates and specific forces."""
    made = _reading(IMU, said)
    for axis in "xyz":
        made.table[f"w{axis}"] = said[f"angular_velocity.{axis}"]
        made.table[f"a{axis}"] = said[f"linear_acceleration.{axis}"]
    return made


def wheels(said: MessageColumns) -> Reading:
    """Angles and rates; of a car, the steering angle is that of the last joint."""
    made = _reading(WHEELS, said)
    names = [str(name) for name in said.first.name]
    count = min(len(names) - (STEERING in names[-1:]), WHEELS_PER_ROBOT)
    for column, path in (("angle", "position"), ("rate", "velocity")):
        if path in said and said[path].ndim == 2:
            values = said[path][:, :count]
            made.table[column][:, : values.shape[1]] = values
    if STEERING in names[-1:] and "position" in said:
        made.table["steer"] = said["position"][:, -1]
    return made


def scan(said: MessageColumns) -> Reading:
    """A scan; too near is infinitely near, too far is infinitely far."""
    made = _reading(SCAN, said, ranges=said["ranges"])
    made.table["start"], made.table["step"] = said["angle_min"], said["angle_increment"]
    made.table["min_range"], made.table["max_range"] = said["range_min"], said["range_max"]
    made.table["duration"] = said["scan_time"]
    return made


def fix(said: MessageColumns) -> Reading:
    """A position, in metres from 0° N 0° E, which is the origin of the map."""
    made = _reading(FIX, said)
    made.table["lost"] = said["status.status"] == FIX_LOST
    made.table["x"] = np.radians(np.nan_to_num(said["longitude"])) * EARTH_RADIUS
    made.table["y"] = np.radians(np.nan_to_num(said["latitude"])) * NORTH_RADIUS
    made.table["cov"] = said["position_covariance"].reshape(-1, 3, 3)[:, :2, :2]
    return made


def ins(said: MessageColumns) -> Reading:
    """A navigation system's answer."""
    made, state = _reading(INS, said), states(said)
    for column in ("x", "y", "yaw", "vx", "vy", "wz", "cov"):
        made.table[column] = state[column]
    return made


def one_range(said: MessageColumns) -> Reading:
    """One range."""
    made = _reading(RANGE, said)
    made.table["range"], made.table["cone"] = said["range"], 0.5 * said["field_of_view"]
    made.table["min_range"], made.table["max_range"] = said["min_range"], said["max_range"]
    return made


READERS: dict[str, Callable[[MessageColumns], Reading]] = {
    "sensor_msgs/msg/Imu": imu,
    "sensor_msgs/msg/JointState": wheels,
    "sensor_msgs/msg/LaserScan": scan,
    "sensor_msgs/msg/NavSatFix": fix,
    "sensor_msgs/msg/Range": one_range,
    "nav_msgs/msg/Odometry": ins,
}


def reading(said: MessageColumns) -> Reading:
    """The readings of any sensor; of a type of our own, a column for each field."""
    return READERS.get(said.type, own)(said)


def own(said: MessageColumns) -> Reading:
    """Readings whose message has a field for each column and array."""
    first = said.first
    names = [name for name in first.__dataclass_fields__ if name not in ("header", "__msgtype__")]
    names = [name for name in names if not name.startswith("_")]
    columns_of = {name: np.asarray(said[name]) for name in names}
    flat = {name: array for name, array in columns_of.items() if array.ndim == 1}
    layout = columns(
        Column("fresh", "", "?"), "stamp s", *(Column(n, "", a.dtype) for n, a in flat.items())
    )
    made = _reading(layout, said, **{n: a for n, a in columns_of.items() if n not in flat})
    for name, array in flat.items():
        made.table[name] = array
    return made
