"""The robots of one group as agents: their observations, actions, rewards and episodes.

The interfaces of Gymnasium and PettingZoo are thin. What they share is here, for any number of
robots in any number of worlds. An agent observes what its robot believes and measures, never the
truth. The task, which computes the reward, has the truth.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple, TypedDict

import numpy as np

from astray.engine import Worlds
from astray.errors import WrongInput, suggest, unknown_attribute
from astray.gym.actions import Actions, Limits, motion_limits
from astray.gym.observations import Observations
from astray.gym.task import Reach, Task, check_shape
from astray.robot.autonomy import RemoteAutonomy
from astray.scenario import GroupPlan, Scenario, Source, load_scenario
from astray.sim import Sim
from astray.tables import Array, Rows

PERIOD = 0.1  # s from one action to the next, about, unless given
TOLERANCE = 1e-6  # share of a tick by which a period may differ from whole ticks


class Options(TypedDict, total=False):
    """The keyword arguments that every kind of environment takes."""

    robot: str
    """The name of the robots that are agents; optional if the scenario has one group."""
    task: Task
    """The task; `Reach()` unless given."""
    period: float
    """The time from one action to the next, s, whole ticks; about 0.1 unless given."""
    duration: float
    """The time after which an episode is truncated, s; that of the scenario unless given."""
    observe: Sequence[str]
    """The parts of an observation, see `observations.py`; pose, twist and all ranges unless
    given."""
    actions: Limits
    """The columns of an action and their limits, as {"vx": (0.0, 0.5), "wz": (-1.0, 1.0)}; those
    of the motion unless given."""
    oracle: bool
    """Whether agents observe the truth in place of the belief, for comparison."""
    set: Sequence[str]
    """Changes to the scenario, "path=value"."""
    threads: int
    """Threads of the batch; 1 unless given."""


class StepOutcome(NamedTuple):
    """The result of a step for each agent, (n,)."""

    rewards: Array
    terminated: Array
    """Whether the task ended the episode, or the robot no longer exists."""
    truncated: Array
    """Whether the episode reached its duration."""


class Agents:
    """The robots of one name in some worlds, as agents with a task."""

    def __init__(self, scenario: Source, worlds: Worlds, options: Options) -> None:
        unknown = set(options) - set(Options.__annotations__)
        if unknown:
            known = sorted(Options.__annotations__)
            hint = suggest(min(unknown), known)
            raise WrongInput(f"unknown option {min(unknown)!r}{hint} ({', '.join(known)})")
        self._options = options
        loaded = load_scenario(scenario, options.get("set", ()))
        self.name = _group_name(loaded, options.get("robot"))
        # The actions replace the autonomy that the scenario has for the robot.
        loaded.robots = [_with_remote(p) if p.name == self.name else p for p in loaded.robots]
        self.sim = Sim(loaded, worlds, None, options.get("threads", 1), keep_events=False)
        self.ticks = self._ticks_per_step(options.get("period"))
        self.period = self.ticks * self.sim.dt
        self._max_duration = options.get("duration", loaded.duration)
        if not self._max_duration > 0.0:
            raise WrongInput(f"an episode of {self._max_duration} s is none")
        task = options.get("task", Reach())
        if not isinstance(task, Task):
            raise WrongInput(f"task: a Task of astray.gym, not {task!r}")
        self.task = copy.copy(task)
        self._needs_reset = True
        self._bind_robots()

    def __getattr__(self, name: str) -> object:
        """Name the new attribute where an old one is asked for."""
        raise unknown_attribute(self, name, {"sight": "observations"})

    def _ticks_per_step(self, period: float | None) -> int:
        dt = self.sim.dt
        if period is not None and not 0.0 < period < math.inf:
            raise WrongInput(f"{period} s is no period")
        ticks = max(1, round((period or PERIOD) / dt))
        if period is not None and not abs(period - ticks * dt) <= TOLERANCE * dt:
            raise WrongInput(
                f"a period of {period} s is not a whole number of ticks of {dt:g} s; "
                f"{ticks * dt:g} s is"
            )
        return ticks

    @property
    def steps_per_second(self) -> int:
        """The number of steps in a second of simulated time, rounded."""
        return max(1, round(1.0 / self.period))

    def _bind_robots(self) -> None:
        """Take the robots of the run; a reset with a seed makes new ones."""
        options, self.robots = self._options, self.sim.robots[self.name]
        self.task.bind(self.robots)
        self.observations = Observations(
            self.robots, self.task, options.get("observe"), options.get("oracle", False)
        )
        limits = options.get("actions") or motion_limits(self.robots.plan.sheets()["motion"])
        self.actions = Actions(limits)
        self.rows: Rows = np.arange(len(self.robots.truth))
        """The rows of all agents."""

    def reset(self, seed: int | None = None) -> None:
        """Begin an episode in all worlds: the first one of a seed, else the next one."""
        if seed is not None:
            self.sim.reset(seed=seed)
            self._bind_robots()
        elif not self._needs_reset:  # else the run is as it was loaded
            self.sim.reset(worlds=self.sim.worlds)
        self._needs_reset = False
        self.task.reset(self.rows)

    def reset_worlds(self, mask: Array) -> Rows:
        """Begin the next episode in the worlds of a mask; return the rows of their agents."""
        self.sim.reset(worlds=mask)
        rows = self.robots.rows_of(np.flatnonzero(mask))
        self.task.reset(rows)
        return rows

    def step(self, actions: Array) -> None:
        """Apply the actions of all agents for one period."""
        if self._needs_reset:
            raise WrongInput("an episode begins with reset, before the first step")
        self.robots.command(self.actions.to_command(actions, len(self.rows)))
        self.sim.step(self.ticks)

    def observe(self, rows: Rows | None = None) -> Array:
        """The observations of these rows, or of all, (rows, columns)."""
        return self.observations.read(self.rows if rows is None else rows)

    def outcome(self) -> StepOutcome:
        """The rewards of the last step, and which episodes ended by it."""
        shape = self.rows.shape
        rewards = check_shape(self.task.reward(), shape, "reward").astype(np.float64)
        terminated = check_shape(self.task.terminated(), shape, "terminated").astype(bool)
        terminated |= ~self.robots.truth["alive"]
        over = self.robots.time >= self._max_duration - 0.5 * self.sim.dt
        return StepOutcome(rewards, terminated, over & ~terminated)

    def info(self) -> dict[str, Array]:
        """The true poses, (n, 3): x and y, m, and yaw, rad; and what the task adds."""
        truth = self.robots.truth
        poses = np.stack([truth[c] for c in ("x", "y", "yaw")], axis=1)
        return {"truth": poses, **self.task.info()}


def _group_name(scenario: Scenario, given: str | None) -> str:
    names = [plan.name for plan in scenario.robots]
    if given is None and len(names) == 1:
        return names[0]
    if given is None:
        raise WrongInput(f"which robots are agents? robot=... takes one of {', '.join(names)}")
    if given not in names:
        raise WrongInput(f"unknown robot {given!r}{suggest(given, names)} ({', '.join(names)})")
    return given


def _with_remote(plan: GroupPlan) -> GroupPlan:
    """The plan of a group that takes commands from outside."""
    if plan.capacity > plan.count:
        raise WrongInput(f"agents are there from the start: {plan.name!r} has a capacity for more")
    if isinstance(plan.autonomy, RemoteAutonomy) and plan.autonomy.lockstep is None:
        return plan
    return dataclasses.replace(plan, autonomy=RemoteAutonomy())
