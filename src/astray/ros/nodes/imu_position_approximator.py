"""`imu_position_approximator`: position and velocity from an IMU, as the document describes it.

The mathematics is the estimator `inertial`. The node gives it times by the stamps of messages, from
the first one on, so that no digit is lost; a message without a stamp counts when it is received.
What does not move the estimate (the first message, a time of zero or less or of more than a second)
publishes nothing. Velocities are in the map frame, as in the document.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Literal

from astray.plugin import Known, Reading
from astray.robot.estimators import Inertial
from astray.robot.motion import Differential
from astray.robot.sensors.imu import Imu
from astray.ros.dds import Node
from astray.ros.messages import BadMessage, encode, make_message
from astray.ros.nodes.signal_playback import ROW, SECOND
from astray.tables import IMU

POSE, TWIST = "geometry_msgs/msg/Pose2D", "geometry_msgs/msg/Twist"
IMU_MESSAGE = "sensor_msgs/msg/Imu"


@dataclass(frozen=True)
class ImuPositionSettings:
    """The parameters of the document, and whether the centripetal term has to be put in."""

    initial_x: float = 0.0  # m
    initial_y: float = 0.0  # m
    initial_z: float = 0.0  # m
    initial_theta: float = 0.0  # rad
    imu_topic: str = "imu_data"
    centripetal: Literal["measured", "synthesize"] = "measured"
    use_sim_time: bool = False
    """Accepted as with every node; times are those of the stamps anyway."""


class Approximator:
    """An estimate that messages move; it knows nothing of a bus."""

    def __init__(self, settings: ImuPositionSettings) -> None:
        start = {
            name: getattr(settings, name)
            for name in ("initial_x", "initial_y", "initial_z", "initial_theta")
        }
        estimator = Inertial(centripetal=settings.centripetal, **start)
        self.estimator, self.belief = estimator.alone(Differential(), Imu())
        self._reading = Reading(IMU, 1)
        self._known = Known(self.belief, {"imu": self._reading})
        self._first: int | None = None

    def take(self, message: Any, received: int) -> bool:
        """Take in an IMU message; whether it moved the estimate."""
        rates, forces = message.angular_velocity, message.linear_acceleration
        values = {f"w{axis}": float(getattr(rates, axis)) for axis in "xyz"}
        values |= {f"a{axis}": float(getattr(forces, axis)) for axis in "xyz"}
        if not all(math.isfinite(value) for value in values.values()):
            raise BadMessage("rates and accelerations must be finite")
        ns = stamp_of(message.header, received)
        if self._first is None:
            self._first = ns
        row = self._reading.table
        for column, value in values.items():
            row[column] = value
        row["stamp"], row["fresh"] = (ns - self._first) / SECOND, True
        memory = self.estimator.memory[0]
        before, counted = float(memory["stamp"]), bool(memory["started"])
        self.estimator.estimate(ROW, self._known, self.belief)
        return counted and 0.0 < float(row["stamp"][0]) - before <= self.estimator.longest

    def reset(self, message: Any) -> None:
        """Be at a place, at rest; the height stays as it is."""
        pose = float(message.x), float(message.y), float(message.theta)
        if not all(math.isfinite(value) for value in pose):
            raise BadMessage("a position must be finite")
        self.belief["x"], self.belief["y"] = pose[:2]
        self.belief["yaw"] = math.atan2(math.sin(pose[2]), math.cos(pose[2]))
        self.estimator.believe(ROW, self.belief)

    @property
    def position(self) -> dict[str, float]:
        """x, y and theta in the map."""
        b = self.belief[0]
        return {"x": float(b["x"]), "y": float(b["y"]), "theta": float(b["yaw"])}

    @property
    def velocity(self) -> dict[str, dict[str, float]]:
        """The velocity in the map, and the last rate of turn."""
        m = self.estimator.memory[0]
        linear = {"x": float(m["map_vx"]), "y": float(m["map_vy"]), "z": float(m["map_vz"])}
        return {"linear": linear, "angular": {"z": float(self.belief["wz"][0])}}


class ImuPositionApproximator:
    """The node around it."""

    def __init__(self, node: Node) -> None:
        settings = node.arguments.settings(ImuPositionSettings)
        self.node, self.approximator = node, Approximator(settings)
        twin = Approximator(settings)  # compiles or loads every kernel before anyone waits for it
        for ns in (1, 2):
            twin.take(make_message(IMU_MESSAGE, {}), ns)
        self._position = node.publish("estimated_position", POSE)
        self._velocity = node.publish("estimated_velocity", TWIST)
        node.hear(settings.imu_topic, IMU_MESSAGE, self._hear)
        node.hear("position_reset", POSE, self.approximator.reset)

    def _hear(self, message: Any) -> None:
        if self.approximator.take(message, time.time_ns()):
            self._position.write(encode(POSE, self.approximator.position))
            self._velocity.write(encode(TWIST, self.approximator.velocity))

    def run(self) -> None:
        """Estimate until stopped."""
        self.node.spin()


def stamp_of(header: Any, received: int) -> int:
    """The time of a message, ns: that of its stamp, or else that at which it was received."""
    return int(header.stamp.sec) * SECOND + int(header.stamp.nanosec) or received
