"""Robots of a run as agents: what they see, what they do, and their episodes.

The interfaces of Gymnasium and PettingZoo are thin: all that they share is here, for any number of
robots in any number of worlds. An agent sees what its robot believes and reads, never the truth.
The task, which rewards, sees the truth.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from astray.engine import Worlds
from astray.errors import WrongInput, suggest
from astray.gym.actions import Actions, Limits, limits_of
from astray.gym.observations import ObservedRobots
from astray.gym.task import Reach, Task, shaped
from astray.robot.autonomy import RemoteAutonomy
from astray.scenario import GroupPlan, Scenario, Source, load_scenario
from astray.sim import Sim
from astray.tables import Array, Rows

PERIOD = 0.1  # s from one action to the next, about, unless given
HAIR = 1e-6  # share of a tick by which a period may miss it


class Options(TypedDict, total=False):
    """What every kind of environment takes."""

    robot: str
    """The name of the robots that are agents; there is no need for it if all have one name."""
    task: Task
    """What they are to do; to reach a goal unless given."""
    period: float
    """s from one action to the next, whole ticks; about 0.1."""
    duration: float
    """s after which an episode is cut off; that of the scenario unless given."""
    observe: Sequence[str]
    """The parts of an observation, see `seeing.py`; pose, twist and all ranges unless given."""
    actions: Limits
    """What an agent chooses, as {"vx": (0.0, 0.5), "wz": (-1.0, 1.0)}; all that the motion can."""
    oracle: bool
    """Whether agents are handed the truth for a belief, to compare with."""
    set: Sequence[str]
    """Changes to the scenario, "path=value"."""
    threads: int


class Agents:
    """The robots of one name in some worlds, as agents with a task."""

    def __init__(self, scenario: Source, worlds: Worlds, options: Options) -> None:
        unknown = set(options) - set(Options.__annotations__)
        if unknown:
            known = sorted(Options.__annotations__)
            hint = suggest(min(unknown), known)
            raise WrongInput(f"no option {min(unknown)!r}{hint} ({', '.join(known)})")
        self._options = options
        loaded = load_scenario(scenario, options.get("set", ()))
        self.name = _name_of(loaded, options.get("robot"))
        # An agent drives in place of the autonomy that the scenario has for its robot.
        loaded.robots = [_driven(p) if p.name == self.name else p for p in loaded.robots]
        self.sim = Sim(loaded, worlds, None, options.get("threads", 1), keep_events=False)
        self.ticks = self._ticks_per_step(options.get("period"))
        self.period = self.ticks * self.sim.dt
        self._longest = options.get("duration", loaded.duration)
        if not self._longest > 0.0:
            raise WrongInput(f"an episode of {self._longest} s is none")
        task = options.get("task", Reach())
        if not isinstance(task, Task):
            raise WrongInput(f"task: a Task of astray.gym, not {task!r}")
        self.task = copy.copy(task)
        self._fresh = True  # as loaded: the first reset need not do anything
        self._take_over()

    def _ticks_per_step(self, period: float | None) -> int:
        dt = self.sim.dt
        if period is not None and not 0.0 < period < math.inf:
            raise WrongInput(f"{period} s is no period")
        ticks = max(1, round((period or PERIOD) / dt))
        if period is not None and not abs(period - ticks * dt) <= HAIR * dt:
            raise WrongInput(
                f"a period of {period} s is not a whole number of ticks of {dt:g} s; "
                f"{ticks * dt:g} s is"
            )
        return ticks

    @property
    def steps_per_second(self) -> int:
        """How many steps a second of simulated time has, about."""
        return max(1, round(1.0 / self.period))

    def _take_over(self) -> None:
        """Take the robots of the run, which are others after it was made anew."""
        options, self.robots = self._options, self.sim.robots[self.name]
        self.task.bind(self.robots)
        self.sight = ObservedRobots(
            self.robots, self.task, options.get("observe"), options.get("oracle", False)
        )
        limits = options.get("actions") or limits_of(self.robots.plan.sheets()["motion"])
        self.actions = Actions(limits)
        self.everyone: Rows = np.arange(len(self.robots.truth))

    # Episodes.

    def restart(self, seed: int | None = None) -> None:
        """Begin an episode of everyone: the first one with a seed, else the next one."""
        if seed is not None:
            self.sim.reset(seed=seed)
            self._take_over()
        elif not self._fresh:
            self.sim.reset(worlds=self.sim.worlds)
        self._fresh = False
        self.task.begin(self.everyone)

    def begin(self, worlds: Array) -> Rows:
        """Begin the next episode of some worlds, by a mask; the rows of their agents."""
        self.sim.reset(worlds=worlds)
        rows = self.robots.rows_of(np.flatnonzero(worlds))
        self.task.begin(rows)
        return rows

    def step(self, actions: Array) -> None:
        """Let everyone act, and time pass."""
        if self._fresh:
            raise WrongInput("an episode begins with reset, before the first step")
        self.robots.command(self.actions.command(actions, len(self.everyone)))
        self.sim.step(self.ticks)

    def see(self, rows: Rows | None = None) -> Array:
        """What these rows, or all, see now, (rows, columns)."""
        return self.sight.see(self.everyone if rows is None else rows)

    def judge(self) -> tuple[Array, Array, Array]:
        """Of everyone the reward, whether the episode has ended, and whether it is cut off."""
        everyone = self.everyone.shape
        rewards = shaped(self.task.reward(), everyone, "reward").astype(np.float64)
        ended = shaped(self.task.ended(), everyone, "ended").astype(bool)
        ended |= ~self.robots.truth["alive"]
        late = self.robots.time >= self._longest - 0.5 * self.sim.dt
        return rewards, ended, late & ~ended

    def info(self) -> dict[str, Array]:
        """What the truth is, (n, 3): x and y, m, and yaw, rad; and what the task knows."""
        truth = self.robots.truth
        poses = np.stack([truth[c] for c in ("x", "y", "yaw")], axis=1)
        return {"truth": poses, **self.task.info()}


def _name_of(scenario: Scenario, asked: str | None) -> str:
    names = [plan.name for plan in scenario.robots]
    if asked is None and len(names) == 1:
        return names[0]
    if asked is None:
        raise WrongInput(f"which robots are agents? robot=... takes one of {', '.join(names)}")
    if asked not in names:
        raise WrongInput(f"no robot {asked!r}{suggest(asked, names)} ({', '.join(names)})")
    return asked


def _driven(plan: GroupPlan) -> GroupPlan:
    if plan.capacity > plan.count:
        raise WrongInput(f"agents are there from the start: {plan.name!r} has a capacity for more")
    if isinstance(plan.autonomy, RemoteAutonomy) and plan.autonomy.lockstep is None:
        return plan
    return dataclasses.replace(plan, autonomy=RemoteAutonomy())
