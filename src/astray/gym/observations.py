"""What an agent sees: parts of what its robot believes and reads, side by side in one array.

- pose: x and y, m, and the cosine and sine of the heading, as believed
- twist: vx and vy, m/s, and wz, rad/s, as believed
- doubt: the standard deviations of x and y, m, and of the heading, rad, that the belief claims
- a sensor by its name: its ranges, m, if it has some; else all that it measures
- task: what the task tells, see `task.py`

Every value is finite and within the bounds: where nothing is hit a range is the longest one, where
a belief claims nothing its doubt is the largest one, and what did not arrive yet is zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from astray.engine import Robots
from astray.errors import WrongInput, suggest
from astray.gym.task import Task, shaped
from astray.numerics import kernel, sincos
from astray.tables import Array, Rows, Table

FARTHEST = 1e6  # the bound of what has none by itself
NOT_SENSED = ("fresh", "stamp", "min_range", "max_range", "start", "step", "duration", "cone")


class ObservationPart(NamedTuple):
    """Some columns of an observation."""

    low: Array
    high: Array
    read: Callable[[Rows], Array]
    """The values of these rows, (rows, columns)."""


@kernel
def write_within(out: Array, values: Array, low: Array, high: Array) -> None:
    """Write values within bounds, and zeros for what is not a number."""
    for j in range(out.shape[0]):
        for k in range(out.shape[1]):
            v = values[j, k]
            out[j, k] = 0.0 if math.isnan(v) else min(max(v, low[k]), high[k])


@kernel
def see_poses(out: Array, state: Table, rows: Rows) -> None:
    """Write x, y and the cosine and sine of the heading of these rows."""
    for j in range(len(rows)):
        s = state[rows[j]]
        sine, cosine = sincos(s.yaw)
        out[j, 0], out[j, 1], out[j, 2], out[j, 3] = s.x, s.y, cosine, sine


class ObservedRobots:
    """The observations of the robots of one group."""

    def __init__(self, group: Robots, task: Task, observe: Sequence[str] | None, oracle: bool):
        state = group.truth if oracle else group.belief
        parts = {name: _part(group, state, name) for name in _chosen(group, observe)}
        if len(task.low) != len(task.high):
            raise WrongInput(f"task: {len(task.low)} values of low need as many of high")
        if len(task.low):
            bounds = np.array(task.low, np.float32), np.array(task.high, np.float32)
            parts["task"] = ObservationPart(*bounds, lambda rows: _told(task, state, rows))
        ends = np.cumsum([0, *(len(part.low) for part in parts.values())])
        self.columns = {name: slice(int(ends[k]), int(ends[k + 1])) for k, name in enumerate(parts)}
        self.low = np.concatenate([np.zeros(0, np.float32), *(p.low for p in parts.values())])
        self.high = np.concatenate([np.zeros(0, np.float32), *(p.high for p in parts.values())])
        self._parts = [(self.columns[name], part) for name, part in parts.items()]

    def see(self, rows: Rows) -> Array:
        """What these rows see now, (rows, columns)."""
        seen = np.empty((len(rows), len(self.low)), np.float32)
        for columns, part in self._parts:
            write_within(seen[:, columns], part.read(rows), part.low, part.high)
        return seen


def _told(task: Task, state: Table, rows: Rows) -> Array:
    return shaped(task.tell(state, rows), (len(rows), len(task.low)), "what it tells")


def _chosen(group: Robots, observe: Sequence[str] | None) -> Sequence[str]:
    if observe is None:
        ranging = [name for name, reading in group.readings.items() if "ranges" in reading.arrays]
        return ["pose", "twist", *ranging]
    known = ["pose", "twist", "doubt", *group.readings]
    if isinstance(observe, str) or not set(observe) <= set(known):
        wrong = observe if isinstance(observe, str) else next(n for n in observe if n not in known)
        raise WrongInput(
            f"observe: a list of {', '.join(known)}, not {wrong!r}{suggest(str(wrong), known)}"
        )
    return list(dict.fromkeys(observe))


def _part(group: Robots, state: Table, name: str) -> ObservationPart:
    if name == "pose":

        def pose(rows: Rows) -> Array:
            seen = np.empty((len(rows), 4))
            see_poses(seen, state, rows)
            return seen

        return _bounded([FARTHEST, FARTHEST, 1.0, 1.0], pose)
    if name == "twist":
        return _bounded(
            [FARTHEST] * 3,
            lambda rows: np.stack([_some(state[c], rows) for c in ("vx", "vy", "wz")], axis=1),
        )
    if name == "doubt":
        high = np.full(3, FARTHEST, np.float32)
        variances = [state["cov"][:, k, k] for k in range(3)]

        def doubt(rows: Rows) -> Array:
            claimed = np.stack([_some(variance, rows) for variance in variances], axis=1)
            return np.asarray(np.sqrt(np.nan_to_num(claimed, nan=np.inf)))

        return ObservationPart(np.zeros_like(high), high, doubt)
    return _reading(group, name)


def _some(array: Array, rows: Rows) -> Array:
    """These rows; all of them without a copy."""
    return array if len(rows) == len(array) else array[rows]


def _bounded(most: Sequence[float], read: Callable[[Rows], Array]) -> ObservationPart:
    high = np.array(most, np.float32)
    return ObservationPart(-high, high, read)


def _reading(group: Robots, name: str) -> ObservationPart:
    reading = group.readings[name]
    if "ranges" in reading.arrays:
        ranges: Any = reading.arrays["ranges"]
        longest = float(group.plan.sheets()[name]["max_range"])
        high = np.full(ranges.shape[1], longest, np.float32)
        return ObservationPart(np.zeros_like(high), high, lambda rows: _some(ranges, rows))
    names = [c for c in reading.table.dtype.names or () if c not in NOT_SENSED]
    several = [*(reading.table[c] for c in names), *reading.arrays.values()]
    widths = [array[0].size for array in several]

    def read(rows: Rows) -> Array:
        flat = [_some(array, rows).reshape(len(rows), -1) for array in several]
        return np.concatenate(flat, axis=1, dtype=np.float64)

    return _bounded([FARTHEST] * sum(widths), read)
