"""The time of a run as a topic: what ROS 2 nodes go by when they are told to use simulated time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astray.ros.layout import Layout
from astray.ros.names import robots_of
from astray.ros.speaker import NOBODY, Speaker, Taken, Topic, stamp
from astray.table import Array, Rows

if TYPE_CHECKING:
    from astray.sim import Sim

CLOCK = "rosgraph_msgs/msg/Clock"
RATE = 100.0  # Hz at which time is told, or the next whole number of ticks


class Clock(Speaker):
    """Says what time it is in the first world."""

    def __init__(self, sim: Sim) -> None:
        first = next(robot for robots in robots_of(sim).values() for robot in robots)
        super().__init__([first], "clock", Layout(CLOCK))
        self.topics = {row: Topic("/clock", CLOCK) for row in self.topics}
        self.period = max(1, round(1.0 / (RATE * sim.dt)))
        self._sim = sim

    def next_due(self, step: int, ahead: int) -> int:
        """The next whole period by the clock of the worlds."""
        return step + -(step + ahead) % self.period

    def due(self, sim: Sim) -> Rows:
        """Itself, at a whole period."""
        now = sim.steps if sim.tick is None else sim.tick
        return NOBODY if now % self.period else self.rows

    def take(self, rows: Rows) -> Taken:
        """The time."""
        return rows, np.full(len(rows), self._sim.time)

    def fill(self, out: Array, taken: Taken) -> None:
        """Write it."""
        stamp(out, taken[1], "clock")
