"""What robots believe: readings turned into a pose and a covariance."""

from astray.estimators.ekf import Ekf as Ekf
from astray.estimators.inertial import Inertial as Inertial
from astray.estimators.odometry import Odometry as Odometry
from astray.estimators.particle import Particle as Particle
from astray.estimators.remote import Remote as Remote
from astray.estimators.trust import Trust as Trust
