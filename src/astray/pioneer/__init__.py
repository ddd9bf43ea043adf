"""The protocol of Pioneer robots, as ARIA programs and MobileSim speak it."""

from __future__ import annotations

from astray.pioneer.background import serving, warm_up
from astray.pioneer.bridge import PioneerBridge
from astray.pioneer.client import Client
from astray.pioneer.client_connection import NoAnswer
from astray.pioneer.commands import PioneerCommand
from astray.pioneer.fleet import RANDOM_START, Fleet, RobotSpec, plan_fleet
from astray.pioneer.mobilesim import like_mobilesim
from astray.pioneer.model import RobotModel, find_model, model_names
from astray.pioneer.odometry import odometry_errors
from astray.pioneer.serial_terminal import PseudoTerminal
from astray.pioneer.session import ServedRobot, SessionOptions
from astray.pioneer.snapshot import Pose

__all__ = [
    "RANDOM_START",
    "Client",
    "Fleet",
    "NoAnswer",
    "PioneerBridge",
    "PioneerCommand",
    "Pose",
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
