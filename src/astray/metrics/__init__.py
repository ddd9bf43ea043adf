"""Judges: what the difference between truth and belief comes to."""

from astray.metrics.ate import Ate as Ate
from astray.metrics.contacts_nees import ContactsNees as ContactsNees
from astray.metrics.gospa import Gospa as Gospa
from astray.metrics.heading_error import HeadingError as HeadingError
from astray.metrics.nees import Nees as Nees
from astray.metrics.nis import Nis as Nis
from astray.metrics.position_error import PositionError as PositionError
from astray.metrics.rpe import Rpe as Rpe
from astray.metrics.time_outside import TimeOutside as TimeOutside
