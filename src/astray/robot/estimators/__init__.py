"""What robots believe: readings turned into a pose and a covariance."""

from astray.robot.estimators.ekf import Ekf
from astray.robot.estimators.inertial import Inertial
from astray.robot.estimators.mcl import Particle
from astray.robot.estimators.odometry import Odometry
from astray.robot.estimators.remote import RemoteEstimator
from astray.robot.estimators.trust import Trust

__all__ = ["Ekf", "Inertial", "Odometry", "Particle", "RemoteEstimator", "Trust"]
