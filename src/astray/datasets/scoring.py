"""Scores: the beliefs of an estimator on a dataset, compared with the reference.

A belief is compared with the reference at its own stamp. If the robot reads what the reference is
made of, a GNSS, the belief before each fix is compared, extrapolated to the stamp of the fix by its
own velocity; else every belief is compared.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from astray.datasets.run_estimator import EstimatorResult
from astray.errors import LogError
from astray.metrics import Ate, Nees
from astray.plugin import Metric
from astray.tables import ADDRESS, Array, Table, table


@dataclasses.dataclass(frozen=True)
class Score:
    """The errors of an estimator on a dataset; nan where the reference is unknown."""

    log: str
    estimator: str
    position_rmse: float  # m
    heading_rmse: float  # rad
    ate: float  # m; root mean square after alignment with the reference
    nees: float  # the mean; 3 for a consistent covariance
    median: float  # m, of the distances
    most: float  # m, the largest distance
    final: float  # m, the last distance
    beliefs: int
    updates_per_s: float

    def __str__(self) -> str:
        return f"{self.log}: {self.position_rmse:.3f} m"

    def as_dict(self) -> dict[str, Any]:
        """The score as plain data; unknown values are None."""
        values = dataclasses.asdict(self)
        known = {k: v for k, v in values.items() if not isinstance(v, float) or np.isfinite(v)}
        return {**dict.fromkeys(values), **known}


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Beliefs and the reference at the same stamps, of the same point of the robot."""

    truth: Table
    """STATE (n,)."""
    belief: Table
    """STATE (n,)."""

    @property
    def distance(self) -> Array:
        """The distances of beliefs and reference, (n,) m."""
        found: Array = np.hypot(
            self.belief["x"] - self.truth["x"], self.belief["y"] - self.truth["y"]
        )
        return found


def compare(result: EstimatorResult, row: int = 0) -> Comparison:
    """Compare the beliefs of a row with the reference.

    Args:
        result: The beliefs of an estimator on a dataset.
        row: The row.

    Returns:
        The belief and the reference at every stamp that the reference covers, each stamp once.

    Raises:
        LogError: The reference covers no belief.
    """
    reference = result.log.reference
    belief = _priors_at_fixes(result, row) if reference.stream else result.beliefs[:, row].copy()
    stamps = belief["stamp"]
    last = np.append(stamps[1:] != stamps[:-1], True)  # of the beliefs of a stamp
    belief = belief[last & reference.covers(stamps)]
    if not len(belief):
        raise LogError(f"{result.log.name}: there is no belief while the reference lasts")
    x, y = reference.point
    s, c = np.sin(belief["yaw"]), np.cos(belief["yaw"])
    belief["x"] += c * x - s * y
    belief["y"] += s * x + c * y
    return Comparison(reference.truth(belief["stamp"]), belief)


def _priors_at_fixes(result: EstimatorResult, row: int) -> Table:
    """The belief just before each fix, extrapolated to its stamp."""
    fixes = result.log.streams[result.log.reference.stream].stamp
    index = np.searchsorted(result.stamps, fixes)
    belief: Table = result.priors[index, row].copy()
    return extrapolate(belief, fixes)


def extrapolate(belief: Table, stamps: Array) -> Table:
    """Move beliefs (n,) to later stamps (n,) along the arcs of their velocities, in place."""
    dt = stamps - belief["stamp"]
    middle = belief["yaw"] + 0.5 * belief["wz"] * dt
    s, c = np.sin(middle), np.cos(middle)
    belief["x"] += (c * belief["vx"] - s * belief["vy"]) * dt
    belief["y"] += (s * belief["vx"] + c * belief["vy"]) * dt
    belief["yaw"] += belief["wz"] * dt
    belief["stamp"] = stamps
    return belief


def score(result: EstimatorResult, row: int = 0) -> Score:
    """Score a row of a result.

    Args:
        result: The beliefs of an estimator on a dataset.
        row: The row.

    Returns:
        Its errors.

    Raises:
        LogError: The reference covers no belief.
    """
    found = compare(result, row)
    distance = found.distance
    yaw_error = found.belief["yaw"] - found.truth["yaw"]
    yaw_error = np.arctan2(np.sin(yaw_error), np.cos(yaw_error))
    nees = measure(Nees(), found)
    nees = nees[np.isfinite(nees)]
    return Score(
        log=result.log.name,
        estimator=result.estimator,
        position_rmse=_rms(distance),
        heading_rmse=_rms(yaw_error),
        ate=_aligned_ate(found),
        nees=float(nees.mean()) if len(nees) else float("nan"),
        median=float(np.median(distance)),
        most=float(distance.max()),
        final=float(distance[-1]),
        beliefs=len(distance),
        updates_per_s=result.updates / max(result.seconds, 1e-9),
    )


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def measure(metric: Metric, found: Comparison) -> Array:
    """Measure every belief by a metric without memory.

    Args:
        metric: The metric.
        found: Beliefs and reference, n of each.

    Returns:
        The value of the metric for each belief, (n,).
    """
    n = len(found.belief)
    values = np.zeros(n)
    bound = metric.attach(table(ADDRESS, n), {}, 0.0, 0, "")
    bound.begin(np.arange(n))
    bound.measure(np.arange(n), found.truth, found.belief, values)
    return values


def _aligned_ate(found: Comparison) -> float:
    """The absolute trajectory error after alignment of the beliefs with the reference, m."""
    bound = Ate(align="se2").attach(table(ADDRESS, 1), {}, 0.0, 0, "")
    bound.begin(np.zeros(1, np.int64))
    values, row = np.zeros(1), np.zeros(1, np.int64)
    for k in range(len(found.belief)):
        bound.measure(row, found.truth[k : k + 1], found.belief[k : k + 1], values)
    return float(values[0])
