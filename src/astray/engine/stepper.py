"""The tick: the verbs of every group of robots, when they are due.

Events, decide, move, interact, sense, estimate, evaluate, observe. Ticks in which nothing but the
motion is due are moved in one call; how a run is divided into such calls never changes a byte.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from astray.engine.clocks import Clocks
from astray.engine.environment import Environment
from astray.engine.event_queue import EventQueue
from astray.engine.group_stepper import GroupStepper
from astray.engine.pacing import Pace
from astray.errors import LockstepTimeout

MAX_TICKS = 1_000_000  # in one call, so that a run can still be observed and stopped
MAX_WAIT = 0.1  # s after which a run that waits for commands checks whether it was stopped
PHASES = ("events", "decide", "move", "sense", "estimate", "evaluate", "observe")
EVENTS, DECIDE, MOVE, SENSE, ESTIMATE, EVALUATE, OBSERVE = range(len(PHASES))


class Periodic(Protocol):
    """An object that is called at steps of its own choice."""

    def next_due(self, step: int) -> int:
        """The first step from this one on at which it is to be called."""
        ...


class Stepper:
    """Advances all groups of a run, from one tick at which something is due to the next."""

    def __init__(
        self,
        clocks: Clocks,
        environment: Environment,
        groups: Sequence[GroupStepper],
        queue: EventQueue,
        pace: Pace,
        observers: Sequence[Periodic],
        apply_due_events: Callable[[], None],
        observe: Callable[[Periodic], None],
    ) -> None:
        """Connect the parts of a run.

        Args:
            clocks: The clocks to advance.
            environment: The scene in which robots interact.
            groups: The groups of robots.
            queue: The events to come.
            pace: Holds the requests of other threads.
            observers: Have the steps at which they are due; the list may grow during the run.
            apply_due_events: Applies the events of this step.
            observe: Calls an observer that is due at this step.
        """
        self.phase_ns = [0] * len(PHASES)
        self._clocks, self._environment = clocks, environment
        self._groups, self._queue, self._pace = groups, queue, pace
        self._observers, self._observe = observers, observe
        self._apply_due_events = apply_due_events
        self._sensing = [group for group in groups if group.senses]
        self._evaluating = [group for group in groups if group.robots.evaluators]
        self._in_lockstep = [group for group in groups if group.robots.lockstep]
        self._every_tick = any(group.is_due_every_tick for group in groups)
        self._interacting = bool(environment.interactions)
        self._motions = [(environment.rows_of(g.robots.scene), g.robots.motion) for g in groups]
        self._due = 0  # the next step at which something is due
        self._scheduled_observers = 0  # their number when that step was computed

    def invalidate_schedule(self) -> None:
        """Compute the next due step anew at the next call."""
        self._due = 0

    def advance_until_due(self, most: int) -> None:
        """Advance to the next tick at which something is due, at most some ticks."""
        if self._ticks_of_motion_only() >= most:
            self._move_only(most)
            return
        clocks, environment, phase_ns = self._clocks, self._environment, self.phase_ns
        clock = time.perf_counter_ns
        t0 = clock()
        if self._pace.requests:
            self._pace.serve_requests()
        if self._queue.is_due(clocks.steps):
            self._apply_due_events()
        for group in self._in_lockstep:
            self._await_commands(group)
        t1 = clock()
        if clocks.steps >= self._due:
            for group in self._groups:
                group.decide()
        t2 = clock()
        quiet = MAX_TICKS
        if self._interacting:
            quiet = environment.quiet_ticks(clocks.steps, self._motions)
        steps = min(self._ticks_until_due(most), max(1, quiet))
        if not quiet:
            environment.prepare()
        self._move(steps)
        if not quiet:
            self._interact()
        t3 = clock()
        phase_ns[EVENTS] += t1 - t0
        phase_ns[DECIDE] += t2 - t1
        phase_ns[MOVE] += t3 - t2
        if clocks.steps < self._due and self._scheduled_observers == len(self._observers):
            for group in self._sensing:
                group.sense_nothing()
            return
        for group in self._sensing:
            group.sense(group.due)
        t4 = clock()
        for group in self._sensing:
            group.estimate()
        t5 = clock()
        for group in self._evaluating:
            group.evaluate(group.due)
        t6 = clock()
        for observer in self._observers:
            if observer.next_due(clocks.steps) == clocks.steps:
                self._observe(observer)
        phase_ns[SENSE] += t4 - t3
        phase_ns[ESTIMATE] += t5 - t4
        phase_ns[EVALUATE] += t6 - t5
        phase_ns[OBSERVE] += clock() - t6

    def _ticks_of_motion_only(self) -> int:
        """The number of ticks, from now on, in which only the motion is due; 0 if unknown."""
        busy = self._queue.has_events or self._pace.requests or self._in_lockstep
        if busy or self._scheduled_observers != len(self._observers):
            return 0
        free = self._due - 1 - self._clocks.steps
        if free > 0 and self._interacting:
            return min(free, self._environment.quiet_until - self._clocks.steps)
        return free

    def _move_only(self, steps: int) -> None:
        """Move for some ticks in which nothing else is due."""
        begun = time.perf_counter_ns()
        self._move(steps)
        for group in self._sensing:
            group.sense_nothing()
        self.phase_ns[MOVE] += time.perf_counter_ns() - begun

    def _ticks_until_due(self, most: int) -> int:
        """How many ticks can be moved in one call."""
        clocks = self._clocks
        if clocks.tick is None or self._every_tick:
            return 1
        if clocks.steps >= self._due or self._scheduled_observers != len(self._observers):
            self._due, self._scheduled_observers = self._next_due(clocks.tick), len(self._observers)
        steps = min(most, self._due - clocks.steps)
        if self._queue.has_events:
            event = self._queue.next_step()
            if event is not None:
                steps = min(steps, event - clocks.steps)
        for group in self._in_lockstep:
            since = group.ticks_since_command()
            if since is not None:
                steps = min(steps, group.robots.lockstep - since)
        return max(1, steps)

    def _next_due(self, tick: int) -> int:
        """The next step at which a part of a group or an observer has to be called."""
        now, steps = self._clocks.steps, MAX_TICKS
        for group in self._groups:
            steps = min(steps, group.next_due(tick + 1) - tick)
            if steps == 1:
                return now + 1
        for observer in self._observers:
            steps = min(steps, observer.next_due(now + 1) - now)
        return now + steps

    def _interact(self) -> None:
        """Let the robots interact, and remove those that a collision removes."""
        for rows in self._environment.interact():
            for group in self._groups:
                own = rows - group.robots.scene.first_row
                group.robots.remove_rows(own[(own >= 0) & (own < len(group.robots.truth))])
            self._environment.robots_changed()

    def _move(self, steps: int) -> None:
        """Move all robots and advance the clocks."""
        for group in self._groups:
            group.move(steps)
        self._clocks.advance(steps)
        self._environment.robots_moved()

    def _await_commands(self, group: GroupStepper) -> None:
        """Lockstep: wait while a group is as far ahead of its commands as it may be."""
        timeout = group.robots.autonomy.patience
        deadline = time.monotonic() + timeout
        while (since := group.ticks_since_command()) is not None and not self._pace.stopped:
            if since < group.robots.lockstep:
                return
            with self._queue.arrived:
                if not self._queue.is_due(self._clocks.steps):
                    self._queue.arrived.wait(MAX_WAIT)
            self._apply_due_events()
            self._pace.serve_requests()
            if time.monotonic() > deadline:
                raise LockstepTimeout(
                    f"{group.robots.name!r} is in lockstep and no command came for {timeout:g} s"
                )
