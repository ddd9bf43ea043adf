"""`wheel_position_approximator`: the odometry of four mecanum wheels, nav_msgs/Odometry.

    vx = r/4 (fl + fr + rl + rr)    vy = r/4 (−fl + fr + rl − rr)
    wz = r/(4 (lx + ly)) (−fl + fr − rl + rr)

The mathematics is the estimator `odometry` for the motion `omni`. Wheels are found by their names;
four wheels without names are fl, fr, rl, rr. The angles of a message are used if it has any, else
its rates are held since the last message. A message after a time of zero or less or of more than a
second does not move the estimate, as with the IMU's position approximator.
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
from astray.robot.sensors import WHEEL_CHANNELS, ScriptedWheels
from astray.ros.dds import Node
from astray.ros.messages import BadMessage
from astray.ros.names import BASE_FRAME, ODOM_FRAME
from astray.ros.nodes.standalone import (
    JOINT_STATE,
    NS_PER_S,
    POSE_2D,
    ROW,
    WHEEL_RATES,
    WheelMessage,
    message_with_stamp,
    stamp_ns,
    standalone_robot,
)
from astray.ros.publishers import odometry_publisher
from astray.tables import WHEELS, Array

MAX_GAP = 1.0  # s between messages over which wheels are integrated


@dataclass(frozen=True)
class WheelPositionSettings:
    """The parameters of the node.

    Args:
        wheel_radius: m.
        lx: Half the distance of the axles, m.
        ly: Half the distance of the wheels of an axle, m.
        initial_x: Where the robot starts, m.
        initial_y: Where the robot starts, m.
        initial_theta: Its yaw at the start, rad.
        wheel_topic: The topic of the wheels.
        odom_frame_id: The frame of the position.
        base_frame_id: The frame of the robot.
        message_type: The message type of the wheels.
        use_sim_time: Accepted as by every node; times are those of the stamps.

    Raises:
        WrongInput: A length is not above 0.
    """

    wheel_radius: float = 0.2
    lx: float = 0.3
    ly: float = 0.6
    initial_x: float = 0.0
    initial_y: float = 0.0
    initial_theta: float = 0.0
    wheel_topic: str = "wheel_data"
    odom_frame_id: str = ODOM_FRAME
    base_frame_id: str = BASE_FRAME
    message_type: WheelMessage = "JointState"
    use_sim_time: bool = False

    def __post_init__(self) -> None:
        for name in ("wheel_radius", "lx", "ly"):
            if not getattr(self, name) > 0.0:
                raise WrongInput(f"{name}: it must be above 0, not {getattr(self, name):g}")


class WheelApproximator:
    """The estimate of the node, without DDS.

    Args:
        settings: The parameters of the node.
    """

    def __init__(self, settings: WheelPositionSettings) -> None:
        body = Omni(radius=settings.wheel_radius, half_length=settings.lx, half_width=settings.ly)
        encoders = ScriptedWheels(ticks=0)  # angles are exact, not counted in ticks
        self.estimator, self.belief = Odometry().alone(body, encoders)
        for column in ("x", "y"):
            self.belief[column] = getattr(settings, f"initial_{column}")
        self.belief["yaw"] = settings.initial_theta
        self._reading = Reading(WHEELS, 1)
        self._known = Known(self.belief, {"scripted_wheels": self._reading})
        self._first_ns: int | None = None
        self._last = 0.0
        self.ns = 0
        """The time of the estimate, ns."""

    def update(self, angles: Array | None, rates: Array, ns: int) -> bool:
        """Take in a message about the wheels.

        Args:
            angles: The angles of fl, fr, rl and rr, (4,) rad; None to integrate the rates.
            rates: Their rates, (4,) rad/s.
            ns: The time of the message, ns.

        Returns:
            Whether it moved the estimate.
        """
        is_first = self._first_ns is None
        if self._first_ns is None:
            self._first_ns = ns
        now = (ns - self._first_ns) / NS_PER_S
        elapsed = now - self._last
        if not is_first and -MAX_GAP <= elapsed <= 0.0:
            return False  # a message out of order
        is_gap = is_first or abs(elapsed) > MAX_GAP
        row = self._reading.table
        if angles is None:
            angles = row["angle"] + rates * (0.0 if is_gap else elapsed)
        row["angle"] = angles
        row["rate"], row["stamp"], row["fresh"] = rates, now, True
        if is_gap:
            self.estimator.memory["started"] = False  # what the wheels did meanwhile is unknown
        self.estimator.estimate(ROW, self._known, self.belief)
        self._last, self.ns = now, ns
        return not is_gap

    def reset(self, message: Any) -> None:
        """Set the position: geometry_msgs/Pose2D."""
        pose = np.array([message.x, message.y, message.theta], float)
        if not np.isfinite(pose).all():
            raise BadMessage("a position must be finite")
        self.belief["x"], self.belief["y"] = pose[:2]
        self.belief["yaw"] = np.arctan2(np.sin(pose[2]), np.cos(pose[2]))
        self.belief["cov"] = 0.0
        self.estimator.believe(ROW, self.belief)


class WheelPositionApproximator:
    """The node `wheel_position_approximator`."""

    def __init__(self, node: Node) -> None:
        settings = node.arguments.settings(WheelPositionSettings)
        self.node, self.approximator = node, WheelApproximator(settings)
        warm_up = WheelApproximator(settings)  # compiles or loads every kernel
        for ns in (0, 1):
            warm_up.update(None, np.zeros(len(WHEEL_CHANNELS)), ns)
        self._publisher = odometry_publisher(
            [standalone_robot(settings.base_frame_id)],
            "odom",
            self.approximator.belief,
            period=1,
            parent=lambda robot: settings.odom_frame_id,
            child=lambda robot: settings.base_frame_id,
        )
        self._writer = node.create_publisher(self._publisher.layout.type, "odom")
        if settings.message_type == "JointState":
            node.create_subscription(JOINT_STATE, settings.wheel_topic, self._take_joints)
        else:
            node.create_subscription(WHEEL_RATES, settings.wheel_topic, self._take_rates)
        node.create_subscription(POSE_2D, "position_reset", self.approximator.reset)

    def _take_joints(self, message: Any) -> None:
        rates = by_wheel(message.name, message.velocity)
        angles = by_wheel(message.name, message.position) if len(message.position) else None
        self._update(angles, rates, stamp_ns(message.header, time.time_ns()))

    def _take_rates(self, message: Any) -> None:
        self._update(None, by_wheel([], message.data), time.time_ns())

    def _update(self, angles: Array | None, rates: Array, ns: int) -> None:
        if self.approximator.update(angles, rates, ns):
            self._writer.write(message_with_stamp(self._publisher, self.approximator.ns))

    def run(self) -> None:
        """Estimate until the node is stopped."""
        self.node.spin()


def by_wheel(names: Any, values: Any) -> Array:
    """The values of fl, fr, rl and rr, (4,); BadMessage if one is missing or not finite."""
    found = np.asarray(values, float)
    if not np.isfinite(found).all():
        raise BadMessage("the angles and rates of wheels must be finite")
    if len(names) == 0 and len(found) == len(WHEEL_CHANNELS):
        return found
    missing = [wheel for wheel in WHEEL_CHANNELS if wheel not in names]
    if missing or len(found) != len(names):
        raise BadMessage(f"needs a value for each of {', '.join(WHEEL_CHANNELS)}")
    return found[[list(names).index(wheel) for wheel in WHEEL_CHANNELS]]
