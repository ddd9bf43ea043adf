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
from astray.tables import CONTACTS, Rows

Due = Callable[[Schedule], Rows | None]


class GroupStepper:
    """Calls the plugins of a group when they are due."""

    def __init__(
        self,
        robots: Robots,
        clocks: Clocks,
        gather: Callable[[], None],
        pool: ThreadPoolExecutor | None,
        threads: int,
    ) -> None:
        self.robots = robots
        self._clocks = clocks
        self._gather = gather  # brings `scene.crowd` up to date
        self._threads = threads
        self._pool = pool
        self._arrivals: list[Rows] = []
        pipelines = robots.pipelines.values()
        self._sampled = [p for p in pipelines if p.taking.offset < NEVER]
        kept = robots.evaluation.history_schedule
        self._schedules = {
            *(p.taking for p in pipelines),
            *(p.arriving for p in pipelines if p.on_the_way),
            *(e.schedule for e in robots.evaluators if e.schedule is not None),
            *([] if kept is None else [kept]),
        }

    def wake(self, rows: Rows) -> None:
        """Let rows that have just started sense, once all that start with them are in place."""

        def due(schedule: Schedule) -> Rows | None:
            return self._due_among(rows, schedule)

        self.sense(due, waking=True)
        self.estimate()
        self.evaluate(due)

    def decide(self) -> None:
        """Decide and steer."""
        robots, tick = self.robots, self._clocks.tick
        if tick is None or robots.autonomy.next_due(tick) <= tick:
            rows = self.due(robots.decide_schedule)
            if rows is not None:
                self._each(robots.autonomy.decide, rows, robots.known, robots.commands)
                robots.commands_changed = True
        commands = robots.commands
        if robots.override is not None:
            robots.commands_changed |= robots.override.release(robots.ticks)
            commands = robots.override.applied_to(commands)
        if robots.commands_changed or tick is None or robots.control.next_due(tick) <= tick:
            rows = self.due(robots.steer_schedule)
            if rows is not None:
                self._each(robots.control.steer, rows, robots.known, commands, robots.drives)
                robots.commands_changed = False

    def move(self, steps: int) -> None:
        """Move the truth by some ticks."""
        robots = self.robots
        if self._pool is None:
            robots.motion.move(robots.rows, robots.truth, robots.drives, robots.dt, steps)
        elif len(robots.rows):
            move = robots.motion.move
            self._each(move, robots.rows, robots.truth, robots.drives, robots.dt, steps)

    def sense(self, due: Due, waking: bool = False) -> None:
        """Take the readings that are due, and let those arrive that are.

        While some rows are waking, the readings of the others stay as fresh as they were.
        """
        robots, evaluation = self.robots, self.robots.evaluation
        self._arrivals = []
        taken: list[Rows] = []
        when: dict[Schedule, Rows | None] = {}  # so that sensors of one schedule share their rows
        for pipeline in self._sampled:
            if pipeline.taking not in when:
                when[pipeline.taking] = due(pipeline.taking)
            rows = when[pipeline.taking]
            everyone = rows is not None and len(rows) == len(robots.truth)
            if not waking and (pipeline.on_the_way or not everyone):
                pipeline.stale()  # else all that was fresh is fresh again
            if rows is not None:
                if pipeline.sensor.sees_robots:
                    self._gather()
                self._each(pipeline.sense, rows, robots.scene)
                pipeline.stamp(rows, robots.time)
                taken.append(rows)
                if pipeline.sensor.measures == CONTACTS:
                    evaluation.keep_truth_of_all(rows)
            if pipeline.on_the_way:
                rows = due(pipeline.arriving)
                rows = None if rows is None else pipeline.arrivals(rows)
                if rows is not None:
                    pipeline.arrive(rows)
            if rows is not None:
                self._arrivals.append(rows)
        if evaluation.history_schedule is not None:
            rows = due(evaluation.history_schedule)
            if rows is not None:
                taken.append(rows)
        if taken and robots.evaluators:
            evaluation.keep_truth(self._union(taken), robots.truth)

    def sense_nothing(self) -> None:
        """Nothing is due: what arrived in the last tick is no longer fresh."""
        self._arrivals = []
        for pipeline in self._sampled:
            pipeline.stale()

    def estimate(self) -> None:
        """Bring every belief up to the readings that arrived."""
        if self._arrivals:
            robots, rows = self.robots, self._union(self._arrivals)
            for estimator, belief, known in robots.estimators:
                self._each(estimator.estimate, rows, known, belief)
            if robots.tracker is not None:
                self._each(robots.tracker.track, rows, robots.known, robots.contacts)

    def evaluate(self, due: Due) -> None:
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
        """The first tick from this one on at which some part of this group has to be called."""
        robots, first = self.robots, NEVER
        for plugin, schedule in (
            (robots.autonomy, robots.decide_schedule),
            (robots.control, robots.steer_schedule),
        ):
            due = plugin.next_due(tick)
            if due < first:
                first = min(first, schedule.from_(due))
        if robots.override is not None:
            changed = robots.commands_changed
            release = tick if changed else robots.override.next_release(tick)
            first = min(first, robots.steer_schedule.from_(release))
        for schedule in self._schedules:
            due = schedule.from_(tick)
            if due < first:
                first = due
        return first

    @property
    def is_due_every_tick(self) -> bool:
        """Whether some part has to be called at every tick, so that there is nothing to skip."""
        return any(s.period == 1 and s.offset < NEVER for s in self._schedules)

    @property
    def senses(self) -> bool:
        """Whether it has sensors that are ever due, or its truth is kept for the evaluation."""
        return bool(self._sampled) or self.robots.evaluation.history_schedule is not None

    def _due_among(self, rows: Rows, schedule: Schedule) -> Rows | None:
        """Those of some rows that are due by their own clocks; None if there are none."""
        if schedule.period == 1 and schedule.offset == 0:
            return rows if len(rows) else None
        ticks = self.robots.ticks[rows] - schedule.offset
        some = rows[(ticks >= 0) & (ticks % schedule.period == 0)]
        return some if len(some) else None

    def ticks_since_command(self) -> int | None:
        """Ticks since the newest command of the robot that waits longest; None without robots."""
        robots = self.robots
        since = robots.ticks[robots.rows] - robots.autonomy.memory["heard"][robots.rows]
        return int(since.max()) if len(since) else None

    # Rows for several plugins and threads.

    def _union(self, several: list[Rows]) -> Rows:
        first = several[0]
        if len(several) == 1 or all(rows is first for rows in several):
            return first
        some = np.zeros(len(self.robots.truth), bool)
        for rows in several:
            some[rows] = True
        return np.flatnonzero(some)

    def _each(self, verb: Callable[..., None], rows: Rows, *rest: Any) -> None:
        """Call a verb for rows, split over the threads where that is worth it."""
        if self._pool is None or len(rows) < 2 * verb.__self__.rows_per_thread:  # type: ignore[attr-defined]
            verb(rows, *rest)
            return
        parts = np.array_split(rows, self._threads)
        for done in [self._pool.submit(verb, part, *rest) for part in parts]:
            done.result()
