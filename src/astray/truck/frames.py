"""Where sensors are mounted: a tree of frames, as ROS people write them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, model_validator

from astray.tables import Array

ROOT = "base"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Translation(_Part):
    """Metres."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0


class Rotation(_Part):
    """A quaternion."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    w: float = 1.0

    @model_validator(mode="after")
    def _check(self) -> Rotation:
        if abs(math.hypot(self.x, self.y, self.z, self.w) - 1.0) > 1e-3:
            raise ValueError("a quaternion has the length 1")
        return self

    def matrix(self) -> Array:
        """From the axes of the child to those of the parent, (3, 3)."""
        v = np.array([self.x, self.y, self.z, self.w])
        x, y, z, w = v / np.sqrt(v @ v)
        return np.array(
            [
                [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
                [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
                [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
            ]
        )


class LoggedFrame(_Part):
    """A frame, given in that of its parent."""

    frame_id: str
    child_frame_id: str
    translation: Translation = Translation()
    rotation: Rotation = Rotation()


class Mount(NamedTuple):
    """A place, m, and the angles, rad, by which its axes are turned."""

    x: float
    y: float
    z: float
    roll: float
    pitch: float
    yaw: float

    def as_sensor(self) -> dict[str, Any]:
        """The parameters of a sensor that is mounted so; height is no matter in the plane."""
        return {name: getattr(self, name) for name in ("x", "y", "roll", "pitch", "yaw")}


def find_mount(frames: Sequence[LoggedFrame], name: str) -> Mount:
    """A frame as seen from the base; at the base itself if it is not listed."""
    parents = {frame.child_frame_id: frame for frame in frames}
    turned, at, seen = np.eye(3), np.zeros(3), {name}
    while name in parents:
        frame = parents[name]
        here = frame.rotation.matrix()
        at = here @ at + [frame.translation.x, frame.translation.y, frame.translation.z]
        turned, name = here @ turned, frame.frame_id
        if name in seen:
            raise ValueError(f"tf_static goes in a circle at {name!r}")
        seen.add(name)
    if len(seen) > 1 and name != ROOT:
        raise ValueError(f"tf_static leads from {name!r}, not from {ROOT!r}")
    x, y, z = at.tolist()
    return Mount(x, y, z, *angles(turned))


def angles(turned: Array) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation matrix."""
    sine = min(max(-float(turned[2, 0]), -1.0), 1.0)
    if abs(sine) > 1.0 - 1e-12:  # nose up or down: roll and yaw are the same turn
        return 0.0, math.asin(sine), math.atan2(-turned[0, 1], turned[1, 1])
    roll = math.atan2(turned[2, 1], turned[2, 2])
    return roll, math.asin(sine), math.atan2(turned[1, 0], turned[0, 0])
