"""Rotations in space, for sensors that are mounted askew."""

from __future__ import annotations

import numpy as np

from astray.kernel import kernel
from astray.maths import sincos
from astray.table import Array


@kernel
def rotation_all(out: Array, roll: Array, pitch: Array, yaw: Array) -> None:
    """Fill out (n, 3, 3): from axes turned by yaw, then pitch, then roll, to the original ones."""
    for i in range(len(out)):
        sr, cr = sincos(roll[i])
        sp, cp = sincos(pitch[i])
        sy, cy = sincos(yaw[i])
        out[i, 0, 0], out[i, 0, 1], out[i, 0, 2] = (
            cy * cp,
            cy * sp * sr - sy * cr,
            cy * sp * cr + sy * sr,
        )
        out[i, 1, 0], out[i, 1, 1], out[i, 1, 2] = (
            sy * cp,
            sy * sp * sr + cy * cr,
            sy * sp * cr - cy * sr,
        )
        out[i, 2, 0], out[i, 2, 1], out[i, 2, 2] = -sp, cp * sr, cp * cr


def rotation(roll: Array, pitch: Array, yaw: Array) -> Array:
    """Rotation matrices, (n, 3, 3), from turned axes to the original ones."""
    made = np.empty((len(roll), 3, 3))
    angles = [np.ascontiguousarray(angle, float) for angle in (roll, pitch, yaw)]
    rotation_all(made, angles[0], angles[1], angles[2])
    return made
