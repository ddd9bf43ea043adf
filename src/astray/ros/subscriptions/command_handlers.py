"""What a run hears: messages of ROS 2 that become events, whatever brought them here.

`Subscriptions(run).topics` has a type and a function for each topic. A bridge decodes the message
and calls the function, from any thread. What makes no sense raises an AstrayError that says why.

    cmd_vel          drives a robot; one that drives itself for half a second, as a hand does
    initialpose      sets what it believes, with a covariance
    position_reset   the same, as the position approximator's document has it
    goal_pose        gives a robot that navigates a new goal
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from astray.engine import Event, Run
from astray.errors import WrongInput
from astray.numerics import has_negative_eigenvalue
from astray.robot.autonomy import Navigate, RemoteAutonomy
from astray.robot.estimators import RemoteEstimator as RemoteEstimator
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
from astray.ros.publishers import TF, DeadReckoning

if TYPE_CHECKING:
    from astray.engine import Robots

TWIST, TWIST_STAMPED = "geometry_msgs/msg/Twist", "geometry_msgs/msg/TwistStamped"
POSE_2D, POSE_STAMPED = "geometry_msgs/msg/Pose2D", "geometry_msgs/msg/PoseStamped"
POSE_COVARIANCE = "geometry_msgs/msg/PoseWithCovarianceStamped"
ODOMETRY = "nav_msgs/msg/Odometry"
LARGEST = 1e100  # of a covariance: what filters make of it is finite, too

HOLD = 0.5  # s for which a robot with an autonomy of its own does what it was told
AHEAD = 2.0  # s by which filters may say something before its time

Pose = tuple[float, float, float]
Source = Literal["pose", "odometry", "tf"]
"""What a filter elsewhere says its belief in."""


@dataclass(frozen=True)
class TopicSubscription:
    """A topic that is heard: its type, and what to do with a message of it."""

    type: str
    callback: Callable[[Any], None]


@dataclass(frozen=True)
class SubscriptionSettings:
    """How a user wants robots to be spoken to."""

    stamped_cmd_vel: bool = False
    belief_from: Source = "pose"
    belief_topic: str = "pose"
    """Of a filter elsewhere, in the namespace of the robot unless it begins with a slash."""


class Subscriptions:
    """The topics that a run hears, by their full names."""

    def __init__(
        self,
        sim: Run,
        hearing: SubscriptionSettings | None = None,
        dead_reckonings: Mapping[str, DeadReckoning] | None = None,
    ) -> None:
        self._post = sim.post
        self._hearing = hearing or SubscriptionSettings()
        self._reckonings = dead_reckonings or {}
        self._frames: dict[str, Callable[[Any], None]] = {}
        self.topics: dict[str, TopicSubscription] = {}
        for name, robots in robots_of(sim).items():
            for robot in robots:
                self._listen_for(robot, sim.robots[name])

    def _listen_for(self, robot: RosRobot, group: Robots) -> None:
        mouth = CommandHandler(robot, self._post, group)
        if self._hearing.stamped_cmd_vel:
            self._add(robot.topic("cmd_vel"), TWIST_STAMPED, mouth.command_stamped)
        else:
            self._add(robot.topic("cmd_vel"), TWIST, mouth.command)
        if isinstance(group.autonomy, Navigate):
            self._add(robot.topic("goal_pose"), POSE_STAMPED, mouth.go_to)
        if group.estimator is not None:
            self._add(robot.topic("initialpose"), POSE_COVARIANCE, mouth.start_from)
            self._add(robot.topic("position_reset"), POSE_2D, mouth.reset)
        whose = _remote_of(group)
        if whose is not None:
            self._listen_to_filter(mouth, whose)

    def _listen_to_filter(self, mouth: CommandHandler, whose: str) -> None:
        robot, source = mouth.robot, self._hearing.belief_from
        topic = self._hearing.belief_topic
        name = topic if topic.startswith("/") else robot.topic(topic)
        if source == "pose":
            self._add(name, POSE_COVARIANCE, lambda m: mouth.believe(m, whose))
        elif source == "odometry":
            self._add(name, ODOMETRY, lambda m: mouth.believe(m, whose))
        else:
            reckoning = self._reckonings.get(robot.group)
            parent = world_frame(robot, MAP_FRAME)
            if reckoning is not None:
                self._frames[f"{parent} {robot.frame(ODOM_FRAME)}"] = lambda t: (
                    mouth.believe_shifted(t, whose, reckoning)
                )
            self._frames[f"{parent} {robot.frame(BASE_FRAME)}"] = lambda t: mouth.believe_at(
                t, whose
            )
            self.topics["/tf"] = TopicSubscription(TF, self._hear_frames)

    def _add(self, topic: str, type: str, hear: Callable[[Any], None]) -> None:
        if topic in self.topics:
            raise WrongInput(f"two robots would hear {topic}: give the name within each robot's")
        self.topics[topic] = TopicSubscription(type, hear)

    def _hear_frames(self, message: Any) -> None:
        for said in message.transforms:
            hear = self._frames.get(f"{said.header.frame_id} {said.child_frame_id}")
            if hear is not None:
                hear(said)


class CommandHandler:
    """Says to a run what one robot was told."""

    def __init__(self, robot: RosRobot, post: Callable[[Event], None], group: Robots) -> None:
        self.robot, self._send, self._times = robot, post, group.time
        self._held = {} if isinstance(group.autonomy, RemoteAutonomy) else {"hold": HOLD}

    def _post(self, kind: str, values: dict[str, Any]) -> None:
        robot = self.robot
        self._send(Event(kind, robot.group, (robot.world,), (robot.number,), values))

    def command(self, message: Any) -> None:
        """Drive."""
        linear, angular = message.linear, message.angular
        values = {"vx": float(linear.x), "vy": float(linear.y), "wz": float(angular.z)}
        self._post("command", {**values, **self._held})

    def command_stamped(self, message: Any) -> None:
        """Drive; when it was said does not matter."""
        self.command(message.twist)

    def go_to(self, message: Any) -> None:
        """Take a new goal; how to stand there is not asked for."""
        self._check_frame(message.header.frame_id)
        position = message.pose.position
        self._post("goal", {"x": float(position.x), "y": float(position.y)})

    def start_from(self, message: Any) -> None:
        """Believe to be somewhere, more or less."""
        self._check_frame(message.header.frame_id)
        self._believe(pose_of(message.pose.pose), cov=planar_covariance(message.pose.covariance))

    def reset(self, message: Any) -> None:
        """Believe to be somewhere, for sure."""
        self._believe((float(message.x), float(message.y), float(message.theta)))

    def believe(self, message: Any, whose: str) -> None:
        """Take over what a filter elsewhere believes, at the time that it speaks of."""
        self._check_frame(message.header.frame_id)
        more: dict[str, Any] = {"cov": planar_covariance(message.pose.covariance)}
        if hasattr(message, "twist"):
            twist = message.twist.twist
            more |= {"vx": float(twist.linear.x), "vy": float(twist.linear.y)}
            more["wz"] = float(twist.angular.z)
        self._believe_then(pose_of(message.pose.pose), whose, seconds(message.header), **more)

    def believe_at(self, transform: Any, whose: str) -> None:
        """The same, from where a filter puts the body in the map."""
        self._believe_then(transform_of(transform), whose, seconds(transform.header))

    def believe_shifted(self, transform: Any, whose: str, reckoning: DeadReckoning) -> None:
        """The same, from where a filter puts dead reckoning in the map."""
        x, y, yaw = transform_of(transform)
        # Filters say it ahead of time, so that others need not wait: it counts from now on.
        then = min(seconds(transform.header), reckoning.latest_stamp(self.robot.row))
        dx, dy, turned = reckoning.pose_at(self.robot.row, then)
        s, c = math.sin(yaw), math.cos(yaw)
        pose = x + c * dx - s * dy, y + s * dx + c * dy, yaw + turned
        self._believe_then(pose, whose, then)

    def _believe_then(self, pose: Pose, whose: str, stamp: float, **more: Any) -> None:
        if whose != "belief":
            more["estimator"] = whose
        now = float(self._times[self.robot.row])
        if stamp > now + AHEAD:
            raise BadMessage(
                f"a belief of t = {stamp:.1f} s is ahead of the run, which is at {now:.1f} s: "
                "let the filter use_sim_time"
            )
        if stamp > 0.0:  # without a stamp it is of now
            more["stamp"] = min(stamp, now)
        self._believe(pose, **more)

    def _believe(self, pose: Pose, **more: Any) -> None:
        x, y, yaw = (float(value) for value in pose)
        self._post("believe", {"x": x, "y": y, "yaw": yaw, **more})

    def _check_frame(self, frame: str) -> None:
        known = {"", world_frame(self.robot, MAP_FRAME), world_frame(self.robot, WORLD_FRAME)}
        if frame.lstrip("/") not in known:
            raise BadMessage(f"a pose in {frame!r} is not understood, only in {max(known)!r}")


def _remote_of(group: Robots) -> str | None:
    """Whose belief is a filter's elsewhere: "belief", or a rival's name."""
    for estimator, belief, _ in group.estimators:
        if isinstance(estimator, RemoteEstimator):
            return next(name for name, owned in group.beliefs().items() if owned is belief)
    return None


def pose_of(pose: Any) -> Pose:
    """x, y and yaw of a pose in space."""
    return float(pose.position.x), float(pose.position.y), heading_of(pose.orientation)


def transform_of(transform: Any) -> Pose:
    """x, y and yaw of a transform in space."""
    moved = transform.transform.translation
    return float(moved.x), float(moved.y), heading_of(transform.transform.rotation)


def heading_of(q: Any) -> float:
    """The heading of a quaternion."""
    return float(quaternion_yaw(float(q.x), float(q.y), float(q.z), float(q.w)))


def planar_covariance(covariance: Any) -> Any:
    """The covariance of (x, y, yaw) in one of (x, y, z, roll, pitch, yaw)."""
    found = np.asarray(covariance, float).reshape(6, 6)[np.ix_(PLANAR_INDICES, PLANAR_INDICES)]
    if not (np.abs(found) <= LARGEST).all():
        raise BadMessage(f"a covariance must be finite, and at most {LARGEST:g}")
    found = 0.5 * (found + found.T)
    if has_negative_eigenvalue(found):
        raise BadMessage("a covariance must not be negative in any direction")
    return found


def seconds(header: Any) -> float:
    """The time of a message, s."""
    return int(header.stamp.sec) + int(header.stamp.nanosec) * 1e-9
