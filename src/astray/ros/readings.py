"""Readings as messages: the usual type where ROS 2 has one, else one made of the columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from astray.channel import Channel
from astray.plugin import NEVER
from astray.ros.layout import Layout
from astray.ros.names import BASE, MAP, Robot, ros_name, world_frame
from astray.ros.speaker import NOBODY, Speaker, Taken, copied, planar_covariance, stamp, turn
from astray.ros.types import OWN_PACKAGE, declare
from astray.table import FIX, IMU, INS, RANGE, SCAN, WHEELS, Array, Columns, Rows

if TYPE_CHECKING:
    from astray.sim import Sim

WHEEL_NAMES = {
    1: ("wheel_front",),
    2: ("wheel_left", "wheel_right"),
    3: ("wheel_1", "wheel_2", "wheel_3"),
    4: ("wheel_fl", "wheel_fr", "wheel_rl", "wheel_rr"),
}
EARTH = 6378137.0  # m, the radius of WGS 84 at the equator; the map's origin lies at 0° N 0° E
FLATTENING = 1.0 / 298.257223563
NORTH = EARTH * (1.0 - FLATTENING) ** 2  # m per rad of latitude there
ULTRASOUND, INFRARED = 0, 1
SEEN, LOST = 0, -1  # NavSatStatus
KNOWN_COVARIANCE, NO_COVARIANCE = 2, 0


class Reported(Speaker):
    """Says every reading that arrives; `frame` is where the sensor sits."""

    topic = ""
    type = ""

    def __init__(self, robots: Sequence[Robot], channel: Channel, topic: str, frame: str) -> None:
        self.channel = channel
        sizes, texts = self.shape(channel, robots[0])
        texts = {"header.frame_id": self.frame_of(robots[0], frame), **texts}
        super().__init__(robots, topic, Layout(self.type_of(channel), sizes, texts))
        self._frames = self.texts(lambda robot: self.frame_of(robot, frame))
        self._bodies = self.texts(lambda robot: robot.frame(BASE))

    @classmethod
    def type_of(cls, channel: Channel) -> str:
        """The message type."""
        return cls.type

    def shape(self, channel: Channel, robot: Robot) -> tuple[Mapping[str, int], Mapping[str, str]]:
        """Lengths of sequences and texts that stay as they are."""
        return {}, {}

    def frame_of(self, robot: Robot, frame: str) -> str:
        """The frame that the values are in."""
        return robot.frame(frame)

    def next_due(self, step: int, ahead: int) -> int:
        """When the next reading arrives, by the beat of the sensor."""
        beat = self.channel.arriving
        return beat.from_(step + ahead) - ahead if beat.offset < NEVER else NEVER

    def due(self, sim: Sim) -> Rows:
        """Those for whom one has just arrived."""
        if not self.channel.any_fresh:
            return NOBODY
        if self.channel.all_fresh:
            return self.rows
        return self.rows[self.channel.arrived.fresh[self.rows]]

    def take(self, rows: Rows) -> Taken:
        """The readings of these rows."""
        arrived = self.channel.arrived
        beside = (copied(array, rows) for array in arrived.arrays.values())
        return rows, copied(arrived.table, rows), *beside

    def fill(self, out: Array, taken: Taken) -> None:
        """Stamp and frame, then what is measured."""
        stamp(out, taken[1]["stamp"])
        out["header.frame_id"] = self._frames[taken[0]]
        self.fill_values(
            out, taken[1], dict(zip(self.channel.arrived.arrays, taken[2:], strict=True))
        )

    @abstractmethod
    def fill_values(self, out: Array, values: Array, arrays: Mapping[str, Array]) -> None:
        """Write what is measured."""


class ImuReport(Reported):
    """Rates and specific forces; there is no orientation in it, and it says so."""

    topic, type = "imu/data", "sensor_msgs/msg/Imu"

    def fill_values(self, out: Array, values: Array, arrays: Mapping[str, Array]) -> None:
        """Write rates and forces."""
        out["orientation.w"] = 1.0
        out["orientation_covariance"][:, 0] = -1.0
        for axis in "xyz":
            out[f"angular_velocity.{axis}"] = values[f"w{axis}"]
            out[f"linear_acceleration.{axis}"] = values[f"a{axis}"]


class ScanReport(Reported):
    """A scan; what is too near or too far is infinite, as ROS 2 wants it."""

    topic, type = "scan", "sensor_msgs/msg/LaserScan"

    def shape(self, channel: Channel, robot: Robot) -> tuple[Mapping[str, int], Mapping[str, str]]:
        """As many ranges as there are rays."""
        return {"ranges": channel.arrived.arrays["ranges"].shape[1]}, {}

    def fill_values(self, out: Array, values: Array, arrays: Mapping[str, Array]) -> None:
        """Write ranges and what they mean."""
        ranges = arrays["ranges"]
        rays = ranges.shape[1]
        out["angle_min"], out["angle_increment"] = values["start"], values["step"]
        out["angle_max"] = values["start"] + (rays - 1) * values["step"]
        out["range_min"], out["range_max"] = values["min_range"], values["max_range"]
        out["scan_time"], out["time_increment"] = values["duration"], values["duration"] / rays
        near, far = values["min_range"][:, None], values["max_range"][:, None]
        with np.errstate(invalid="ignore"):
            seen = np.where(ranges >= far, np.inf, np.where(ranges < near, -np.inf, ranges))
        out["ranges"] = seen


class WheelsReport(Reported):
    """Angles and rates of the wheels."""

    topic, type = "joint_states", "sensor_msgs/msg/JointState"

    def shape(self, channel: Channel, robot: Robot) -> tuple[Mapping[str, int], Mapping[str, str]]:
        """A name for each wheel."""
        self.wheels = wheels_of(channel)
        names = WHEEL_NAMES[self.wheels]
        texts = {f"name.{k}": name for k, name in enumerate(names)}
        return {"name": self.wheels, "position": self.wheels, "velocity": self.wheels}, texts

    def fill_values(self, out: Array, values: Array, arrays: Mapping[str, Array]) -> None:
        """Write angles and rates."""
        out["position"] = values["angle"][:, : self.wheels]
        out["velocity"] = values["rate"][:, : self.wheels]


class FixReport(Reported):
    """A position on the earth, whose 0° N 0° E is the origin of the map."""

    topic, type = "gps/fix", "sensor_msgs/msg/NavSatFix"

    def fill_values(self, out: Array, values: Array, arrays: Mapping[str, Array]) -> None:
        """Write the position, or that there is none."""
        lost = values["lost"]
        out["status.status"], out["status.service"] = np.where(lost, LOST, SEEN), 1
        out["latitude"] = np.where(lost, np.nan, np.degrees(values["y"] / NORTH))
        out["longitude"] = np.where(lost, np.nan, np.degrees(values["x"] / EARTH))
        cov = values["cov"]
        for i in range(2):
            for j in range(2):
                out["position_covariance"][:, 3 * i + j] = cov[:, i, j]
        known = cov[:, 0, 0] > 0.0
        out["position_covariance_type"] = np.where(known, KNOWN_COVARIANCE, NO_COVARIANCE)


class InsReport(Reported):
    """A navigation system's answer: pose in the map, velocity in the body."""

    topic, type = "ins/odom", "nav_msgs/msg/Odometry"

    def frame_of(self, robot: Robot, frame: str) -> str:
        """The map's."""
        return world_frame(robot, MAP)

    def shape(self, channel: Channel, robot: Robot) -> tuple[Mapping[str, int], Mapping[str, str]]:
        """Velocities are those of the body."""
        return {}, {"child_frame_id": robot.frame(BASE)}

    def fill(self, out: Array, taken: Taken) -> None:
        """The body's frame, too."""
        super().fill(out, taken)
        out["child_frame_id"] = self._bodies[taken[0]]

    def fill_values(self, out: Array, values: Array, arrays: Mapping[str, Array]) -> None:
        """Write pose and velocity."""
        out["pose.pose.position.x"], out["pose.pose.position.y"] = values["x"], values["y"]
        turn(out, values["yaw"], "pose.pose.orientation")
        planar_covariance(out, values["cov"], "pose.covariance")
        out["twist.twist.linear.x"], out["twist.twist.linear.y"] = values["vx"], values["vy"]
        out["twist.twist.angular.z"] = values["wz"]


class RangeReport(Reported):
    """One range."""

    topic, type = "range", "sensor_msgs/msg/Range"

    def fill_values(self, out: Array, values: Array, arrays: Mapping[str, Array]) -> None:
        """Write the range and its limits."""
        out["radiation_type"] = np.where(values["cone"] > 0.0, ULTRASOUND, INFRARED)
        out["field_of_view"] = 2.0 * values["cone"]
        out["min_range"], out["max_range"] = values["min_range"], values["max_range"]
        far = values["range"] >= values["max_range"]
        out["range"] = np.where(far, np.inf, values["range"])


class OwnReport(Reported):
    """Anything else: a message whose fields are the columns and arrays of the reading."""

    @classmethod
    def type_of(cls, channel: Channel) -> str:
        """A type of our own, named after the sensor's kind."""
        kind = "".join(part.capitalize() for part in ros_name(channel.sensor.kind).split("_"))
        name = f"{OWN_PACKAGE}/msg/{kind}"
        lines = ["std_msgs/Header header"]
        lines += [f"{base}{many} {column}" for column, base, many in _columns(channel)]
        return declare(name, "\n".join(lines) + "\n")

    def shape(self, channel: Channel, robot: Robot) -> tuple[Mapping[str, int], Mapping[str, str]]:
        """Arrays as long as they are."""
        arrays = channel.arrived.arrays
        return {name: int(np.prod(a.shape[1:])) for name, a in arrays.items() if a[:1].size}, {}

    def fill_values(self, out: Array, values: Array, arrays: Mapping[str, Array]) -> None:
        """Write every column and array."""
        for column, _, _ in _columns(self.channel):
            given = arrays[column] if column in arrays else values[column]
            if column in (out.dtype.names or ()):
                out[column] = given.reshape(len(out), -1) if given.ndim > 1 else given


def _columns(channel: Channel) -> list[tuple[str, str, str]]:
    """Name, base type and length of each field of a reading; arrays are sequences."""
    fields = fields_of(channel.sensor.measures)
    return fields + [(name, "float64", "[]") for name in channel.arrived.arrays]


def fields_of(layout: Columns) -> list[tuple[str, str, str]]:
    """Name, base type and length of a field for each column but those that every reading has."""
    fields: list[tuple[str, str, str]] = []
    for name in layout.names or ():
        if name in ("fresh", "stamp"):
            continue
        kind = layout[name]
        base = {"f": "float64", "i": "int64", "u": "uint64", "b": "bool"}[kind.base.kind]
        if kind.base.kind in "iu" and kind.base.itemsize < 8:
            base = base.replace("64", str(8 * kind.base.itemsize))
        size = int(np.prod(kind.shape)) if kind.shape else 0
        fields.append((name, base, f"[{size}]" if size else ""))
    return fields


def wheels_of(channel: Channel) -> int:
    """How many wheels a sensor reads."""
    memory = channel.sensor.memory if channel.sensor.remembers is not None else None
    if memory is not None and "wheels" in (memory.dtype.names or ()) and len(memory):
        return int(memory["wheels"][0]) or 4
    return 4


REPORTS: list[tuple[Columns, type[Reported]]] = [
    (IMU, ImuReport),
    (SCAN, ScanReport),
    (WHEELS, WheelsReport),
    (FIX, FixReport),
    (INS, InsReport),
    (RANGE, RangeReport),
]


def report_of(layout: Columns) -> type[Reported]:
    """Whoever says readings of this kind."""
    return next((report for columns, report in REPORTS if columns == layout), OwnReport)


def topics_of(channels: Mapping[str, Channel]) -> dict[str, str]:
    """The topic of each sensor: the usual one for the first of its kind, else by its own name."""
    taken: dict[str, str] = {}
    for name, channel in channels.items():
        report = report_of(channel.sensor.measures)
        usual = report.topic or ros_name(name)
        taken[name] = ros_name(name) if usual in taken.values() else usual
        while list(taken.values()).count(taken[name]) > 1:
            taken[name] += "_"
    return taken
