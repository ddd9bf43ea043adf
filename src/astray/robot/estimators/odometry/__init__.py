"""Dead reckoning from wheel travel, with the covariance of its error."""
