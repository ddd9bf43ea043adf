"""A simulation is a few tables and one tick. Read this first, then `engine/clockwork.py`.

Robots of one name are a group, and a group of all worlds is one set of tables. What happens to them
from outside is an event: scenario, seed and events make up a run, byte for byte.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from astray.engine import reset as restarting
from astray.engine.batch import Places, Worlds, world_numbers
from astray.engine.environment import Scenery
from astray.engine.episodes import in_step
from astray.engine.error_attribution import blame
from astray.engine.events import Agenda, Event, apply, checks, is_whole
from astray.engine.log import Log, Logger
from astray.engine.observer import Observer
from astray.engine.pacing import LOOK_UP, Pace
from astray.engine.path_log import Trail
from astray.engine.robot_commands import indices
from astray.engine.robots import Group
from astray.engine.stepper import PHASES, Clockwork
from astray.errors import WrongInput
from astray.scenario.scenario import Scenario
from astray.tables import Array, Table
from astray.world.map import Map

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from astray.viewer.page.view import View

NEWEST_HITS = 65536  # contacts that are kept where events are not
TELL = 0.1  # s of real time between two words of progress
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
        self.worlds = world_numbers(worlds, scenario)
        self.places = Places(self.worlds)
        self.clock: Array = np.zeros(len(self.worlds), np.int64)
        self.lives: Array = np.zeros(len(self.worlds), np.int64)
        self.tick: int | None = 0  # of every world; None while their clocks differ
        self.steps = 0  # ticks since loading, which no reset of single worlds sets back
        self.agenda = Agenda(keep_events)
        self.pace = Pace()
        self.observers: list[Observer] = []
        self.spent = [0] * len(PHASES)  # ns
        self.resting = True  # while no one is advancing it
        self._threads = max(1, threads)
        try:
            self.build(scenario.seed if seed is None else seed)
        except MemoryError as problem:
            count = len(self.worlds)
            raise WrongInput(f"{count} worlds do not fit into memory: {problem}") from None
        self.trail = Trail(self)
        self.observers.append(self.trail)
        try:
            restarting.restart(self, np.arange(len(self.worlds)), 0)
        except Exception as problem:
            raise blame(problem, 0.0) from problem
        self.trail.observe(self)

    def build(self, seed: int) -> None:
        """Make everything that noise goes into, with this seed."""
        if not is_whole(seed) or not 0 <= seed < 2**63:
            raise WrongInput(f"a seed is a whole number from 0 on, below 2**63, not {seed}")
        self.seed, threads = int(seed), self._threads
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
        said = {name: group.belief for name, group in self.robots.items()}
        for group in self.robots.values():
            group.known.others = said
        self.clockwork = Clockwork(self)

    # Time.

    @property
    def time(self) -> float:
        """The time of the first world, s."""
        return float(self.clock[0] * self.dt)

    @property
    def belief(self) -> Table:
        """What all robots believe, a copy with the rows and columns of `truth`."""
        return np.concatenate([group.belief for group in self.robots.values()])

    def step(self, ticks: int = 1) -> None:
        """Advance by some ticks."""
        if not is_whole(ticks) or ticks < 0:
            raise WrongInput(f"{ticks} is not a number of ticks")
        end = self.steps + ticks
        self.resting = False
        try:
            while self.steps < end:
                self.clockwork.stretch(end - self.steps)
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
        self.pace.set_speed(speed)
        logger = Logger(self, log) if log is not None else None
        if logger is not None:
            self.observers.append(logger)
        self.clockwork.look_anew()
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
                self.clockwork.stretch(most)
                self.pace.used(self.steps - before_stretch)
                if progress and (wall := time.monotonic()) - told > TELL:
                    told = wall
                    progress((self.steps - start) * self.dt)
        except Exception as problem:
            raise blame(problem, self.time) from problem
        finally:
            if logger is not None:
                self.observers.remove(logger)
            self.resting = True
            self.pace.end()
            self.clockwork.look_anew()
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
        if not (math.isfinite(seconds) and seconds >= 0.0):
            raise WrongInput(f"{seconds} s is not a length of time")
        return round(seconds / self.dt)

    # Events.

    def post(self, event: Event) -> None:
        """Let something happen at the start of the next tick: the one way in. Safe for threads."""
        checks.check(self, event)
        for one in apply.with_content(self, event):
            self.agenda.post(one)

    def map(self, world: int | None = None) -> Map:
        """The map of a world as it is now; of the first one unless named."""
        try:
            place = 0 if world is None else int(self.places.of([world])[0])
        except KeyError:
            raise WrongInput(f"no world {world}") from None
        return self.scenery.scene.map.map(place)

    def replace_map(self, map: Any, worlds: Any = None) -> None:
        """Put another map in the place of the world's: anything a scenario takes, or a Map.

        What the robots believe of the world stays as it was.
        """
        self.post(Event("world", worlds=indices(worlds, "worlds"), values={"map": map}))

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
            self.clockwork.look_anew()
            for event in self.agenda.due(self.steps):
                apply.apply(self, event)
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
        self.clockwork.look_anew()
        self.tick = int(self.clock[0]) if in_step(self.clock) else None

    # What became of it.

    @property
    def collisions(self) -> Table:
        """The contacts that have begun so far: stamp, world, row, other row (−1: a wall), place."""
        return self.scenery.hits()

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the whole state to a file, from which `astray.resume` goes on bit for bit."""
        from astray.checkpoint import save

        save(self, file)

    def write(self, log: Log, folder: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the run and its log to a folder, with a picture and what repeats it."""
        from astray.recording.run_folder.write import write_folder

        write_folder(self, log, Path(folder), overwrite)

    def digest(self) -> str:
        """A digest of every byte of state: equal for equal runs."""
        from astray.checkpoint import digest

        return digest(self)

    def plot(self) -> Figure:
        """Where the robots were and where they believed to be, as a matplotlib figure."""
        from astray.plots.notebook import shown_in_notebooks
        from astray.plots.paths import plot_paths

        return shown_in_notebooks(plot_paths(self.trail.paths(), self.map()))

    def view(self, port: int = 0, *, browser: bool | None = None, token: str | None = None) -> View:
        """Show the run on a page, in the notebook or else in the browser, while it goes on.

        The page is served on this machine alone, until `close` of what is returned is called.
        """
        from astray.viewer.page.view import view

        return view(self, port=port, browser=browser, token=token)

    def profile(self) -> dict[str, float]:
        """Seconds spent in each phase of the tick so far."""
        return {phase: ns * 1e-9 for phase, ns in zip(PHASES, self.spent, strict=True)}
