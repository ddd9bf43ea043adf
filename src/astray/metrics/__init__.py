"""Judges: what the difference between truth and belief comes to."""

from astray.metrics.position_error import PositionError as PositionError
