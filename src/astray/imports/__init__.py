"""Other people's files."""

from astray.imports.ros_parameters import read_ros_parameters as read_ros_parameters
from astray.imports.ros_parameters import write_ros_parameters as write_ros_parameters
