"""What an engine tells about its truck: a snapshot of the truth, and of the belief if there is one.

With k the curvature and v the speed at the rear axle, the base is b ahead of it and moves with

    (v, ω b) in its own axes,   ω = k v        so as fast as v ρ on the curvature k / ρ

An engine of one world tells plain numbers; one of N worlds tells arrays with a leading axis of N.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from astray.plugin import Reading
from astray.tables import DRIVE, STATE, Array, Table
from astray.truck.model import Model

Number = Any
"""A float, or an array of N."""


class Status(enum.Enum):
    """How the simulation goes: it is interrupted by a collision until the next reset."""

    IN_PROGRESS = "in progress"
    COLLISION = "collision"


class Pose(NamedTuple):
    """A pose in the map, m and rad; yaw lies within (−π, π]."""

    x: Number
    y: Number
    yaw: Number


class Steering(NamedTuple):
    """Angles of the front wheels and of the one in the middle that is not there, rad."""

    middle: Number
    left: Number
    right: Number


class Twist(NamedTuple):
    """Curvature, 1/m, and signed speed, m/s."""

    curvature: Number
    velocity: Number


class RearState(NamedTuple):
    """Pose of the rear axle, middle steering angle, rad, and signed speed, m/s."""

    x: Number
    y: Number
    yaw: Number
    steering: Number
    velocity: Number


class WheelVelocity(NamedTuple):
    """How fast the wheels turn, rad/s."""

    rear_left: Number
    rear_right: Number
    front_left: Number
    front_right: Number


class TruckBelief(NamedTuple):
    """What the truck believes about itself, as of `time`; covariance of the rear x, y and yaw."""

    time: Number
    odom_base_pose: Pose
    rear_state: RearState
    covariance: Array


class TruckScan(NamedTuple):
    """What a snapshot is made of."""

    truth: Array
    """STATE of the trucks as bytes, which are taken apart only when someone asks."""
    drive: Array
    """And DRIVE."""
    belief: Table | None
    ended: Array
    """When a truck ran into something, s."""
    target: tuple[Array, Array]
    """Speed and curvature of the rear axle that are asked for."""
    ranges: Array | None
    feel: Callable[[Table, Table], Reading]
    single: bool


class TruckState:
    """The state of a truck at one moment; what is asked for is worked out when it is."""

    def __init__(self, model: Model, sight: TruckScan) -> None:
        self._model, self._sight = model, sight

    def __repr__(self) -> str:
        x, y, yaw = self.odom_base_pose
        return f"TruckState(time={self.time}, status={self.status}, x={x}, y={y}, yaw={yaw})"

    # Truth.

    @property
    def time(self) -> Number:
        """Simulated time since the last reset, s; that of the collision after one."""
        truth = self._truth
        time = np.where(truth["alive"], truth["stamp"], self._sight.ended)
        return float(time[0]) if self._sight.single else time

    @property
    def status(self) -> Any:
        """IN_PROGRESS or COLLISION."""
        alive = self._truth["alive"]
        if self._sight.single:
            return Status.IN_PROGRESS if alive[0] else Status.COLLISION
        return np.array([Status.COLLISION, Status.IN_PROGRESS])[alive.astype(int)]

    @cached_property
    def rear_state(self) -> RearState:
        """Where the rear axle is, how the wheels are turned, how fast it goes."""
        return self._rear(self._s)

    @cached_property
    def odom_base_pose(self) -> Pose:
        """Where the base is."""
        return self._base(self._s)

    @cached_property
    def current_steering(self) -> Steering:
        """How the front wheels are turned."""
        return self._steering(self._curvature)

    @cached_property
    def target_steering(self) -> Steering:
        """How the front wheels are asked to be turned."""
        return self._steering(self._one(self._sight.target[1]))

    @cached_property
    def base_twist(self) -> Twist:
        """Curvature and signed speed of the base."""
        ratio = np.hypot(1.0, self._curvature * self._b)
        return Twist(*self._tell(self._curvature / ratio, self._s["vx"] * ratio))

    @cached_property
    def odom_base_linear_velocity(self) -> Array:
        """Velocity of the base in the map, (…, 2) m/s: along its motion, not along its nose."""
        along, across = self._s["vx"], self._curvature * self._s["vx"] * self._b
        c, s = np.cos(self._s["yaw"]), np.sin(self._s["yaw"])
        return np.stack([c * along - s * across, s * along + c * across], axis=-1)

    @property
    def base_angular_velocity(self) -> Number:
        """How fast the truck turns, rad/s."""
        return self._tell(self._curvature * self._s["vx"])[0]

    @property
    def current_motor_rps(self) -> Number:
        """How fast the motor turns, 1/s."""
        return self._rps(self._s["vx"])

    @property
    def target_motor_rps(self) -> Number:
        """How fast the motor is asked to turn, 1/s."""
        return self._rps(self._one(self._sight.target[0]))

    @cached_property
    def wheel_velocity(self) -> WheelVelocity:
        """How fast the wheels turn, rad/s."""
        k, length = self._curvature, self._model.wheel_base.length
        half = 0.5 * self._model.wheel_base.width
        w = self._s["vx"] / self._model.wheel.radius
        left, right = 1.0 - k * half, 1.0 + k * half
        ahead = k * length
        front = w * np.hypot(left, ahead), w * np.hypot(right, ahead)
        return WheelVelocity(*self._tell(w * left, w * right, *front))

    # Sensors.

    @property
    def lidar_ranges(self) -> Array | None:
        """Ranges of a scan, (…, rays) m: +inf for nothing in reach; None unless asked for."""
        ranges = self._sight.ranges
        return None if ranges is None else self._one(ranges)

    @property
    def gyro_angular_velocity(self) -> Array:
        """Rates of the IMU in its own axes, (…, 3) rad/s."""
        return self._triple("wx", "wy", "wz")

    @property
    def accel_linear_acceleration(self) -> Array:
        """Specific force of the IMU in its own axes, (…, 3) m/s²: it feels gravity, too."""
        return self._triple("ax", "ay", "az")

    # Belief.

    @cached_property
    def belief(self) -> TruckBelief | None:
        """What the truck believes; None without an estimator."""
        believed = self._sight.belief
        if believed is None:
            return None
        b = believed[0] if self._sight.single else believed
        return TruckBelief(self._tell(b["stamp"])[0], self._base(b), self._rear(b), b["cov"])

    # How it is worked out.

    @cached_property
    def _truth(self) -> Table:
        return self._sight.truth.view(STATE)

    @cached_property
    def _s(self) -> Any:
        return self._truth[0] if self._sight.single else self._truth

    @property
    def _b(self) -> float:
        return self._model.wheel_base.base_to_rear

    @cached_property
    def _curvature(self) -> Number:
        return np.tan(self._s["steer"]) / self._model.wheel_base.length

    @cached_property
    def _imu(self) -> Reading:
        return self._sight.feel(self._truth, self._sight.drive.view(DRIVE))

    def _triple(self, *names: str) -> Array:
        values = np.stack([self._imu[name] for name in names], axis=-1)
        return np.asarray(self._one(values))

    def _one(self, values: Array) -> Any:
        return values[0] if self._sight.single else values

    def _base(self, s: Any) -> Pose:
        yaw = s["yaw"]
        x, y = s["x"] + self._b * np.cos(yaw), s["y"] + self._b * np.sin(yaw)
        return Pose(*self._tell(x, y, yaw))

    def _rear(self, s: Any) -> RearState:
        return RearState(*self._tell(s["x"], s["y"], s["yaw"], s["steer"], s["vx"]))

    def _steering(self, k: Number) -> Steering:
        ahead = k * self._model.wheel_base.length
        half = 0.5 * self._model.wheel_base.width
        left, right = np.arctan2(ahead, 1.0 - k * half), np.arctan2(ahead, 1.0 + k * half)
        return Steering(*self._tell(np.arctan(ahead), left, right))

    def _rps(self, velocity: Number) -> Number:
        round_ = math.tau * self._model.wheel.radius
        return self._tell(velocity / (round_ * self._model.gear_ratio))[0]

    def _tell(self, *values: Number) -> tuple[Number, ...]:
        """Plain floats of one truck, the arrays themselves of many."""
        return tuple(float(v) for v in values) if self._sight.single else values
