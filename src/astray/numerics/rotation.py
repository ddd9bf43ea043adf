"""Rotations in space, SO(3), for sensors that are mounted at an angle."""

from __future__ import annotations

import numpy as np

from astray.numerics.elementary import sincos
from astray.numerics.kernels import kernel
from astray.tables import Array

Axes = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]
"""A rotation matrix, row by row."""


@kernel
def rotation_from_euler(roll: float, pitch: float, yaw: float) -> Axes:
    """The rotation by yaw, then pitch, then roll: from the rotated axes to the original ones."""
    sr, cr = sincos(roll)
    sp, cp = sincos(pitch)
    sy, cy = sincos(yaw)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


@kernel
def rotation_all(out: Array, roll: Array, pitch: Array, yaw: Array) -> None:
    """Fill out (n, 3, 3) with rotations by yaw, then pitch, then roll."""
    for i in range(len(out)):
        axes = rotation_from_euler(roll[i], pitch[i], yaw[i])
        for j in range(3):
            out[i, j, 0], out[i, j, 1], out[i, j, 2] = axes[j]


def rotation_matrix(roll: Array, pitch: Array, yaw: Array) -> Array:
    """Rotation matrices from the rotated axes to the original ones, (n, 3, 3); angles (n,) rad."""
    made = np.empty((len(roll), 3, 3))
    angles = [np.ascontiguousarray(angle, float) for angle in (roll, pitch, yaw)]
    rotation_all(made, angles[0], angles[1], angles[2])
    return made
