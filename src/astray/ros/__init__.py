"""What a run says and hears, in the messages of ROS 2; recording and wires share it."""

from astray.ros.arguments import Arguments, parse_arguments
from astray.ros.names import BASE, MAP, RosRobot, ros_name, world_frame

__all__ = ["BASE", "MAP", "Arguments", "RosRobot", "parse_arguments", "ros_name", "world_frame"]
