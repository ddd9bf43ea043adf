"""Everyone who judges a group: metrics of each of its beliefs, and the past that they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from astray.clock import Beat, beat
from astray.contact_judge import ContactJudge
from astray.estimators import Remote
from astray.judge import History, Judge
from astray.plugin import ContactMetric, Metric
from astray.table import CONTACTS, Rows, Table

if TYPE_CHECKING:
    from astray.group import Group

REMOTE_HISTORY = 256  # moments that a filter elsewhere may lag behind


class Judging:
    """The judges of a group, and the truth of the last few moments."""

    def __init__(self, rows: int) -> None:
        self.judges: list[Judge | ContactJudge] = []
        self.history = History(rows, 0)

    def appoint(self, group: Group, metrics: Iterable[Metric | ContactMetric]) -> None:
        """Let every belief of a group be judged by these metrics."""
        for metric in metrics:
            pace = beat(metric.rate, metric.offset, group.dt) if metric.rate else None
            if isinstance(metric, ContactMetric):
                self._appoint_for_contacts(group, metric, pace)
                continue
            for subject, belief in group.beliefs().items():
                bound = metric.attach(group.address, {}, group.dt, group.seed, group.name)
                for estimator, owned, _ in group.estimators:
                    if owned is belief:
                        bound.watch(estimator)
                self.judges.append(Judge(bound, subject, belief, pace))
        if self.judges:
            depths = [len(c.ring) + 1 for c in group.channels.values() if c.on_the_way]
            if any(isinstance(estimator, Remote) for estimator, _, _ in group.estimators):
                depths.append(REMOTE_HISTORY)
            self.history = History(len(group.truth), max(depths, default=0))

    def _appoint_for_contacts(self, group: Group, metric: ContactMetric, pace: Beat | None) -> None:
        """Let what the robots believe of others be judged, if they believe anything of them."""
        if group.tracker is None:
            return
        bound = metric.attach(group.address, {}, group.dt, group.seed, group.name)
        channels = [c for c in group.channels.values() if c.sensor.measures == CONTACTS]
        depth = max((len(c.ring) + 1 for c in channels if c.on_the_way), default=0)
        judge = ContactJudge(
            bound, group.contacts, group.scene, pace, depth, lambda: group.gather()
        )
        self.judges.append(judge)

    def forget(self, rows: Rows) -> None:
        """Start these rows anew."""
        if self.judges:
            self.history.forget(rows)
        for judge in self.judges:
            judge.forget(rows)

    def remember(self, rows: Rows, truth: Table) -> None:
        """Note the truth of rows that have taken a reading, for when it arrives."""
        if self.judges:
            self.history.remember(rows, truth)

    def remember_everyone(self, rows: Rows) -> None:
        """Note the truth of all whom these rows may have detected, for who judges it later."""
        for judge in self.judges:
            if isinstance(judge, ContactJudge):
                judge.remember(rows)

    def judge(self, due: Callable[[Beat], Rows | None], arrived: Rows | None, truth: Table) -> None:
        """Measure the beliefs for which something arrived, or those whose metric is due."""
        for judge in self.judges:
            if judge.beat is None:
                if arrived is not None:
                    judge.judge_new(arrived, truth, self.history)
            elif (rows := due(judge.beat)) is not None:
                judge.judge(rows, truth, self.history)

    def judge_believed(self, rows: Rows, belief: Table, truth: Table) -> None:
        """Measure a belief that was set from outside."""
        for judge in self.judges:
            if isinstance(judge, Judge) and judge.belief is belief and judge.beat is None:
                judge.judge(rows, truth, self.history)
