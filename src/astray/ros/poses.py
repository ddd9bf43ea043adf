"""Truth, beliefs, dead reckoning and commands as messages, at a rate of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from astray.ros.layout import Layout
from astray.ros.names import BASE, MAP, ODOM, TRUTH, WORLD, Robot, world_frame
from astray.ros.speaker import NOBODY, Speaker, Taken, copied, planar_covariance, stamp, turn
from astray.table import Array, Rows, Table

if TYPE_CHECKING:
    from astray.sim import Sim

Frame = Callable[[Robot], str]


class Paced(Speaker):
    """Says something every so many steps for each robot that is there."""

    def __init__(
        self, robots: Sequence[Robot], topic: str, layout: Layout, period: int, alive: Array
    ) -> None:
        super().__init__(robots, topic, layout)
        self.period = period
        self._group, self._alive = robots[0].group, alive

    def next_due(self, step: int, ahead: int) -> int:
        """The next whole period by the clock of the worlds."""
        return step + -(step + ahead) % self.period

    def due(self, sim: Sim) -> Rows:
        """All who are there, at a whole period."""
        if (sim.steps if sim.tick is None else sim.tick) % self.period:
            return NOBODY
        if len(sim.robots[self._group].rows) == len(self._alive):
            return self.rows
        return self.rows[self._alive[self.rows]]


class Odometry(Paced):
    """A pose and a velocity in the body: the truth, or dead reckoning."""

    def __init__(
        self,
        robots: Sequence[Robot],
        topic: str,
        state: Table,
        period: int,
        frames: tuple[Frame, Frame],
    ) -> None:
        parent, child = frames
        texts = {"header.frame_id": parent(robots[0]), "child_frame_id": child(robots[0])}
        layout = Layout("nav_msgs/msg/Odometry", texts=texts)
        super().__init__(robots, topic, layout, period, state["alive"])
        self.state = state
        self._parents, self._children = self.texts(parent), self.texts(child)

    def take(self, rows: Rows) -> Taken:
        """The states of these rows."""
        return rows, copied(self.state, rows)

    def fill(self, out: Array, taken: Taken) -> None:
        """Pose in the parent frame, velocity in the child's."""
        rows, s = taken
        stamp(out, s["stamp"])
        out["header.frame_id"], out["child_frame_id"] = self._parents[rows], self._children[rows]
        for axis in "xyz":
            out[f"pose.pose.position.{axis}"] = s[axis]
        turn(out, s["yaw"], "pose.pose.orientation")
        planar_covariance(out, s["cov"], "pose.covariance")
        for axis in "xyz":
            out[f"twist.twist.linear.{axis}"] = s[f"v{axis}"]
        out["twist.twist.angular.z"] = s["wz"]


class Belief(Paced):
    """Where a robot believes to be, with its covariance; said when it has changed."""

    def __init__(self, robots: Sequence[Robot], topic: str, belief: Table, period: int) -> None:
        texts = {"header.frame_id": world_frame(robots[0], MAP)}
        layout = Layout("geometry_msgs/msg/PoseWithCovarianceStamped", texts=texts)
        super().__init__(robots, topic, layout, period, belief["alive"])
        self.belief = belief
        self._frames = self.texts(lambda robot: world_frame(robot, MAP))
        self._stamps, self._said = belief["stamp"], np.full(len(belief), np.nan)

    def due(self, sim: Sim) -> Rows:
        """Those whose belief is of another time than the last that was said."""
        rows = super().due(sim)
        if len(rows):
            new = self._stamps != self._said
            if not new.all():
                rows = rows[new[rows]]
            self._said[rows] = self._stamps[rows]
        return rows

    def take(self, rows: Rows) -> Taken:
        """The beliefs of these rows."""
        return rows, copied(self.belief, rows)

    def fill(self, out: Array, taken: Taken) -> None:
        """Pose and covariance in the map."""
        rows, s = taken
        stamp(out, s["stamp"])
        out["header.frame_id"] = self._frames[rows]
        for axis in "xyz":
            out[f"pose.pose.position.{axis}"] = s[axis]
        turn(out, s["yaw"], "pose.pose.orientation")
        planar_covariance(out, s["cov"], "pose.covariance")


class Command(Paced):
    """What a robot is told to do: speeds as the motion is asked for them."""

    def __init__(
        self, robots: Sequence[Robot], topic: str, drives: Table, truth: Table, period: int
    ) -> None:
        texts = {"header.frame_id": robots[0].frame(BASE)}
        layout = Layout("geometry_msgs/msg/TwistStamped", texts=texts)
        super().__init__(robots, topic, layout, period, truth["alive"])
        self.drives, self._stamps = drives, truth["stamp"]
        self._frames = self.texts(lambda robot: robot.frame(BASE))

    def take(self, rows: Rows) -> Taken:
        """What these rows are asked for, and when."""
        return rows, copied(self.drives, rows), copied(self._stamps, rows)

    def fill(self, out: Array, taken: Taken) -> None:
        """Speeds in the body; a curvature is told as the turn that it means."""
        rows, u, time = taken
        stamp(out, time)
        out["header.frame_id"] = self._frames[rows]
        out["twist.linear.x"], out["twist.linear.y"] = u["vx"], u["vy"]
        bent = ~np.isnan(u["curvature"])
        out["twist.angular.z"] = np.where(bent, u["vx"] * np.nan_to_num(u["curvature"]), u["wz"])


def truth_of(robots: Sequence[Robot], truth: Table, period: int) -> Odometry:
    """The truth, which hangs from the world: it must not meet what the robot believes."""
    frames = (lambda robot: world_frame(robot, WORLD), lambda robot: robot.frame(TRUTH))
    return Odometry(robots, "ground_truth/odom", truth, period, frames)


def reckoning_of(robots: Sequence[Robot], reckoned: Table, period: int) -> Odometry:
    """Dead reckoning from where the robot started, which drifts and never jumps."""
    frames = (lambda robot: robot.frame(ODOM), lambda robot: robot.frame(BASE))
    return Odometry(robots, "odom", reckoned, period, frames)
