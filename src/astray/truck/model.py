"""The model of a truck: the model file of simulator-2d, with its keys and its defaults.

A truck has two reference points. The equations of motion hold at the rear axle. Commands are for
the base, in the middle between the axles, b ahead of the rear axle. With the curvature k at the
rear axle the base moves on the curvature k / ρ and ρ times as fast, ρ = √(1 + (k b)²).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ValidationError, model_validator

from astray.errors import Fault, Origin, ScenarioError, format_path, suggest
from astray.files import read_yaml
from astray.scenario import describe_error
from astray.truck.frames import Mount, Section, StaticTransform, find_mount

Size = Annotated[float, Gt(0)]
Angle = Annotated[float, Ge(0), Lt(90)]
LIDAR_FRAME = "lidar_link"
IMU_FRAME = "camera_imu_optical_frame"


class Shape(Section):
    """The body, a rectangle, m; `base_to_rear` is the distance from base to rear bumper."""

    length: Size = 0.505
    width: Size = 0.313
    base_to_rear: Size = 0.2525
    circles_count: Annotated[int, Gt(0)] = 5

    @model_validator(mode="after")
    def _check(self) -> Shape:
        if self.length <= self.base_to_rear:
            raise ValueError("length must be greater than base_to_rear")
        if self.circles_count * self.width <= self.length:
            raise ValueError("circles_count circles as wide as the body must cover its length")
        return self


class WheelBase(Section):
    """Distances, m: between the axles, between the wheels of an axle, from base to rear axle."""

    length: Size = 0.405
    width: Size = 0.213
    base_to_rear: Size = 0.2025

    @model_validator(mode="after")
    def _check(self) -> WheelBase:
        if self.length <= self.base_to_rear:
            raise ValueError("length must be greater than base_to_rear")
        return self


class Wheel(Section):
    """A wheel, m."""

    radius: Size = 0.0525
    width: Size = 0.058


class LidarModel(Section):
    """The lidar: angles of its rays, degrees, and limits of its ranges, m."""

    angle_min: Annotated[float, Ge(0)] = 0.0
    angle_max: float = 360.0
    angle_increment: Size = 0.1125
    range_min: Annotated[float, Ge(0)] = 0.0
    range_max: float = 25.0

    @model_validator(mode="after")
    def _check(self) -> LidarModel:
        if self.angle_max <= self.angle_min:
            raise ValueError("angle_max must be greater than angle_min")
        if self.angle_max - self.angle_min > 360.0:
            raise ValueError("the angles span more than a full circle")
        if self.range_max <= self.range_min:
            raise ValueError("range_max must be greater than range_min")
        return self

    @property
    def full_circle(self) -> bool:
        """Whether the rays cover the full circle."""
        return self.angle_max - self.angle_min >= 360.0 - 1e-9

    @property
    def rays(self) -> int:
        """The number of rays; a full circle does not repeat the first one."""
        steps = (self.angle_max - self.angle_min) / self.angle_increment
        return round(steps) if self.full_circle else math.floor(steps + 1e-9) + 1


class SteeringLimits(Section):
    """Largest angles of a wheel towards the middle of the truck and away from it, degrees."""

    inner: Angle = 40.0
    outer: Angle = 40.0


class VelocityLimits(Section):
    """Limits of the base's speed, m/s."""

    min: Annotated[float, Le(0)] = -0.5
    max: Size = 0.8


class Limits(Section):
    """Limits of the motion."""

    steering: SteeringLimits = SteeringLimits()
    max_abs_curvature: Size = 2.0  # 1/m, of the base
    steering_velocity: Size = 2.0  # rad/s
    velocity: VelocityLimits = VelocityLimits()
    max_acceleration: Size = 1.0  # m/s²
    max_deceleration: Size = 2.0  # m/s²


class ServoHome(Section):
    """Rest angles of the servos, degrees; a simulator does not use them."""

    left: float = 89.0
    right: float = 96.0


OPTICAL = {"x": -0.5, "y": 0.5, "z": -0.5, "w": 0.5}  # x to the right, y down, z ahead


class Model(Section):
    """A truck. Its fields are the keys of a model file; all have defaults.

    Raises:
        pydantic.ValidationError: A value is wrong; `read_model` gives its line and column.
    """

    shape: Shape = Shape()
    wheel_base: WheelBase = WheelBase()
    wheel: Wheel = Wheel()
    lidar: LidarModel = LidarModel()
    limits: Limits = Limits()
    gear_ratio: Size = 0.08421
    servo_home_angles: ServoHome = ServoHome()
    tf_static: tuple[StaticTransform, ...] = (
        StaticTransform(frame_id="base", child_frame_id=LIDAR_FRAME),
        StaticTransform.model_validate(
            {
                "frame_id": "base",
                "child_frame_id": IMU_FRAME,
                "translation": {"x": 0.23398, "y": 0.01978, "z": -0.0326},
                "rotation": OPTICAL,
            }
        ),
    )

    @model_validator(mode="after")
    def _check(self) -> Model:
        for name in (LIDAR_FRAME, IMU_FRAME):
            find_mount(self.tf_static, name)
        if self.lidar.rays > 1 << 16:
            raise ValueError(f"a scan of {self.lidar.rays} rays is too much (65536)")
        return self

    @property
    def max_curvature(self) -> float:
        """The largest curvature at the rear axle that the steering allows, 1/m."""
        half, length = 0.5 * self.wheel_base.width, self.wheel_base.length
        inner = math.tan(math.radians(self.limits.steering.inner))
        outer = math.tan(math.radians(self.limits.steering.outer))
        # The inner wheel of a turn is steered more than the outer one.
        inner_length = max(length - half * inner, 1e-12)
        return min(inner / inner_length, outer / (length + half * outer), self._rear_limit())

    def _rear_limit(self) -> float:
        """The curvature at the rear axle at which that of the base has its limit, 1/m."""
        sine = self.limits.max_abs_curvature * self.wheel_base.base_to_rear
        if sine >= 1.0:
            return math.inf  # the curvature of the base never reaches the limit
        return self.limits.max_abs_curvature / math.sqrt(1.0 - sine * sine)

    @property
    def max_base_curvature(self) -> float:
        """The largest curvature at the base that the steering allows, 1/m."""
        k = self.max_curvature
        return k / math.hypot(1.0, k * self.wheel_base.base_to_rear)

    def mount(self, frame: str) -> Mount:
        """The pose of a frame in that of the rear axle.

        Args:
            frame: The name of the frame.
        """
        mount = find_mount(self.tf_static, frame)
        return mount._replace(x=mount.x + self.wheel_base.base_to_rear)

    def robot(self) -> dict[str, Any]:
        """The truck as a robot of a scenario: motion, footprint, lidar and IMU."""
        base, limits, lidar = self.wheel_base, self.limits, self.lidar
        mount, imu = self.mount(LIDAR_FRAME), self.mount(IMU_FRAME)
        step = math.radians(lidar.angle_increment)
        field_of_view = math.tau if lidar.full_circle else (lidar.rays - 1) * step
        motion = {
            "kind": "ackermann",
            "wheelbase": base.length,
            "track": base.width,
            "radius": self.wheel.radius,
            "max_speed": limits.velocity.max,
            "min_speed": limits.velocity.min,
            "accel": limits.max_acceleration,
            "decel": limits.max_deceleration,
            "max_steer": math.atan(self.max_curvature * base.length),
            "steer_speed": limits.steering_velocity,
        }
        scanner = {
            "kind": "lidar",
            "rays": lidar.rays,
            "field_of_view": field_of_view,
            "x": mount.x,
            "y": mount.y,
            "yaw": mount.yaw + math.radians(lidar.angle_min) + 0.5 * field_of_view,
            "min_range": lidar.range_min,
            "max_range": lidar.range_max,
        }
        middle = base.base_to_rear - self.shape.base_to_rear + 0.5 * self.shape.length
        return {
            "motion": motion,
            "footprint": {"length": self.shape.length, "width": self.shape.width, "x": middle},
            "sensors": [scanner, {"kind": "imu", **imu.as_sensor()}],
        }


def read_model(file: str | Path) -> Model:
    """Read a model file.

    Args:
        file: The path of a YAML file.

    Returns:
        The model.

    Raises:
        ScenarioError: The file is wrong; the text has every fault with line and column.
    """
    faults: list[Fault] = []
    path = Path(file)
    try:
        tree = read_yaml(path.read_text(encoding="utf-8"), str(file), faults)
    except UnicodeDecodeError:
        raise ScenarioError([Fault(Origin(str(file)), "", "not a text file in UTF-8")]) from None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise ScenarioError([Fault(Origin(str(file)), "", reason)]) from None
    if tree is None or faults:
        raise ScenarioError(faults)
    if not isinstance(tree.value, dict):
        raise ScenarioError([Fault(tree.origin, "", "a model is a mapping of keys to values")])
    try:
        return Model.model_validate(tree.plain())
    except ValidationError as problem:
        for error in problem.errors():
            path_of_key, unknown = error["loc"], error["type"] == "extra_forbidden"
            origin = tree.nearest(path_of_key, unknown)
            faults.append(Fault(origin, format_path(path_of_key), _reason(error)))
        raise ScenarioError(faults) from None


def _reason(error: Any) -> str:
    if error["type"] == "extra_forbidden":
        name = str(error["loc"][-1])
        return f"unknown key {name!r}{suggest(name, _keys(error['loc'][:-1]))}"
    if error["type"] == "missing":
        return "is missing"
    return describe_error(error)


def _keys(path: tuple[int | str, ...]) -> list[str]:
    """The keys of the section at a path in the file."""
    section: Any = Model
    for part in path:
        if isinstance(part, int):
            section = StaticTransform
        elif section is not None and part in section.model_fields:
            kind = section.model_fields[part].annotation
            section = kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
    return list(section.model_fields) if section is not None else []
