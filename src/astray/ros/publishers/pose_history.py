"""Where robots were by dead reckoning of late: beliefs may be of a time that is over."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from astray.numerics import compiled_for, cos, kernel, sin, wrap
from astray.tables import Array, Row, Rows, Table

DEPTH = 256  # moments that are kept


@kernel
def remember(past: Array, slot: int, state: Table) -> int:
    """Keep the poses of now behind those in a slot, unless nothing has changed; the newest slot."""
    changed = False
    for i in range(len(state)):
        if state[i].stamp != past[slot, i, 0]:
            changed = True
    if not changed:
        return slot
    slot = (slot + 1) % len(past)
    for i in range(len(state)):
        s = state[i]
        past[slot, i, 0], past[slot, i, 1] = s.stamp, s.x
        past[slot, i, 2], past[slot, i, 3] = s.y, s.yaw
    return slot


@kernel
def neighbours(past: Array, row: int, stamp: float) -> Any:
    """The newest slot of a row that is not after a time, and the oldest after it; −1 if none."""
    before, after = -1, -1
    for k in range(len(past)):
        time = past[k, row, 0]
        if time <= stamp:
            if before < 0 or time > past[before, row, 0]:
                before = k
        elif time > stamp and (after < 0 or time < past[after, row, 0]):
            after = k
    return before, after


@kernel
def ahead(s: Row, seconds: float) -> Any:
    """Where a robot gets in so many seconds at the speed that it has."""
    yaw = s.yaw + 0.5 * s.wz * seconds
    x = s.x + seconds * (cos(yaw) * s.vx - sin(yaw) * s.vy)
    y = s.y + seconds * (sin(yaw) * s.vx + cos(yaw) * s.vy)
    return x, y, s.yaw + seconds * s.wz


@kernel
def back(past: Array, row: int, s: Row, stamp: float) -> Any:
    """Where a robot was, on the straight line from one moment to the next."""
    a, b = neighbours(past, row, stamp)
    if a < 0 and b < 0:
        return s.x, s.y, s.yaw
    if a < 0 or b < 0:
        k = max(a, b)
        return past[k, row, 1], past[k, row, 2], past[k, row, 3]
    begin, end = past[a, row, 0], past[b, row, 0]
    part = (stamp - begin) / (end - begin)
    x = past[a, row, 1] + part * (past[b, row, 1] - past[a, row, 1])
    y = past[a, row, 2] + part * (past[b, row, 2] - past[a, row, 2])
    return x, y, past[a, row, 3] + part * wrap(past[b, row, 3] - past[a, row, 3])


@kernel
def was(past: Array, row: int, s: Row, stamp: float) -> Any:
    """Where a robot was, or will be, at some time."""
    late = stamp - s.stamp
    if late == 0.0 or math.isnan(late):
        return s.x, s.y, s.yaw
    return ahead(s, late) if late > 0.0 else back(past, row, s, stamp)


@kernel
def look_all(out: Array, rows: Rows, stamps: Array, state: Table, past: Array) -> None:
    """Where these rows were, or will be, at a time of each row of the group."""
    for k in range(len(rows)):
        i = rows[k]
        out[i, 0], out[i, 1], out[i, 2] = was(past, i, state[i], stamps[i])


class PoseHistory:
    """The poses of a group in the last moments at which they changed."""

    def __init__(self, state: Table) -> None:
        """Of this state, as it is in the run."""
        self._state = state
        self.poses = np.full((DEPTH, len(state), 4), np.nan)
        """Stamp, x, y and yaw of every row at every moment that is kept, in no order."""
        self.slot = 0
        """The newest of them."""
        self._remember = compiled_for(remember, self.poses, 0, state)

    def forget(self, rows: Rows) -> None:
        """These rows have been nowhere."""
        self.poses[:, rows] = np.nan

    def remember(self) -> None:
        """Keep where everybody is now."""
        self.slot = self._remember(self.poses, self.slot, self._state)

    def look(self, out: Array, rows: Rows, stamps: Array) -> None:
        """Write where these rows were at these times, by row of the group.

        Between two moments on the straight line; beyond the newest with its speed; before the
        oldest that is kept, there.
        """
        look_all(out, rows, stamps, self._state, self.poses)
