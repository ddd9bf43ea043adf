"""Monte Carlo localisation: a particle filter over odometry and scans."""
