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

LEAST_CARRIED, LEAST_TURNED = 0.02, 0.05  # m and rad beyond what the speed explains
DEPTH = 256  # moments that a belief may lag behind


class Reckoning:
    """Where the robots of a group are by their wheels, from where they started."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.state: Table = table(STATE, len(group.truth))
        self.state["alive"] = group.truth["alive"]
        self._truth_of = {c: group.truth[c] for c in ("alive", "life", "tick")}  # views
        self._life, self._tick = (self._truth_of[c].copy() for c in ("life", "tick"))
        self._origin, self._last = group.truth.copy(), group.truth.copy()
        self._channel = next(
            (c for c in group.channels.values() if c.sensor.measures == WHEELS), None
        )
        self._estimator = self._make()
        self._alive = self.state["alive"]  # a view, as these are
        self._columns = [self.state[column] for column in ("stamp", "x", "y", "yaw")]
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
            for k, column in enumerate(self._columns[1:]):
                out[:, k] = column[rows]
            late = stamps - self._columns[0][rows]
            if late.any():
                for k in np.flatnonzero(late).tolist():
                    row, ahead = int(rows[k]), float(late[k])
                    beyond = ahead > 0.0
                    out[k] = (
                        _ahead(self.state[row], ahead) if beyond else self._back(row, stamps[k])
                    )
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
        if self._estimator is None or (self._channel and self._channel.any_fresh):
            with self._lock:
                self._update()

    def _update(self) -> None:
        alive, life, tick = self._truth_of.values()
        self._alive[:] = alive
        # Whoever starts over may do so in the life that it had: then its clock went back.
        new = (life != self._life) | (tick < self._tick)
        self._tick[:] = tick
        if new.any():
            self._begin(np.flatnonzero(new))
        if self._estimator is None:
            self._follow()
        elif self._channel is not None:
            estimator, known = self._estimator
            rows = np.flatnonzero(self._channel.arrived.fresh & alive)
            estimator.estimate(rows, known, self.state)
        self._remember()

    def _remember(self) -> None:
        if not self.group.estimators:
            return  # a robot that believes the truth is never late
        if (self._columns[0] == self._past[self._slot, :, 0]).all():
            return
        self._slot = (self._slot + 1) % DEPTH
        for k, column in enumerate(self._columns):
            self._past[self._slot, :, k] = column

    def _begin(self, rows: Rows) -> None:
        """These rows have started anew."""
        truth = self.group.truth
        self._life[rows] = truth["life"][rows]
        self._origin[rows] = self._last[rows] = truth[rows]
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
        self._overlook_carrying(truth, origin, state)
        dx, dy = truth["x"] - origin["x"], truth["y"] - origin["y"]
        s, c = np.sin(origin["yaw"]), np.cos(origin["yaw"])
        state["x"], state["y"] = c * dx + s * dy, c * dy - s * dx
        turned = truth["yaw"] - origin["yaw"]
        state["yaw"] = np.arctan2(np.sin(turned), np.cos(turned))
        for column in ("stamp", "vx", "vy", "wz"):
            state[column] = truth[column]
        self._last[:] = truth

    def _overlook_carrying(self, truth: Table, origin: Table, state: Table) -> None:
        """Move the origin with robots that were put elsewhere: no wheel of theirs has turned."""
        last = self._last
        dt = np.maximum(truth["stamp"] - last["stamp"], 0.0)
        speed = np.maximum(*(np.hypot(s["vx"], s["vy"]) for s in (truth, last)))
        turn = np.maximum(np.abs(truth["wz"]), np.abs(last["wz"]))
        way = np.hypot(truth["x"] - last["x"], truth["y"] - last["y"])
        turned = truth["yaw"] - last["yaw"]
        turned = np.abs(np.arctan2(np.sin(turned), np.cos(turned)))
        carried = (way > 2.0 * speed * dt + LEAST_CARRIED) | (
            turned > 2.0 * turn * dt + LEAST_TURNED
        )
        rows = np.flatnonzero(carried & (truth["tick"] > last["tick"]))
        if len(rows):
            yaw = truth["yaw"][rows] - state["yaw"][rows]
            s, c, x, y = np.sin(yaw), np.cos(yaw), state["x"][rows], state["y"][rows]
            origin["yaw"][rows] = yaw
            origin["x"][rows] = truth["x"][rows] - (c * x - s * y)
            origin["y"][rows] = truth["y"][rows] - (s * x + c * y)


def _ahead(state: Table, seconds: float) -> Array:
    """Where a robot gets in so many seconds at the speed that it has."""
    yaw = state["yaw"] + 0.5 * state["wz"] * seconds
    s, c = np.sin(yaw), np.cos(yaw)
    x = state["x"] + seconds * (c * state["vx"] - s * state["vy"])
    y = state["y"] + seconds * (s * state["vx"] + c * state["vy"])
    return np.array([x, y, state["yaw"] + seconds * state["wz"]])
