"""Judges: what the difference between truth and belief comes to."""

from astray.metrics.ate import Ate as Ate
from astray.metrics.heading_error import HeadingError as HeadingError
from astray.metrics.nees import Nees as Nees
from astray.metrics.position_error import PositionError as PositionError
