"""A simulation is a few tables and one tick. Read this first.

A tick is five verbs over the tables of every group of robots: decide, move, sense, estimate,
observe. Ticks at which nobody is due are moved in one stretch; how a run is cut into stretches
never changes a byte of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from astray import effects, restarting
from astray.blame import blame
from astray.errors import WrongInput
from astray.events import Agenda, Event
from astray.group import Group
from astray.lives import in_step, pass_time
from astray.lockstep import await_commands
from astray.observers import Observer
from astray.observers.log import Log, Logger
from astray.observers.trail import Trail
from astray.pace import LOOK_UP, Pace
from astray.scenario.plan import Scenario
from astray.scenery import Scenery
from astray.table import Array, Table
from astray.world.map import Map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from astray.view.page.view import View

LONGEST = 1_000_000  # ticks in one stretch, so that a run can still be watched and stopped
PHASES = ("events", "decide", "move", "sense", "estimate", "judge", "observe")
NEWEST_HITS = 65536  # contacts that are kept where events are not
TELL = 0.1  # s of real time between two words of progress
Worlds = int | range | Sequence[int]
Progress = Callable[[float], None]


class Sim:
    """A scenario in one or many independent worlds, as a batch of rows."""

    def __init__(
        self,
        scenario: Scenario,
        worlds: Worlds = 1,
        seed: int | None = None,
        threads: int = 1,
        keep_events: bool = True,
    ) -> None:
        self.scenario = scenario
        self.dt = scenario.dt
        self.worlds = np.array(range(worlds) if isinstance(worlds, int) else worlds, np.int64)
        if not len(self.worlds) or len(set(self.worlds.tolist())) < len(self.worlds):
            raise WrongInput("worlds must be one or more different numbers")
        if self.worlds.min() < 0 or self.worlds.max() >= 2**31:
            raise WrongInput("worlds are numbered from 0 to 2147483647")
        self.places = {int(world): place for place, world in enumerate(self.worlds)}
        self.clock: Array = np.zeros(len(self.worlds), np.int64)
        self.lives: Array = np.zeros(len(self.worlds), np.int64)
        self.tick: int | None = 0  # of every world; None while their clocks differ
        self.steps = 0  # ticks since loading, which no reset of single worlds sets back
        self.agenda = Agenda(keep_events)
        self.pace = Pace()
        self.observers: list[Observer] = []
        self.spent = [0] * len(PHASES)  # ns
        self.resting = True  # while no one is advancing it
        self._due = self._watched = 0  # the step at which something is due, and for how many eyes
        self._threads = max(1, threads)
        self.build(scenario.seed if seed is None else seed)
        self.trail = Trail(self)
        self.observers.append(self.trail)
        try:
            restarting.restart(self, np.arange(len(self.worlds)), 0)
        except Exception as problem:
            raise blame(problem, 0.0) from problem
        self.trail.observe(self)

    def build(self, seed: int) -> None:
        """Make everything that noise goes into, with this seed."""
        self.seed, threads = seed, self._threads
        self.scenery = Scenery(self.scenario, self.worlds, self.seed)
        if not self.agenda.keep:
            self.scenery.keep_newest_hits(NEWEST_HITS)
        self.truth = self.scenery.truth
        self.robots: dict[str, Group] = {}
        pool = ThreadPoolExecutor(threads, "astray") if threads > 1 else None
        first = 0
        for plan in self.scenario.robots:
            rows = slice(first, first + plan.capacity * len(self.worlds))
            first = rows.stop
            scene, address = self.scenery.of_group(rows), self.scenery.address[rows]
            group = Group(plan, scene, address, self.dt, self.seed)
            group.footprint = self.scenery.footprints.index(plan.name)
            group.knows(self.scenery.map_given_to(plan))
            group.judge_by(self.scenario.metrics)
            group.post, group.pool, group.threads = self.post, pool, threads
            group.gather = self.scenery.gather
            self.robots[plan.name] = group
        self._groups = list(self.robots.values())
        said = {name: group.belief for name, group in self.robots.items()}
        for group in self._groups:
            group.known.others = said
        self._sensing = [group for group in self._groups if group.senses]
        self._judging = [group for group in self._groups if group.judges]
        self._in_lockstep = [group for group in self._groups if group.lockstep]
        self._every_tick = any(group.every_tick for group in self._groups)
        self._interacting = bool(self.scenery.interactions)
        self._motions = [
            (slice(g.scene.first, g.scene.first + len(g.truth)), g.motion) for g in self._groups
        ]
        self._ticks, self._stamps = self.truth["tick"], self.truth["stamp"]  # views, looked up once

    # Time.

    @property
    def time(self) -> float:
        """The time of the first world, s."""
        return float(self.clock[0] * self.dt)

    @property
    def belief(self) -> Table:
        """What all robots believe, a copy with the rows and columns of `truth`."""
        return np.concatenate([group.belief for group in self._groups])

    def step(self, ticks: int = 1) -> None:
        """Advance by some ticks."""
        end = self.steps + ticks
        self.resting = False
        try:
            while self.steps < end:
                self._stretch(end - self.steps)
        except Exception as problem:
            raise blame(problem, self.time) from problem
        finally:
            self.resting = True

    def ticks(self, seconds: float) -> Iterator[float]:
        """Advance tick by tick, giving the time after each: a loop to drive robots in."""
        for _ in range(self._ticks_in(seconds)):
            self.step()
            yield self.time

    @overload
    def run(
        self,
        seconds: float | None = None,
        *,
        log: None = None,
        speed: float | None = None,
        progress: Progress | None = None,
    ) -> None: ...
    @overload
    def run(
        self,
        seconds: float | None = None,
        *,
        log: float,
        speed: float | None = None,
        progress: Progress | None = None,
    ) -> Log: ...
    def run(
        self,
        seconds: float | None = None,
        *,
        log: float | None = None,
        speed: float | None = None,
        progress: Progress | None = None,
    ) -> Log | None:
        """Run for simulated seconds (the scenario's duration), as fast as possible or at a speed.

        With `log` the tables are kept every so many seconds and returned as time series.
        `progress` is told the simulated seconds done, some ten times per second.
        """
        start, told = self.steps, 0.0
        length = self._ticks_in(self.scenario.duration if seconds is None else seconds)
        logger = Logger(self, log) if log is not None else None
        watching = [*self.observers, logger] if logger else self.observers
        before, self.observers, self._due = self.observers, watching, 0
        self.pace.set_speed(speed)
        self.pace.begin(self.steps * self.dt)
        self.resting = False
        try:
            while (rest := start + length - self.steps) > 0:
                most = self.pace.ticks(self.steps * self.dt, self.dt, rest)
                if most == LOOK_UP:
                    start = self._look_up(start)
                    continue
                if not most:
                    break
                before_stretch = self.steps
                self._stretch(most)
                self.pace.used(self.steps - before_stretch)
                if progress and (wall := time.monotonic()) - told > TELL:
                    told = wall
                    progress((self.steps - start) * self.dt)
        except Exception as problem:
            raise blame(problem, self.time) from problem
        finally:
            self.observers, self._due, self.resting = before, 0, True
            self.pace.answer()
        return logger.log() if logger else None

    def _look_up(self, start: int) -> int:
        """Do what was asked of a run that waits; the step at which it began, perhaps anew."""
        again = self.pace.restart()
        if again is not None:
            self.reset(seed=again[0])
            self.pace.begin(0.0)
            start = 0
        self.admit()  # a robot that is moved by hand is there at once, not when time goes on
        self.pace.answer()
        return start

    def _ticks_in(self, seconds: float) -> int:
        ticks = round(seconds / self.dt)
        if not ticks >= 0:
            raise WrongInput(f"{seconds} s is not a length of time")
        return ticks

    # The tick.

    def _stretch(self, most: int) -> None:
        """Advance to where something is next due, at most some ticks."""
        if self._free_ticks() >= most:
            self._glide(most)
            return
        clock, spent = time.perf_counter_ns, self.spent
        t0 = clock()
        if self.pace.asked:
            self.pace.answer()
        if self.agenda.is_due(self.steps):
            self.admit()
        for group in self._in_lockstep:
            await_commands(self, group)
        t1 = clock()
        if self.steps >= self._due:
            for group in self._groups:
                group.decide()
        t2 = clock()
        spare = self.scenery.spare(self.steps, self._motions) if self._interacting else LONGEST
        steps = min(self._until_due(most), max(1, spare))
        if not spare:
            self.scenery.prepare()
        self._move(steps)
        if not spare:
            self._interact()
        t3 = clock()
        spent[0] += t1 - t0
        spent[1] += t2 - t1
        spent[2] += t3 - t2
        if self.steps < self._due and self._watched == len(self.observers):
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
        for observer in self.observers:
            if observer.next_due(self.steps) == self.steps:
                observer.observe(self)
        spent[3] += t4 - t3
        spent[4] += t5 - t4
        spent[5] += t6 - t5
        spent[6] += clock() - t6

    def _free_ticks(self) -> int:
        """For how many ticks it is known that nobody has anything to do but to move."""
        busy = self.agenda.is_waiting or self.pace.asked or self._in_lockstep
        if busy or self._watched != len(self.observers):
            return 0
        free = self._due - 1 - self.steps
        if free > 0 and self._interacting:
            return min(free, self.scenery.quiet_until - self.steps)
        return free

    def _glide(self, steps: int) -> None:
        """Move for some ticks in which nobody has anything else to do."""
        begun = time.perf_counter_ns()
        self._move(steps)
        for group in self._sensing:
            group.rest()
        self.spent[2] += time.perf_counter_ns() - begun

    def _until_due(self, most: int) -> int:
        """How many ticks can be moved in one go."""
        if self.tick is None or self._every_tick:
            return 1
        if self.steps >= self._due or self._watched != len(self.observers):
            self._due, self._watched = self._next_due(self.tick), len(self.observers)
        steps = min(most, self._due - self.steps)
        if self.agenda.is_waiting:
            event = self.agenda.next_step()
            if event is not None:
                steps = min(steps, event - self.steps)
        for group in self._in_lockstep:
            heard = group.newest_command()
            if heard is not None:
                steps = min(steps, heard + group.lockstep - self.tick)
        return max(1, steps)

    def _next_due(self, tick: int) -> int:
        """The next step at which a part of a group or an observer has to be called."""
        steps = LONGEST
        for group in self._groups:
            steps = min(steps, group.next_due(tick + 1) - tick)
            if steps == 1:
                return self.steps + 1
        for observer in self.observers:
            steps = min(steps, observer.next_due(self.steps + 1) - self.steps)
        return self.steps + steps

    def _interact(self) -> None:
        """Let robots run into things, and remove those that are lost by it."""
        for rows in self.scenery.interact():
            for group in self._groups:
                mine = rows - group.scene.first
                group.end(mine[(mine >= 0) & (mine < len(group.truth))])
            self.scenery.changed()

    def _move(self, steps: int) -> None:
        """Let everyone move, and time pass."""
        for group in self._groups:
            group.move(steps)
        self._advance(steps)
        self.scenery.moved()

    def _advance(self, steps: int) -> None:
        """Turn every world's clock, and the stamp of every row."""
        self.steps += steps
        if self.tick is None:
            self.clock += steps
            for group in self._groups:
                pass_time(group.truth, group.address, group.time, steps, self.dt)
            return
        self.tick += steps
        now = self.tick * self.dt
        self.clock.fill(self.tick)
        self._ticks.fill(self.tick)
        self._stamps.fill(now)
        for group in self._groups:
            group.tick = self.tick
            group.ticks.fill(self.tick)
            group.time.fill(now)

    # Events.

    def post(self, event: Event) -> None:
        """Let something happen at the start of the next tick: the one way in. Safe for threads."""
        effects.check(self, event)
        self.agenda.post(effects.with_content(event))

    def map(self, world: int | None = None) -> Map:
        """The map of a world as it is now; of the first one unless named."""
        place = 0 if world is None else int(np.flatnonzero(self.worlds == world)[0])
        return self.scenery.scene.map.map(place)

    def replace_map(self, map: Any, worlds: Any = None) -> None:
        """Put another map in the place of the world's: anything a scenario takes, or a Map.

        What the robots believe of the world stays as it was.
        """
        some = None if worlds is None else tuple(int(w) for w in np.atleast_1d(worlds))
        self.post(Event("world", worlds=some, values={"map": map}))

    def clear_map(self, worlds: Any = None) -> None:
        """Take all obstacles away."""
        self.replace_map(Map(), worlds)

    @property
    def events(self) -> list[Event]:
        """What has happened so far; with scenario and seed it makes up the run."""
        return self.agenda.log

    def replay(self, events: Sequence[Event]) -> None:
        """Post the events of another run, each at its own step."""
        for event in events:
            self.post(event)

    def admit(self) -> None:
        """Let the events of this step take effect."""
        if self.agenda.is_due(self.steps):
            self._due = 0
            for event in self.agenda.due(self.steps):
                effects.apply(self, event)
            self.scenery.settle()

    def reset(
        self, worlds: Any = None, *, life: int | None = None, seed: int | None = None
    ) -> None:
        """Start over: everything as loaded, or the next life of some worlds (ids, or a mask)."""
        rested, self.resting = self.resting, False  # no one looks while tables are written
        try:
            restarting.reset(self, worlds, life, seed)
        finally:
            self.resting = rested

    def go_on_at(self, steps: int) -> None:
        """Take over the clocks of a saved run, after so many steps."""
        self.steps = steps
        self.read_clocks()

    def read_clocks(self) -> None:
        """Take note that clocks were set: what is due when has to be found out anew."""
        self._due = 0
        self.tick = int(self.clock[0]) if in_step(self.clock) else None

    # What became of it.

    @property
    def collisions(self) -> Table:
        """The contacts that have begun so far: stamp, world, row, other row (−1: a wall), place."""
        return self.scenery.hits()

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the whole state to a file, from which `astray.resume` goes on bit for bit."""
        from astray.save import save

        save(self, file)

    def write(self, log: Log, folder: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the run and its log to a folder, with a picture and what repeats it."""
        from astray.observers.folder import write_folder

        write_folder(self, log, Path(folder), overwrite)

    def digest(self) -> str:
        """A digest of every byte of state: equal for equal runs."""
        from astray.save import digest

        return digest(self)

    def plot(self) -> Figure:
        """Where the robots were and where they believed to be, as a matplotlib figure."""
        from astray.view.notebook import shown_in_notebooks
        from astray.view.plot import plot_paths

        return shown_in_notebooks(plot_paths(self.trail.paths(), self.map()))

    def view(self, port: int = 0, *, browser: bool | None = None, token: str | None = None) -> View:
        """Show the run on a page, in the notebook or else in the browser, while it goes on.

        The page is served on this machine alone, until `close` of what is returned is called.
        """
        from astray.view.page.view import view

        return view(self, port=port, browser=browser, token=token)

    def profile(self) -> dict[str, float]:
        """Seconds spent in each phase of the tick so far."""
        return {phase: ns * 1e-9 for phase, ns in zip(PHASES, self.spent, strict=True)}
