"""What robots believe: readings turned into a pose and a covariance."""

from astray.robot.estimators.ekf.filter import Ekf as Ekf
from astray.robot.estimators.inertial import Inertial as Inertial
from astray.robot.estimators.mcl.filter import Particle as Particle
from astray.robot.estimators.odometry.odometry import Odometry as Odometry
from astray.robot.estimators.remote import RemoteEstimator as RemoteEstimator
from astray.robot.estimators.trust import Trust as Trust
