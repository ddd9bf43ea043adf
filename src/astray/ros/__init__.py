"""A run in ROS 2: messages, publishers, subscriptions, services, and bridges to DDS and rosbridge.

Recordings hold the same messages that the bridges publish.
"""

from astray.ros.arguments import Arguments, parse_arguments
from astray.ros.names import BASE_FRAME, MAP_FRAME, RosRobot, ros_name, world_frame

__all__ = [
    "BASE_FRAME",
    "MAP_FRAME",
    "Arguments",
    "RosRobot",
    "parse_arguments",
    "ros_name",
    "world_frame",
]
