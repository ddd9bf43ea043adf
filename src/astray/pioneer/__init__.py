"""Pioneer robots for ARIA programs: a server of the wire protocol, as MobileSim is one.

`serving` serves robots to programs on this machine and `Client` drives one. `PioneerBridge` serves
the robots of any run that `plan_fleet` has planned.
"""

from astray.pioneer.bridge import PioneerBridge, serving, warm_up
from astray.pioneer.client import Client
from astray.pioneer.commands import PioneerCommand
from astray.pioneer.connection import PseudoTerminal
from astray.pioneer.fleet import RANDOM_START, Fleet, RobotSpec, plan_fleet
from astray.pioneer.mobilesim import like_mobilesim, odometry_errors
from astray.pioneer.models import PoseTuple, RobotModel, ServedRobot, find_model, model_names
from astray.pioneer.packet_socket import NoAnswer
from astray.pioneer.session import SessionOptions

__all__ = [
    "RANDOM_START",
    "Client",
    "Fleet",
    "NoAnswer",
    "PioneerBridge",
    "PioneerCommand",
    "PoseTuple",
    "PseudoTerminal",
    "RobotModel",
    "RobotSpec",
    "ServedRobot",
    "SessionOptions",
    "find_model",
    "like_mobilesim",
    "model_names",
    "odometry_errors",
    "plan_fleet",
    "serving",
    "warm_up",
]
