"""How well an estimator did on a log: its belief against the reference.

A belief is compared with the reference at its own stamp. Where the robot reads what the reference
is made of, a GPS, its belief is taken before it was told, and carried on to the stamp of the fix by
the velocity that it believes; else every belief counts.
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
    """An estimator on a log in a few numbers; nan where the reference cannot tell."""

    log: str
    estimator: str
    position_rmse: float  # m
    heading_rmse: float  # rad
    ate: float  # m; root mean square once moved and turned onto the reference
    nees: float  # on average; 3 for a belief that knows how wrong it is
    median: float  # m, of the distance
    most: float  # m
    final: float  # m
    beliefs: int
    updates_per_s: float

    def __str__(self) -> str:
        return f"{self.log}: {self.position_rmse:.3f} m"

    def as_dict(self) -> dict[str, Any]:
        """Plain data; what is not known is None."""
        values = dataclasses.asdict(self)
        known = {k: v for k, v in values.items() if not isinstance(v, float) or np.isfinite(v)}
        return {**dict.fromkeys(values), **known}


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Beliefs and the reference at the same stamps: STATE (n,) of the same point of the robot."""

    truth: Table
    belief: Table

    @property
    def distance(self) -> Array:
        """How far they are apart, (n,) m."""
        found: Array = np.hypot(
            self.belief["x"] - self.truth["x"], self.belief["y"] - self.truth["y"]
        )
        return found


def compare(result: EstimatorResult, row: int = 0) -> Comparison:
    """The beliefs of one row beside the reference, each stamp once."""
    reference = result.log.reference
    belief = _before_fixes(result, row) if reference.stream else result.beliefs[:, row].copy()
    stamps = belief["stamp"]
    new = np.append(stamps[1:] != stamps[:-1], True)  # the last belief of each stamp
    belief = belief[new & reference.knows(stamps)]
    if not len(belief):
        raise LogError(f"{result.log.name}: there is no belief while the reference lasts")
    x, y = reference.at
    s, c = np.sin(belief["yaw"]), np.cos(belief["yaw"])
    belief["x"] += c * x - s * y
    belief["y"] += s * x + c * y
    return Comparison(reference.truth(belief["stamp"]), belief)


def _before_fixes(result: EstimatorResult, row: int) -> Table:
    """What was believed just before each fix, carried on to its stamp."""
    fixes = result.log.streams[result.log.reference.stream].stamp
    at = np.searchsorted(result.moments, fixes)
    belief: Table = result.before[at, row].copy()
    return extrapolate(belief, fixes)


def extrapolate(belief: Table, stamps: Array) -> Table:
    """Beliefs carried on to later stamps along the arcs of their velocities."""
    dt = stamps - belief["stamp"]
    middle = belief["yaw"] + 0.5 * belief["wz"] * dt
    s, c = np.sin(middle), np.cos(middle)
    belief["x"] += (c * belief["vx"] - s * belief["vy"]) * dt
    belief["y"] += (s * belief["vx"] + c * belief["vy"]) * dt
    belief["yaw"] += belief["wz"] * dt
    belief["stamp"] = stamps
    return belief


def score(result: EstimatorResult, row: int = 0) -> Score:
    """The score of one row of a result."""
    found = compare(result, row)
    distance = found.distance
    turned = found.belief["yaw"] - found.truth["yaw"]
    turned = np.arctan2(np.sin(turned), np.cos(turned))
    nees = measure(Nees(), found)
    nees = nees[np.isfinite(nees)]
    return Score(
        log=result.log.name,
        estimator=result.estimator,
        position_rmse=_rms(distance),
        heading_rmse=_rms(turned),
        ate=float(_aligned(found)),
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
    """One value per belief, by a metric that looks at each alone."""
    n = len(found.belief)
    values = np.zeros(n)
    bound = metric.attach(table(ADDRESS, n), {}, 0.0, 0, "")
    bound.begin(np.arange(n))
    bound.measure(np.arange(n), found.truth, found.belief, values)
    return values


def _aligned(found: Comparison) -> float:
    """The trajectory error once the beliefs are moved and turned onto the reference, m."""
    bound = Ate(align="se2").attach(table(ADDRESS, 1), {}, 0.0, 0, "")
    bound.begin(np.zeros(1, np.int64))
    values, row = np.zeros(1), np.zeros(1, np.int64)
    for k in range(len(found.belief)):
        bound.measure(row, found.truth[k : k + 1], found.belief[k : k + 1], values)
    return float(values[0])
