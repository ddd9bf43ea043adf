"""Other people's files."""

from astray.scenario.importers.ros_parameters import read_ros_parameters as read_ros_parameters
from astray.scenario.importers.ros_parameters import write_ros_parameters as write_ros_parameters
