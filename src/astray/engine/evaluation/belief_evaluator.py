"""Evaluates a belief against the truth at the time of its stamp, not of the present.

A belief from delayed readings is stamped with the time at which they were sampled. So the recent
truth is kept, and a belief is compared with the truth of its own time.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import Schedule, kernel
from astray.plugin import Metric
from astray.tables import (
    STATE,
    Array,
    Column,
    Row,
    Rows,
    Table,
    clear_rows,
    columns,
    read_only,
    table,
)

MOMENT = columns("stamp s", "x m", "y m", "yaw rad", "vx m/s", "vy m/s", "wz rad/s")
"""One entry of the truth history."""

STATISTICS = columns(Column("count", "", "i8"), "last", "total", "squares", "most")
"""Statistics of a metric: count, last value, sum, sum of squares, largest value."""


@kernel
def copy_moment(then: Row, s: Row) -> None:
    """Copy a moment of the truth."""
    then.stamp, then.x, then.y, then.yaw = s.stamp, s.x, s.y, s.yaw
    then.vx, then.vy, then.wz = s.vx, s.vy, s.wz


@kernel
def find_truth_all(then: Table, history: Table, truth: Table, belief: Table, rows: Rows) -> None:
    """Find the truth at the stamp of each belief, or the one nearest to it."""
    for i in rows:
        stamp = belief[i].stamp
        if then[i].stamp == stamp:
            continue
        copy_moment(then[i], truth[i])
        gap = abs(truth[i].stamp - stamp)
        if gap == 0.0:
            continue
        for k in range(history.shape[1]):
            other = abs(history[i, k].stamp - stamp)
            if other < gap:
                gap = other
                copy_moment(then[i], history[i, k])


@kernel
def keep_truth_all(history: Table, next_slot: Array, truth: Table, rows: Rows) -> None:
    """Keep the present truth of these rows."""
    for i in rows:
        copy_moment(history[i, next_slot[i]], truth[i])
        next_slot[i] = (next_slot[i] + 1) % history.shape[1]


@kernel
def accumulate_all(statistics: Table, values: Array, rows: Rows) -> None:
    """Add one value per row to the statistics."""
    for i in rows:
        s, value = statistics[i], values[i]
        if math.isnan(value):  # a belief without a covariance has no NEES
            continue
        s.count += 1
        s.last = value
        s.total += value
        s.squares += value * value
        s.most = value if s.count == 1 else max(s.most, value)  # all values may be negative


class TruthHistory:
    """A ring buffer of the truth of each row, as long as the largest delay of a reading."""

    def __init__(self, n: int, depth: int) -> None:
        self.moments = table(MOMENT, n * depth).reshape(n, depth)
        self.next_slot = np.zeros(n, np.int64)

    def begin(self, rows: Rows) -> None:
        """Clear the history of these rows."""
        clear_rows(self.moments, rows)
        self.moments["stamp"][rows] = np.inf
        self.next_slot[rows] = 0

    def keep(self, rows: Rows, truth: Table) -> None:
        """Keep the present truth of these rows."""
        if self.moments.shape[1]:
            keep_truth_all(self.moments, self.next_slot, truth, rows)


class BeliefEvaluator:
    """One metric of one belief of a group."""

    def __init__(
        self, metric: Metric, subject: str, belief: Table, schedule: Schedule | None
    ) -> None:
        self.metric = metric
        self.subject = subject
        self.belief = belief
        self.schedule = schedule
        self.then = table(STATE, len(belief))
        self._handed = read_only(self.then), read_only(belief)  # to the metric
        self.stamps, self.evaluated = belief["stamp"], self.then["stamp"]  # views
        self.values = np.zeros(len(belief))
        self.statistics = table(STATISTICS, len(belief))

    def arrays(self) -> dict[str, Array]:
        """Its state, by name."""
        return {"then": self.then, "values": self.values, "statistics": self.statistics}

    def begin(self, rows: Rows) -> None:
        """Reset the statistics of these rows."""
        clear_rows(self.then, rows)
        self.then["stamp"][rows] = np.nan
        self.values[rows] = 0.0
        clear_rows(self.statistics, rows)
        self.metric.begin(rows)

    def evaluate_new(self, rows: Rows, truth: Table, history: TruthHistory) -> None:
        """Evaluate those of these rows whose belief has a new stamp, once per stamp."""
        new = rows[self.stamps[rows] != self.evaluated[rows]]
        if len(new):
            self.evaluate(new, truth, history)

    def find_truth(self, rows: Rows, truth: Table, history: TruthHistory) -> None:
        """Find the truth at the stamp of each belief."""
        find_truth_all(self.then, history.moments, truth, self.belief, rows)

    def evaluate(self, rows: Rows, truth: Table, history: TruthHistory) -> None:
        """Evaluate these rows and add the values to the statistics."""
        self.find_truth(rows, truth, history)
        self.measure(rows)
        accumulate_all(self.statistics, self.values, rows)

    def measure(self, rows: Rows) -> None:
        """Compute the metric for these rows."""
        self.metric.measure(rows, *self._handed, self.values)
