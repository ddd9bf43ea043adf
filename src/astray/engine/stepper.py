"""The tick: five verbs over the tables of every group of robots, when they are due.

Decide, move, sense, estimate, observe. Ticks at which nobody is due are moved in one stretch; how a
run is cut into stretches never changes a byte of it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from astray.engine.episodes import pass_time
from astray.engine.lockstep import await_commands

if TYPE_CHECKING:
    from astray.sim import Sim

LONGEST = 1_000_000  # ticks in one stretch, so that a run can still be watched and stopped
PHASES = ("events", "decide", "move", "sense", "estimate", "judge", "observe")


class Clockwork:
    """What drives the groups of one run from tick to tick."""

    def __init__(self, sim: Sim) -> None:
        self.sim = sim
        self._groups = list(sim.robots.values())
        self._sensing = [group for group in self._groups if group.senses]
        self._judging = [group for group in self._groups if group.judges]
        self._in_lockstep = [group for group in self._groups if group.lockstep]
        self._every_tick = any(group.every_tick for group in self._groups)
        self._interacting = bool(sim.scenery.interactions)
        self._motions = [
            (slice(g.scene.first, g.scene.first + len(g.truth)), g.motion) for g in self._groups
        ]
        self._ticks, self._stamps = sim.truth["tick"], sim.truth["stamp"]  # views, looked up once
        self._due = self._watched = 0  # the step at which something is due, and for how many eyes

    def look_anew(self) -> None:
        """Take note that what is due when has to be found out anew."""
        self._due = 0

    def stretch(self, most: int) -> None:
        """Advance to where something is next due, at most some ticks."""
        if self._free_ticks() >= most:
            self._glide(most)
            return
        sim = self.sim
        clock, spent = time.perf_counter_ns, sim.spent
        t0 = clock()
        if sim.pace.asked:
            sim.pace.answer()
        if sim.agenda.is_due(sim.steps):
            sim.admit()
        for group in self._in_lockstep:
            await_commands(sim, group)
        t1 = clock()
        if sim.steps >= self._due:
            for group in self._groups:
                group.decide()
        t2 = clock()
        spare = sim.scenery.spare(sim.steps, self._motions) if self._interacting else LONGEST
        steps = min(self._until_due(most), max(1, spare))
        if not spare:
            sim.scenery.prepare()
        self._move(steps)
        if not spare:
            self._interact()
        t3 = clock()
        spent[0] += t1 - t0
        spent[1] += t2 - t1
        spent[2] += t3 - t2
        if sim.steps < self._due and self._watched == len(sim.observers):
            for group in self._sensing:
                group.rest()
            return
        for group in self._sensing:
            group.sense(group.due)
        t4 = clock()
        for group in self._sensing:
            group.estimate()
        t5 = clock()
        for group in self._judging:
            group.judge(group.due)
        t6 = clock()
        for observer in sim.observers:
            if observer.next_due(sim.steps) == sim.steps:
                observer.observe(sim)
        spent[3] += t4 - t3
        spent[4] += t5 - t4
        spent[5] += t6 - t5
        spent[6] += clock() - t6

    def _free_ticks(self) -> int:
        """For how many ticks it is known that nobody has anything to do but to move."""
        sim = self.sim
        busy = sim.agenda.is_waiting or sim.pace.asked or self._in_lockstep
        if busy or self._watched != len(sim.observers):
            return 0
        free = self._due - 1 - sim.steps
        if free > 0 and self._interacting:
            return min(free, sim.scenery.quiet_until - sim.steps)
        return free

    def _glide(self, steps: int) -> None:
        """Move for some ticks in which nobody has anything else to do."""
        begun = time.perf_counter_ns()
        self._move(steps)
        for group in self._sensing:
            group.rest()
        self.sim.spent[2] += time.perf_counter_ns() - begun

    def _until_due(self, most: int) -> int:
        """How many ticks can be moved in one go."""
        sim = self.sim
        if sim.tick is None or self._every_tick:
            return 1
        if sim.steps >= self._due or self._watched != len(sim.observers):
            self._due, self._watched = self._next_due(sim.tick), len(sim.observers)
        steps = min(most, self._due - sim.steps)
        if sim.agenda.is_waiting:
            event = sim.agenda.next_step()
            if event is not None:
                steps = min(steps, event - sim.steps)
        for group in self._in_lockstep:
            ahead = group.ahead_of_commands()
            if ahead is not None:
                steps = min(steps, group.lockstep - ahead)
        return max(1, steps)

    def _next_due(self, tick: int) -> int:
        """The next step at which a part of a group or an observer has to be called."""
        now, steps = self.sim.steps, LONGEST
        for group in self._groups:
            steps = min(steps, group.next_due(tick + 1) - tick)
            if steps == 1:
                return now + 1
        for observer in self.sim.observers:
            steps = min(steps, observer.next_due(now + 1) - now)
        return now + steps

    def _interact(self) -> None:
        """Let robots run into things, and remove those that are lost by it."""
        for rows in self.sim.scenery.interact():
            for group in self._groups:
                mine = rows - group.scene.first
                group.end(mine[(mine >= 0) & (mine < len(group.truth))])
            self.sim.scenery.changed()

    def _move(self, steps: int) -> None:
        """Let everyone move, and time pass."""
        for group in self._groups:
            group.move(steps)
        self._advance(steps)
        self.sim.scenery.moved()

    def _advance(self, steps: int) -> None:
        """Turn every world's clock, and the stamp of every row."""
        sim = self.sim
        sim.steps += steps
        if sim.tick is None:
            sim.clock += steps
            for group in self._groups:
                pass_time(group.truth, group.address, group.time, steps, sim.dt)
            return
        sim.tick += steps
        now = sim.tick * sim.dt
        sim.clock.fill(sim.tick)
        self._ticks.fill(sim.tick)
        self._stamps.fill(now)
        for group in self._groups:
            group.tick = sim.tick
            group.ticks.fill(sim.tick)
            group.time.fill(now)
