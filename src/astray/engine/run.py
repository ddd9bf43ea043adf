"""A run: the worlds of a scenario as a batch of rows, advanced tick by tick.

Every input of a run is an event: scenario, seed and events determine the run byte for byte.
`astray.Sim` is a run with files, pictures and the kinds of events.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, overload, runtime_checkable

import numpy as np

from astray.engine.clocks import Clocks
from astray.engine.environment import Environment
from astray.engine.error_attribution import attribute_error
from astray.engine.event_queue import Event, EventQueue, indices, is_whole
from astray.engine.group_stepper import GroupStepper
from astray.engine.log import Log, Logger
from astray.engine.pacing import REQUEST_PENDING, Pace
from astray.engine.path_log import PathLog
from astray.engine.robots import Robots
from astray.engine.state_arrays import digest
from astray.engine.stepper import PHASES, Stepper
from astray.engine.worlds import WorldIndex, Worlds, world_numbers
from astray.errors import NamedItems, WrongInput, add_former_names
from astray.scenario import Scenario
from astray.tables import Array, Rows, Table
from astray.world import Map

NEWEST_COLLISIONS = 65536  # that are kept if events are not
REPORT_PERIOD = 0.1  # s of wall-clock time between two reports of progress
Progress = Callable[[float], None]
RENAMED = {
    "lives": "episodes",
    "agenda": "event_queue",
    "scenery": "environment",
    "trail": "path_log",
    "resting": "is_idle",
    "clockwork": "stepper",
}


class Observer(Protocol):
    """An object that is called after the ticks that it asks for and changes nothing."""

    def next_due(self, step: int) -> int:
        """The first step from this one on after which it is to be called."""
        ...

    def observe(self, run: Run) -> None:
        """Read the state of the run."""
        ...


@runtime_checkable
class RestartableObserver(Observer, Protocol):
    """An observer that keeps data since the beginning of the run."""

    def restart(self) -> None:
        """Discard its data: the run was reset."""
        ...


class Run(ABC):
    """A scenario in one or many independent worlds. Its subclass defines the kinds of events."""

    def __init__(
        self,
        scenario: Scenario,
        worlds: Worlds = 1,
        seed: int | None = None,
        threads: int = 1,
        keep_events: bool = True,
    ) -> None:
        """Build the worlds and start their robots.

        Args:
            scenario: The checked scenario.
            worlds: How many independent worlds, or their numbers.
            seed: Seed of all noise; that of the scenario by default.
            threads: Number of threads over which the rows are split.
            keep_events: Whether the logs of events and collisions are kept whole.

        Raises:
            WrongInput: The worlds do not fit into memory, or the seed is invalid.
        """
        self.scenario = scenario
        self.dt = scenario.dt
        self.worlds = world_numbers(worlds, scenario)
        self.world_index = WorldIndex(self.worlds)
        self.event_queue = EventQueue(keep_events)
        self.pace = Pace()
        self.observers: list[Observer] = []
        self.is_idle = True  # while no thread advances it
        self._pool = ThreadPoolExecutor(threads, "astray") if threads > 1 else None
        self._threads = max(1, threads)
        try:
            self._build(scenario.seed if seed is None else seed)
        except MemoryError as problem:
            count = len(self.worlds)
            raise WrongInput(f"{count} worlds do not fit into memory: {problem}") from None
        except Exception as problem:
            raise attribute_error(problem) from problem
        self.path_log = PathLog(self)
        self.observers.append(self.path_log)
        try:
            self.restart_worlds(np.arange(len(self.worlds)), 0)
        except Exception as problem:
            raise attribute_error(problem, 0.0) from problem
        self.path_log.observe(self)

    def _build(self, seed: int) -> None:
        """Build everything that depends on the seed."""
        if not is_whole(seed) or not 0 <= seed < 2**63:
            raise WrongInput(f"a seed is a whole number from 0 on, below 2**63, not {seed}")
        self.seed = int(seed)
        self.environment = Environment(self.scenario, self.worlds, self.seed)
        if not self.event_queue.keep:
            self.environment.limit_collision_log(NEWEST_COLLISIONS)
        self.truth = self.environment.truth
        self.clocks = Clocks(self.dt, len(self.worlds), self.truth, self.environment.address)
        self.robots: dict[str, Robots] = NamedItems("robot")
        beliefs: dict[str, Table] = {}
        first = 0
        for plan in self.scenario.robots:
            group = Robots(
                plan,
                first,
                self.environment,
                self.clocks,
                self.scenario.metrics,
                beliefs,
                self.post,
            )
            self.robots[plan.name] = group
            first += len(group.truth)
        update_robot_grid = self.environment.update_robot_grid
        self._group_steppers = {
            name: GroupStepper(group, self.clocks, update_robot_grid, self._pool, self._threads)
            for name, group in self.robots.items()
        }
        self.stepper = Stepper(
            self.clocks,
            self.environment,
            list(self._group_steppers.values()),
            self.event_queue,
            self.pace,
            self.observers,
            self.apply_due_events,
            self._observe,
        )

    @abstractmethod
    def check_event(self, event: Event) -> Iterable[Event]:
        """The event as it is to be logged, one or several; EventError if it could do nothing."""

    @abstractmethod
    def apply_event(self, event: Event) -> None:
        """Let an event take effect."""

    def __repr__(self) -> str:
        """Its scenario, worlds, seed, time and robots, in one line."""
        groups = ", ".join(f"{len(g.rows)} {name}" for name, g in self.robots.items())
        kind = type(self).__name__
        return (
            f"{kind}({self.scenario.name!r}: {len(self.worlds)} worlds, seed {self.seed}, "
            f"t = {self.time:g} s, robots: {groups})"
        )

    # Time.

    @property
    def time(self) -> float:
        """The time of the first world, s."""
        return float(self.clocks.ticks[0] * self.dt)

    @property
    def clock(self) -> Array:
        """The tick of each world in its episode."""
        return self.clocks.ticks

    @property
    def episodes(self) -> Array:
        """The episode of each world."""
        return self.clocks.episodes

    @property
    def tick(self) -> int | None:
        """The tick of every world; None while their clocks differ."""
        return self.clocks.tick

    @property
    def steps(self) -> int:
        """Ticks since the run began; a reset of single worlds does not change it."""
        return self.clocks.steps

    @property
    def belief(self) -> Table:
        """The belief of all robots: a copy with the rows and columns of `truth`."""
        return np.concatenate([group.belief for group in self.robots.values()])

    def step(self, ticks: int = 1) -> None:
        """Advance by some ticks.

        Args:
            ticks: A whole number.

        Raises:
            WrongInput: It is none.
            PluginFailed: A plugin raised an exception; the error names it and the line.
        """
        if not is_whole(ticks) or ticks < 0:
            raise WrongInput(f"{ticks} is not a number of ticks")
        clocks, stepper = self.clocks, self.stepper
        end = clocks.steps + ticks
        self.is_idle = False
        try:
            while clocks.steps < end:
                stepper.advance_until_due(end - clocks.steps)
        except Exception as problem:
            raise attribute_error(problem, self.time) from problem
        finally:
            self.is_idle = True

    def warm_up(self, events: Iterable[Event] = (), ticks: int = 1) -> None:
        """Compile or load every kernel that the run needs, so that its first seconds are not slow.

        The run advances and is reset, before anything observes it.

        Args:
            events: Kinds of events that are going to be posted.
            ticks: How far the run advances.
        """
        for event in events:
            self.post(event)
        self.step(ticks)
        self.reset()
        self.stepper.phase_ns[:] = [0] * len(PHASES)

    def ticks(self, seconds: float) -> Iterator[float]:
        """Advance tick by tick: a loop in which a program drives robots.

        Args:
            seconds: How long, in simulated time.

        Yields:
            The time after each tick, s.
        """
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
        """Run for some simulated seconds, as fast as possible or at a speed.

        Args:
            seconds: Simulated time; the scenario's duration by default.
            log: Period of the log, s.
            speed: Simulated seconds per second; as fast as possible by default.
            progress: Called with the simulated seconds so far, ten times per second.

        Returns:
            All tables as time series if `log` was given, else None.

        Raises:
            WrongInput: A time or speed is invalid.
            PluginFailed: A plugin raised an exception; the error names it and the line.
        """
        start, reported = self.steps, 0.0
        length = self._ticks_in(self.scenario.duration if seconds is None else seconds)
        self.pace.set_speed(speed)
        logger = Logger(self, log) if log is not None else None
        if logger is not None:
            self.observers.append(logger)
        self.stepper.invalidate_schedule()
        self.pace.begin(self.steps * self.dt)
        self.is_idle = False
        try:
            while (rest := start + length - self.steps) > 0:
                most = self.pace.ticks(self.steps * self.dt, self.dt, rest)
                if most == REQUEST_PENDING:
                    start = self._serve_requests(start)
                    continue
                if not most:
                    break
                before = self.steps
                self.stepper.advance_until_due(most)
                self.pace.consume(self.steps - before)
                if progress and (wall := time.monotonic()) - reported > REPORT_PERIOD:
                    reported = wall
                    progress((self.steps - start) * self.dt)
        except Exception as problem:
            raise attribute_error(problem, self.time) from problem
        finally:
            if logger is not None:
                self.observers.remove(logger)
            self.is_idle = True
            self.pace.end()
            self.stepper.invalidate_schedule()
            self.pace.serve_requests()
        return logger.log() if logger else None

    def _serve_requests(self, start: int) -> int:
        """Serve requests between two ticks; the step at which the run began, 0 after a restart."""
        again = self.pace.take_restart()
        if again is not None:
            self.reset(seed=again[0])
            self.pace.begin(0.0)
            start = 0
        self.apply_due_events()  # so that a robot moves at once when the user drags it
        self.pace.serve_requests()
        return start

    def _ticks_in(self, seconds: float) -> int:
        if not (math.isfinite(seconds) and seconds >= 0.0):
            raise WrongInput(f"{seconds} s is not a length of time")
        return round(seconds / self.dt)

    def _observe(self, observer: Any) -> None:
        observer.observe(self)

    # Events.

    def post(self, event: Event) -> None:
        """Queue an event for the start of the next tick. Safe for threads.

        Raises:
            EventError: It could not take effect.
        """
        for one in self.check_event(event):
            self.event_queue.post(one)

    def map(self, world: int | None = None) -> Map:
        """The present map of a world.

        Args:
            world: Its number; the first world by default.

        Raises:
            WrongInput: There is no such world.
        """
        try:
            place = 0 if world is None else int(self.world_index.of([world])[0])
        except KeyError:
            raise WrongInput(f"no world {world}") from None
        return self.environment.scene.map.map(place)

    def replace_map(self, map: Any, worlds: Any = None) -> None:
        """Replace the map of some worlds; the maps that the robots know stay as they are.

        Args:
            map: A Map, or anything that a scenario accepts as one.
            worlds: Their numbers; all by default.

        Raises:
            MapError: The map cannot be read.
        """
        self.post(Event("world", worlds=indices(worlds, "worlds"), values={"map": map}))

    def clear_map(self, worlds: Any = None) -> None:
        """Remove all obstacles of some worlds; of all by default."""
        self.replace_map(Map(), worlds)

    @property
    def events(self) -> list[Event]:
        """The log of events; with scenario and seed it determines the run."""
        return self.event_queue.log

    def replay(self, events: Sequence[Event]) -> None:
        """Post the events of another run, each for its own step."""
        for event in events:
            self.post(event)

    def apply_due_events(self) -> None:
        """Apply the events of this step."""
        if self.event_queue.is_due(self.steps):
            self.stepper.invalidate_schedule()
            for event in self.event_queue.due(self.steps):
                self.apply_event(event)
            self.environment.after_events()

    # Reset.

    def reset(
        self,
        worlds: Any = None,
        *,
        episode: int | None = None,
        seed: int | None = None,
        life: Any = None,
    ) -> None:
        """Reset the whole run to its start, or begin an episode of some worlds.

        Args:
            worlds: Their numbers, or a mask over all worlds; the whole run by default.
            episode: The number of the episode; the next one by default.
            seed: A new seed, for the whole run.
            life: The former name of `episode`, refused.

        Raises:
            WrongInput: A world or a seed is invalid.
        """
        if life is not None:
            raise WrongInput("reset: life is called episode now")
        was_idle, self.is_idle = (
            self.is_idle,
            False,
        )  # no other thread may read tables that are being written
        try:
            self._reset(worlds, episode, seed)
        finally:
            self.is_idle = was_idle

    def _reset(self, worlds: Any, episode: int | None, seed: int | None) -> None:
        if seed is not None:
            if worlds is not None or episode is not None:
                raise WrongInput("a new seed is for the whole run, not for single worlds")
            self._build(seed)
        if worlds is None and episode is None:
            self.event_queue.clear()
            self.clocks.restart_steps()
            self.environment.restore_maps()
            self.restart_worlds(np.arange(len(self.worlds)), 0)
            for observer in self.observers:
                if isinstance(observer, RestartableObserver):
                    observer.restart()
                    observer.observe(self)
            return
        chosen = None
        if worlds is not None:
            which = np.asarray(worlds)
            if which.dtype == bool and which.shape != self.worlds.shape:
                raise WrongInput(
                    f"a mask of worlds has {len(self.worlds)} values, not {which.size}"
                )
            chosen = indices(self.worlds[which] if which.dtype == bool else which, "worlds")
        values = {} if episode is None else {"episode": episode}
        self.post(Event("reset", worlds=chosen, values=values))
        self.apply_due_events()

    def restart_worlds(self, worlds: Array, episode: int | None) -> None:
        """Begin the next episode, or this one, of the worlds at these indices of the batch."""
        self.clocks.restart(worlds, episode)
        self.stepper.invalidate_schedule()
        started: list[Rows] = []
        changed = False  # whether other rows are active than before
        for group in self.robots.values():
            starting = rows = group.rows_of(worlds)
            if group.plan.count < group.plan.capacity:
                starts = group.address["robot"][rows] < group.plan.count
                group.remove_rows(rows[~starts])
                starting, changed = rows[starts], True
            group.starts[rows] = 0
            changed |= group.start_rows(starting)
            started.append(starting)
        if changed:
            self.environment.robots_changed()
        self.sense_first(started)

    def sense_first(self, started: Sequence[Rows]) -> None:
        """Let the rows of each group that have just started interact, sense and estimate."""
        groups = self.robots.values()
        rows = [group.scene.first_row + own for group, own in zip(groups, started, strict=True)]
        self.environment.start_rows(np.concatenate(rows))
        for stepper, own in zip(self._group_steppers.values(), started, strict=True):
            if len(own):
                stepper.sense_first(own)

    def restore(self, steps: int, collisions: Table) -> None:
        """Bring the rest of the run up to date with tables that a checkpoint has filled."""
        self.clocks.restore(steps)
        self.stepper.invalidate_schedule()
        for group in self.robots.values():
            group.restore()
        self.environment.restore_collisions(collisions)
        self.environment.robots_changed()
        self.path_log.restart()

    # Results.

    @property
    def collisions(self) -> Table:
        """The collisions so far, with stamp, rows (−1: a wall), contact point and speed."""
        return self.environment.collisions()

    def digest(self) -> str:
        """A digest of every byte of state; it is equal for equal runs."""
        return digest(self)

    def profile(self) -> dict[str, float]:
        """Seconds spent in each phase of the tick so far."""
        return {phase: ns * 1e-9 for phase, ns in zip(PHASES, self.stepper.phase_ns, strict=True)}


add_former_names(Run, RENAMED)
