"""Mounts of sensors: static transforms in a tree of frames, the key `tf_static` of a model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, model_validator

from astray.tables import Array

ROOT = "base"  # frame in which mounts are given


class Section(BaseModel):
    """A part of a model: it is immutable, and unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Translation(Section):
    """A displacement, m."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


class Rotation(Section):
    """A rotation as a unit quaternion."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    w: float = 1.0

    @model_validator(mode="after")
    def _check(self) -> Rotation:
        if abs(math.hypot(self.x, self.y, self.z, self.w) - 1.0) > 1e-3:
            raise ValueError("a quaternion must have the norm 1")
        return self

    def matrix(self) -> Array:
        """The matrix that rotates from the child's axes to the parent's, (3, 3)."""
        v = np.array([self.x, self.y, self.z, self.w])
        x, y, z, w = v / np.sqrt(v @ v)
        return np.array(
            [
                [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
                [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
                [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
            ]
        )


class StaticTransform(Section):
    """The pose of a child frame in its parent frame."""

    frame_id: str
    child_frame_id: str
    translation: Translation = Translation()
    rotation: Rotation = Rotation()


class Mount(NamedTuple):
    """The pose of a sensor: position, m, and angles of its axes, rad."""

    x: float
    y: float
    z: float
    roll: float
    pitch: float
    yaw: float

    def as_sensor(self) -> dict[str, Any]:
        """Parameters of a sensor with this mount; the plane has no height."""
        return {name: getattr(self, name) for name in ("x", "y", "roll", "pitch", "yaw")}


def find_mount(frames: Sequence[StaticTransform], name: str) -> Mount:
    """The pose of a frame in that of the base; the base itself if the frame is not listed."""
    by_child = {frame.child_frame_id: frame for frame in frames}
    rotation, position, visited = np.eye(3), np.zeros(3), {name}
    while name in by_child:
        frame = by_child[name]
        parent_rotation = frame.rotation.matrix()
        offset = [frame.translation.x, frame.translation.y, frame.translation.z]
        position = parent_rotation @ position + offset
        rotation, name = parent_rotation @ rotation, frame.frame_id
        if name in visited:
            raise ValueError(f"tf_static has a cycle at {name!r}")
        visited.add(name)
    if len(visited) > 1 and name != ROOT:
        raise ValueError(f"tf_static leads from {name!r}, not from {ROOT!r}")
    x, y, z = position.tolist()
    return Mount(x, y, z, *roll_pitch_yaw(rotation))


def roll_pitch_yaw(rotation: Array) -> tuple[float, float, float]:
    """The angles of a rotation matrix, rad."""
    sine = min(max(-float(rotation[2, 0]), -1.0), 1.0)
    if abs(sine) > 1.0 - 1e-12:  # gimbal lock: roll and yaw turn about the same axis
        return 0.0, math.asin(sine), math.atan2(-rotation[0, 1], rotation[1, 1])
    roll = math.atan2(rotation[2, 1], rotation[2, 2])
    return roll, math.asin(sine), math.atan2(rotation[1, 0], rotation[0, 0])
