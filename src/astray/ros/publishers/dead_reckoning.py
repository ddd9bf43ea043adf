"""Dead reckoning of each robot and its recent poses: the odometry of REP 105, which never jumps.

It is the `odometry` estimator, fed with the readings of the wheels as they arrive; it begins at
zero where the robot starts. A robot without wheel readings has its true motion as odometry.

A belief may be of a time that has passed, so the latest poses are kept: between two of them a pose
is interpolated, after the newest it is extrapolated with the velocity.
"""

from __future__ import annotations

import math
import threading
from typing import Any, NamedTuple

import numpy as np

from astray.engine import Robots
from astray.errors import PluginError
from astray.numerics import NEVER, Schedule, compiled_for, cos, kernel, sin, wrap
from astray.robot.estimators import Odometry, dead_reckon_all
from astray.tables import STATE, WHEELS, Array, Row, Rows, Table, record_type, table

DEPTH = 256  # poses kept of each robot
POSE_SAMPLE = record_type([(name, "f8") for name in ("stamp", "x", "y", "yaw")])
DISTANCE_TOLERANCE, TURN_TOLERANCE = 0.02, 0.05  # m and rad beyond what the velocity explains


class PlanarPose(NamedTuple):
    """A pose in the plane: m, m and rad."""

    x: float
    y: float
    yaw: float


@kernel
def append_poses(history: Table, slot: int, state: Table) -> int:
    """Keep the poses of a state in the next slot if a stamp has changed; the newest slot."""
    changed = False
    for i in range(len(state)):
        if state[i].stamp != history[slot, i].stamp:
            changed = True
    if not changed:
        return slot
    slot = (slot + 1) % len(history)
    for i in range(len(state)):
        pose, s = history[slot, i], state[i]
        pose.stamp, pose.x, pose.y, pose.yaw = s.stamp, s.x, s.y, s.yaw
    return slot


@kernel
def bracketing_slots(history: Table, row: int, stamp: float) -> Any:
    """The slots of the newest pose not after a time and of the oldest after it; −1 if none."""
    before, after = -1, -1
    for k in range(len(history)):
        time = history[k, row].stamp
        if time <= stamp:
            if before < 0 or time > history[before, row].stamp:
                before = k
        elif time > stamp and (after < 0 or time < history[after, row].stamp):
            after = k
    return before, after


@kernel
def extrapolate(s: Row, seconds: float) -> PlanarPose:
    """The pose of a state some seconds later, at constant velocity."""
    yaw = s.yaw + 0.5 * s.wz * seconds
    x = s.x + seconds * (cos(yaw) * s.vx - sin(yaw) * s.vy)
    y = s.y + seconds * (sin(yaw) * s.vx + cos(yaw) * s.vy)
    return PlanarPose(x, y, s.yaw + seconds * s.wz)


@kernel
def interpolate(history: Table, row: int, s: Row, stamp: float) -> PlanarPose:
    """The pose at a time on the straight line between two poses; before the oldest, the oldest."""
    before, after = bracketing_slots(history, row, stamp)
    if before < 0 and after < 0:
        return PlanarPose(s.x, s.y, s.yaw)
    if before < 0 or after < 0:
        only = history[max(before, after), row]
        return PlanarPose(only.x, only.y, only.yaw)
    a, b = history[before, row], history[after, row]
    part = (stamp - a.stamp) / (b.stamp - a.stamp)
    x = a.x + part * (b.x - a.x)
    y = a.y + part * (b.y - a.y)
    return PlanarPose(x, y, a.yaw + part * wrap(b.yaw - a.yaw))


@kernel
def pose_at_time(history: Table, row: int, s: Row, stamp: float) -> PlanarPose:
    """The pose of a row at a time; now if the time is nan."""
    ahead = stamp - s.stamp
    if ahead == 0.0 or math.isnan(ahead):
        return PlanarPose(s.x, s.y, s.yaw)
    return extrapolate(s, ahead) if ahead > 0.0 else interpolate(history, row, s, stamp)


@kernel
def poses_at_times_all(out: Array, rows: Rows, stamps: Array, state: Table, history: Table) -> None:
    """Write x, y and yaw of these rows at a time of each row of the group."""
    for k in range(len(rows)):
        i = rows[k]
        pose = pose_at_time(history, i, state[i], stamps[i])
        out[i, 0], out[i, 1], out[i, 2] = pose.x, pose.y, pose.yaw


@kernel
def reckon_all(
    state: Table, memory: Table, wheels: Table, rows: Rows, history: Table, slot: int
) -> int:
    """Estimate rows from their fresh wheel readings and keep all poses; the newest slot."""
    dead_reckon_all(state, memory, wheels, rows)
    return append_poses(history, slot, state)


class PoseHistory:
    """The latest poses of a group, one set for each time at which they changed.

    Args:
        state: The state of the group, as it is in the run.
    """

    def __init__(self, state: Table) -> None:
        self._state = state
        self.poses = np.full((DEPTH, len(state)), np.nan, POSE_SAMPLE)
        """The kept poses, (slots, rows): a ring."""
        self.slot = 0
        """The newest slot."""
        self._append = compiled_for(append_poses, self.poses, 0, state)

    def clear(self, rows: Rows) -> None:
        """Remove the poses of these rows."""
        for name in POSE_SAMPLE.names or ():
            self.poses[name][:, rows] = np.nan

    def append(self) -> None:
        """Keep the poses of now."""
        self.slot = self._append(self.poses, self.slot, self._state)

    def poses_at(self, out: Array, rows: Rows, stamps: Array) -> None:
        """Write the poses of rows at given times.

        Args:
            out: x, y and yaw of each row of the group, (rows of the group, 3) m, m, rad.
            rows: The rows to write.
            stamps: A time for each row of the group, s.
        """
        poses_at_times_all(out, rows, stamps, self._state, self.poses)


class DeadReckoning:
    """The poses of a group's robots by their wheels, from where they started.

    Args:
        group: The robots.
    """

    def __init__(self, group: Robots) -> None:
        self.group, n = group, len(group.truth)
        self.state: Table = table(STATE, n)
        """Pose and velocity of each row, in the frame `odom`."""
        self.state["alive"] = group.truth["alive"]
        self._row_changes, self._start_counts = group.row_changes, group.start_counts.copy()
        self._origin, self._last_truth = group.truth.copy(), group.truth.copy()
        self._wheels = next(
            (p for p in group.pipelines.values() if p.sensor.measures == WHEELS), None
        )
        self._estimator = self._make_estimator()
        self.history = PoseHistory(self.state)
        if self._estimator is not None and self._wheels is not None:
            self._tables = self.state, self._estimator.memory, self._wheels.arrived.table
            given = (*self._tables, group.rows, self.history.poses, self.history.slot)
            self._reckon = compiled_for(reckon_all, *given)
        self._lock = threading.Lock()  # bridges read past poses in threads of their own
        self.update()

    def _make_estimator(self) -> Odometry | None:
        """None without wheel readings, or with a motion that has no wheels."""
        if self._wheels is None:
            return None
        try:
            estimator, belief = Odometry().alone(
                self.group.motion, self._wheels.sensor, n=len(self.state)
            )
        except PluginError:
            return None
        belief["alive"] = self.state["alive"]
        self.state = belief
        return estimator

    @property
    def schedule(self) -> Schedule:
        """The ticks at which wheel readings arrive; never, if the truth is used."""
        if self._estimator is None or self._wheels is None:
            return Schedule(1, NEVER)
        return self._wheels.arrival_schedule

    def latest_stamp(self, row: int) -> float:
        """The time up to which a row's path is known, s."""
        with self._lock:
            return float(self.state["stamp"][row])

    def pose_at(self, row: int, stamp: float) -> PlanarPose:
        """The pose of a row at a time, in the frame `odom`.

        Args:
            row: A row of the group.
            stamp: The time, s.
        """
        out = np.empty((len(self.state), 3))
        with self._lock:
            self.history.poses_at(out, np.array([row]), np.full(len(out), stamp))
        return PlanarPose(*out[row].tolist())

    def update(self) -> None:
        """Take in the wheel readings that have arrived."""
        if self._estimator is None or (self._wheels and self._wheels.any_fresh):
            with self._lock:
                self._update()

    def _update(self) -> None:
        if self._row_changes != self.group.row_changes:
            self._update_rows()
        if self._estimator is None:
            self._follow_truth()
            if self.group.estimators:  # a belief that is the truth is never late
                self.history.append()
        else:  # it reads fresh readings only
            history = self.history
            history.slot = self._reckon(*self._tables, self.group.rows, history.poses, history.slot)

    def _update_rows(self) -> None:
        """Take over which robots are alive, and begin anew with those that have restarted."""
        group = self.group
        self._row_changes = group.row_changes
        self.state["alive"] = group.truth["alive"]
        restarted = np.flatnonzero(group.start_counts != self._start_counts)
        self._start_counts[:] = group.start_counts
        if len(restarted):
            self._restart(restarted)

    def _restart(self, rows: Rows) -> None:
        truth = self.group.truth
        self._origin[rows] = self._last_truth[rows] = truth[rows]
        self.state[rows] = np.zeros((), STATE)
        self.state["alive"][rows] = truth["alive"][rows]
        self.state["stamp"][rows] = truth["stamp"][rows]
        self.history.clear(rows)
        if self._estimator is not None:
            self._estimator.begin(rows)
            self._estimator.start(rows, self.state)

    def _follow_truth(self) -> None:
        """Set the state to the true pose in the frame of the start."""
        truth, origin, state = self.group.truth, self._origin, self.state
        self._move_origin_with_placed_robots(truth, origin, state)
        dx, dy = truth["x"] - origin["x"], truth["y"] - origin["y"]
        s, c = np.sin(origin["yaw"]), np.cos(origin["yaw"])
        state["x"], state["y"] = c * dx + s * dy, c * dy - s * dx
        turned = truth["yaw"] - origin["yaw"]
        state["yaw"] = np.arctan2(np.sin(turned), np.cos(turned))
        for column in ("stamp", "vx", "vy", "wz"):
            state[column] = truth[column]
        self._last_truth[:] = truth

    def _move_origin_with_placed_robots(self, truth: Table, origin: Table, state: Table) -> None:
        """Keep the odometry of robots that were placed elsewhere: their wheels have not turned.

        A robot was placed if it moved farther than twice what its velocity explains.
        """
        last = self._last_truth
        dt = np.maximum(truth["stamp"] - last["stamp"], 0.0)
        speed = np.maximum(*(np.hypot(s["vx"], s["vy"]) for s in (truth, last)))
        turn = np.maximum(np.abs(truth["wz"]), np.abs(last["wz"]))
        moved = np.hypot(truth["x"] - last["x"], truth["y"] - last["y"])
        turned = truth["yaw"] - last["yaw"]
        turned = np.abs(np.arctan2(np.sin(turned), np.cos(turned)))
        placed = (moved > 2.0 * speed * dt + DISTANCE_TOLERANCE) | (
            turned > 2.0 * turn * dt + TURN_TOLERANCE
        )
        rows = np.flatnonzero(placed & (truth["tick"] > last["tick"]))
        if len(rows):
            yaw = truth["yaw"][rows] - state["yaw"][rows]
            s, c, x, y = np.sin(yaw), np.cos(yaw), state["x"][rows], state["y"][rows]
            origin["yaw"][rows] = yaw
            origin["x"][rows] = truth["x"][rows] - (c * x - s * y)
            origin["y"][rows] = truth["y"][rows] - (s * x + c * y)
