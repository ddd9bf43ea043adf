"""Metrics: errors of beliefs, and whether their covariances are consistent with them.

`pose_error.py` has the error at one time, `trajectory_error.py` ATE and RPE, `consistency.py` NEES
and NIS, `track_errors.py` GOSPA and NEES of tracks.
"""

from astray.metrics.consistency import Nees, Nis, TimeOutside
from astray.metrics.pose_error import HeadingError, PositionError
from astray.metrics.track_errors import ContactsNees, Gospa
from astray.metrics.trajectory_error import Ate, Rpe

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
