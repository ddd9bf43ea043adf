"""How a filter finds back that sees beacons elsewhere than it should: two at once tell the pose.

What was sighted at a and b in the body's frame is at A and B in the map, so the body is turned by
the direction of B − A less that of b − a, and is at A − Rot(yaw) a. Two beacons without names may
be any two that are as far apart. They are taken for those that move the filter least, if no others
come near that: a filter that was carried off far among beacons that look alike stays lost.
"""

from __future__ import annotations

import math

from astray.numerics import atan2, kernel, sincos, wrap
from astray.robot.estimators.ekf.recovery import SURE, forget_fixes
from astray.robot.estimators.ekf.state import LANDMARK_EVENT, WHICH, YAW, X, Y
from astray.tables import Array, Row

AT_ONCE = 1e-9  # s between two sightings of one moment
FAR_APART = 0.5  # m between two beacons that tell a heading
TURNED = 2.0  # m that a turn by a radian counts as
CLEARLY = 4.0  # times as far, squared, that the second best pose has to be
Three = tuple[float, float, float]
Four = tuple[float, float, float, float]


@kernel
def in_body(w: Row, value: Array) -> tuple[float, float]:
    """Where in the body's frame something is that was sighted."""
    k = int(value[WHICH])
    s, c = sincos(w.eye_yaw[k] + value[1])
    return w.eye_x[k] + value[0] * c, w.eye_y[k] + value[0] * s


@kernel
def spread_of(w: Row, value: Array) -> float:
    """How far off a sighting may be, m, of one standard deviation of range and bearing."""
    k = int(value[WHICH])
    return float(w.range_sd[k] + (w.range_sd_per_m[k] + w.bearing_sd[k]) * value[0])


@kernel
def pose_by(sighted: Four, beacons: Array, one: int, other: int) -> Three:
    """The pose of a body that has two beacons where it sighted them."""
    ax, ay, bx, by = sighted
    dx, dy = beacons[other, 0] - beacons[one, 0], beacons[other, 1] - beacons[one, 1]
    yaw = wrap(atan2(dy, dx) - atan2(by - ay, bx - ax))
    s, c = sincos(yaw)
    return beacons[one, 0] - c * ax + s * ay, beacons[one, 1] - s * ax - c * ay, yaw


@kernel
def fits(sighted: Four, beacons: Array, one: int, other: int, sd: float) -> bool:
    """Whether two beacons are as far apart as what was sighted, and far enough."""
    ax, ay, bx, by = sighted
    dx, dy = beacons[other, 0] - beacons[one, 0], beacons[other, 1] - beacons[one, 1]
    apart = math.sqrt(dx * dx + dy * dy)
    seen = math.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay))
    return bool(apart >= FAR_APART and abs(apart - seen) <= SURE * sd)


@kernel
def guess(f: Row, sighted: Four, beacons: Array, sd: float) -> tuple[int, int]:
    """The two beacons that move the filter least; −1 if there are none, or others as near."""
    one, other, least, second = -1, -1, math.inf, math.inf
    for i in range(len(beacons)):
        for j in range(len(beacons)):
            if i == j or not fits(sighted, beacons, i, j, sd):
                continue
            x, y, yaw = pose_by(sighted, beacons, i, j)
            turn = TURNED * wrap(yaw - f.yaw)
            far = (x - f.x) * (x - f.x) + (y - f.y) * (y - f.y) + turn * turn
            if far < least:
                one, other, least, second = i, j, far, least
            elif far < second:
                second = far
    if second < CLEARLY * least:
        return -1, -1
    return one, other


@kernel
def start_over(f: Row, w: Row, pose: Three, turned: float, sd: float) -> None:
    """Be at a pose, of this standard deviation of heading and place."""
    f.x, f.y, f.yaw = pose
    for i in range(YAW + 1):
        for j in range(w.states):
            f.cov[i, j] = 0.0
            f.cov[j, i] = 0.0
    f.cov[YAW, YAW] = turned * turned
    f.cov[X, X] = f.cov[Y, Y] = sd * sd
    f.refused[LANDMARK_EVENT] = 0
    f.lost = False
    forget_fixes(f)


@kernel
def relocate(f: Row, w: Row, value: Array, beacons: Array, other: int) -> bool:
    """Start over from two beacons that were sighted at once, of which one is the last that was
    refused; whether they told the pose. A beacon that is not known is −1.
    """
    at, one = f.sighting[0], int(f.sighting[1])
    bx, by = in_body(w, value)
    sighted = (f.sighting[2], f.sighting[3], bx, by)
    far, sd = max(f.sighting[4], value[0]), max(f.sighting[5], spread_of(w, value))
    f.sighting[0], f.sighting[1], f.sighting[2], f.sighting[3] = f.stamp, other, bx, by
    f.sighting[4], f.sighting[5] = value[0], spread_of(w, value)
    if abs(at - f.stamp) > AT_ONCE or (one == other and one >= 0):
        return False
    if one < 0 or other < 0:
        one, other = guess(f, sighted, beacons, sd)
    if one < 0 or not fits(sighted, beacons, one, other, sd):
        return False
    dx, dy = beacons[other, 0] - beacons[one, 0], beacons[other, 1] - beacons[one, 1]
    turned = SURE * sd / math.sqrt(dx * dx + dy * dy)
    spread = math.sqrt(SURE * SURE * sd * sd + turned * turned * far * far)
    start_over(f, w, pose_by(sighted, beacons, one, other), turned, spread)
    return True
