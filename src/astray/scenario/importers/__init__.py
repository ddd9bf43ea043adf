"""Other people's files."""

from astray.scenario.importers.aria_robot import read_aria_robot
from astray.scenario.importers.robot_file import wheels
from astray.scenario.importers.ros_parameters import (
    absolute,
    as_parameter,
    located,
    make_paths_absolute,
    node_parameters,
    read_ros_parameters,
    signal_tree,
    signals_of,
    write_ros_parameters,
)
from astray.scenario.importers.stage_robot import read_stage_robot

__all__ = [
    "absolute",
    "as_parameter",
    "located",
    "make_paths_absolute",
    "node_parameters",
    "read_aria_robot",
    "read_ros_parameters",
    "read_stage_robot",
    "signal_tree",
    "signals_of",
    "wheels",
    "write_ros_parameters",
]
