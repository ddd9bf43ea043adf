"""The extended Kalman filter: wheels, IMU, GNSS, compass and landmarks."""
