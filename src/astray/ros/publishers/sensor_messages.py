"""The message of each kind of sensor reading: its type, its topic, and where its fields come from.

A reading that ROS 2 has a message type for is published as that type; any other one as a type of
our own with a field for each column (`generic_template`). For another message type add a template
function here and enter it in SENSOR_MESSAGES.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from astray.engine import Run, SensorPipeline
from astray.ros.messages import (
    OWN_PACKAGE,
    ClippedRanges,
    Computed,
    Concatenated,
    Constant,
    FromColumn,
    MessageTemplate,
    Quotient,
    ReadColumn,
    RobotText,
    Stamp,
    SteppedValue,
    YawQuaternion,
    declare_type,
    horizontal_covariance,
    planar_covariance,
)
from astray.ros.names import BASE_FRAME, MAP_FRAME, RosRobot, ros_name, world_frame
from astray.ros.publishers.publisher import NO_ROWS, Publisher
from astray.tables import FIX, IMU, INS, RANGE, SCAN, WHEELS, Array, Columns, Rows

WHEEL_NAMES = {
    1: ("wheel_front",),
    2: ("wheel_left", "wheel_right"),
    3: ("wheel_1", "wheel_2", "wheel_3"),
    4: ("wheel_fl", "wheel_fr", "wheel_rl", "wheel_rr"),
}
STEERING = "steering"  # the joint of a car's front wheels, rad
EARTH_RADIUS = 6378137.0  # m, equatorial radius of WGS 84; the map's origin is at 0° N 0° E
FLATTENING = 1.0 / 298.257223563  # of WGS 84
NORTH_RADIUS = EARTH_RADIUS * (1.0 - FLATTENING) ** 2  # m/rad of latitude at the equator
NAV_STATUS_FIX, FIX_LOST = 0, -1  # NavSatStatus
COVARIANCE_UNKNOWN, COVARIANCE_KNOWN = 0, 2  # NavSatFix
ULTRASOUND, INFRARED = 0, 1  # Range

FrameName = Callable[[RosRobot], str]


def imu_template(pipeline: SensorPipeline, frame: FrameName) -> MessageTemplate:
    """sensor_msgs/Imu: angular velocity and specific force; its covariance marks no orientation."""
    return MessageTemplate(
        "sensor_msgs/msg/Imu",
        {
            "header.stamp": Stamp(),
            "header.frame_id": RobotText(frame),
            "orientation.w": Constant(1.0),
            "orientation_covariance": Constant([-1.0] + [0.0] * 8),
            "angular_velocity.x": FromColumn("wx"),
            "angular_velocity.y": FromColumn("wy"),
            "angular_velocity.z": FromColumn("wz"),
            "linear_acceleration.x": FromColumn("ax"),
            "linear_acceleration.y": FromColumn("ay"),
            "linear_acceleration.z": FromColumn("az"),
        },
    )


def laser_scan_template(pipeline: SensorPipeline, frame: FrameName) -> MessageTemplate:
    """sensor_msgs/LaserScan: a range per ray, infinite beyond its limits (REP 117)."""
    rays = pipeline.arrived.arrays["ranges"].shape[1]
    return MessageTemplate(
        "sensor_msgs/msg/LaserScan",
        {
            "header.stamp": Stamp(),
            "header.frame_id": RobotText(frame),
            "angle_min": FromColumn("start"),
            "angle_max": SteppedValue("start", step="step", steps=rays - 1),
            "angle_increment": FromColumn("step"),
            "time_increment": Quotient("duration", divisor=rays),
            "scan_time": FromColumn("duration"),
            "range_min": FromColumn("min_range"),
            "range_max": FromColumn("max_range"),
            "ranges": ClippedRanges("ranges", range_min="min_range", range_max="max_range"),
        },
        lengths={"ranges": rays},
    )


def joint_state_template(pipeline: SensorPipeline, frame: FrameName) -> MessageTemplate:
    """sensor_msgs/JointState: angle and rate of each wheel; of a car, also the steering angle."""
    wheels, has_steering = wheel_count(pipeline), is_car(pipeline)
    names = [*WHEEL_NAMES[wheels], *([STEERING] if has_steering else [])]
    angles = (FromColumn("angle", count=wheels), *([FromColumn("steer")] if has_steering else []))
    return MessageTemplate(
        "sensor_msgs/msg/JointState",
        {
            "header.stamp": Stamp(),
            "header.frame_id": RobotText(frame),
            **{f"name.{k}": Constant(name) for k, name in enumerate(names)},
            "position": Concatenated(angles),
            "velocity": FromColumn("rate", count=wheels),
        },
        lengths=dict.fromkeys(("name", "position", "velocity"), len(names)),
    )


def wheel_count(pipeline: SensorPipeline) -> int:
    """How many wheels a sensor reads."""
    memory = pipeline.sensor.memory if pipeline.sensor.remembers is not None else None
    if memory is not None and "wheels" in (memory.dtype.names or ()) and len(memory):
        return int(memory["wheels"][0]) or 4
    return 4


def is_car(pipeline: SensorPipeline) -> bool:
    """Whether a sensor reads the wheels of a car, which steers."""
    body = getattr(pipeline.sensor, "body", None)
    return body is not None and body.kind == "ackermann"


def nav_sat_fix_template(pipeline: SensorPipeline, frame: FrameName) -> MessageTemplate:
    """sensor_msgs/NavSatFix: a position on WGS 84, near 0° N 0° E, the origin of the map."""
    return MessageTemplate(
        "sensor_msgs/msg/NavSatFix",
        {
            "header.stamp": Stamp(),
            "header.frame_id": RobotText(frame),
            "status.status": Computed(_nav_status),
            "status.service": Constant(1),  # GPS
            "latitude": Computed(_latitude),
            "longitude": Computed(_longitude),
            "position_covariance": horizontal_covariance("cov"),
            "position_covariance_type": Computed(_covariance_type),
        },
    )


def _nav_status(read: ReadColumn) -> Array:
    """0 (STATUS_FIX), or -1 (STATUS_NO_FIX) if the fix is `lost`."""
    return np.where(read("lost"), FIX_LOST, NAV_STATUS_FIX)


def _latitude(read: ReadColumn) -> Array:
    """Degrees, of column `y` on WGS 84 about 0° N 0° E; nan without a fix."""
    return np.where(read("lost"), np.nan, np.degrees(read("y") / NORTH_RADIUS))


def _longitude(read: ReadColumn) -> Array:
    """Degrees, of column `x` on WGS 84 about 0° N 0° E; nan without a fix."""
    return np.where(read("lost"), np.nan, np.degrees(read("x") / EARTH_RADIUS))


def _covariance_type(read: ReadColumn) -> Array:
    """2 (COVARIANCE_TYPE_DIAGONAL_KNOWN), or 0 (UNKNOWN) if the receiver reports none."""
    return np.where(read("cov")[:, 0, 0] > 0.0, COVARIANCE_KNOWN, COVARIANCE_UNKNOWN)


def ins_template(pipeline: SensorPipeline, frame: FrameName) -> MessageTemplate:
    """nav_msgs/Odometry of a navigation system: pose in the map, velocity in the body."""
    return MessageTemplate(
        "nav_msgs/msg/Odometry",
        {
            "header.stamp": Stamp(),
            "header.frame_id": RobotText(lambda robot: world_frame(robot, MAP_FRAME)),
            "child_frame_id": RobotText(lambda robot: robot.frame(BASE_FRAME)),
            "pose.pose.position.x": FromColumn("x"),
            "pose.pose.position.y": FromColumn("y"),
            "pose.pose.orientation": YawQuaternion("yaw"),
            "pose.covariance": planar_covariance("cov"),
            "twist.twist.linear.x": FromColumn("vx"),
            "twist.twist.linear.y": FromColumn("vy"),
            "twist.twist.angular.z": FromColumn("wz"),
        },
    )


def range_template(pipeline: SensorPipeline, frame: FrameName) -> MessageTemplate:
    """sensor_msgs/Range: one range, infinite from its limit on (REP 117)."""
    return MessageTemplate(
        "sensor_msgs/msg/Range",
        {
            "header.stamp": Stamp(),
            "header.frame_id": RobotText(frame),
            "radiation_type": Computed(_radiation_type),
            "field_of_view": Computed(_field_of_view),
            "min_range": FromColumn("min_range"),
            "max_range": FromColumn("max_range"),
            "range": Computed(_limited_range),
        },
    )


def _radiation_type(read: ReadColumn) -> Array:
    """0 (ULTRASOUND) for a sensor with a `cone`, 1 (INFRARED) for one with a single beam."""
    return np.where(read("cone") > 0.0, ULTRASOUND, INFRARED)


def _field_of_view(read: ReadColumn) -> Array:
    """Twice the column `cone` (rad): the full opening angle."""
    return 2.0 * read("cone")


def _limited_range(read: ReadColumn) -> Array:
    """Column `range` (m); +inf from `max_range` on (REP 117)."""
    return np.where(read("range") >= read("max_range"), np.inf, read("range"))


def generic_template(pipeline: SensorPipeline, frame: FrameName) -> MessageTemplate:
    """A type of our own, named after the sensor's kind: a field for each column and array."""
    columns = [name for name, _, _ in message_fields(pipeline.sensor.measures)]
    arrays = {name: array for name, array in pipeline.arrived.arrays.items() if array[:1].size}
    return MessageTemplate(
        _declare_reading_type(pipeline),
        {
            "header.stamp": Stamp(),
            "header.frame_id": RobotText(frame),
            **{column: FromColumn(column) for column in columns},
            **{name: FromColumn(table=name) for name in arrays},
        },
        lengths={name: int(np.prod(array.shape[1:])) for name, array in arrays.items()},
    )


def _declare_reading_type(pipeline: SensorPipeline) -> str:
    fields = message_fields(pipeline.sensor.measures)
    fields += [(name, "float64", "[]") for name in pipeline.arrived.arrays]
    lines = ["std_msgs/Header header", *(f"{base}{many} {name}" for name, base, many in fields)]
    return declare_type(own_type(pipeline.sensor.kind), "\n".join(lines) + "\n")


def own_type(kind: str) -> str:
    """The name of a message type of our own: `astray_msgs/msg/WheelSlip` of "wheel_slip"."""
    name = "".join(part.capitalize() for part in ros_name(kind).split("_"))
    return f"{OWN_PACKAGE}/msg/{name}"


def message_fields(layout: Columns) -> list[tuple[str, str, str]]:
    """The fields that a .msg file has for the columns of a table.

    Args:
        layout: The columns; `fresh` and `stamp` are left out, since the header has the stamp.

    Returns:
        For each field its name, its base type such as "float64", and "[9]" if it has nine values.
    """
    fields: list[tuple[str, str, str]] = []
    for name in layout.names or ():
        if name not in ("fresh", "stamp"):
            size = int(np.prod(layout[name].shape)) if layout[name].shape else 0
            fields.append((name, base_type(layout[name]), f"[{size}]" if size else ""))
    return fields


def base_type(column: Columns) -> str:
    """The ROS 2 name of a column's number type."""
    base = {"f": "float64", "i": "int64", "u": "uint64", "b": "bool"}[column.base.kind]
    return base.replace("64", str(8 * column.base.itemsize))


class SensorMessage(NamedTuple):
    """How the readings of a kind of sensor are published."""

    topic: str
    """The usual topic of the first such sensor; empty for the name of the sensor."""
    template: Callable[[SensorPipeline, FrameName], MessageTemplate]


SENSOR_MESSAGES: list[tuple[Columns, SensorMessage]] = [
    (IMU, SensorMessage("imu/data", imu_template)),
    (SCAN, SensorMessage("scan", laser_scan_template)),
    (WHEELS, SensorMessage("joint_states", joint_state_template)),
    (FIX, SensorMessage("gps/fix", nav_sat_fix_template)),
    (INS, SensorMessage("ins/odom", ins_template)),
    (RANGE, SensorMessage("range", range_template)),
]
"""The message of each kind of reading, by the columns of the reading."""
GENERIC_MESSAGE = SensorMessage("", generic_template)


def sensor_message(layout: Columns) -> SensorMessage:
    """How readings with these columns are published."""
    return next((found for columns, found in SENSOR_MESSAGES if columns == layout), GENERIC_MESSAGE)


def topics_of(pipelines: Mapping[str, SensorPipeline]) -> dict[str, str]:
    """The topic of each sensor: the usual one for the first of its kind, else by its own name."""
    topics: dict[str, str] = {}
    for name, pipeline in pipelines.items():
        usual = sensor_message(pipeline.sensor.measures).topic or ros_name(name)
        topics[name] = ros_name(name) if usual in topics.values() else usual
        while list(topics.values()).count(topics[name]) > 1:
            topics[name] += "_"
    return topics


class ReadingPublisher(Publisher):
    """Publishes each reading of a sensor when it arrives.

    Args:
        robots: The robots that have the sensor.
        pipeline: The sensor and its readings.
        topic: The topic in the namespace of each robot.
        frame: The name of the sensor's frame.
    """

    def __init__(
        self, robots: Sequence[RosRobot], pipeline: SensorPipeline, topic: str, frame: str
    ) -> None:
        self._pipeline, arrived = pipeline, pipeline.arrived
        message = sensor_message(pipeline.sensor.measures)
        template = message.template(pipeline, lambda robot: robot.frame(frame))
        tables = {"": arrived.table, **arrived.arrays}
        schedule = pipeline.arrival_schedule
        super().__init__(robots, topic, template, tables, schedule, polls_every_step=True)

    def fresh_rows(self, sim: Run) -> Rows:
        """The robots for which a reading has just arrived."""
        if not self._pipeline.any_fresh:
            return NO_ROWS
        if self._pipeline.all_fresh:
            return self.rows
        return self.rows[self._pipeline.arrived.fresh[self.rows]]
