"""The time of a run as a topic: what ROS 2 nodes go by when they are told to use simulated time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astray.engine import Run
from astray.numerics import TICK_ROUNDING, Schedule
from astray.ros.messages import MessageLayout
from astray.ros.names import robots_of
from astray.ros.publishers.publisher import Publisher, Topic
from astray.tables import Rows

if TYPE_CHECKING:
    pass

CLOCK = "rosgraph_msgs/msg/Clock"
PERIOD = 0.01  # s of simulated time after which it is told again, at most


def clock_schedule(dt: float) -> Schedule:
    """The ticks at which time is told, whatever else is said; all of them if they are longer."""
    return Schedule(max(1, int(PERIOD / dt + TICK_ROUNDING)))


class ClockPublisher(Publisher):
    """Says what time it is in the first world."""

    def __init__(self, sim: Run) -> None:
        first = next(robot for robots in robots_of(sim).values() for robot in robots)
        self._now = np.zeros((first.row + 1, 1))
        super().__init__([first], "clock", MessageLayout(CLOCK), [self._now])
        self.words.stamp(0, "clock", column="")
        self.topics = {row: Topic("/clock", CLOCK) for row in self.topics}
        self.schedule = clock_schedule(sim.dt)

    def now(self, sim: Run) -> Rows:
        """Itself."""
        self._now[:] = sim.time
        return self.rows
