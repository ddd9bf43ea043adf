"""Dead reckoning of every robot, beside what it believes: ROS 2 wants a pose that never jumps.

It is the `odometry` estimator on the readings of the wheels that arrive, begun at zero where the
robot starts. A robot without wheels to read is told its true way: it has perfect odometry. What was
reckoned in the last moments is kept, since beliefs may be of a time that is over.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from astray.errors import PluginError
from astray.estimators import Odometry
from astray.plugin import NEVER, Known
from astray.table import STATE, WHEELS, Array, Rows, Table, table

if TYPE_CHECKING:
    from astray.group import Group


DEPTH = 256  # moments that a belief may lag behind


class Reckoning:
    """Where the robots of a group are by their wheels, from where they started."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.state: Table = table(STATE, len(group.truth))
        self.state["alive"] = group.truth["alive"]
        self._life = group.truth["life"].copy()
        self._tick = group.truth["tick"].copy()
        self._origin = group.truth.copy()
        self._channel = next(
            (c for c in group.channels.values() if c.sensor.measures == WHEELS), None
        )
        self._estimator = self._make()
        self._past = np.full((DEPTH, len(group.truth), 4), np.nan)  # stamp, x, y, yaw
        self._slot = 0
        self._lock = threading.Lock()  # wires look back from threads of their own
        self.update()

    def _make(self) -> tuple[Odometry, Known] | None:
        if self._channel is None:
            return None
        try:
            estimator, belief = Odometry().alone(
                self.group.motion, self._channel.sensor, n=len(self.state)
            )
        except PluginError:  # a motion that has no wheels to reckon with
            return None
        belief["alive"] = self.state["alive"]
        self.state = belief
        name = self._channel.sensor.name
        known = Known(belief, {name: self._channel.arrived}, self.group.time)
        return estimator, known

    def next_due(self, step: int, ahead: int) -> int:
        """When the wheels are next read; never for those whose truth is looked up."""
        if self._estimator is None or self._channel is None:
            return NEVER
        return self._channel.arriving.from_(step + ahead) - ahead

    def newest(self, row: int) -> float:
        """The time up to which a row's way is known, s."""
        with self._lock:
            return float(self.state["stamp"][row])

    def at(self, rows: Rows, stamps: Array) -> Array:
        """Where these rows were by their wheels at these times, (len(rows), 3).

        Between two moments on the straight line; beyond the newest with its speed; before the
        oldest that is kept, there.
        """
        out = np.empty((len(rows), 3))
        with self._lock:
            now = self.state[rows]
            same = now["stamp"] == stamps
            for column, name in enumerate(("x", "y", "yaw")):
                out[:, column] = now[name]
            for k in np.flatnonzero(~same):
                ahead = stamps[k] - now["stamp"][k]
                out[k] = _ahead(now[k], ahead) if ahead > 0.0 else self._back(rows[k], stamps[k])
        return out

    def _back(self, row: int, stamp: float) -> Array:
        past = self._past[:, row]
        if np.isnan(past[:, 0]).all():
            return np.array([self.state[column][row] for column in ("x", "y", "yaw")])
        past = past[np.argsort(past[:, 0], kind="stable")]  # nan comes last
        past = past[: np.count_nonzero(~np.isnan(past[:, 0]))]
        k = int(np.searchsorted(past[:, 0], stamp, side="right")) - 1
        if k < 0 or k + 1 >= len(past):
            return np.asarray(past[max(k, 0), 1:])
        a, b = past[k], past[k + 1]
        part = (stamp - a[0]) / (b[0] - a[0])
        moved = b[1:] - a[1:]
        moved[2] = np.arctan2(np.sin(moved[2]), np.cos(moved[2]))
        return np.asarray(a[1:] + part * moved)

    def update(self) -> None:
        """Take in what has arrived."""
        with self._lock:
            self._update()

    def _update(self) -> None:
        truth = self.group.truth
        self.state["alive"] = truth["alive"]
        # A life may be begun again: then only the clock tells.
        new = np.flatnonzero((truth["life"] != self._life) | (truth["tick"] < self._tick))
        self._tick[:] = truth["tick"]
        if len(new):
            self._begin(new)
        if self._estimator is None:
            self._follow()
        elif self._channel is not None and self._channel.any_fresh:
            estimator, known = self._estimator
            rows = np.flatnonzero(self._channel.arrived.fresh & truth["alive"])
            estimator.estimate(rows, known, self.state)
        self._remember()

    def _remember(self) -> None:
        if not self.group.estimators:
            return  # a robot that believes the truth is never late
        state, last = self.state, self._past[self._slot]
        if np.array_equal(state["stamp"], last[:, 0]):
            return
        self._slot = (self._slot + 1) % DEPTH
        for column, name in enumerate(("stamp", "x", "y", "yaw")):
            self._past[self._slot, :, column] = state[name]

    def _begin(self, rows: Rows) -> None:
        """These rows have started anew."""
        truth = self.group.truth
        self._life[rows] = truth["life"][rows]
        self._origin[rows] = truth[rows]
        self.state[rows] = np.zeros((), STATE)
        self.state["alive"][rows] = truth["alive"][rows]
        self.state["stamp"][rows] = truth["stamp"][rows]
        self._past[:, rows] = np.nan
        if self._estimator is not None:
            self._estimator[0].begin(rows)
            self._estimator[0].start(rows, self.state)

    def _follow(self) -> None:
        """The true way since the start, in the frame of the start."""
        truth, origin, state = self.group.truth, self._origin, self.state
        dx, dy = truth["x"] - origin["x"], truth["y"] - origin["y"]
        s, c = np.sin(origin["yaw"]), np.cos(origin["yaw"])
        state["x"], state["y"] = c * dx + s * dy, c * dy - s * dx
        turned = truth["yaw"] - origin["yaw"]
        state["yaw"] = np.arctan2(np.sin(turned), np.cos(turned))
        for column in ("stamp", "vx", "vy", "wz"):
            state[column] = truth[column]


def _ahead(state: Table, seconds: float) -> Array:
    """Where a robot gets in so many seconds at the speed that it has."""
    yaw = state["yaw"] + 0.5 * state["wz"] * seconds
    s, c = np.sin(yaw), np.cos(yaw)
    x = state["x"] + seconds * (c * state["vx"] - s * state["vy"])
    y = state["y"] + seconds * (s * state["vx"] + c * state["vy"])
    return np.array([x, y, state["yaw"] + seconds * state["wz"]])
