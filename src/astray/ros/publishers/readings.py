"""Readings as messages: the usual type where ROS 2 has one, else one made of the columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from astray.engine import SensorPipeline
from astray.ros.messages import Words
from astray.ros.names import BASE, MAP, RosRobot, ros_name, world_frame
from astray.ros.publishers.generic import GenericReadingPublisher
from astray.ros.publishers.publisher import Find
from astray.ros.publishers.reading_publisher import ReadingPublisher
from astray.tables import FIX, IMU, INS, RANGE, SCAN, WHEELS, Array, Columns

WHEEL_NAMES = {
    1: ("wheel_front",),
    2: ("wheel_left", "wheel_right"),
    3: ("wheel_1", "wheel_2", "wheel_3"),
    4: ("wheel_fl", "wheel_fr", "wheel_rl", "wheel_rr"),
}
STEERING = "steering"  # the joint that turns the front wheels of a car, rad
EARTH_RADIUS = (
    6378137.0  # m, the radius of WGS 84 at the equator; the map's origin lies at 0° N 0° E
)
FLATTENING = 1.0 / 298.257223563
NORTH_RADIUS = EARTH_RADIUS * (1.0 - FLATTENING) ** 2  # m per rad of latitude there
ULTRASOUND, INFRARED = 0, 1
SEEN, FIX_LOST = 0, -1  # NavSatStatus
KNOWN_COVARIANCE, NO_COVARIANCE = 2, 0


class ImuPublisher(ReadingPublisher):
    """Rates and specific forces; there is no orientation in it, and it says so."""

    topic, type = "imu/data", "sensor_msgs/msg/Imu"

    def say_values(self, words: Words) -> None:
        """Rates and forces."""
        words.blank["orientation.w"] = 1.0
        words.blank["orientation_covariance"][:, 0] = -1.0
        for axis in "xyz":
            words.column(f"angular_velocity.{axis}", 0, f"w{axis}")
            words.column(f"linear_acceleration.{axis}", 0, f"a{axis}")


class LaserScanPublisher(ReadingPublisher):
    """A scan; what is too near or too far is infinite, as ROS 2 wants it."""

    topic, type = "scan", "sensor_msgs/msg/LaserScan"

    def shape(
        self, channel: SensorPipeline, robot: RosRobot
    ) -> tuple[Mapping[str, int], Mapping[str, str]]:
        """As many ranges as there are rays."""
        return {"ranges": channel.arrived.arrays["ranges"].shape[1]}, {}

    def say_values(self, words: Words) -> None:
        """Ranges and what they mean."""
        given = {"start": "angle_min", "step": "angle_increment", "duration": "scan_time"}
        for column, path in (given | {"min_range": "range_min", "max_range": "range_max"}).items():
            words.column(path, 0, column)
        rays = self.sources[1].shape[1]
        words.line("angle_max", 0, "start", "step", rays - 1)
        words.share("time_increment", 0, "duration", rays)
        words.limited("ranges", 1, "min_range", "max_range")


class JointStatePublisher(ReadingPublisher):
    """Angles and rates of the wheels; of a car, the steering angle as one more joint."""

    topic, type = "joint_states", "sensor_msgs/msg/JointState"

    def shape(
        self, channel: SensorPipeline, robot: RosRobot
    ) -> tuple[Mapping[str, int], Mapping[str, str]]:
        """A name for each joint."""
        self.wheels, self.steers = wheels_of(channel), steers(channel)
        names = WHEEL_NAMES[self.wheels] + ((STEERING,) if self.steers else ())
        texts = {f"name.{k}": name for k, name in enumerate(names)}
        return dict.fromkeys(("name", "position", "velocity"), len(names)), texts

    def say_values(self, words: Words) -> None:
        """Angles and rates."""
        for k in range(self.wheels):
            words.cell("position", 0, "angle", at=k, to=k)
            words.cell("velocity", 0, "rate", at=k, to=k)
        if self.steers:
            words.cell("position", 0, "steer", to=self.wheels)


class NavSatFixPublisher(ReadingPublisher):
    """A position on the earth, whose 0° N 0° E is the origin of the map."""

    topic, type = "gps/fix", "sensor_msgs/msg/NavSatFix"

    def widths(self) -> Sequence[int]:
        """Latitude, longitude, whether it is lost, and what is known of the covariance."""
        return (4,)

    def say_values(self, words: Words) -> None:
        """The position, or that there is none."""
        worked_out = len(self.sources)
        words.blank["status.service"] = 1
        for k, path in enumerate(("latitude", "longitude", "status.status")):
            words.cell(path, worked_out, at=k)
        words.cell("position_covariance_type", worked_out, at=3)
        for k, place in enumerate((0, 1, 3, 4)):  # east and north of a matrix of three
            words.cell("position_covariance", 0, "cov", k, place)

    def compute(self, find: Find) -> tuple[Array, ...]:
        """Latitude, longitude, whether it is lost, and what is known of the covariance."""
        lost = find(0, "lost")
        latitude = np.where(lost, np.nan, np.degrees(find(0, "y") / NORTH_RADIUS))
        longitude = np.where(lost, np.nan, np.degrees(find(0, "x") / EARTH_RADIUS))
        known = np.where(find(0, "cov")[:, 0, 0] > 0.0, KNOWN_COVARIANCE, NO_COVARIANCE)
        return (np.stack([latitude, longitude, np.where(lost, FIX_LOST, SEEN), known], axis=-1),)


class InsPublisher(ReadingPublisher):
    """A navigation system's answer: pose in the map, velocity in the body."""

    topic, type = "ins/odom", "nav_msgs/msg/Odometry"

    def frame_of(self, robot: RosRobot, frame: str) -> str:
        """The map's."""
        return world_frame(robot, MAP)

    def shape(
        self, channel: SensorPipeline, robot: RosRobot
    ) -> tuple[Mapping[str, int], Mapping[str, str]]:
        """Velocities are those of the body."""
        return {}, {"child_frame_id": robot.frame(BASE)}

    def say_values(self, words: Words) -> None:
        """Pose and velocity."""
        words.text("child_frame_id", lambda robot: robot.frame(BASE))
        for axis in "xy":
            words.column(f"pose.pose.position.{axis}", 0, axis)
            words.column(f"twist.twist.linear.{axis}", 0, f"v{axis}")
        words.turn("pose.pose.orientation", 0)
        words.planar_covariance("pose.covariance", 0)
        words.column("twist.twist.angular.z", 0, "wz")


class RangePublisher(ReadingPublisher):
    """One range."""

    topic, type = "range", "sensor_msgs/msg/Range"

    def widths(self) -> Sequence[int]:
        """Kind of radiation, field of view and range."""
        return (3,)

    def say_values(self, words: Words) -> None:
        """The range and its limits."""
        for k, path in enumerate(("radiation_type", "field_of_view", "range")):
            words.cell(path, len(self.sources), at=k)
        words.column("min_range", 0, "min_range")
        words.column("max_range", 0, "max_range")

    def compute(self, find: Find) -> tuple[Array, ...]:
        """Kind of radiation, field of view, and the range within its limit."""
        cone, seen = find(0, "cone"), find(0, "range")
        kind = np.where(cone > 0.0, ULTRASOUND, INFRARED)
        seen = np.where(seen >= find(0, "max_range"), np.inf, seen)
        return (np.stack([kind, 2.0 * cone, seen], axis=-1),)


def wheels_of(channel: SensorPipeline) -> int:
    """How many wheels a sensor reads."""
    memory = channel.sensor.memory if channel.sensor.remembers is not None else None
    if memory is not None and "wheels" in (memory.dtype.names or ()) and len(memory):
        return int(memory["wheels"][0]) or 4
    return 4


def steers(channel: SensorPipeline) -> bool:
    """Whether a sensor reads the wheels of a car."""
    body = getattr(channel.sensor, "body", None)
    return body is not None and body.kind == "ackermann"


REPORTS: list[tuple[Columns, type[ReadingPublisher]]] = [
    (IMU, ImuPublisher),
    (SCAN, LaserScanPublisher),
    (WHEELS, JointStatePublisher),
    (FIX, NavSatFixPublisher),
    (INS, InsPublisher),
    (RANGE, RangePublisher),
]


def report_of(layout: Columns) -> type[ReadingPublisher]:
    """Whoever says readings of this kind."""
    return next(
        (report for columns, report in REPORTS if columns == layout), GenericReadingPublisher
    )


def topics_of(channels: Mapping[str, SensorPipeline]) -> dict[str, str]:
    """The topic of each sensor: the usual one for the first of its kind, else by its own name."""
    taken: dict[str, str] = {}
    for name, channel in channels.items():
        report = report_of(channel.sensor.measures)
        usual = report.topic or ros_name(name)
        taken[name] = ros_name(name) if usual in taken.values() else usual
        while list(taken.values()).count(taken[name]) > 1:
            taken[name] += "_"
    return taken
