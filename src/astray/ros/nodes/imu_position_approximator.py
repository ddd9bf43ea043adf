"""`imu_position_approximator`: position and velocity from an IMU, as its document describes it.

The mathematics is the estimator `inertial`, by the trapezoid. By default the node corrects for the
centripetal acceleration, as the document says: it adds the term v w, which the signals of
`imu_data_simulator` do not contain. A real IMU measures it; for one, and for the IMU of a run, say
`centripetal:=measured`. The node gives it the stamps of the messages, counted
from the first one so that no digit is lost; a message without a stamp has the time at which it is
received. A message that does not move the estimate publishes nothing: the first one, and one after
a time of zero or less or of more than a second. Velocities are in the map, as in the document.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Literal

from astray.plugin import Known, Reading
from astray.robot.estimators import Inertial
from astray.robot.motion import Differential
from astray.robot.sensors import Imu
from astray.ros.dds import Node
from astray.ros.messages import BadMessage, encode, make_message
from astray.ros.nodes.standalone import NS_PER_S, POSE_2D, ROW, stamp_ns
from astray.tables import IMU

TWIST, IMU_MESSAGE = "geometry_msgs/msg/Twist", "sensor_msgs/msg/Imu"


@dataclass(frozen=True)
class ImuPositionSettings:
    """The parameters of the node.

    Args:
        initial_x: Where the robot starts, m.
        initial_y: Where the robot starts, m.
        initial_z: Where the robot starts, m.
        initial_theta: Its yaw at the start, rad.
        imu_topic: The topic of the IMU.
        centripetal: `synthesize` for accelerations without the centripetal term, which is added;
            `measured` for those of a real IMU, which contain it.
        integration: `trapezoid` for readings that are the values at their stamps, `midpoint` for
            means since the last one, `euler` for the formulas of the document to the letter.
        use_sim_time: Accepted as by every node; times are those of the stamps.
    """

    initial_x: float = 0.0
    initial_y: float = 0.0
    initial_z: float = 0.0
    initial_theta: float = 0.0
    imu_topic: str = "imu_data"
    centripetal: Literal["measured", "synthesize"] = "synthesize"
    integration: Literal["euler", "trapezoid", "midpoint"] = "trapezoid"
    use_sim_time: bool = False


class InertialApproximator:
    """The estimate of the node, without DDS.

    Args:
        settings: The parameters of the node.
    """

    def __init__(self, settings: ImuPositionSettings) -> None:
        estimator = Inertial(
            centripetal=settings.centripetal,
            integration=settings.integration,
            initial_x=settings.initial_x,
            initial_y=settings.initial_y,
            initial_z=settings.initial_z,
            initial_theta=settings.initial_theta,
        )
        self.estimator, self.belief = estimator.alone(Differential(), Imu())
        self._reading = Reading(IMU, 1)
        self._known = Known(self.belief, {"imu": self._reading})
        self._first_ns: int | None = None

    def update(self, message: Any, received: int) -> bool:
        """Take in an IMU message.

        Args:
            message: A sensor_msgs/Imu.
            received: When it was received, ns.

        Returns:
            Whether it moved the estimate.

        Raises:
            BadMessage: A value is not finite.
        """
        rates, forces = message.angular_velocity, message.linear_acceleration
        values = {f"w{axis}": float(getattr(rates, axis)) for axis in "xyz"}
        values |= {f"a{axis}": float(getattr(forces, axis)) for axis in "xyz"}
        if not all(math.isfinite(value) for value in values.values()):
            raise BadMessage("rates and accelerations must be finite")
        ns = stamp_ns(message.header, received)
        if self._first_ns is None:
            self._first_ns = ns
        row = self._reading.table
        for column, value in values.items():
            row[column] = value
        row["stamp"], row["fresh"] = (ns - self._first_ns) / NS_PER_S, True
        memory = self.estimator.memory[0]
        before, had_started = float(memory["stamp"]), bool(memory["started"])
        self.estimator.estimate(ROW, self._known, self.belief)
        elapsed = float(row["stamp"][0]) - before
        return had_started and 0.0 < elapsed <= self.estimator.longest

    def reset(self, message: Any) -> None:
        """Set the position, at rest: geometry_msgs/Pose2D; the height stays as it is."""
        pose = float(message.x), float(message.y), float(message.theta)
        if not all(math.isfinite(value) for value in pose):
            raise BadMessage("a position must be finite")
        self.belief["x"], self.belief["y"] = pose[:2]
        self.belief["yaw"] = math.atan2(math.sin(pose[2]), math.cos(pose[2]))
        self.estimator.believe(ROW, self.belief)

    @property
    def position(self) -> dict[str, float]:
        """The fields of a geometry_msgs/Pose2D: x and y in the map, m, and theta, rad."""
        b = self.belief[0]
        return {"x": float(b["x"]), "y": float(b["y"]), "theta": float(b["yaw"])}

    @property
    def velocity(self) -> dict[str, dict[str, float]]:
        """The fields of a geometry_msgs/Twist: the velocity in the map, and the yaw rate."""
        m = self.estimator.memory[0]
        linear = {"x": float(m["map_vx"]), "y": float(m["map_vy"]), "z": float(m["map_vz"])}
        return {"linear": linear, "angular": {"z": float(self.belief["wz"][0])}}


class ImuPositionApproximator:
    """The node `imu_position_approximator`."""

    def __init__(self, node: Node) -> None:
        settings = node.arguments.settings(ImuPositionSettings)
        self.node, self.approximator = node, InertialApproximator(settings)
        warm_up = InertialApproximator(settings)  # compiles or loads every kernel
        for ns in (1, 2):
            warm_up.update(make_message(IMU_MESSAGE, {}), ns)
        self._position = node.create_publisher(POSE_2D, "estimated_position")
        self._velocity = node.create_publisher(TWIST, "estimated_velocity")
        node.create_subscription(IMU_MESSAGE, settings.imu_topic, self._take_imu)
        node.create_subscription(POSE_2D, "position_reset", self.approximator.reset)

    def _take_imu(self, message: Any) -> None:
        if self.approximator.update(message, time.time_ns()):
            self._position.write(encode(POSE_2D, self.approximator.position))
            self._velocity.write(encode(TWIST, self.approximator.velocity))

    def run(self) -> None:
        """Estimate until the node is stopped."""
        self.node.spin()
