"""Everyone who judges a group: metrics of each of its beliefs, and the past that they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from astray.engine.evaluation.belief_evaluator import History, Judge
from astray.engine.evaluation.track_evaluator import ContactJudge
from astray.engine.sensor_pipeline import Channel
from astray.numerics.schedule import NEVER, Beat, beat, ticks_in
from astray.plugin import ContactMetric, Metric
from astray.robot.estimators import Remote
from astray.tables import CONTACTS, Rows, Table

if TYPE_CHECKING:
    from astray.engine.robots import Group

REMOTE_LAG = 5.0  # s that a filter elsewhere may lag behind
REMOTE_STEP = 0.01  # s from one moment that it may speak of to the next


class Judging:
    """The judges of a group, and the truth of the last few moments."""

    def __init__(self, rows: int) -> None:
        self.judges: list[Judge | ContactJudge] = []
        self.history = History(rows, 0)
        self.remembering: Beat | None = None  # when the truth is noted, beside at readings

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
            self._make_history(group)

    def _make_history(self, group: Group) -> None:
        """Make room for the truth of all moments that a belief may be of when it changes."""
        late, beats = latest(group.channels.values())
        if any(isinstance(estimator, Remote) for estimator, _, _ in group.estimators):
            self.remembering = Beat(max(1, round(REMOTE_STEP / group.dt)))
            late, beats = max(late, ticks_in(REMOTE_LAG, group.dt)), [*beats, self.remembering]
        self.history = History(len(group.truth), moments_within(late, beats))

    def _appoint_for_contacts(self, group: Group, metric: ContactMetric, pace: Beat | None) -> None:
        """Let what the robots believe of others be judged, if they believe anything of them."""
        if group.tracker is None:
            return
        bound = metric.attach(group.address, {}, group.dt, group.seed, group.name)
        channels = [c for c in group.channels.values() if c.sensor.measures == CONTACTS]
        depth = moments_within(*latest(channels))
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
                continue
            if arrived is not None and isinstance(judge, Judge):
                judge.look_back(arrived, truth, self.history)
            if (rows := due(judge.beat)) is not None:
                judge.judge(rows, truth, self.history)

    def judge_believed(self, rows: Rows, belief: Table, truth: Table) -> None:
        """Measure a belief that was set from outside."""
        for judge in self.judges:
            if isinstance(judge, Judge) and judge.belief is belief:
                if judge.beat is None:
                    judge.judge(rows, truth, self.history)
                else:
                    judge.look_back(rows, truth, self.history)


def latest(channels: Iterable[Channel]) -> tuple[int, list[Beat]]:
    """How late the readings of some channels arrive at most, ticks, and when they are taken."""
    taking = [c for c in channels if c.taking.offset < NEVER]
    return max((c.latest for c in taking), default=0), [c.taking for c in taking]


def moments_within(ticks: int, beats: Iterable[Beat]) -> int:
    """How many moments of these beats there are at most from some ticks ago until now."""
    if not ticks:
        return 0  # now is known
    return min(ticks + 1, sum(ticks // beat.period + 1 for beat in beats))
