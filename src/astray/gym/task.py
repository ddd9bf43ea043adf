"""Tasks: the reward of agents, and when an episode ends.

A task has the truth: it evaluates the robots, as a metric does, and never commands them. Every
array has one value per robot. A task of one's own needs a reward:

    class KeepToTheLine(Task):
        def reward(self):
            return 1.0 - np.abs(self.robots.truth["y"])
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from astray.engine import Robots
from astray.errors import WrongInput
from astray.numerics import atan2, kernel, random, sincos
from astray.scenario import START_TRIES
from astray.tables import Array, Rows, Table
from astray.world.planning import sample_free_positions

RENAMED = {"tell": "observe", "ended": "terminated", "begin": "reset"}
"""Methods of a task that had other names."""


def check_shape(given: Any, shape: tuple[int, ...], method: str) -> Array:
    """The array that a method of a task returned, or WrongInput if its shape is wrong."""
    found = np.asarray(given)
    if found.shape != shape:
        raise WrongInput(f"task: {method} must have the shape {shape}, not {found.shape}")
    return found


class Task(ABC):
    """A task: it computes rewards, ends episodes, and may add to the observations."""

    low: ClassVar[Sequence[float]] = ()
    """The lower bounds of what `observe` returns, one per value."""
    high: ClassVar[Sequence[float]] = ()
    """The upper bounds, one per value."""
    robots: Robots
    """The robots that have this task: their truth, belief and readings, (n,)."""

    def __init_subclass__(cls) -> None:
        """Refuse a method by a name that it no longer has."""
        for old, new in RENAMED.items():
            if old in cls.__dict__:
                raise WrongInput(f"{cls.__name__}: the method {old!r} of a task is now {new!r}")

    def bind(self, robots: Robots) -> None:
        """Take the robots of a run; called again after a reset with a seed, which makes new ones.

        Args:
            robots: The robots that have this task.
        """
        self.robots = robots

    def reset(self, rows: Rows) -> None:  # noqa: B027 - most tasks have nothing to reset
        """Begin an episode of some robots, which stand at their starts.

        Args:
            rows: Their rows.
        """

    def observe(self, state: Table, rows: Rows) -> Array:
        """What the task adds to the observations of some robots.

        Args:
            state: The belief, STATE, (n,).
            rows: The rows of the robots.

        Returns:
            (rows, values), within `low` and `high`.
        """
        return np.zeros((len(rows), 0))

    @abstractmethod
    def reward(self) -> Array:
        """The reward of each robot for its last step, (n,); called once per step."""

    def terminated(self) -> Array:
        """Whether the episode of each robot is over, (n,) bool; none unless a task says so."""
        return np.zeros(len(self.robots.truth), bool)

    def info(self) -> dict[str, Array]:
        """What to add to the info of each robot, by name."""
        return {}

    @property
    def touching(self) -> Array:
        """Whether each robot collides with something, (n,) bool."""
        touching: Array = self.robots.scene.collisions["touching"]
        return touching


@kernel
def goal_bearings_all(out: Array, goals: Array, state: Table, rows: Rows) -> None:
    """Write the distance of the goals of these rows, and the cosine and sine of their bearing."""
    for j in range(len(rows)):
        i = rows[j]
        s = state[i]
        dx, dy = goals[i, 0] - s.x, goals[i, 1] - s.y
        sine, cosine = sincos(atan2(dy, dx) - s.yaw)
        out[j, 0], out[j, 1], out[j, 2] = math.sqrt(dx * dx + dy * dy), cosine, sine


@dataclasses.dataclass(kw_only=True)
class Reach(Task):
    """Drive to a goal, another one in each episode, without a collision.

    The goal is a free position on the map or, without a map, within `far` of the start in x and y.
    The reward is 1 for each metre that the robot really gets nearer, and what the parameters add.
    An episode ends at the goal or with a collision.

    Args:
        radius: The distance from the goal within which it is reached, m.
        clearance: The free distance around the goal, m.
        far: The largest distance of the goal from the start in x and in y without a map, m.
        arrival: The reward for reaching the goal.
        crash: The reward for a collision.
        step: The reward for every step.
    """

    low = (0.0, -1.0, -1.0)
    high = (1e6, 1.0, 1.0)

    radius: float = 0.3  # m
    clearance: float = 0.4  # m
    far: float = 5.0  # m
    arrival: float = 5.0
    crash: float = -5.0
    step: float = -0.01

    def bind(self, robots: Robots) -> None:
        """Take the robots of a run, without goals yet."""
        super().bind(robots)
        self.goals = np.zeros((len(robots.truth), 2))
        """The position of each goal, (n, 2) m."""
        self._distances = np.zeros(len(robots.truth))  # m, after the last step

    def reset(self, rows: Rows) -> None:
        """Draw the goals of these rows, the same in each repetition of an episode."""
        robots = self.robots
        address = robots.address.take(rows)
        key = random.key(robots.seed, robots.name, "task", "goal")
        address["tick"] = 0
        tries = np.empty((len(rows), 2 * START_TRIES))
        random.uniforms_all(tries, address, np.arange(len(rows)), key)
        self.goals[rows] = self._sample_goals(tries, rows)
        self._distances[rows] = self._goal_distances()[rows]

    def _sample_goals(self, tries: Array, rows: Rows) -> Array:
        robots, maps = self.robots, self.robots.scene.map
        if maps.is_empty:
            starts = np.stack([robots.truth["x"][rows], robots.truth["y"][rows]], axis=1)
            return starts + self.far * (2.0 * tries[:, :2] - 1.0)
        positions = sample_free_positions(tries, maps, robots.world_of_row[rows], self.clearance)
        if positions is None:
            raise WrongInput(
                f"no position with a clearance of {self.clearance:g} m for a goal: "
                "the map is too small or too full"
            )
        return positions

    def _goal_distances(self) -> Array:
        truth = self.robots.truth
        dx, dy = self.goals[:, 0] - truth["x"], self.goals[:, 1] - truth["y"]
        return np.asarray(np.sqrt(dx * dx + dy * dy))

    def observe(self, state: Table, rows: Rows) -> Array:
        """The distance of the goal, m, and the cosine and sine of its bearing, as believed."""
        out = np.empty((len(rows), 3))
        goal_bearings_all(out, self.goals, state, rows)
        return out

    def reward(self) -> Array:
        """How much nearer the goal is, and the rewards of arrivals, collisions and the step."""
        before, self._distances = self._distances, self._goal_distances()
        events = self.arrival * self.arrived + self.crash * (self.touching & ~self.arrived)
        return before - self._distances + self.step + events

    @property
    def arrived(self) -> Array:
        """Whether each robot is at its goal, (n,) bool."""
        return np.asarray(self._distances <= self.radius)

    def terminated(self) -> Array:
        """Whether each robot is at its goal or collides, (n,) bool."""
        return np.asarray(self.arrived | self.touching)

    def info(self) -> dict[str, Array]:
        """Whether each robot has arrived, and its goal."""
        return {"arrived": self.arrived, "goal": self.goals.copy()}
