"""What agents are to do. A task sees the truth: it judges, as a metric does, and drives nobody.

Every array has one value per robot. A task of one's own needs a reward:

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


@kernel
def lead_all(out: Array, goals: Array, state: Table, rows: Rows) -> None:
    """Write the distance of the goals of these rows, and the cosine and sine of their bearing."""
    for j in range(len(rows)):
        i = rows[j]
        s = state[i]
        dx, dy = goals[i, 0] - s.x, goals[i, 1] - s.y
        sine, cosine = sincos(atan2(dy, dx) - s.yaw)
        out[j, 0], out[j, 1], out[j, 2] = math.sqrt(dx * dx + dy * dy), cosine, sine


def shaped(given: Any, shape: tuple[int, ...], what: str) -> Array:
    """What a task gave, if it is what it has to be: one row per robot."""
    found = np.asarray(given)
    if found.shape != shape:
        raise WrongInput(f"task: {what} must have the shape {shape}, not {found.shape}")
    return found


class Task(ABC):
    """A task: it rewards, it ends episodes, and it may tell agents what they are after."""

    low: ClassVar[Sequence[float]] = ()
    """The least values of what it tells; one each."""
    high: ClassVar[Sequence[float]] = ()
    """The largest ones."""
    robots: Robots
    """The robots that have this task: their truth, belief and readings, (n,)."""

    def bind(self, robots: Robots) -> None:
        """Take these robots; called again where a run is made anew with another seed."""
        self.robots = robots

    def begin(self, rows: Rows) -> None:  # noqa: B027 - most have nothing to begin
        """Begin an episode of these rows, which stand where they start."""

    def tell(self, state: Table, rows: Rows) -> Array:
        """What these rows are told of their task, by where they believe to be, (rows, values)."""
        return np.zeros((len(rows), 0))

    @abstractmethod
    def reward(self) -> Array:
        """What each robot is rewarded with for its last step; asked once per step."""

    def ended(self) -> Array:
        """Whose episode is over, for better or worse; no one's unless a task says so."""
        return np.zeros(len(self.robots.truth), bool)

    def info(self) -> dict[str, Array]:
        """What else there is to know of each robot, by name."""
        return {}

    @property
    def touching(self) -> Array:
        """Who runs into something."""
        touching: Array = self.robots.scene.contacts["touching"]
        return touching


@dataclasses.dataclass(kw_only=True)
class Reach(Task):
    """Drive to a goal, another one in each episode, and run into nothing.

    The goal is somewhere on the map where there is room, or, without a map, within `far` of the
    start in x and y. Each metre that a robot really gets nearer is rewarded with 1. An episode ends
    at the goal or at an obstacle.
    """

    low = (0.0, -1.0, -1.0)
    high = (1e6, 1.0, 1.0)

    radius: float = 0.3  # m from the goal within which it is reached
    clearance: float = 0.4  # m around the goal that are free
    far: float = 5.0  # m in x and y from the start at most, where there is no map
    arrival: float = 5.0  # reward at the goal
    crash: float = -5.0  # reward at an obstacle
    step: float = -0.01  # reward of every step

    def bind(self, robots: Robots) -> None:
        """No goal is known yet."""
        super().bind(robots)
        self.goals = np.zeros((len(robots.truth), 2))
        self._away = np.zeros(len(robots.truth))

    def begin(self, rows: Rows) -> None:
        """Draw the goals of these rows: the same in a life of a robot, whenever it is lived."""
        robots = self.robots
        who, key = robots.address.take(rows), random.key(robots.seed, robots.name, "task", "goal")
        who["tick"] = 0
        tries = np.empty((len(rows), 2 * START_TRIES))
        random.uniforms_all(tries, who, np.arange(len(rows)), key)
        self.goals[rows] = self._spots(tries, rows)
        self._away[rows] = self._distance()[rows]

    def _spots(self, tries: Array, rows: Rows) -> Array:
        robots, atlas = self.robots, self.robots.scene.map
        if atlas.is_empty:
            here = np.stack([robots.truth["x"][rows], robots.truth["y"][rows]], axis=1)
            return here + self.far * (2.0 * tries[:, :2] - 1.0)
        spots = sample_free_positions(tries, atlas, robots.world_of_row[rows], self.clearance)
        if spots is None:
            raise WrongInput(
                f"no spot with a clearance of {self.clearance:g} m for a goal: "
                "the map is too small or too full"
            )
        return spots

    def _distance(self) -> Array:
        truth = self.robots.truth
        dx, dy = self.goals[:, 0] - truth["x"], self.goals[:, 1] - truth["y"]
        return np.asarray(np.sqrt(dx * dx + dy * dy))

    def tell(self, state: Table, rows: Rows) -> Array:
        """The distance of the goal, m, and the cosine and sine of its bearing, as believed."""
        told = np.empty((len(rows), 3))
        lead_all(told, self.goals, state, rows)
        return told

    def reward(self) -> Array:
        """How much nearer it is, and what arrivals and crashes are worth."""
        before, self._away = self._away, self._distance()
        events = self.arrival * self.arrived + self.crash * (self.touching & ~self.arrived)
        return before - self._away + self.step + events

    @property
    def arrived(self) -> Array:
        """Who is really at the goal."""
        return np.asarray(self._away <= self.radius)

    def ended(self) -> Array:
        """At the goal, or at an obstacle."""
        return np.asarray(self.arrived | self.touching)

    def info(self) -> dict[str, Array]:
        """Whether it has arrived, and where the goal is."""
        return {"arrived": self.arrived, "goal": self.goals.copy()}
