"""Dead reckoning of every robot, beside what it believes: ROS 2 wants a pose that never jumps.

It is the `odometry` estimator on the readings of the wheels that arrive, begun at zero where the
robot starts. A robot without wheels to read is told its true way: it has perfect odometry.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from astray.errors import PluginError
from astray.numerics import NEVER, Schedule, compiled_for, kernel
from astray.robot.estimators import Odometry, dead_reckon_all
from astray.ros.publishers.pose_history import PoseHistory, remember
from astray.tables import STATE, WHEELS, Array, Rows, Table, table

if TYPE_CHECKING:
    from astray.engine import Robots

LEAST_CARRIED, LEAST_TURNED = 0.02, 0.05  # m and rad beyond what the speed explains


@kernel
def reckon_all(
    state: Table, memory: Table, wheels: Table, rows: Rows, past: Array, slot: int
) -> int:
    """Bring rows up to what their wheels tell and keep where all are now; the newest slot."""
    dead_reckon_all(state, memory, wheels, rows)
    return remember(past, slot, state)


class DeadReckoning:
    """Where the robots of a group are by their wheels, from where they started."""

    def __init__(self, group: Robots) -> None:
        self.group, n = group, len(group.truth)
        self.state: Table = table(STATE, n)
        self.state["alive"] = group.truth["alive"]
        self._changes, self._begun = group.row_changes, group.start_counts.copy()
        self._origin, self._last = group.truth.copy(), group.truth.copy()
        self._channel = next(
            (c for c in group.pipelines.values() if c.sensor.measures == WHEELS), None
        )
        self._estimator = self._make()
        self.past = PoseHistory(self.state)
        if self._estimator is not None and self._channel is not None:
            self._tables = self.state, self._estimator.memory, self._channel.arrived.table
            given = (*self._tables, group.rows, self.past.poses, self.past.slot)
            self._reckon = compiled_for(reckon_all, *given)
        self._lock = threading.Lock()  # wires look back from threads of their own
        self.update()

    def _make(self) -> Odometry | None:
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
        return estimator

    @property
    def schedule(self) -> Schedule:
        """When the wheels are read; never for those whose truth is looked up."""
        if self._estimator is None or self._channel is None:
            return Schedule(1, NEVER)
        return self._channel.arrival_schedule

    def newest(self, row: int) -> float:
        """The time up to which a row's way is known, s."""
        with self._lock:
            return float(self.state["stamp"][row])

    def look(self, out: Array, rows: Rows, stamps: Array) -> None:
        """Write where these rows were by their wheels at a time of each, all by row, (n, 3)."""
        with self._lock:
            self.past.look(out, rows, stamps)

    def at(self, row: int, stamp: float) -> Array:
        """Where a row was by its wheels at some time, (3,)."""
        out = np.empty((len(self.state), 3))
        self.look(out, np.array([row]), np.full(len(out), stamp))
        return np.asarray(out[row])

    def update(self) -> None:
        """Take in what has arrived."""
        if self._estimator is None or (self._channel and self._channel.any_fresh):
            with self._lock:
                self._update()

    def _update(self) -> None:
        if self._changes != self.group.row_changes:
            self._see()
        if self._estimator is None:
            self._follow()
            if self.group.estimators:  # a robot that believes the truth is never late
                self.past.remember()
        else:  # it looks at fresh readings only
            past = self.past
            past.slot = self._reckon(*self._tables, self.group.rows, past.poses, past.slot)

    def _see(self) -> None:
        """Note who is there and who has started anew."""
        group = self.group
        self._changes = group.row_changes
        self.state["alive"] = group.truth["alive"]
        anew = np.flatnonzero(group.start_counts != self._begun)
        self._begun[:] = group.start_counts
        if len(anew):
            self._begin(anew)

    def _begin(self, rows: Rows) -> None:
        """These rows have started anew."""
        truth = self.group.truth
        self._origin[rows] = self._last[rows] = truth[rows]
        self.state[rows] = np.zeros((), STATE)
        self.state["alive"][rows] = truth["alive"][rows]
        self.state["stamp"][rows] = truth["stamp"][rows]
        self.past.forget(rows)
        if self._estimator is not None:
            self._estimator.begin(rows)
            self._estimator.start(rows, self.state)

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
