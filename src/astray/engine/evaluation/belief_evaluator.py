"""How beliefs are judged: each against the truth of its own stamp, not of the present.

A belief that was built from late readings is stamped with the time they were taken. The judge
keeps the truth of the last few moments and compares like with like.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics.kernels import kernel
from astray.numerics.schedule import Beat
from astray.plugin import Metric
from astray.tables import STATE, Array, Column, Row, Rows, Table, clear, columns, table

MOMENT = columns("stamp s", "x m", "y m", "yaw rad", "vx m/s", "vy m/s", "wz rad/s")
"""What is remembered of the truth."""

STATISTICS = columns(Column("count", "", "i8"), "last", "total", "squares", "most")
"""A metric so far: how many values, the last, their sum, that of their squares, the largest."""


@kernel
def recall(then: Row, s: Row) -> None:
    """Take over a remembered moment."""
    then.stamp, then.x, then.y, then.yaw = s.stamp, s.x, s.y, s.yaw
    then.vx, then.vy, then.wz = s.vx, s.vy, s.wz


@kernel
def recall_all(then: Table, history: Table, truth: Table, belief: Table, rows: Rows) -> None:
    """Find the truth of each belief's stamp; the nearest moment if there is none that fits."""
    for i in rows:
        stamp = belief[i].stamp
        if then[i].stamp == stamp:
            continue
        recall(then[i], truth[i])
        gap = abs(truth[i].stamp - stamp)
        if gap == 0.0:
            continue
        for k in range(history.shape[1]):
            other = abs(history[i, k].stamp - stamp)
            if other < gap:
                gap = other
                recall(then[i], history[i, k])


@kernel
def remember_all(history: Table, next_slot: Array, truth: Table, rows: Rows) -> None:
    """Note the present truth of these rows."""
    for i in rows:
        recall(history[i, next_slot[i]], truth[i])
        next_slot[i] = (next_slot[i] + 1) % history.shape[1]


@kernel
def account_all(statistics: Table, values: Array, rows: Rows) -> None:
    """Add one value per row to the statistics."""
    for i in rows:
        s, value = statistics[i], values[i]
        if math.isnan(value):  # a belief without a covariance has no NEES
            continue
        s.count += 1
        s.last = value
        s.total += value
        s.squares += value * value
        s.most = value if s.count == 1 else max(s.most, value)  # all may be below 0


class History:
    """The truth of the last moments of a group, as deep as its readings are late."""

    def __init__(self, n: int, depth: int) -> None:
        self.moments = table(MOMENT, n * depth).reshape(n, depth)
        self.next_slot = np.zeros(n, np.int64)

    def forget(self, rows: Rows) -> None:
        """Forget the past of these rows."""
        clear(self.moments, rows)
        self.moments["stamp"][rows] = np.inf
        self.next_slot[rows] = 0

    def remember(self, rows: Rows, truth: Table) -> None:
        """Note the present truth of these rows."""
        if self.moments.shape[1]:
            remember_all(self.moments, self.next_slot, truth, rows)


class Judge:
    """One metric of one belief of a group."""

    def __init__(self, metric: Metric, subject: str, belief: Table, beat: Beat | None) -> None:
        self.metric = metric
        self.subject = subject
        self.belief = belief
        self.beat = beat
        self.then = table(STATE, len(belief))
        self.stamps, self.judged = belief["stamp"], self.then["stamp"]  # views
        self.values = np.zeros(len(belief))
        self.statistics = table(STATISTICS, len(belief))

    def arrays(self) -> dict[str, Array]:
        """What it remembers, by name."""
        return {"then": self.then, "values": self.values, "statistics": self.statistics}

    def forget(self, rows: Rows) -> None:
        """Start the statistics of these rows anew."""
        clear(self.then, rows)
        self.then["stamp"][rows] = np.nan
        self.values[rows] = 0.0
        clear(self.statistics, rows)
        self.metric.begin(rows)

    def judge_new(self, rows: Rows, truth: Table, history: History) -> None:
        """Measure those of these rows whose belief has a new stamp, once per stamp."""
        new = rows[self.stamps[rows] != self.judged[rows]]
        if len(new):
            self.judge(new, truth, history)

    def look_back(self, rows: Rows, truth: Table, history: History) -> None:
        """Find the truth of the stamp of each belief, as long as it is remembered."""
        recall_all(self.then, history.moments, truth, self.belief, rows)

    def judge(self, rows: Rows, truth: Table, history: History) -> None:
        """Measure these rows once."""
        self.look_back(rows, truth, history)
        self.measure(rows)
        account_all(self.statistics, self.values, rows)

    def measure(self, rows: Rows) -> None:
        """Ask the metric for these rows."""
        self.metric.measure(rows, self.then, self.belief, self.values)
