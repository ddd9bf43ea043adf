"""Monte Carlo localisation: a particle filter over odometry and scans."""

from astray.robot.estimators.mcl.filter import Particle

__all__ = ["Particle"]
