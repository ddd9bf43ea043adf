"""Controls: each file has one kind, which turns commands of the autonomy into drives."""

from astray.robot.control.direct import Direct
from astray.robot.control.servo import Servo
from astray.robot.control.velocity import VelocityControl

__all__ = ["Direct", "Servo", "VelocityControl"]
