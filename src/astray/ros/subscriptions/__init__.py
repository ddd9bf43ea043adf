"""The subscriptions of a run in ROS 2, without a transport: messages become events of the run."""

from astray.ros.subscriptions.command_handlers import Subscriptions, SubscriptionSettings
from astray.ros.subscriptions.drivable import make_drivable

__all__ = ["SubscriptionSettings", "Subscriptions", "make_drivable"]
