"""The topics that a run subscribes to: their messages become events of the run.

`Subscriptions(run).topics` has a type and a callback for each topic. A bridge decodes a message and
calls the callback, from any thread. A message that is not valid raises an AstrayError.

    cmd_vel          drives a robot; one that drives itself is overridden for half a second
    initialpose      sets the belief, with a covariance
    position_reset   sets the belief, without: the topic of the position approximator's document
    goal_pose        sets the goal of a robot that navigates
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from astray.engine import Event, Robots, Run
from astray.errors import WrongInput
from astray.numerics import has_negative_eigenvalue
from astray.robot.autonomy import Navigate, RemoteAutonomy
from astray.robot.estimators import RemoteEstimator
from astray.ros.messages import PLANAR_INDICES, BadMessage, quaternion_yaw
from astray.ros.names import (
    BASE_FRAME,
    MAP_FRAME,
    ODOM_FRAME,
    WORLD_FRAME,
    RosRobot,
    robots_of,
    world_frame,
)
from astray.ros.publishers import TF, DeadReckoning, PlanarPose
from astray.tables import Array

TWIST, TWIST_STAMPED = "geometry_msgs/msg/Twist", "geometry_msgs/msg/TwistStamped"
POSE_2D, POSE_STAMPED = "geometry_msgs/msg/Pose2D", "geometry_msgs/msg/PoseStamped"
POSE_COVARIANCE = "geometry_msgs/msg/PoseWithCovarianceStamped"
ODOMETRY = "nav_msgs/msg/Odometry"

OVERRIDE_TIME = 0.5  # s for which cmd_vel overrides a robot's own autonomy
MAX_AHEAD = 2.0  # s by which the stamp of a belief may be ahead of the run
MAX_COVARIANCE = 1e100  # so that filters keep their covariance finite

BeliefSource = Literal["pose", "odometry", "tf"]
"""The messages in which an external filter publishes its belief."""


@dataclass(frozen=True)
class TopicSubscription:
    """A topic of a run: its type, and the function that takes its messages."""

    type: str
    callback: Callable[[Any], None]


@dataclass(frozen=True)
class SubscriptionSettings:
    """What a run subscribes to.

    Args:
        stamped_cmd_vel: Whether `cmd_vel` is a TwistStamped.
        belief_from: The messages in which an external filter publishes its belief.
        belief_topic: Their topic, in the namespace of the robot unless it begins with a slash.
    """

    stamped_cmd_vel: bool = False
    belief_from: BeliefSource = "pose"
    belief_topic: str = "pose"


class Subscriptions:
    """The topics that a run subscribes to.

    Args:
        sim: The run.
        settings: What it subscribes to.
        dead_reckonings: Dead reckoning by group: for external filters that publish `map → odom`.

    Raises:
        WrongInput: Several robots would subscribe to one topic.
    """

    def __init__(
        self,
        sim: Run,
        settings: SubscriptionSettings | None = None,
        dead_reckonings: Mapping[str, DeadReckoning] | None = None,
    ) -> None:
        self._post = sim.post
        self._settings = settings or SubscriptionSettings()
        self._dead_reckonings = dead_reckonings or {}
        self._transform_callbacks: dict[tuple[str, str], Callable[[Any], None]] = {}
        """What takes a transform, by its parent and child frame."""
        self.topics: dict[str, TopicSubscription] = {}
        """The subscriptions by full topic name."""
        for name, robots in robots_of(sim).items():
            for robot in robots:
                self._subscribe_robot(robot, sim.robots[name])

    def _subscribe_robot(self, robot: RosRobot, group: Robots) -> None:
        handler = CommandHandler(robot, self._post, group)
        if self._settings.stamped_cmd_vel:
            self._subscribe(robot.topic("cmd_vel"), TWIST_STAMPED, handler.drive_stamped)
        else:
            self._subscribe(robot.topic("cmd_vel"), TWIST, handler.drive)
        if isinstance(group.autonomy, Navigate):
            self._subscribe(robot.topic("goal_pose"), POSE_STAMPED, handler.set_goal)
        if group.estimator is not None:
            self._subscribe(robot.topic("initialpose"), POSE_COVARIANCE, handler.set_initial_pose)
            self._subscribe(robot.topic("position_reset"), POSE_2D, handler.reset_position)
        estimator = _remote_estimator(group)
        if estimator is not None:
            self._subscribe_filter(handler, estimator)

    def _subscribe_filter(self, handler: CommandHandler, estimator: str) -> None:
        robot, source = handler.robot, self._settings.belief_from
        topic = robot.topic(self._settings.belief_topic)
        if source == "pose":
            self._subscribe(topic, POSE_COVARIANCE, lambda m: handler.set_belief(m, estimator))
        elif source == "odometry":
            self._subscribe(topic, ODOMETRY, lambda m: handler.set_belief(m, estimator))
        else:
            reckoning = self._dead_reckonings.get(robot.group)
            map_frame, callbacks = world_frame(robot, MAP_FRAME), self._transform_callbacks
            if reckoning is not None:
                callbacks[map_frame, robot.frame(ODOM_FRAME)] = lambda t: (
                    handler.set_belief_from_odom(t, estimator, reckoning)
                )
            callbacks[map_frame, robot.frame(BASE_FRAME)] = lambda t: handler.set_belief_from_base(
                t, estimator
            )
            self.topics["/tf"] = TopicSubscription(TF, self._take_transforms)

    def _subscribe(self, topic: str, type: str, callback: Callable[[Any], None]) -> None:
        if topic in self.topics:
            raise WrongInput(
                f"two robots would subscribe to {topic}: give the name without a slash, "
                "so that each has it in its namespace"
            )
        self.topics[topic] = TopicSubscription(type, callback)

    def _take_transforms(self, message: Any) -> None:
        for transform in message.transforms:
            frames = transform.header.frame_id, transform.child_frame_id
            callback = self._transform_callbacks.get(frames)
            if callback is not None:
                callback(transform)


class CommandHandler:
    """Posts the events that messages for one robot mean.

    Args:
        robot: The robot.
        post: Posts an event to the run.
        group: The group of the robot.
    """

    def __init__(self, robot: RosRobot, post: Callable[[Event], None], group: Robots) -> None:
        self.robot, self._post_event, self._times = robot, post, group.time
        is_remote = isinstance(group.autonomy, RemoteAutonomy)
        self._hold = {} if is_remote else {"hold": OVERRIDE_TIME}

    def _post(self, kind: str, values: dict[str, Any]) -> None:
        robot = self.robot
        self._post_event(Event(kind, robot.group, (robot.world,), (robot.number,), values))

    def drive(self, message: Any) -> None:
        """Command a velocity: geometry_msgs/Twist."""
        linear, angular = message.linear, message.angular
        values = {"vx": float(linear.x), "vy": float(linear.y), "wz": float(angular.z)}
        self._post("command", {**values, **self._hold})

    def drive_stamped(self, message: Any) -> None:
        """Command a velocity: geometry_msgs/TwistStamped, whose stamp is ignored."""
        self.drive(message.twist)

    def set_goal(self, message: Any) -> None:
        """Set the goal: geometry_msgs/PoseStamped, whose orientation is ignored."""
        self._check_frame(message.header.frame_id)
        position = message.pose.position
        self._post("goal", {"x": float(position.x), "y": float(position.y)})

    def set_initial_pose(self, message: Any) -> None:
        """Set the belief now: geometry_msgs/PoseWithCovarianceStamped."""
        self._check_frame(message.header.frame_id)
        self._believe(pose_of(message.pose.pose), cov=planar_part(message.pose.covariance))

    def reset_position(self, message: Any) -> None:
        """Set the belief now, with no uncertainty: geometry_msgs/Pose2D."""
        self._believe(PlanarPose(float(message.x), float(message.y), float(message.theta)))

    def set_belief(self, message: Any, estimator: str) -> None:
        """Set the belief at the time of the message: PoseWithCovarianceStamped or Odometry."""
        self._check_frame(message.header.frame_id)
        values: dict[str, Any] = {"cov": planar_part(message.pose.covariance)}
        if hasattr(message, "twist"):
            twist = message.twist.twist
            values |= {"vx": float(twist.linear.x), "vy": float(twist.linear.y)}
            values["wz"] = float(twist.angular.z)
        pose = pose_of(message.pose.pose)
        self._believe_at(pose, estimator, seconds(message.header), **values)

    def set_belief_from_base(self, transform: Any, estimator: str) -> None:
        """Set the belief to the transform `map → base_link`."""
        self._believe_at(transform_of(transform), estimator, seconds(transform.header))

    def set_belief_from_odom(
        self, transform: Any, estimator: str, reckoning: DeadReckoning
    ) -> None:
        """Set the belief to the transform `map → odom`, composed with dead reckoning."""
        x, y, yaw = transform_of(transform)
        # Filters stamp it ahead of time, so that listeners need not wait: it holds from now on.
        stamp = min(seconds(transform.header), reckoning.latest_stamp(self.robot.row))
        dx, dy, turned = reckoning.pose_at(self.robot.row, stamp)
        s, c = math.sin(yaw), math.cos(yaw)
        pose = PlanarPose(x + c * dx - s * dy, y + s * dx + c * dy, yaw + turned)
        self._believe_at(pose, estimator, stamp)

    def _believe_at(self, pose: PlanarPose, estimator: str, stamp: float, **values: Any) -> None:
        if estimator != "belief":
            values["estimator"] = estimator
        now = float(self._times[self.robot.row])
        if stamp > now + MAX_AHEAD:
            raise BadMessage(
                f"a belief of t = {stamp:.1f} s is ahead of the run, which is at {now:.1f} s: "
                "let the filter use_sim_time"
            )
        if stamp > 0.0:  # a belief without a stamp is of now
            values["stamp"] = min(stamp, now)
        self._believe(pose, **values)

    def _believe(self, pose: PlanarPose, **values: Any) -> None:
        self._post("believe", {"x": pose.x, "y": pose.y, "yaw": pose.yaw, **values})

    def _check_frame(self, frame: str) -> None:
        known = {"", world_frame(self.robot, MAP_FRAME), world_frame(self.robot, WORLD_FRAME)}
        if frame.lstrip("/") not in known:
            raise BadMessage(f"a pose must be in the frame {max(known)!r}, not {frame!r}")


def _remote_estimator(group: Robots) -> str | None:
    """The name of the belief that an external filter has: "belief", or that of a rival."""
    for estimator, belief, _ in group.estimators:
        if isinstance(estimator, RemoteEstimator):
            return next(name for name, owned in group.beliefs().items() if owned is belief)
    return None


def pose_of(pose: Any) -> PlanarPose:
    """x, y and yaw of a geometry_msgs/Pose."""
    x, y = float(pose.position.x), float(pose.position.y)
    return PlanarPose(x, y, yaw_of(pose.orientation))


def transform_of(transform: Any) -> PlanarPose:
    """x, y and yaw of a geometry_msgs/TransformStamped."""
    moved = transform.transform.translation
    return PlanarPose(float(moved.x), float(moved.y), yaw_of(transform.transform.rotation))


def yaw_of(q: Any) -> float:
    """The yaw of a geometry_msgs/Quaternion, rad."""
    return float(quaternion_yaw(float(q.x), float(q.y), float(q.z), float(q.w)))


def planar_part(covariance: Any) -> Array:
    """The covariance of (x, y, yaw) in one of (x, y, z, roll, pitch, yaw), checked."""
    planar = np.ix_(PLANAR_INDICES, PLANAR_INDICES)
    found: Array = np.asarray(covariance, float).reshape(6, 6)[planar]
    if not (np.abs(found) <= MAX_COVARIANCE).all():
        raise BadMessage(f"a covariance must be finite, and at most {MAX_COVARIANCE:g}")
    found = 0.5 * (found + found.T)
    if has_negative_eigenvalue(found):
        raise BadMessage("a covariance must not be negative in any direction")
    return found


def seconds(header: Any) -> float:
    """The stamp of a std_msgs/Header, s."""
    return int(header.stamp.sec) + int(header.stamp.nanosec) * 1e-9
