"""The services of a run in ROS 2, without a transport."""

from astray.ros.services.answers import Plain, Response
from astray.ros.services.simulation import Service, Services
from astray.ros.services.snapshot import look_at_run

__all__ = ["Plain", "Response", "Service", "Services", "look_at_run"]
