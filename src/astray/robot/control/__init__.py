"""How decisions become speeds."""

from astray.robot.control.direct import Direct as Direct
from astray.robot.control.servo import Servo as Servo
from astray.robot.control.velocity import VelocityControl as VelocityControl
