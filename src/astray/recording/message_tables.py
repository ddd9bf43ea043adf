"""Messages as tables: the states and readings that they were made of."""

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

DEMAND = columns("stamp s", "vx m/s", "vy m/s", "wz rad/s")
"""The demanded velocity of a robot; a curvature was converted to a turn rate."""


# States.


def odometry_states(messages: MessageColumns) -> Table:
    """STATE of nav_msgs/Odometry, PoseWithCovarianceStamped or PoseStamped messages, (n,)."""
    states = _empty_states(messages)
    pose = "pose" if "pose.position.x" in messages else "pose.pose"
    for axis in "xyz":
        states[axis] = messages[f"{pose}.position.{axis}"]
    states["yaw"] = _yaw(messages, f"{pose}.orientation")
    if "pose.covariance" in messages:
        covariance = messages["pose.covariance"].reshape(-1, 6, 6)
        states["cov"] = covariance[:, PLANAR_INDICES][:, :, PLANAR_INDICES]
    if "twist.twist.linear.x" in messages:
        for axis in "xyz":
            states[f"v{axis}"] = messages[f"twist.twist.linear.{axis}"]
        states["wz"] = messages["twist.twist.angular.z"]
    return states


def transform_states(messages: MessageColumns) -> Table:
    """STATE of geometry_msgs/TransformStamped messages, (n,)."""
    states = _empty_states(messages)
    for axis in "xyz":
        states[axis] = messages[f"transform.translation.{axis}"]
    states["yaw"] = _yaw(messages, "transform.rotation")
    return states


def _empty_states(messages: MessageColumns) -> Table:
    states = table(STATE, len(messages))
    states["stamp"], states["alive"] = messages.stamps(), True
    return states


def _yaw(messages: MessageColumns, path: str) -> Array:
    """The yaw of quaternions, (n,) rad."""
    yaw: Array = quaternion_yaw(*(messages[f"{path}.{axis}"] for axis in "xyzw"))
    return yaw


def demands(messages: MessageColumns) -> Table:
    """DEMAND of geometry_msgs/TwistStamped messages, (n,)."""
    made = table(DEMAND, len(messages))
    made["stamp"] = messages.stamps()
    made["vx"], made["vy"] = messages["twist.linear.x"], messages["twist.linear.y"]
    made["wz"] = messages["twist.angular.z"]
    return made


@dataclass
class TrackTable:
    """The tracks of a robot over time."""

    stamp: Array = field(default_factory=lambda: np.zeros(0))
    """The time of each row, (times,) s."""
    tracks: Table = field(default_factory=lambda: np.zeros((0, 0), TRACK))
    """TRACK, (times, slots); an empty slot has a stamp of nan."""


def track_table(messages: MessageColumns) -> TrackTable:
    """The tracks of messages of our own type."""
    slots = messages["number"].shape[1]
    tracks = np.zeros((len(messages), slots), TRACK)
    for column, path in TRACK_FIELDS.items():
        tracks[column] = messages[path].reshape(len(messages), slots, *TRACK[column].shape)
    return TrackTable(messages.stamps(), tracks)


# Readings.


def read_readings(messages: MessageColumns) -> Reading:
    """The readings of a sensor of any kind, one row per message."""
    return READERS.get(messages.type, own_type_reading)(messages)


def _make_reading(layout: Columns, messages: MessageColumns, **arrays: Array) -> Reading:
    reading = Reading(layout, len(messages), {name: a.shape[1:] for name, a in arrays.items()})
    reading.stamp[:] = messages.stamps()
    for name, array in arrays.items():
        reading.arrays[name][:] = array
    return reading


def imu_reading(messages: MessageColumns) -> Reading:
    """IMU of sensor_msgs/Imu messages."""
    reading = _make_reading(IMU, messages)
    for axis in "xyz":
        reading.table[f"w{axis}"] = messages[f"angular_velocity.{axis}"]
        reading.table[f"a{axis}"] = messages[f"linear_acceleration.{axis}"]
    return reading


def wheels_reading(messages: MessageColumns) -> Reading:
    """WHEELS of sensor_msgs/JointState messages; the last joint of a car is its steering."""
    reading = _make_reading(WHEELS, messages)
    names = [str(name) for name in messages.first.name]
    has_steering = STEERING in names[-1:]
    count = min(len(names) - has_steering, WHEELS_PER_ROBOT)
    for column, path in (("angle", "position"), ("rate", "velocity")):
        if path in messages and messages[path].ndim == 2:
            values = messages[path][:, :count]
            reading.table[column][:, : values.shape[1]] = values
    if has_steering and "position" in messages:
        reading.table["steer"] = messages["position"][:, -1]
    return reading


def scan_reading(messages: MessageColumns) -> Reading:
    """SCAN of sensor_msgs/LaserScan messages; ±inf are ranges out of limits (REP 117)."""
    reading = _make_reading(SCAN, messages, ranges=messages["ranges"])
    reading.table["start"] = messages["angle_min"]
    reading.table["step"] = messages["angle_increment"]
    reading.table["min_range"] = messages["range_min"]
    reading.table["max_range"] = messages["range_max"]
    reading.table["duration"] = messages["scan_time"]
    return reading


def fix_reading(messages: MessageColumns) -> Reading:
    """FIX of sensor_msgs/NavSatFix messages, m from 0° N 0° E, the origin of the map."""
    reading = _make_reading(FIX, messages)
    reading.table["lost"] = messages["status.status"] == FIX_LOST
    reading.table["x"] = np.radians(np.nan_to_num(messages["longitude"])) * EARTH_RADIUS
    reading.table["y"] = np.radians(np.nan_to_num(messages["latitude"])) * NORTH_RADIUS
    reading.table["cov"] = messages["position_covariance"].reshape(-1, 3, 3)[:, :2, :2]
    return reading


def ins_reading(messages: MessageColumns) -> Reading:
    """INS of nav_msgs/Odometry messages."""
    reading, states = _make_reading(INS, messages), odometry_states(messages)
    for column in ("x", "y", "yaw", "vx", "vy", "wz", "cov"):
        reading.table[column] = states[column]
    return reading


def range_reading(messages: MessageColumns) -> Reading:
    """RANGE of sensor_msgs/Range messages."""
    reading = _make_reading(RANGE, messages)
    reading.table["range"] = messages["range"]
    reading.table["cone"] = 0.5 * messages["field_of_view"]
    reading.table["min_range"] = messages["min_range"]
    reading.table["max_range"] = messages["max_range"]
    return reading


READERS: dict[str, Callable[[MessageColumns], Reading]] = {
    "sensor_msgs/msg/Imu": imu_reading,
    "sensor_msgs/msg/JointState": wheels_reading,
    "sensor_msgs/msg/LaserScan": scan_reading,
    "sensor_msgs/msg/NavSatFix": fix_reading,
    "sensor_msgs/msg/Range": range_reading,
    "nav_msgs/msg/Odometry": ins_reading,
}


def own_type_reading(messages: MessageColumns) -> Reading:
    """The reading of a type of our own, which has a field for each column and array."""
    names = [n for n in messages.first.__dataclass_fields__ if n != "header" and n[0] != "_"]
    values = {name: np.asarray(messages[name]) for name in names}
    flat = {name: array for name, array in values.items() if array.ndim == 1}
    layout = columns(
        Column("fresh", "", "?"), "stamp s", *(Column(n, "", a.dtype) for n, a in flat.items())
    )
    arrays = {name: array for name, array in values.items() if name not in flat}
    reading = _make_reading(layout, messages, **arrays)
    for name, array in flat.items():
        reading.table[name] = array
    return reading
