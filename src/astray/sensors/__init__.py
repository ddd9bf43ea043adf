"""What robots measure: the truth, made wrong."""

from astray.sensors.bumper import Bumper as Bumper
from astray.sensors.compass import Compass as Compass
from astray.sensors.contacts import Contacts as Contacts
from astray.sensors.gnss import Gnss as Gnss
from astray.sensors.imu import Imu as Imu
from astray.sensors.ins import Ins as Ins
from astray.sensors.landmarks import Landmarks as Landmarks
from astray.sensors.lidar import Lidar as Lidar
from astray.sensors.odometer import Odometer as Odometer
from astray.sensors.rangefinder import Rangefinder as Rangefinder
from astray.sensors.scripted import ScriptedImu as ScriptedImu
from astray.sensors.scripted import ScriptedWheels as ScriptedWheels
from astray.sensors.sonar import Sonar as Sonar
from astray.sensors.wheels import Wheels as Wheels
