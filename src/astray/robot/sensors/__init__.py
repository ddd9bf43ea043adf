"""What robots measure: the truth, made wrong."""

from astray.robot.sensors.bumper import Bumper as Bumper
from astray.robot.sensors.compass import Compass as Compass
from astray.robot.sensors.contacts import ContactSensor as ContactSensor
from astray.robot.sensors.gnss import Gnss as Gnss
from astray.robot.sensors.imu.imu import Imu as Imu
from astray.robot.sensors.ins import Ins as Ins
from astray.robot.sensors.landmarks import Landmarks as Landmarks
from astray.robot.sensors.lidar import Lidar as Lidar
from astray.robot.sensors.odometer import Odometer as Odometer
from astray.robot.sensors.rangefinder import Rangefinder as Rangefinder
from astray.robot.sensors.scripted import ScriptedImu as ScriptedImu
from astray.robot.sensors.scripted import ScriptedWheels as ScriptedWheels
from astray.robot.sensors.sonar import Sonar as Sonar
from astray.robot.sensors.wheel_encoders import Wheels as Wheels
