"""How decisions become speeds."""

from astray.control.direct import Direct as Direct
from astray.control.servo import Servo as Servo
from astray.control.velocity import Velocity as Velocity
