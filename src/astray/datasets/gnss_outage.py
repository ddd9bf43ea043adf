"""What an estimator does without its GPS: fixes are withheld for a while, many times over.

Every window is a row of one pass over the log. Its error is the distance of the belief from the
first fix after the window, before that fix was told.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from astray.datasets.dataset import Dataset
from astray.datasets.run_estimator import run_on_log
from astray.datasets.scoring import extrapolate
from astray.plugin import Estimator
from astray.tables import Array

LENGTH = 30.0  # s
APART = 10.0  # s from the beginning of a window to that of the next
SETTLED = 60.0  # s before the first: a filter may learn its biases
PROMPT = 1.0  # s within which there is a fix on either side of a window


@dataclasses.dataclass(frozen=True)
class GnssOutageResult:
    """How far beliefs went astray while fixes were withheld."""

    length: float  # s
    starts: Array
    """When each window began, (windows,) s."""
    errors: Array
    """The distance from the fix that ended it, (windows,) m."""

    @property
    def median(self) -> float:
        """Of the errors, m."""
        return float(np.median(self.errors)) if len(self.errors) else float("nan")


def windows(fixes: Array, length: float) -> Array:
    """When windows may begin, (windows,) s: with a fix just before, and one just after the end."""
    starts = np.arange(fixes[0] + SETTLED, fixes[-1] - length, APART)
    before = starts - fixes[np.searchsorted(fixes, starts) - 1]
    ends = starts + length
    after = fixes[np.searchsorted(fixes, ends).clip(max=len(fixes) - 1)] - ends
    return np.asarray(starts[(before <= PROMPT) & (after >= 0.0) & (after <= PROMPT)])


def withhold(
    log: Dataset,
    estimator: Estimator,
    length: float = LENGTH,
    progress: Callable[[float], None] | None = None,
) -> GnssOutageResult:
    """Withhold fixes in windows of this length, s, of a log whose reference is its GPS."""
    name = log.reference.stream
    fixes = log.streams[name].stamp
    starts = windows(fixes, length)
    if not len(starts):
        return GnssOutageResult(length, starts, np.zeros(0))
    told = (fixes[:, None] < starts) | (fixes[:, None] >= starts + length)
    first = np.searchsorted(fixes, starts + length)
    result = run_on_log(
        log, estimator, n=len(starts), kept={name: told}, noted=fixes[first], progress=progress
    )
    at = np.searchsorted(result.moments, fixes[first])
    belief = extrapolate(result.before[at, np.arange(len(starts))].copy(), fixes[first])
    x, y = log.reference.at
    s, c = np.sin(belief["yaw"]), np.cos(belief["yaw"])
    east = belief["x"] + c * x - s * y - log.reference.x[first]
    north = belief["y"] + s * x + c * y - log.reference.y[first]
    return GnssOutageResult(length, starts, np.hypot(east, north))
