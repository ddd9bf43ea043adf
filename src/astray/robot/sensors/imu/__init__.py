"""Inertial measurement units: motion at the mount, and the errors of a grade."""

from astray.robot.sensors.imu.imu import Imu

__all__ = ["Imu"]
