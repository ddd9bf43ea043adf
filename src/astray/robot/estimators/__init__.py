"""Estimators: readings of sensors turned into a believed pose with its covariance.

An estimator knows stamps and datasheets and nothing of the simulator, so the same object runs in a
scenario, on a log, in a ROS node and by hand.
"""

from astray.robot.estimators.ekf import Ekf
from astray.robot.estimators.external import RemoteEstimator, Trust
from astray.robot.estimators.inertial import Inertial
from astray.robot.estimators.mcl import Particle
from astray.robot.estimators.odometry import Odometry, dead_reckon_all

__all__ = [
    "Ekf",
    "Inertial",
    "Odometry",
    "Particle",
    "RemoteEstimator",
    "Trust",
    "dead_reckon_all",
]
