"""What the standalone nodes share: a robot without a name, and times in whole nanoseconds."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from astray.ros.names import RosRobot
from astray.ros.publishers import Publisher

NS_PER_S = 1_000_000_000
ROW = np.zeros(1, np.int64)  # the row of the one robot

POSE_2D = "geometry_msgs/msg/Pose2D"
JOINT_STATE = "sensor_msgs/msg/JointState"
WHEEL_RATES = "std_msgs/msg/Float64MultiArray"
WheelMessage = Literal["JointState", "Float64MultiArray"]


def standalone_robot(frame: str) -> RosRobot:
    """The one robot of a node, whose topics and frames have no prefix."""
    return RosRobot("", 0, 0, 0, frame, "")


def message_with_stamp(publisher: Publisher, ns: int) -> bytes:
    """The message of the one robot, with a stamp of more digits than a float64 of seconds has.

    Args:
        publisher: The publisher of the message.
        ns: The stamp, ns.
    """
    messages = publisher.serialize(publisher.sample(ROW))
    columns = messages.columns
    columns["header.stamp.sec"], columns["header.stamp.nanosec"] = divmod(ns, NS_PER_S)
    return messages.as_bytes()[0]


def stamp_ns(header: Any, received: int) -> int:
    """The stamp of a std_msgs/Header, ns; without one, the time at which it was received."""
    return int(header.stamp.sec) * NS_PER_S + int(header.stamp.nanosec) or received
