"""What is ahead of a robot on the arc that it drives, by the ranges that it was told.

A body drives along an arc of radius R around (0, R), with its front edge at x = f and w to either
side. A point at the distance q from the middle of the arc and the angle a = atan2(x, R − y) is met
by the front edge, if at all, after

    R (a − asin(f / q))        R − w < q < √((R + w)² + f²)

since the outer corner in front reaches farthest out. What is beside the body is not met.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import atan2, kernel
from astray.plugin import Datasheet, Reading
from astray.robot.autonomy.wander import bearings_of
from astray.tables import Array

STRAIGHT = 1e-3  # 1/m; of an arc that is as good as straight
TOUCH = 0.02  # m by which what is in front may seem to be within the body


@kernel
def along(x: float, y: float, bend: float, half: float, front: float) -> float:
    """How far a body can drive along an arc until it meets a point; inf if it passes by."""
    if abs(bend) < STRAIGHT:
        return max(x - front, 0.0) if x > front - TOUCH and abs(y) < half else math.inf
    radius = 1.0 / abs(bend)
    across = radius - y if bend > 0.0 else radius + y
    square = x * x + across * across
    inner, outer = max(radius - half, 0.0), radius + half
    if square <= inner * inner or square >= outer * outer + front * front:
        return math.inf
    lead = atan2(front, math.sqrt(max(square - front * front, 0.0)))
    free = radius * (atan2(x, across) - lead)
    return max(free, 0.0) if free > -TOUCH else math.inf


def beams_of(sheet: Datasheet, reading: Reading) -> Array:
    """Where the beams of a sensor begin and point in the body: x, y, cosine, sine; (beams, 4)."""
    count = reading.arrays["ranges"].shape[1]
    if "mounts" in sheet.values:
        x, y, angle = np.array(sheet["mounts"], float).T
    else:
        x, y = (np.full(count, float(sheet.values.get(name, 0.0))) for name in ("x", "y"))
        if "step" in (reading.table.dtype.names or ()):
            seen = np.flatnonzero(~np.isnan(reading.stamp))[0]
            first, step = reading["start"][seen], reading["step"][seen]
            angle = first + step * np.arange(count) + float(sheet.values.get("yaw", 0.0))
        else:
            angle = bearings_of(sheet, count)
    return np.stack([x, y, np.cos(angle), np.sin(angle)], axis=1)
