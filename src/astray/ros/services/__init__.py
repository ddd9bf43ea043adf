"""The services of simulation_interfaces on a run, without a transport."""

from astray.ros.services.calls import Request, Response, read_between_ticks
from astray.ros.services.simulation import Service, Services

__all__ = ["Request", "Response", "Service", "Services", "read_between_ticks"]
