"""The GNSS outage test: fixes are withheld for a time window, many times over.

Every window is a row of one pass over the dataset. Its error is the distance of the belief from the
first fix after the window, before the estimator is given that fix.
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
SPACING = 10.0  # s from the start of a window to that of the next
SETTLING = 60.0  # s before the first window, for a filter to estimate its biases
MAX_DELAY = 1.0  # s from a fix to the start of a window, and from its end to a fix


@dataclasses.dataclass(frozen=True)
class GnssOutageResult:
    """The errors of beliefs while fixes were withheld."""

    length: float
    """The length of the windows, s."""
    starts: Array
    """The start of each window, (windows,) s."""
    errors: Array
    """The distance of the belief from the fix after each window, (windows,) m."""

    @property
    def median(self) -> float:
        """The median of the errors, m; nan without windows."""
        return float(np.median(self.errors)) if len(self.errors) else float("nan")


def outage_starts(fixes: Array, length: float) -> Array:
    """The starts of windows with a fix shortly before and after, (windows,) s."""
    starts = np.arange(fixes[0] + SETTLING, fixes[-1] - length, SPACING)
    before = starts - fixes[np.searchsorted(fixes, starts) - 1]
    ends = starts + length
    after = fixes[np.searchsorted(fixes, ends).clip(max=len(fixes) - 1)] - ends
    return np.asarray(starts[(before <= MAX_DELAY) & (after >= 0.0) & (after <= MAX_DELAY)])


def withhold(
    log: Dataset,
    estimator: Estimator,
    length: float = LENGTH,
    progress: Callable[[float], None] | None = None,
) -> GnssOutageResult:
    """Run the GNSS outage test.

    Args:
        log: A dataset whose reference is its GNSS.
        estimator: The estimator.
        length: The length of the windows, s.
        progress: Called with the share of the dataset that is done, from 0 to 1.

    Returns:
        The error of each window.
    """
    reference = log.reference
    fixes = log.streams[reference.stream].stamp
    starts = outage_starts(fixes, length)
    if not len(starts):
        return GnssOutageResult(length, starts, np.zeros(0))
    first = np.searchsorted(fixes, starts + length)  # the fix after each window
    outside = (fixes[:, None] < starts) | (fixes[:, None] >= starts + length)
    result = run_on_log(
        log,
        estimator,
        n=len(starts),
        delivered={reference.stream: outside},
        record_at=fixes[first],
        progress=progress,
    )
    index = np.searchsorted(result.stamps, fixes[first])
    belief = extrapolate(result.priors[index, np.arange(len(starts))].copy(), fixes[first])
    x, y = reference.point
    s, c = np.sin(belief["yaw"]), np.cos(belief["yaw"])
    error_x = belief["x"] + c * x - s * y - reference.x[first]
    error_y = belief["y"] + s * x + c * y - reference.y[first]
    return GnssOutageResult(length, starts, np.hypot(error_x, error_y))
