"""The messages about the state of a robot: truth, belief, dead reckoning, command, tracks, battery.

Each function returns a publisher; its template says where the fields come from. The clock of the
run is here as well.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from astray.engine import Run
from astray.numerics import TICK_ROUNDING, Schedule
from astray.plugin import Tracks
from astray.ros.messages import (
    OWN_PACKAGE,
    Constant,
    FromColumn,
    MessageTemplate,
    RobotText,
    Stamp,
    TurnRate,
    YawQuaternion,
    declare_type,
    planar_covariance,
)
from astray.ros.names import (
    BASE_FRAME,
    MAP_FRAME,
    ODOM_FRAME,
    TRUTH_FRAME,
    WORLD_FRAME,
    RosRobot,
    robots_of,
    ros_name,
    world_frame,
)
from astray.ros.publishers.publisher import PeriodicPublisher, Publisher
from astray.ros.publishers.sensor_messages import FrameName, base_type
from astray.tables import TRACK, Array, Rows, Table

CLOCK = "rosgraph_msgs/msg/Clock"
CLOCK_PERIOD = 0.01  # s of simulated time from one clock message to the next, at most
TRACKS_TOPIC = "contacts/tracks"
TRACK_FIELDS = {column: "seen" if column == "stamp" else column for column in TRACK.names or ()}
"""The message field of each column; the stamp of the header is that of all tracks together."""
BATTERY_PERIOD = 1.0  # s
DISCHARGING, GOOD = 2, 1  # power_supply_status and power_supply_health of BatteryState


def odometry_template(parent: FrameName, child: FrameName) -> MessageTemplate:
    """nav_msgs/Odometry: the pose in the parent frame, the velocity in the child frame."""
    return MessageTemplate(
        "nav_msgs/msg/Odometry",
        {
            "header.stamp": Stamp(),
            "header.frame_id": RobotText(parent),
            "child_frame_id": RobotText(child),
            "pose.pose.position.x": FromColumn("x"),
            "pose.pose.position.y": FromColumn("y"),
            "pose.pose.position.z": FromColumn("z"),
            "pose.pose.orientation": YawQuaternion("yaw"),
            "pose.covariance": planar_covariance("cov"),
            "twist.twist.linear.x": FromColumn("vx"),
            "twist.twist.linear.y": FromColumn("vy"),
            "twist.twist.linear.z": FromColumn("vz"),
            "twist.twist.angular.z": FromColumn("wz"),
        },
    )


def odometry_publisher(
    robots: Sequence[RosRobot],
    topic: str,
    state: Table,
    period: int,
    parent: FrameName,
    child: FrameName,
) -> PeriodicPublisher:
    """The pose and velocity of a state table."""
    template = odometry_template(parent, child)
    return PeriodicPublisher(
        robots, topic, template, {"state": state}, period=period, alive=state["alive"]
    )


def truth_publisher(robots: Sequence[RosRobot], truth: Table, period: int) -> PeriodicPublisher:
    """The true pose and velocity; its frames hang from `world`, apart from those of the belief."""
    return odometry_publisher(
        robots,
        "ground_truth/odom",
        truth,
        period,
        parent=lambda robot: world_frame(robot, WORLD_FRAME),
        child=lambda robot: robot.frame(TRUTH_FRAME),
    )


def dead_reckoning_publisher(
    robots: Sequence[RosRobot], state: Table, period: int
) -> PeriodicPublisher:
    """Dead reckoning from where the robot started: it drifts and never jumps."""
    return odometry_publisher(
        robots,
        "odom",
        state,
        period,
        parent=lambda robot: robot.frame(ODOM_FRAME),
        child=lambda robot: robot.frame(BASE_FRAME),
    )


def belief_topic(name: str) -> str:
    """The topic of a belief: the robot's own, or that of a rival by its name."""
    return "belief/pose" if name == "belief" else f"rivals/{ros_name(name)}/pose"


def belief_publisher(
    robots: Sequence[RosRobot], name: str, belief: Table, period: int
) -> PeriodicPublisher:
    """geometry_msgs/PoseWithCovarianceStamped: the believed pose; published when it is new."""
    template = MessageTemplate(
        "geometry_msgs/msg/PoseWithCovarianceStamped",
        {
            "header.stamp": Stamp(),
            "header.frame_id": RobotText(lambda robot: world_frame(robot, MAP_FRAME)),
            "pose.pose.position.x": FromColumn("x"),
            "pose.pose.position.y": FromColumn("y"),
            "pose.pose.position.z": FromColumn("z"),
            "pose.pose.orientation": YawQuaternion("yaw"),
            "pose.covariance": planar_covariance("cov"),
        },
    )
    return PeriodicPublisher(
        robots,
        belief_topic(name),
        template,
        {"belief": belief},
        period=period,
        alive=belief["alive"],
        stamps=belief["stamp"],
    )


def command_publisher(
    robots: Sequence[RosRobot], drives: Table, truth: Table, period: int
) -> PeriodicPublisher:
    """geometry_msgs/TwistStamped: the velocity that the motion is commanded."""
    template = MessageTemplate(
        "geometry_msgs/msg/TwistStamped",
        {
            "header.stamp": Stamp(table="truth"),
            "header.frame_id": RobotText(lambda robot: robot.frame(BASE_FRAME)),
            "twist.linear.x": FromColumn("vx"),
            "twist.linear.y": FromColumn("vy"),
            "twist.angular.z": TurnRate("wz", curvature="curvature", speed="vx"),
        },
    )
    tables = {"drives": drives, "truth": truth}
    return PeriodicPublisher(
        robots, "command", template, tables, period=period, alive=truth["alive"]
    )


def tracks_publisher(
    robots: Sequence[RosRobot], tracks: Tracks, alive: Array, period: int
) -> PeriodicPublisher:
    """What each robot believes of the others: a type of our own with a sequence for each column."""
    slots = tracks.tracks.shape[1]
    template = MessageTemplate(
        _declare_tracks_type(),
        {
            "header.stamp": Stamp(table="owners"),
            "header.frame_id": RobotText(lambda robot: world_frame(robot, MAP_FRAME)),
            **{field: FromColumn(column) for column, field in TRACK_FIELDS.items()},
        },
        lengths={
            field: slots * int(np.prod(TRACK[column].shape))
            for column, field in TRACK_FIELDS.items()
        },
    )
    return PeriodicPublisher(
        robots,
        TRACKS_TOPIC,
        template,
        {"tracks": tracks.tracks, "owners": tracks.table},
        period=period,
        alive=alive,
        stamps=tracks.stamp,
    )


def _declare_tracks_type() -> str:
    lines = [f"{base_type(TRACK[column])}[] {field}" for column, field in TRACK_FIELDS.items()]
    text = "\n".join(["std_msgs/Header header", *lines, ""])
    return declare_type(f"{OWN_PACKAGE}/msg/Tracks", text)


def battery_publisher(robots: Sequence[RosRobot], truth: Table, dt: float) -> PeriodicPublisher:
    """sensor_msgs/BatteryState once per second: always full, for programs that dock when it is low.

    What is not modelled is nan, as the message's definition asks.
    """
    unknown = ("voltage", "temperature", "current", "charge", "capacity", "design_capacity")
    template = MessageTemplate(
        "sensor_msgs/msg/BatteryState",
        {
            "header.stamp": Stamp(),
            "header.frame_id": RobotText(lambda robot: robot.frame(BASE_FRAME)),
            **{name: Constant(np.nan) for name in unknown},
            "percentage": Constant(1.0),
            "power_supply_status": Constant(DISCHARGING),
            "power_supply_health": Constant(GOOD),
            "present": Constant(True),
        },
    )
    period = round(BATTERY_PERIOD / dt) or 1
    return PeriodicPublisher(
        robots, "battery_state", template, {"truth": truth}, period=period, alive=truth["alive"]
    )


def clock_schedule(dt: float) -> Schedule:
    """The ticks at which the clock is published at least: every one if ticks are long."""
    return Schedule(max(1, int(CLOCK_PERIOD / dt + TICK_ROUNDING)))


class ClockPublisher(Publisher):
    """rosgraph_msgs/Clock: the time of the first world, for nodes with `use_sim_time`."""

    def __init__(self, sim: Run) -> None:
        first = next(robot for robots in robots_of(sim).values() for robot in robots)
        self._now = np.zeros((first.row + 1, 1))
        template = MessageTemplate(CLOCK, {"clock": Stamp(column="")})
        super().__init__([first], "/clock", template, {"time": self._now}, clock_schedule(sim.dt))

    def fresh_rows(self, sim: Run) -> Rows:
        """Its one row, with the time of now."""
        self._now[:] = sim.time
        return self.rows
