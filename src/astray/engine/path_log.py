"""The paths of truth and beliefs, with a bounded number of points, for pictures.

When the log is full, every other point is dropped and the period doubles. So a run of any length
costs the same memory and ever less time, and can be drawn at any time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from astray.engine.robots import RunState
from astray.numerics import kernel
from astray.tables import Array, Table

MAX_POINTS = 1024
MAX_ROWS = 64  # of each group; a picture of more robots is not readable
FIRST_PERIOD = 0.1  # s
COLUMNS = 5  # columns of a state: x, y, yaw, stamp and vx


@dataclass
class Paths:
    """The poses of some robots of one group over time, (points, rows, 3) m, m, rad."""

    group: str
    time: Array
    truth: Array
    beliefs: dict[str, Array]
    errors: dict[str, Array]
    """Distance of each belief from the truth at its stamp, (points, rows) m."""


@kernel
def record_poses(kept: Array, k: int, table: Table) -> None:
    """Write point k of these states."""
    for i in range(len(table)):
        s, point = table[i], kept[k, i]
        point[0], point[1], point[2], point[3], point[4] = s.x, s.y, s.yaw, s.stamp, s.vx


class PathLog:
    """The paths of the first robots of each group, thinned out as the run grows."""

    def __init__(self, run: RunState) -> None:
        self.run = run
        self.restart()

    def restart(self) -> None:
        """Discard all points."""
        self.period = max(1, round(FIRST_PERIOD / self.run.dt))
        self.count = 0
        self.steps = np.zeros(MAX_POINTS, np.int64)
        self._kept: list[tuple[Array, Table]] = []  # points, and the table that they come from
        for group in self.run.robots.values():
            for table in (group.truth, *group.beliefs().values()):
                rows = table[:MAX_ROWS]
                self._kept.append((np.zeros((MAX_POINTS, len(rows), COLUMNS)), rows))

    def next_due(self, step: int) -> int:
        """The first step from this one on that is recorded."""
        return step + -step % self.period

    def observe(self, run: RunState) -> None:
        """Record the poses of all robots."""
        if self.count == MAX_POINTS:
            self._thin_out()
            if run.clocks.steps % self.period:
                return
        self._record(self.count, run.clocks.steps)
        self.count += 1

    def _record(self, k: int, step: int) -> None:
        self.steps[k] = step
        for kept, table in self._kept:
            record_poses(kept, k, table)

    def _thin_out(self) -> None:
        self.period *= 2
        keep = np.flatnonzero(self.steps % self.period == 0)
        self.count = len(keep)
        self.steps[: self.count] = self.steps[keep]
        for kept, _ in self._kept:
            kept[: self.count] = kept[keep]

    def discard_present(self) -> None:
        """Discard a point of the present step, after an event has moved robots."""
        if self.count and self.steps[self.count - 1] == self.run.clocks.steps:
            self.count -= 1

    def paths(self) -> list[Paths]:
        """The paths of each group, up to the present."""
        self.discard_present()
        if self.count == MAX_POINTS:
            self._thin_out()
        self._record(self.count, self.run.clocks.steps)
        recorded = slice(0, self.count + 1)
        time = self.steps[recorded] * self.run.dt
        kept = iter(self._kept)
        found = []
        for name, group in self.run.robots.items():
            truth = next(kept)[0][recorded]
            beliefs = {name: next(kept)[0][recorded] for name in group.beliefs()}
            if group.belief is group.truth:
                beliefs.pop("belief")
            errors = {key: _error(truth, belief) for key, belief in beliefs.items()}
            poses = {key: belief[..., :3] for key, belief in beliefs.items()}
            found.append(Paths(name, time, truth[..., :3], poses, errors))
        return found


def _error(truth: Table, belief: Table) -> Array:
    """Distance of a belief from the truth at its stamp, extrapolated from the recorded truth."""
    x, y, yaw, stamp, speed = np.moveaxis(truth, -1, 0)
    back = speed * (stamp - belief[..., 3])
    dx = belief[..., 0] - (x - back * np.cos(yaw))
    dy = belief[..., 1] - (y - back * np.sin(yaw))
    return np.asarray(np.hypot(dx, dy))
