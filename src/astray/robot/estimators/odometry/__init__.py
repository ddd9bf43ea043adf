"""Dead reckoning from wheel travel, with the covariance of its error."""

from astray.robot.estimators.odometry.covariance import moved
from astray.robot.estimators.odometry.odometry import (
    ACROSS,
    ALONG,
    AROUND,
    Odometry,
    arm_of,
    estimate_all,
)

__all__ = ["ACROSS", "ALONG", "AROUND", "Odometry", "arm_of", "estimate_all", "moved"]
