"""The verbs of a tick over one group of robots, for the rows that are due.

They are decide (and steer), move, sense, estimate and evaluate.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from astray.engine.clocks import Clocks
from astray.engine.robots import Robots
from astray.numerics import NEVER, Schedule
from astray.tables import Rows, read_only

DueRows = Callable[[Schedule], Rows | None]
"""Gives the rows that are due by a schedule; None if there are none."""


class GroupStepper:
    """Calls the plugins of a group when they are due."""

    def __init__(
        self,
        robots: Robots,
        clocks: Clocks,
        update_robot_grid: Callable[[], None],
        pool: ThreadPoolExecutor | None,
        threads: int,
    ) -> None:
        self.robots = robots
        self._commands, self._drives = read_only(robots.commands), read_only(robots.drives)
        self._clocks = clocks
        self._update_robot_grid = update_robot_grid  # for sensors that detect robots
        self._threads = threads
        self._pool = pool
        self._arrivals: list[Rows] = []  # the rows of each sensor whose reading arrived now
        self._motion = robots.motion, robots.truth, self._drives, robots.dt
        pipelines = robots.pipelines.values()
        self._periodic = [p for p in pipelines if p.sample_schedule.offset < NEVER]
        history = robots.evaluation.history_schedule
        self._schedules = {
            *(p.sample_schedule for p in pipelines),
            *(p.arrival_schedule for p in pipelines if p.is_delayed),
            *(e.schedule for e in robots.evaluators if e.schedule is not None),
            *([] if history is None else [history]),
        }

    # The verbs.

    def sense_first(self, rows: Rows) -> None:
        """Sense, estimate and evaluate for rows that have just started, where they are due."""

        def due(schedule: Schedule) -> Rows | None:
            return self._due_among(rows, schedule)

        self.sense(due, starting=True)
        self.estimate()
        self.evaluate(due)

    def decide(self) -> None:
        """Decide and steer."""
        robots, tick = self.robots, self._clocks.tick
        if tick is None or robots.autonomy.next_due(tick) <= tick:
            rows = self.due(robots.decide_schedule)
            if rows is not None:
                self._call(robots.autonomy.decide, rows, robots.known, robots.commands)
                robots.commands_changed = True
        commands = self._commands
        if robots.override is not None:
            robots.commands_changed |= robots.override.release(robots.ticks)
            commands = read_only(robots.override.applied_to(commands))
        if robots.commands_changed or tick is None or robots.control.next_due(tick) <= tick:
            rows = self.due(robots.steer_schedule)
            if rows is not None:
                self._call(robots.control.steer, rows, robots.known, commands, robots.drives)
                robots.commands_changed = False

    def move(self, steps: int) -> None:
        """Move the truth by some ticks."""
        motion, truth, drives, dt = self._motion
        rows = self.robots.rows
        if self._pool is None:
            motion.move(rows, truth, drives, dt, steps)
        elif len(rows):
            self._call(motion.move, rows, truth, drives, dt, steps)

    def sense(self, due: DueRows, starting: bool = False) -> None:
        """Sample the sensors that are due, and deliver the readings that arrive.

        While some rows are starting, the readings of the other rows stay fresh.
        """
        robots, evaluation = self.robots, self.robots.evaluation
        self._arrivals = []
        sampled: list[Rows] = []
        due_rows: dict[Schedule, Rows | None] = {}  # sensors of one schedule share their rows
        for pipeline in self._periodic:
            schedule = pipeline.sample_schedule
            if schedule not in due_rows:
                due_rows[schedule] = due(schedule)
            rows = due_rows[schedule]
            all_rows = rows is not None and len(rows) == len(robots.truth)
            if not starting and (pipeline.is_delayed or not all_rows):
                pipeline.clear_fresh()  # otherwise every row is about to be fresh again
            if rows is not None:
                if pipeline.sees_robots:
                    self._update_robot_grid()
                self._call(pipeline.sense, rows, robots.scene)
                pipeline.send(rows, robots.time)
                sampled.append(rows)
                if pipeline.detects_contacts:
                    evaluation.keep_truth_of_all(rows)
            if pipeline.is_delayed:
                rows = due(pipeline.arrival_schedule)
                rows = None if rows is None else pipeline.rows_with_arrivals(rows)
                if rows is not None:
                    pipeline.arrive(rows)
            if rows is not None:
                self._arrivals.append(rows)
        if evaluation.history_schedule is not None:
            rows = due(evaluation.history_schedule)
            if rows is not None:
                sampled.append(rows)
        if sampled and robots.evaluators:
            evaluation.keep_truth(self._union(sampled), robots.truth)

    def sense_nothing(self) -> None:
        """Clear the fresh marks in a tick in which no sensor is due."""
        self._arrivals = []
        for pipeline in self._periodic:
            pipeline.clear_fresh()

    def estimate(self) -> None:
        """Bring every belief up to the readings that arrived."""
        if self._arrivals:
            robots, rows = self.robots, self._union(self._arrivals)
            for estimator, belief, known in robots.estimators:
                self._call(estimator.estimate, rows, known, belief)
            if robots.tracker is not None:
                self._call(robots.tracker.track, rows, robots.known, robots.contacts)

    def evaluate(self, due: DueRows) -> None:
        """Evaluate the beliefs that changed, or those whose metric is due."""
        arrived = self._union(self._arrivals) if self._arrivals else None
        self.robots.evaluation.evaluate(due, arrived, self.robots.truth)

    # When something is due.

    def due(self, schedule: Schedule) -> Rows | None:
        """The rows that are due now; None if there are none."""
        robots, tick = self.robots, self._clocks.tick
        if tick is None:
            return self._due_among(robots.rows, schedule)
        return robots.rows if schedule.is_due(tick) and len(robots.rows) else None

    def next_due(self, tick: int) -> int:
        """The first tick from this one on at which some plugin of this group is due."""
        robots, first = self.robots, NEVER
        for plugin, schedule in (
            (robots.autonomy, robots.decide_schedule),
            (robots.control, robots.steer_schedule),
        ):
            due = plugin.next_due(tick)
            if due < first:
                first = min(first, schedule.next_due(due))
        if robots.override is not None:
            changed = robots.commands_changed
            release = tick if changed else robots.override.next_release(tick)
            first = min(first, robots.steer_schedule.next_due(release))
        for schedule in self._schedules:
            due = schedule.next_due(tick)
            if due < first:
                first = due
        return first

    @property
    def is_due_every_tick(self) -> bool:
        """Whether some plugin is due at every tick, so that no tick can be skipped."""
        return any(s.period == 1 and s.offset < NEVER for s in self._schedules)

    @property
    def senses(self) -> bool:
        """Whether a sensor is ever due, or the truth is kept for the evaluation."""
        return bool(self._periodic) or self.robots.evaluation.history_schedule is not None

    def ticks_since_command(self) -> int | None:
        """The age in ticks of the oldest newest command of a robot; None without robots."""
        robots = self.robots
        ages = robots.ticks[robots.rows] - robots.autonomy.memory["heard"][robots.rows]
        return int(ages.max()) if len(ages) else None

    def _due_among(self, rows: Rows, schedule: Schedule) -> Rows | None:
        """Those of these rows that are due by their own clocks; None if there are none."""
        if schedule.period == 1 and schedule.offset == 0:
            return rows if len(rows) else None
        ticks = self.robots.ticks[rows] - schedule.offset
        due = rows[(ticks >= 0) & (ticks % schedule.period == 0)]
        return due if len(due) else None

    # Rows for several plugins and threads.

    def _union(self, several: list[Rows]) -> Rows:
        first = several[0]
        if len(several) == 1 or all(rows is first for rows in several):
            return first
        included = np.zeros(len(self.robots.truth), bool)
        for rows in several:
            included[rows] = True
        return np.flatnonzero(included)

    def _call(self, verb: Callable[..., None], rows: Rows, *rest: Any) -> None:
        """Call a verb for rows, split over the threads where that is worth it."""
        if self._pool is None or len(rows) < 2 * verb.__self__.rows_per_thread:  # type: ignore[attr-defined]
            verb(rows, *rest)
            return
        parts = np.array_split(rows, self._threads)
        for future in [self._pool.submit(verb, part, *rest) for part in parts]:
            future.result()
