"""The protocol of Pioneer robots, as ARIA programs and MobileSim speak it."""

from __future__ import annotations

from astray.pioneer.background import serving, warm_up
from astray.pioneer.bridge import PioneerBridge
from astray.pioneer.client import Client
from astray.pioneer.client_connection import NoAnswer
from astray.pioneer.commands import PioneerCommand
from astray.pioneer.fleet import RANDOM, Fleet, RobotRequest, plan_fleet
from astray.pioneer.serial_terminal import Terminal
from astray.pioneer.session import Rules, ServedRobot
from astray.pioneer.snapshot import Pose

__all__ = [
    "RANDOM",
    "Client",
    "Fleet",
    "NoAnswer",
    "PioneerBridge",
    "PioneerCommand",
    "Pose",
    "RobotRequest",
    "Rules",
    "ServedRobot",
    "Terminal",
    "plan_fleet",
    "serving",
    "warm_up",
]
