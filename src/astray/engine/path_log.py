"""Where the robots were and where they believed to be, in a bounded number of moments.

When the log is full, every other moment is dropped and the period doubles. So a run of any length
costs the same memory and ever less time, and can be drawn at any time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from astray.engine.robots import RunState
from astray.numerics import kernel
from astray.tables import Array, Table

MOMENTS = 1024
ROWS = 64  # of each group; a picture of more is a blot
FIRST_PERIOD = 0.1  # s
SEEN = 5  # columns of a state: x, y, yaw, stamp and vx


@dataclass
class Paths:
    """The poses of some robots of one group over time, (moments, rows, 3) m, m, rad."""

    group: str
    time: Array
    truth: Array
    beliefs: dict[str, Array]
    errors: dict[str, Array]
    """Distance of each belief from the truth of its stamp, (moments, rows) m."""


@kernel
def note_all(kept: Array, k: int, table: Table) -> None:
    """Note moment k of these states."""
    for i in range(len(table)):
        s, seen = table[i], kept[k, i]
        seen[0], seen[1], seen[2], seen[3], seen[4] = s.x, s.y, s.yaw, s.stamp, s.vx


class PathLog:
    """Truth and beliefs of the first robots of each group, thinned out as the run grows."""

    def __init__(self, run: RunState) -> None:
        self.run = run
        self.restart()

    def restart(self) -> None:
        """Discard what was kept."""
        self.period = max(1, round(FIRST_PERIOD / self.run.dt))
        self.count = 0
        self.steps = np.zeros(MOMENTS, np.int64)
        self._kept: list[tuple[Array, Table]] = []  # what was seen, and where to look
        for group in self.run.robots.values():
            for table in (group.truth, *group.beliefs().values()):
                some = table[:ROWS]
                self._kept.append((np.zeros((MOMENTS, len(some), SEEN)), some))

    def next_due(self, step: int) -> int:
        """The first step from this one on that it wants to see."""
        return step + -step % self.period

    def observe(self, run: RunState) -> None:
        """Note where all robots are."""
        if self.count == MOMENTS:
            self._thin_out()
            if run.clocks.steps % self.period:
                return
        self._note(self.count, run.clocks.steps)
        self.count += 1

    def _note(self, k: int, step: int) -> None:
        self.steps[k] = step
        for kept, table in self._kept:
            note_all(kept, k, table)

    def _thin_out(self) -> None:
        self.period *= 2
        keep = np.flatnonzero(self.steps % self.period == 0)
        self.count = len(keep)
        self.steps[: self.count] = self.steps[keep]
        for kept, _ in self._kept:
            kept[: self.count] = kept[keep]

    def discard_present(self) -> None:
        """Discard the present moment: robots were moved since it was noted."""
        if self.count and self.steps[self.count - 1] == self.run.clocks.steps:
            self.count -= 1

    def paths(self) -> list[Paths]:
        """What was seen, one entry per group, the present included."""
        self.discard_present()
        if self.count == MOMENTS:
            self._thin_out()
        self._note(self.count, self.run.clocks.steps)
        seen = slice(0, self.count + 1)
        time = self.steps[seen] * self.run.dt
        kept = iter(self._kept)
        found = []
        for name, group in self.run.robots.items():
            truth = next(kept)[0][seen]
            beliefs = {who: next(kept)[0][seen] for who in group.beliefs()}
            if group.belief is group.truth:
                beliefs.pop("belief")
            errors = {who: _error(truth, belief) for who, belief in beliefs.items()}
            poses = {who: belief[..., :3] for who, belief in beliefs.items()}
            found.append(Paths(name, time, truth[..., :3], poses, errors))
        return found


def _error(truth: Table, belief: Table) -> Array:
    """Distance of a belief from the truth of its stamp, a moment before the truth that was seen."""
    x, y, yaw, stamp, speed = np.moveaxis(truth, -1, 0)
    back = speed * (stamp - belief[..., 3])
    dx = belief[..., 0] - (x - back * np.cos(yaw))
    dy = belief[..., 1] - (y - back * np.sin(yaw))
    return np.asarray(np.hypot(dx, dy))
