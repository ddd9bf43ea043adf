"""What robots measure: the truth, made wrong."""

from astray.sensors.wheels import Wheels as Wheels
