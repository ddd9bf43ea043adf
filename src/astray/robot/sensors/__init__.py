"""Sensors: each file has one kind, which measures the truth with its typical errors.

`error_models` and `ranging` have what several kinds share. A new kind is a new file here and an
import below.
"""

from astray.robot.sensors.bumper import Bumper
from astray.robot.sensors.compass import Compass
from astray.robot.sensors.contacts import ContactSensor
from astray.robot.sensors.gnss import Gnss
from astray.robot.sensors.imu import Imu
from astray.robot.sensors.ins import Ins
from astray.robot.sensors.landmarks import Landmarks
from astray.robot.sensors.lidar import Lidar, ray_angles
from astray.robot.sensors.odometer import Odometer
from astray.robot.sensors.rangefinder import Rangefinder
from astray.robot.sensors.scripted import IMU_CHANNELS, WHEEL_CHANNELS, ScriptedImu, ScriptedWheels
from astray.robot.sensors.sonar import Sonar
from astray.robot.sensors.wheel_encoders import Wheels

__all__ = [
    "IMU_CHANNELS",
    "WHEEL_CHANNELS",
    "Bumper",
    "Compass",
    "ContactSensor",
    "Gnss",
    "Imu",
    "Ins",
    "Landmarks",
    "Lidar",
    "Odometer",
    "Rangefinder",
    "ScriptedImu",
    "ScriptedWheels",
    "Sonar",
    "Wheels",
    "ray_angles",
]
