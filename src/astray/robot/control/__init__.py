"""How decisions become speeds."""

from astray.robot.control.direct import Direct
from astray.robot.control.servo import Servo
from astray.robot.control.velocity import VelocityControl

__all__ = ["Direct", "Servo", "VelocityControl"]
