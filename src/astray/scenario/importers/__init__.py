"""Files of other programs: Stage's and ARIA's robots, ROS 2 parameters with signals."""

from astray.scenario.importers.aria import read_aria_robot
from astray.scenario.importers.robot_file import RobotFile, pioneer_encoders
from astray.scenario.importers.ros_parameters import (
    absolute_path,
    locate_problem,
    make_paths_absolute,
    nest_parameters,
    parse_parameter,
    read_node_parameters,
    read_ros_parameters,
    read_signal_tree,
    select_signals,
    write_ros_parameters,
)
from astray.scenario.importers.stage import read_stage_robot

__all__ = [
    "RobotFile",
    "absolute_path",
    "locate_problem",
    "make_paths_absolute",
    "nest_parameters",
    "parse_parameter",
    "pioneer_encoders",
    "read_aria_robot",
    "read_node_parameters",
    "read_ros_parameters",
    "read_signal_tree",
    "read_stage_robot",
    "select_signals",
    "write_ros_parameters",
]
