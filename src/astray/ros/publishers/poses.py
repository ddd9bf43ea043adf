"""Truth, beliefs, dead reckoning and commands as messages, at a rate of their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.engine import Run
from astray.numerics import Schedule, compiled_for, kernel
from astray.ros.messages import MessageLayout, Words
from astray.ros.names import BASE, MAP, ODOM, TRUTH, WORLD, RosRobot, world_frame
from astray.ros.publishers.publisher import Publisher
from astray.tables import Array, Rows, Table

if TYPE_CHECKING:
    pass

Frame = Callable[[RosRobot], str]


class PeriodicPublisher(Publisher):
    """Says something every so many steps for each robot that is there."""

    def __init__(
        self,
        robots: Sequence[RosRobot],
        topic: str,
        layout: MessageLayout,
        sources: Sequence[Array],
        *,
        period: int,
        alive: Array,
    ) -> None:
        super().__init__(robots, topic, layout, sources)
        self.schedule = Schedule(period)
        self.group, self._alive = robots[0].group, alive
        self.is_steady = type(self).now is PeriodicPublisher.now
        """Whether it always speaks for all who are there."""

    def now(self, sim: Run) -> Rows:
        """All who are there."""
        if len(sim.robots[self.group].rows) == len(self._alive):
            return self.rows
        return self.rows[self._alive[self.rows]]


class OdometryPublisher(PeriodicPublisher):
    """A pose and a velocity in the body: the truth, or dead reckoning."""

    def __init__(
        self,
        robots: Sequence[RosRobot],
        topic: str,
        state: Table,
        period: int,
        frames: tuple[Frame, Frame],
    ) -> None:
        parent, child = frames
        texts = {"header.frame_id": parent(robots[0]), "child_frame_id": child(robots[0])}
        layout = MessageLayout("nav_msgs/msg/Odometry", texts=texts)
        super().__init__(robots, topic, layout, [state], period=period, alive=state["alive"])
        say_odometry(self.words, parent, child)


class BeliefPublisher(PeriodicPublisher):
    """Where a robot believes to be, with its covariance; said when it has changed."""

    def __init__(self, robots: Sequence[RosRobot], topic: str, belief: Table, period: int) -> None:
        texts = {"header.frame_id": world_frame(robots[0], MAP)}
        layout = MessageLayout("geometry_msgs/msg/PoseWithCovarianceStamped", texts=texts)
        super().__init__(robots, topic, layout, [belief], period=period, alive=belief["alive"])
        self.words.text("header.frame_id", lambda robot: world_frame(robot, MAP))
        self.words.stamp(0)
        say_pose(self.words)
        self._unsaid = NewStamps(belief["stamp"])

    def now(self, sim: Run) -> Rows:
        """Those whose belief is of another time than the last that was said."""
        return self._unsaid.among(super().now(sim))


class CommandPublisher(PeriodicPublisher):
    """What a robot is told to do: speeds as the motion is asked for them."""

    def __init__(
        self, robots: Sequence[RosRobot], topic: str, drives: Table, truth: Table, period: int
    ) -> None:
        texts = {"header.frame_id": robots[0].frame(BASE)}
        layout, tables = (
            MessageLayout("geometry_msgs/msg/TwistStamped", texts=texts),
            [drives, truth],
        )
        super().__init__(robots, topic, layout, tables, period=period, alive=truth["alive"])
        self.words.text("header.frame_id", lambda robot: robot.frame(BASE))
        self.words.stamp(1)
        self.words.column("twist.linear.x", 0, "vx")
        self.words.column("twist.linear.y", 0, "vy")
        self.words.turn_rate("twist.angular.z", 0, "wz", "curvature", "vx")


@kernel
def is_unsaid(row: int, stamp: float, said: Array) -> bool:
    """Whether a row is of a time, and of one not said; it is noted."""
    if stamp == said[row] or math.isnan(stamp):
        return False
    said[row] = stamp
    return True


@kernel
def note_all(rows: Rows, stamps: Array, noted: Any) -> int:
    """How many of these rows are of a time that is not said, and which; it is noted."""
    said, new = noted
    count = 0
    for i in rows:
        if is_unsaid(i, stamps[i], said):
            new[count] = i
            count += 1
    return count


class NewStamps:
    """Tells what is new by its stamp, once."""

    def __init__(self, stamps: Array) -> None:
        """The stamps of all rows, as they are in the run."""
        self._stamps, self._new = stamps, np.empty(len(stamps), np.int64)
        self.noted = np.full(len(stamps), np.nan), self._new
        """The stamp of each row that was said last, and room for rows that are new."""
        self._note = compiled_for(note_all, self._new, stamps, self.noted)

    def among(self, rows: Rows) -> Rows:
        """Those of these rows that are of another time than when they were last said."""
        return self.first(self._note(rows, self._stamps, self.noted), rows)

    def first(self, count: int, rows: Rows) -> Rows:
        """The first so many of those noted as new; they are some or all of these rows."""
        return rows if count == len(rows) else self._new[:count].copy()


def say_odometry(words: Words, parent: Frame, child: Frame) -> None:
    """Let messages tell the state: the pose in the parent frame, velocity in the child's."""
    words.text("header.frame_id", parent)
    words.text("child_frame_id", child)
    words.stamp(0)
    say_pose(words)
    for axis in "xyz":
        words.column(f"twist.twist.linear.{axis}", 0, f"v{axis}")
    words.column("twist.twist.angular.z", 0, "wz")


def say_pose(words: Words) -> None:
    """Let messages tell the pose of the state, and its covariance."""
    for axis in "xyz":
        words.column(f"pose.pose.position.{axis}", 0, axis)
    words.turn("pose.pose.orientation", 0)
    words.planar_covariance("pose.covariance", 0)


def truth_of(robots: Sequence[RosRobot], truth: Table, period: int) -> OdometryPublisher:
    """The truth, which hangs from the world: it must not meet what the robot believes."""
    frames = (lambda robot: world_frame(robot, WORLD), lambda robot: robot.frame(TRUTH))
    return OdometryPublisher(robots, "ground_truth/odom", truth, period, frames)


def reckoning_of(robots: Sequence[RosRobot], reckoned: Table, period: int) -> OdometryPublisher:
    """Dead reckoning from where the robot started, which drifts and never jumps."""
    frames = (lambda robot: robot.frame(ODOM), lambda robot: robot.frame(BASE))
    return OdometryPublisher(robots, "odom", reckoned, period, frames)
