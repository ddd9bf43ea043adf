"""The extended Kalman filter: wheels, IMU, GNSS, compass and landmarks."""

from astray.robot.estimators.ekf.filter import Ekf

__all__ = ["Ekf"]
