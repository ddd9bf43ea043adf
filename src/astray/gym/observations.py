"""Observations: parts of what a robot believes and measures, side by side in one array.

- pose: x and y, m, and the cosine and sine of the heading, as believed
- twist: vx and vy, m/s, and wz, rad/s, as believed
- doubt: the uncertainty that the belief claims, as standard deviations of x and y, m, and yaw, rad
- a sensor by its name: its ranges, m, if it has any; else everything that it measures
- task: what the task adds, see `task.py`

Every value is finite and within the bounds of the space. A range without a hit is the longest one,
the doubt of a belief without a covariance is the largest one, a value that was not measured yet is
zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium.spaces import Box

from astray.engine import Robots
from astray.errors import WrongInput, suggest
from astray.gym.task import Task, check_shape
from astray.numerics import kernel, sincos
from astray.tables import Array, Rows, Table

DEFAULT_BOUND = 1e6  # of a value that has none of its own
NOT_OBSERVED = ("fresh", "stamp", "min_range", "max_range", "start", "step", "duration", "cone")


@kernel
def clip_all(out: Array, values: Array, low: Array, high: Array) -> None:
    """Write values clipped to their bounds, and zero for nan."""
    for j in range(out.shape[0]):
        for k in range(out.shape[1]):
            v = values[j, k]
            out[j, k] = 0.0 if math.isnan(v) else min(max(v, low[k]), high[k])


@kernel
def pose_columns_all(out: Array, state: Table, rows: Rows) -> None:
    """Write x, y and the cosine and sine of the heading of these rows."""
    for j in range(len(rows)):
        s = state[rows[j]]
        sine, cosine = sincos(s.yaw)
        out[j, 0], out[j, 1], out[j, 2], out[j, 3] = s.x, s.y, cosine, sine


class ObservationPart(NamedTuple):
    """Some columns of an observation: their bounds, and the function that reads them."""

    low: Array
    high: Array
    read: Callable[[Rows], Array]
    """The values of these rows, (rows, columns)."""


class Observations:
    """The observations of the robots of one group: the chosen parts, then that of the task."""

    def __init__(
        self, group: Robots, task: Task, observe: Sequence[str] | None, oracle: bool
    ) -> None:
        """Choose the parts; an oracle observes the truth in place of the belief."""
        state = group.truth if oracle else group.belief
        parts = {name: _make_part(group, state, name) for name in _part_names(group, observe)}
        if len(task.low) != len(task.high):
            raise WrongInput(f"task: {len(task.low)} values of low need as many of high")
        if len(task.low):
            bounds = np.array(task.low, np.float32), np.array(task.high, np.float32)
            parts["task"] = ObservationPart(*bounds, lambda rows: _read_task(task, state, rows))
        ends = np.cumsum([0, *(len(part.low) for part in parts.values())])
        self.columns = {name: slice(int(ends[k]), int(ends[k + 1])) for k, name in enumerate(parts)}
        """The columns of each part."""
        self.low = np.concatenate([np.zeros(0, np.float32), *(p.low for p in parts.values())])
        self.high = np.concatenate([np.zeros(0, np.float32), *(p.high for p in parts.values())])
        self._parts = [(self.columns[name], part) for name, part in parts.items()]

    @property
    def space(self) -> Box:
        """The observation space of one agent."""
        return Box(self.low, self.high, dtype=np.float32)

    def read(self, rows: Rows) -> Array:
        """The observations of these rows now, (rows, columns)."""
        out = np.empty((len(rows), len(self.low)), np.float32)
        for columns, part in self._parts:
            clip_all(out[:, columns], part.read(rows), part.low, part.high)
        return out


def _part_names(group: Robots, observe: Sequence[str] | None) -> Sequence[str]:
    """The chosen parts; pose, twist and all ranges unless given."""
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


def _make_part(group: Robots, state: Table, name: str) -> ObservationPart:
    if name == "pose":
        return _pose_part(state)
    if name == "twist":
        return _symmetric_part(
            [DEFAULT_BOUND] * 3,
            lambda rows: np.stack([_take(state[c], rows) for c in ("vx", "vy", "wz")], axis=1),
        )
    if name == "doubt":
        return _doubt_part(state)
    reading = group.readings[name]
    if "ranges" in reading.arrays:
        return _range_part(reading.arrays["ranges"], group.plan.sheets()[name]["max_range"])
    return _reading_part(reading)


def _pose_part(state: Table) -> ObservationPart:
    def read(rows: Rows) -> Array:
        out = np.empty((len(rows), 4))
        pose_columns_all(out, state, rows)
        return out

    return _symmetric_part([DEFAULT_BOUND, DEFAULT_BOUND, 1.0, 1.0], read)


def _doubt_part(state: Table) -> ObservationPart:
    high = np.full(3, DEFAULT_BOUND, np.float32)
    variances = [state["cov"][:, k, k] for k in range(3)]

    def read(rows: Rows) -> Array:
        claimed = np.stack([_take(variance, rows) for variance in variances], axis=1)
        return np.asarray(np.sqrt(np.nan_to_num(claimed, nan=np.inf)))

    return ObservationPart(np.zeros_like(high), high, read)


def _range_part(ranges: Any, max_range: Any) -> ObservationPart:
    high = np.full(ranges.shape[1], float(max_range), np.float32)
    return ObservationPart(np.zeros_like(high), high, lambda rows: _take(ranges, rows))


def _reading_part(reading: Any) -> ObservationPart:
    """All columns and arrays of a reading without ranges."""
    names = [c for c in reading.table.dtype.names or () if c not in NOT_OBSERVED]
    columns = [*(reading.table[c] for c in names), *reading.arrays.values()]

    def read(rows: Rows) -> Array:
        flat = [_take(column, rows).reshape(len(rows), -1) for column in columns]
        return np.concatenate(flat, axis=1, dtype=np.float64)

    return _symmetric_part([DEFAULT_BOUND] * sum(column[0].size for column in columns), read)


def _read_task(task: Task, state: Table, rows: Rows) -> Array:
    return check_shape(task.observe(state, rows), (len(rows), len(task.low)), "observe")


def _symmetric_part(bounds: Sequence[float], read: Callable[[Rows], Array]) -> ObservationPart:
    high = np.array(bounds, np.float32)
    return ObservationPart(-high, high, read)


def _take(array: Array, rows: Rows) -> Array:
    """These rows of an array; all of them without a copy."""
    return array if len(rows) == len(array) else array[rows]
