"""Dead reckoning of every robot, beside what it believes: ROS 2 wants a pose that never jumps.

It is the `odometry` estimator on the readings of the wheels that arrive, begun at zero where the
robot starts. A robot without wheels to read is told its true way: it has perfect odometry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from astray.errors import PluginError
from astray.estimators import Odometry
from astray.plugin import NEVER, Known
from astray.table import STATE, WHEELS, Rows, Table, table

if TYPE_CHECKING:
    from astray.group import Group

LEAST_CARRIED, LEAST_TURNED = 0.02, 0.05  # m and rad beyond what the speed explains


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
        self._alive = self.state["alive"]  # a view
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

    def update(self) -> None:
        """Take in what has arrived."""
        alive, life, tick = self._truth_of.values()
        self._alive[:] = alive
        # Whoever starts over may do so in the life that it had: then its clock went back.
        new = (life != self._life) | (tick < self._tick)
        self._tick[:] = tick
        if new.any():
            self._begin(np.flatnonzero(new))
        if self._estimator is None:
            self._follow()
        elif self._channel is not None and self._channel.any_fresh:
            estimator, known = self._estimator
            rows = np.flatnonzero(self._channel.arrived.fresh & alive)
            estimator.estimate(rows, known, self.state)

    def _begin(self, rows: Rows) -> None:
        """These rows have started anew."""
        truth = self.group.truth
        self._life[rows] = truth["life"][rows]
        self._origin[rows] = self._last[rows] = truth[rows]
        self.state[rows] = np.zeros((), STATE)
        self.state["alive"][rows] = truth["alive"][rows]
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
