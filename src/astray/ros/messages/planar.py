"""What a plane holds of a pose in space: x, y and the heading."""

from __future__ import annotations

from typing import Any

import numpy as np

PLANAR_INDICES = (0, 1, 5)  # where x, y and yaw are among x, y, z, roll, pitch, yaw


def quaternion_yaw(x: Any, y: Any, z: Any, w: Any) -> Any:
    """The heading of a quaternion that may tilt and be of any length, or of many; of zeros, 0."""
    return np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)
