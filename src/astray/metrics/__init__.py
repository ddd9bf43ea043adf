"""Judges: what the difference between truth and belief comes to."""

from astray.metrics.ate import Ate
from astray.metrics.contacts_nees import ContactsNees
from astray.metrics.gospa import Gospa
from astray.metrics.heading_error import HeadingError
from astray.metrics.nees import Nees
from astray.metrics.nis import Nis
from astray.metrics.position_error import PositionError
from astray.metrics.rpe import Rpe
from astray.metrics.time_outside import TimeOutside

__all__ = [
    "Ate",
    "ContactsNees",
    "Gospa",
    "HeadingError",
    "Nees",
    "Nis",
    "PositionError",
    "Rpe",
    "TimeOutside",
]
