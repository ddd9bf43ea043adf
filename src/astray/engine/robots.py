"""A group of equal robots: the five verbs over its parts, for the rows that are due."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from astray.engine.episodes import enter_lives, newborn
from astray.engine.evaluation.evaluators import Judging
from astray.engine.group_parts import Parts
from astray.engine.manual_override import Hands
from astray.engine.robot_commands import Orders
from astray.errors import WrongInput
from astray.numerics.schedule import Beat, ticks_in
from astray.plugin import NEVER, ContactMetric, Metric, Scene
from astray.plugin.reading import Reading
from astray.robot.autonomy import Remote
from astray.scenario.scenario import GroupPlan
from astray.tables import CONTACTS, Array, Rows, Table
from astray.world.planning.free_space import Taken

Due = Callable[[Beat], Rows | None]


class Group(Parts, Orders):
    """Equal robots in all worlds, and who of them has to do what when."""

    def __init__(self, plan: GroupPlan, scene: Scene, address: Table, dt: float, seed: int) -> None:
        super().__init__(plan, scene, address, dt, seed)
        n = len(self.truth)
        self.starts = np.zeros(n, np.int64)
        self.begun = np.zeros(n, np.int64)  # how often each row was started, for who watches
        self.rows = np.arange(0)
        self.changes = 0  # how often rows came or went
        self.tick: int | None = 0  # of every world; None while their clocks differ
        self.footprint = 0  # its number among those of all groups
        self.commanded = True
        self.hands: Hands | None = None  # on those that were ever driven by hand
        self.judging = Judging(n)
        self.judges = self.judging.judges
        self.pool: ThreadPoolExecutor | None = None
        self.threads = 1
        self.gather: Callable[[], None]  # lets `scene.crowd` be up to date
        self._find_beats()

    def judge_by(self, metrics: Iterable[Metric | ContactMetric]) -> None:
        """Let every belief of this group be judged by these metrics."""
        self.judging.appoint(self, metrics)
        self._find_beats()

    # What a user asks of robots, beside what `Orders` has.

    def look(self, sensor: str, rows: Rows | None = None, truth: Table | None = None) -> Reading:
        """Take a reading now, out of turn and without a trace in the run.

        It is what the sensor reads if it is due now, so asking twice gives the same. For all robots
        that are there unless rows are named; with `truth` as if that were the truth of the group.
        """
        if sensor not in self.channels:
            have = ", ".join(self.channels) or "none"
            raise WrongInput(f"robot {self.name!r} has no sensor {sensor!r} (it has {have})")
        channel = self.channels[sensor]
        if channel.sensor.sees_robots:
            self.gather()
        scene = self.scene if truth is None else dataclasses.replace(self.scene, truth=truth)
        return channel.look(self.rows if rows is None else rows, scene, self.time).copy()

    def take_in_hand(
        self, rows: Rows, command: Table, each: Mapping[str, Array], seconds: float
    ) -> None:
        """Let a hand drive these rows for some seconds, as `Remote.receive`; 0 lets go."""
        if self.hands is None:
            self.hands = Hands(len(self.truth))
        told = {"stamp": self.time[rows], **each}
        self.hands.take(rows, command, told, self.ticks[rows] + ticks_in(seconds, self.dt))
        self.commanded = True

    # Starting rows.

    def rows_of(self, worlds: Array) -> Rows:
        """The rows of some worlds, by their places in the batch, asleep or not."""
        if self.plan.capacity == 1:
            return worlds
        each = np.arange(self.plan.capacity)
        return np.asarray((worlds[:, None] * self.plan.capacity + each).ravel())

    def begin(self, rows: Rows, lives: Array, clock: Array, taken: Taken | None = None) -> bool:
        """Start these rows in the lives of their worlds, of which these are all, by their clocks.

        Those that start where there is room keep away from spots that are taken. Whether some of
        them were asleep.
        """
        counts, worlds = (self.starts, self.begun, self.time), (self.world_of_row, lives, clock)
        slept = enter_lives(self.address, self.truth, counts, worlds, rows, self.dt)
        who, where = self.address.take(rows), self.world_of_row[rows]
        start, map = self.plan.start, self.scene.map
        poses = start.poses(who, self.seed, self.name, map, where, taken)
        self._blank.fill(rows)
        for state in self._states:
            newborn(state, self.address, self.time, rows, poses, self.footprint)
        if self.hands is not None:
            self.hands.forget(rows)
            self.hands = None if self.hands.idle else self.hands
        for channel in self.channels.values():
            channel.some_began()
        if self.tracker is not None:
            self.contacts.forget(rows)
        self.judging.forget(rows)
        for plugin in self._starting:
            plugin.begin_blank(rows)
        for estimator, belief, _ in self.estimators:
            estimator.start(rows, belief)
        self.commanded = True
        self.changes += 1
        if slept:
            self.count_alive()
        return slept

    def wake(self, rows: Rows) -> None:
        """Let rows that have just started sense, once all that start with them are in place."""

        def due(beat: Beat) -> Rows | None:
            return self.due_among(rows, beat)

        self.sense(due, waking=True)
        self.estimate()
        self.judge(due)

    def end(self, rows: Rows) -> None:
        """Put these rows to sleep."""
        for state in (self.truth, *self.beliefs().values()):
            state["alive"][rows] = False
        self.starts[rows] += 1
        self.count_alive()

    def count_alive(self) -> None:
        """Note which rows there are to do."""
        rows = np.flatnonzero(self.truth["alive"])
        if not np.array_equal(rows, self.rows):  # else it stays what plugins were handed before
            self.rows = rows
        self.changes += 1

    # The five verbs, for the rows that are due.

    def decide(self) -> None:
        """Decide and steer."""
        tick = self.tick
        if tick is None or self.autonomy.next_due(tick) <= tick:
            rows = self.due(self.deciding)
            if rows is not None:
                self._each(self.autonomy.decide, rows, self.known, self.commands)
                self.commanded = True
        commands = self.commands
        if self.hands is not None:
            self.commanded |= self.hands.let_go(self.ticks)
            commands = self.hands.over(commands)
        if self.commanded or tick is None or self.control.next_due(tick) <= tick:
            rows = self.due(self.steering)
            if rows is not None:
                self._each(self.control.steer, rows, self.known, commands, self.drives)
                self.commanded = False

    def move(self, steps: int) -> None:
        """Move the truth by some ticks."""
        if self.pool is None:
            self.motion.move(self.rows, self.truth, self.drives, self.dt, steps)
        elif len(self.rows):
            self._each(self.motion.move, self.rows, self.truth, self.drives, self.dt, steps)

    def sense(self, due: Due, waking: bool = False) -> None:
        """Take the readings that are due, and let those arrive that are.

        Those of others are as fresh as they were while some rows are waking.
        """
        self.arrivals: list[Rows] = []
        taken: list[Rows] = []
        when: dict[Beat, Rows | None] = {}  # so that sensors of one beat share their rows
        for channel in self._taking:
            if channel.taking not in when:
                when[channel.taking] = due(channel.taking)
            rows = when[channel.taking]
            everyone = rows is not None and len(rows) == len(self.truth)
            if not waking and (channel.on_the_way or not everyone):
                channel.stale()  # else all that was fresh is fresh again
            if rows is not None:
                if channel.sensor.sees_robots:
                    self.gather()
                self._each(channel.sense, rows, self.scene)
                channel.stamp(rows, self.time)
                taken.append(rows)
                if channel.sensor.measures == CONTACTS:
                    self.judging.remember_everyone(rows)
            if channel.on_the_way:
                rows = due(channel.arriving)
                rows = None if rows is None else channel.arrivals(rows)
                if rows is not None:
                    channel.arrive(rows)
            if rows is not None:
                self.arrivals.append(rows)
        if self.judging.remembering is not None:
            rows = due(self.judging.remembering)
            if rows is not None:
                taken.append(rows)
        if taken and self.judges:
            self.judging.remember(self._union(taken), self.truth)

    def rest(self) -> None:
        """Nothing is due: what arrived in the last tick is no longer fresh."""
        self.arrivals = []
        for channel in self._taking:
            channel.stale()

    def estimate(self) -> None:
        """Bring every belief up to the readings that arrived."""
        if self.arrivals:
            rows = self._union(self.arrivals)
            for estimator, belief, known in self.estimators:
                self._each(estimator.estimate, rows, known, belief)
            if self.tracker is not None:
                self._each(self.tracker.track, rows, self.known, self.contacts)

    def judge(self, due: Due) -> None:
        """Measure the beliefs that changed, or those whose metric is due."""
        arrived = self._union(self.arrivals) if self.arrivals else None
        self.judging.judge(due, arrived, self.truth)

    # When things are due.

    def due(self, pace: Beat) -> Rows | None:
        """The rows that are due now; None if no one is."""
        if self.tick is None:
            return self.due_among(self.rows, pace)
        return self.rows if pace.is_due(self.tick) and len(self.rows) else None

    def next_due(self, tick: int) -> int:
        """The first tick from this one on at which some part of this group has to be called."""
        first = NEVER
        for plugin, pace in ((self.autonomy, self.deciding), (self.control, self.steering)):
            due = plugin.next_due(tick)
            if due < first:
                first = min(first, pace.from_(due))
        if self.hands is not None:
            release = tick if self.commanded else self.hands.next_release(tick)
            first = min(first, self.steering.from_(release))
        for pace in self._beats:
            due = pace.from_(tick)
            if due < first:
                first = due
        return first

    @property
    def every_tick(self) -> bool:
        """Whether some part has to be called at every tick, so that there is nothing to skip."""
        return any(pace.period == 1 and pace.offset < NEVER for pace in self._beats)

    @property
    def senses(self) -> bool:
        """Whether it has sensors that are ever due, or its truth is to be remembered."""
        return bool(self._taking) or self.judging.remembering is not None

    def _find_beats(self) -> None:
        """Gather the beats of all that has a rate, since every tick asks for them."""
        beats = [c.taking for c in self.channels.values()]
        beats += [c.arriving for c in self.channels.values() if c.on_the_way]
        self._taking = [c for c in self.channels.values() if c.taking.offset < NEVER]
        beats += [j.beat for j in self.judges if j.beat is not None]
        beats += [] if self.judging.remembering is None else [self.judging.remembering]
        self._beats = set(beats)

    def due_among(self, rows: Rows, pace: Beat) -> Rows | None:
        """Those of some rows that are due by their own clocks; None if no one is."""
        if pace.period == 1 and pace.offset == 0:
            return rows if len(rows) else None
        ticks = self.ticks[rows] - pace.offset
        some = rows[(ticks >= 0) & (ticks % pace.period == 0)]
        return some if len(some) else None

    @property
    def lockstep(self) -> int:
        """Ticks that this group may run ahead of its commands; 0 if it need not wait for them."""
        ahead = self.autonomy.lockstep if isinstance(self.autonomy, Remote) else None
        return 0 if ahead is None else max(1, ticks_in(ahead, self.dt))

    def ahead_of_commands(self) -> int | None:
        """Ticks since the newest command of whoever waits longest; None if no robot is there."""
        rows = self.rows
        since = self.ticks[rows] - self.autonomy.memory["heard"][rows]
        return int(since.max()) if len(rows) else None

    # Rows for several hands.

    def _union(self, several: list[Rows]) -> Rows:
        first = several[0]
        if len(several) == 1 or all(rows is first for rows in several):
            return first
        some = np.zeros(len(self.truth), bool)
        for rows in several:
            some[rows] = True
        return np.flatnonzero(some)

    def _each(self, verb: Callable[..., None], rows: Rows, *rest: Any) -> None:
        """Call a verb for rows, split over the threads where that is worth it."""
        if self.pool is None or len(rows) < 2 * verb.__self__.rows_per_thread:  # type: ignore[attr-defined]
            verb(rows, *rest)
            return
        parts = np.array_split(rows, self.threads)
        for done in [self.pool.submit(verb, part, *rest) for part in parts]:
            done.result()
