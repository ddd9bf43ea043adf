"""The state of a truck: a snapshot of its truth, its readings and its belief.

The rear axle moves at the speed v on the curvature k. The base is b ahead of it, so that its
velocity in the axes of the truck and its turn rate ω are

    (v, ω b)    ω = k v

and it moves at the speed v ρ on the curvature k / ρ, ρ = √(1 + (k b)²).

An engine of one truck returns plain numbers, one of N trucks arrays with a leading axis of N.
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
    """The progress of a simulation: a collision interrupts it until the next reset."""

    IN_PROGRESS = "in progress"
    COLLISION = "collision"


class Pose(NamedTuple):
    """A pose in the map, m and rad, with yaw in (−π, π]."""

    x: Number
    y: Number
    yaw: Number


class Steering(NamedTuple):
    """Steering angles of the front wheels and of a virtual wheel in the middle, rad."""

    middle: Number
    left: Number
    right: Number


class Twist(NamedTuple):
    """Curvature, 1/m, and signed speed, m/s."""

    curvature: Number
    velocity: Number


class RearState(NamedTuple):
    """Pose of the rear axle, m and rad, middle steering angle, rad, and signed speed, m/s."""

    x: Number
    y: Number
    yaw: Number
    steering: Number
    velocity: Number


class WheelVelocity(NamedTuple):
    """Rates of rotation of the wheels, rad/s."""

    rear_left: Number
    rear_right: Number
    front_left: Number
    front_right: Number


class TruckBelief(NamedTuple):
    """The belief at `time`, s, and the covariance of x, y and yaw of the rear axle, (…, 3, 3)."""

    time: Number
    odom_base_pose: Pose
    rear_state: RearState
    covariance: Array


class TruckSnapshot(NamedTuple):
    """Copies of the tables from which a state is computed on demand."""

    truth: Array
    """STATE of the trucks as bytes."""
    drive: Array
    """DRIVE of the trucks as bytes."""
    belief: Table | None
    collision_time: Array
    """The time at which each truck collided, s; NaN before."""
    target: tuple[Array, Array]
    """Target speed, m/s, and curvature, 1/m, of the rear axle."""
    ranges: Array | None
    sample_imu: Callable[[Table, Table], Reading]
    single: bool
    """Whether there is one truck with plain numbers."""


class TruckState:
    """The state of the trucks at one time; each field is computed when it is read."""

    def __init__(self, model: Model, snapshot: TruckSnapshot) -> None:
        self._model, self._snapshot = model, snapshot

    def __repr__(self) -> str:
        x, y, yaw = self.odom_base_pose
        return f"TruckState(time={self.time}, status={self.status}, x={x}, y={y}, yaw={yaw})"

    # Truth.

    @property
    def time(self) -> Number:
        """Simulated time since the last reset, s; after a collision, that of the collision."""
        truth = self._truth
        time = np.where(truth["alive"], truth["stamp"], self._snapshot.collision_time)
        return float(time[0]) if self._snapshot.single else time

    @property
    def status(self) -> Any:
        """`Status.IN_PROGRESS` or `Status.COLLISION`; of N trucks an array of them."""
        alive = self._truth["alive"]
        if self._snapshot.single:
            return Status.IN_PROGRESS if alive[0] else Status.COLLISION
        return np.array([Status.COLLISION, Status.IN_PROGRESS])[alive.astype(int)]

    @cached_property
    def rear_state(self) -> RearState:
        """State of the rear axle."""
        return self._rear(self._s)

    @cached_property
    def odom_base_pose(self) -> Pose:
        """Pose of the base in the map."""
        return self._base(self._s)

    @cached_property
    def current_steering(self) -> Steering:
        """Present steering angles."""
        return self._steering(self._curvature)

    @cached_property
    def target_steering(self) -> Steering:
        """Target steering angles."""
        return self._steering(self._select(self._snapshot.target[1]))

    @cached_property
    def base_twist(self) -> Twist:
        """Curvature and signed speed of the base."""
        ratio = np.hypot(1.0, self._curvature * self._b)
        return Twist(*self._numbers(self._curvature / ratio, self._s["vx"] * ratio))

    @cached_property
    def odom_base_linear_velocity(self) -> Array:
        """Velocity of the base in map axes, (…, 2) m/s; in a turn not along the heading."""
        vx, vy = self._s["vx"], self._curvature * self._s["vx"] * self._b
        c, s = np.cos(self._s["yaw"]), np.sin(self._s["yaw"])
        return np.stack([c * vx - s * vy, s * vx + c * vy], axis=-1)

    @property
    def base_angular_velocity(self) -> Number:
        """Turn rate of the truck, rad/s."""
        return self._numbers(self._curvature * self._s["vx"])[0]

    @property
    def current_motor_rps(self) -> Number:
        """Present revolutions of the motor, 1/s."""
        return self._rps(self._s["vx"])

    @property
    def target_motor_rps(self) -> Number:
        """Target revolutions of the motor, 1/s."""
        return self._rps(self._select(self._snapshot.target[0]))

    @cached_property
    def wheel_velocity(self) -> WheelVelocity:
        """Rates of rotation of the wheels, rad/s."""
        k, length = self._curvature, self._model.wheel_base.length
        half = 0.5 * self._model.wheel_base.width
        w = self._s["vx"] / self._model.wheel.radius
        left, right = 1.0 - k * half, 1.0 + k * half
        front = w * np.hypot(left, k * length), w * np.hypot(right, k * length)
        return WheelVelocity(*self._numbers(w * left, w * right, *front))

    # Sensors.

    @property
    def lidar_ranges(self) -> Array | None:
        """Ranges, (…, rays) m: +inf is no hit, −inf nearer than range_min; None without a scan."""
        ranges = self._snapshot.ranges
        return None if ranges is None else self._select(ranges)

    @property
    def gyro_angular_velocity(self) -> Array:
        """Gyro reading in the axes of the IMU, (…, 3) rad/s."""
        return self._vector("wx", "wy", "wz")

    @property
    def accel_linear_acceleration(self) -> Array:
        """Specific force in the axes of the IMU, (…, 3) m/s²; it contains gravity."""
        return self._vector("ax", "ay", "az")

    # Belief.

    @cached_property
    def belief(self) -> TruckBelief | None:
        """The belief of the truck; None without an estimator."""
        if self._snapshot.belief is None:
            return None
        b = self._select(self._snapshot.belief)
        return TruckBelief(self._numbers(b["stamp"])[0], self._base(b), self._rear(b), b["cov"])

    # Computation.

    @cached_property
    def _truth(self) -> Table:
        return self._snapshot.truth.view(STATE)

    @cached_property
    def _s(self) -> Any:
        return self._select(self._truth)

    @property
    def _b(self) -> float:
        return self._model.wheel_base.base_to_rear

    @cached_property
    def _curvature(self) -> Number:
        return np.tan(self._s["steer"]) / self._model.wheel_base.length

    @cached_property
    def _imu(self) -> Reading:
        return self._snapshot.sample_imu(self._truth, self._snapshot.drive.view(DRIVE))

    def _vector(self, *names: str) -> Array:
        values = np.stack([self._imu[name] for name in names], axis=-1)
        return np.asarray(self._select(values))

    def _select(self, values: Array) -> Any:
        return values[0] if self._snapshot.single else values

    def _base(self, s: Any) -> Pose:
        yaw = s["yaw"]
        x, y = s["x"] + self._b * np.cos(yaw), s["y"] + self._b * np.sin(yaw)
        return Pose(*self._numbers(x, y, yaw))

    def _rear(self, s: Any) -> RearState:
        return RearState(*self._numbers(s["x"], s["y"], s["yaw"], s["steer"], s["vx"]))

    def _steering(self, k: Number) -> Steering:
        tangent = k * self._model.wheel_base.length
        half = 0.5 * self._model.wheel_base.width
        left, right = np.arctan2(tangent, 1.0 - k * half), np.arctan2(tangent, 1.0 + k * half)
        return Steering(*self._numbers(np.arctan(tangent), left, right))

    def _rps(self, velocity: Number) -> Number:
        circumference = math.tau * self._model.wheel.radius
        return self._numbers(velocity / (circumference * self._model.gear_ratio))[0]

    def _numbers(self, *values: Number) -> tuple[Number, ...]:
        """Floats for one truck, arrays for N."""
        return tuple(float(v) for v in values) if self._snapshot.single else values
