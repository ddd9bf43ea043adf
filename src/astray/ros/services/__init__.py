"""The services of a run in ROS 2, without a transport."""

from astray.ros.services.answers import Request, Response
from astray.ros.services.simulation import Service, Services
from astray.ros.services.snapshot import read_between_ticks

__all__ = ["Request", "Response", "Service", "Services", "read_between_ticks"]
