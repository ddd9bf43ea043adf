"""`wheel_position_approximator`: the odometry of four mecanum wheels, nav_msgs/Odometry.

    vx = r/4 (fl + fr + rl + rr)    vy = r/4 (−fl + fr + rl − rr)
    wz = r/(4 (lx + ly)) (−fl + fr − rl + rr)

The mathematics is the estimator `odometry` for the motion `omni`. Wheels are known by their names;
four without names are fl, fr, rl, rr. Where a message has angles they are taken, else the rates are
held for the time since the last message. A time of zero or less, or of more than a second, is
skipped by the rule of the position approximator.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from astray.errors import WrongInput
from astray.plugin import Known, Reading
from astray.robot.estimators import Odometry
from astray.robot.motion import Omni
from astray.robot.sensors import WHEEL, ScriptedWheels
from astray.ros.dds import Node
from astray.ros.messages import BadMessage
from astray.ros.names import BASE_FRAME, ODOM_FRAME, RosRobot
from astray.ros.nodes.imu_position_approximator import POSE, stamp_of
from astray.ros.nodes.signal_playback import ROW, SECOND, alone, restamped
from astray.ros.nodes.wheel_data_simulator import ARRAY, MessageType
from astray.ros.publishers import odometry_publisher
from astray.tables import WHEELS, Array

JOINT_STATE = "sensor_msgs/msg/JointState"
LONGEST = 1.0  # s between messages that are still believed


@dataclass(frozen=True)
class WheelPositionSettings:
    """The parameters of the node."""

    wheel_radius: float = 0.2  # m
    lx: float = 0.3  # m, half the distance of the axles
    ly: float = 0.6  # m, half the distance of the wheels of an axle
    initial_x: float = 0.0  # m
    initial_y: float = 0.0  # m
    initial_theta: float = 0.0  # rad
    wheel_topic: str = "wheel_data"
    odom_frame_id: str = ODOM_FRAME
    base_frame_id: str = BASE_FRAME
    message_type: MessageType = "JointState"
    use_sim_time: bool = False
    """Accepted as with every node; times are those of the stamps anyway."""

    def __post_init__(self) -> None:
        for name in ("wheel_radius", "lx", "ly"):
            if not getattr(self, name) > 0.0:
                raise WrongInput(f"{name}: it must be above 0, not {getattr(self, name):g}")


class Reckoner:
    """Odometry that messages move; it knows nothing of a bus."""

    def __init__(self, settings: WheelPositionSettings) -> None:
        body = Omni(radius=settings.wheel_radius, half_length=settings.lx, half_width=settings.ly)
        encoders = ScriptedWheels(ticks=0)  # angles are as they are told, not counted
        self.estimator, self.belief = Odometry().alone(body, encoders)
        for column in ("x", "y"):
            self.belief[column] = getattr(settings, f"initial_{column}")
        self.belief["yaw"] = settings.initial_theta
        self._reading = Reading(WHEELS, 1)
        self._known = Known(self.belief, {"scripted_wheels": self._reading})
        self._first: int | None = None
        self._last = 0.0
        self.ns = 0
        """The time of the estimate."""

    def take(self, angles: Array | None, rates: Array, ns: int) -> bool:
        """Take in angles, or only rates; whether that moved the estimate."""
        first = self._first is None
        if self._first is None:
            self._first = ns
        now = (ns - self._first) / SECOND
        elapsed = now - self._last
        if not first and -LONGEST <= elapsed <= 0.0:
            return False  # one that comes late, once, tells nothing new
        gap = first or abs(elapsed) > LONGEST
        row = self._reading.table
        if angles is None:
            angles = row["angle"] + rates * (0.0 if gap else elapsed)
        row["angle"] = angles
        row["rate"], row["stamp"], row["fresh"] = rates, now, True
        if gap:
            self.estimator.memory["started"] = False  # what the wheels did in a gap is not known
        self.estimator.estimate(ROW, self._known, self.belief)
        self._last, self.ns = now, ns
        return not gap

    def reset(self, message: Any) -> None:
        """Be at a place."""
        pose = np.array([message.x, message.y, message.theta], float)
        if not np.isfinite(pose).all():
            raise BadMessage("a position must be finite")
        self.belief["x"], self.belief["y"] = pose[:2]
        self.belief["yaw"] = np.arctan2(np.sin(pose[2]), np.cos(pose[2]))
        self.belief["cov"] = 0.0
        self.estimator.believe(ROW, self.belief)


class WheelPositionApproximator:
    """The node around it."""

    def __init__(self, node: Node) -> None:
        settings = node.arguments.settings(WheelPositionSettings)
        self.node, self.reckoner = node, Reckoner(settings)
        twin = Reckoner(settings)  # compiles or loads every kernel before anyone waits for it
        for ns in (0, 1):
            twin.take(None, np.zeros(len(WHEEL)), ns)

        def odom(robot: RosRobot) -> str:
            return settings.odom_frame_id

        def base(robot: RosRobot) -> str:
            return settings.base_frame_id

        robots = [alone(settings.base_frame_id)]
        self._speaker = odometry_publisher(robots, "odom", self.reckoner.belief, 1, odom, base)
        self._writer = node.publish("odom", self._speaker.layout.type)
        if settings.message_type == "JointState":
            node.hear(settings.wheel_topic, JOINT_STATE, self._hear_joints)
        else:
            node.hear(settings.wheel_topic, ARRAY, self._hear_rates)
        node.hear("position_reset", POSE, self.reckoner.reset)

    def _hear_joints(self, message: Any) -> None:
        rates = by_wheel(message.name, message.velocity)
        angles = by_wheel(message.name, message.position) if len(message.position) else None
        self._take(angles, rates, stamp_of(message.header, time.time_ns()))

    def _hear_rates(self, message: Any) -> None:
        self._take(None, by_wheel([], message.data), time.time_ns())

    def _take(self, angles: Array | None, rates: Array, ns: int) -> None:
        if self.reckoner.take(angles, rates, ns):
            self._writer.write(restamped(self._speaker, self.reckoner.ns))

    def run(self) -> None:
        """Reckon until stopped."""
        self.node.spin()


def by_wheel(names: Any, values: Any) -> Array:
    """The values of fl, fr, rl and rr, (4,)."""
    found = np.asarray(values, float)
    if not np.isfinite(found).all():
        raise BadMessage("what wheels do must be finite")
    if len(names) == 0 and len(found) == len(WHEEL):
        return found
    missing = [wheel for wheel in WHEEL if wheel not in names]
    if missing or len(found) != len(names):
        raise BadMessage(f"needs a value for each of {', '.join(WHEEL)}")
    return found[[list(names).index(wheel) for wheel in WHEEL]]
