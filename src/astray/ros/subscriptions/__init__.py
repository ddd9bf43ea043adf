"""What a run subscribes to in ROS 2, without a transport."""

from astray.ros.subscriptions.command_handlers import Hearing, Subscriptions
from astray.ros.subscriptions.drivable import make_drivable

__all__ = ["Hearing", "Subscriptions", "make_drivable"]
