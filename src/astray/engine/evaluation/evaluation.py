"""The evaluation of a group: an evaluator per metric and belief, and the history of the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from astray.engine.evaluation.belief_evaluator import BeliefEvaluator, TruthHistory
from astray.engine.evaluation.track_evaluator import TrackEvaluator
from astray.engine.sensor_pipeline import SensorPipeline
from astray.numerics import NEVER, Schedule, make_schedule, ticks_in
from astray.plugin import ContactMetric, Estimator, Known, Metric, Scene, Tracks
from astray.robot.estimators import RemoteEstimator
from astray.tables import CONTACTS, Rows, Table

REMOTE_LAG = 5.0  # s: the largest delay of the belief of a remote filter
REMOTE_STEP = 0.01  # s: the resolution of the stamps of a remote filter


class Subjects(NamedTuple):
    """The beliefs and tracks of a group that are evaluated, and the truth to compare with."""

    name: str
    seed: int
    dt: float
    address: Table
    scene: Scene
    """The truth; `update_robot_grid` brings its grid of robots up to date."""
    beliefs: Mapping[str, Table]
    """The belief and those of the rivals, by name."""
    estimators: Sequence[tuple[Estimator, Table, Known]]
    pipelines: Mapping[str, SensorPipeline]
    contacts: Tracks | None
    """The tracks of other robots; None without a tracker."""
    update_robot_grid: Callable[[], None]


class Evaluation:
    """Every metric of every belief of a group, and the recent truth."""

    def __init__(self, subjects: Subjects, metrics: Iterable[Metric | ContactMetric]) -> None:
        self.evaluators: list[BeliefEvaluator | TrackEvaluator] = []
        self.history = TruthHistory(len(subjects.scene.truth), 0)
        self.history_schedule: Schedule | None = None  # of the truth, in addition to the readings
        for metric in metrics:
            own = make_schedule(metric.rate, metric.offset, subjects.dt) if metric.rate else None
            if isinstance(metric, ContactMetric):
                self._add_track_evaluator(subjects, metric, own)
            else:
                self._add_belief_evaluators(subjects, metric, own)
        if self.evaluators:
            self._make_history(subjects)

    def _add_belief_evaluators(self, of: Subjects, metric: Metric, own: Schedule | None) -> None:
        for subject, belief in of.beliefs.items():
            bound = metric.attach(of.address, {}, of.dt, of.seed, of.name)
            for estimator, owned, _ in of.estimators:
                if owned is belief:
                    bound.watch(estimator)
            self.evaluators.append(BeliefEvaluator(bound, subject, belief, own))

    def _add_track_evaluator(
        self, of: Subjects, metric: ContactMetric, own: Schedule | None
    ) -> None:
        if of.contacts is None:
            return
        bound = metric.attach(of.address, {}, of.dt, of.seed, of.name)
        detecting = [p for p in of.pipelines.values() if p.sensor.measures == CONTACTS]
        depth = moments_within(*longest_delay(detecting))
        made = TrackEvaluator(bound, of.contacts, of.scene, own, depth, of.update_robot_grid)
        self.evaluators.append(made)

    def _make_history(self, of: Subjects) -> None:
        """Size the history: it holds every truth whose stamp a changed belief may have."""
        delay, schedules = longest_delay(of.pipelines.values())
        if any(isinstance(estimator, RemoteEstimator) for estimator, _, _ in of.estimators):
            self.history_schedule = Schedule(max(1, round(REMOTE_STEP / of.dt)))
            delay = max(delay, ticks_in(REMOTE_LAG, of.dt))
            schedules = [*schedules, self.history_schedule]
        self.history = TruthHistory(len(of.scene.truth), moments_within(delay, schedules))

    def begin(self, rows: Rows) -> None:
        """Reset the statistics of these rows."""
        if self.evaluators:
            self.history.begin(rows)
        for evaluator in self.evaluators:
            evaluator.begin(rows)

    def keep_truth(self, rows: Rows, truth: Table) -> None:
        """Keep the truth of rows whose sensors were sampled, until the readings arrive."""
        if self.evaluators:
            self.history.keep(rows, truth)

    def keep_truth_of_all(self, rows: Rows) -> None:
        """Keep the truth of all robots that these rows may have detected."""
        for evaluator in self.evaluators:
            if isinstance(evaluator, TrackEvaluator):
                evaluator.keep_truth(rows)

    def evaluate(
        self, due: Callable[[Schedule], Rows | None], arrived: Rows | None, truth: Table
    ) -> None:
        """Evaluate the beliefs of rows with a new reading, and those whose metric is due."""
        for evaluator in self.evaluators:
            if evaluator.schedule is None:
                if arrived is not None:
                    evaluator.evaluate_new(arrived, truth, self.history)
                continue
            if arrived is not None and isinstance(evaluator, BeliefEvaluator):
                evaluator.find_truth(arrived, truth, self.history)
            if (rows := due(evaluator.schedule)) is not None:
                evaluator.evaluate(rows, truth, self.history)

    def evaluate_set_belief(self, rows: Rows, belief: Table, truth: Table) -> None:
        """Evaluate a belief that an event has set."""
        for evaluator in self.evaluators:
            if isinstance(evaluator, BeliefEvaluator) and evaluator.belief is belief:
                if evaluator.schedule is None:
                    evaluator.evaluate(rows, truth, self.history)
                else:
                    evaluator.find_truth(rows, truth, self.history)


def longest_delay(pipelines: Iterable[SensorPipeline]) -> tuple[int, list[Schedule]]:
    """The largest delay of a reading, ticks, and the schedules of the sensors."""
    periodic = [p for p in pipelines if p.sample_schedule.offset < NEVER]
    return max((p.max_delay for p in periodic), default=0), [p.sample_schedule for p in periodic]


def moments_within(ticks: int, schedules: Iterable[Schedule]) -> int:
    """The largest number of moments of these schedules in the last so many ticks."""
    if not ticks:
        return 0  # without a delay the present truth is enough
    return min(ticks + 1, sum(ticks // each.period + 1 for each in schedules))
