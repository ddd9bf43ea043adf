"""What a filter makes of beacons: range and bearing from the mount e at p + Rot(yaw) e.

    range = |b − p − Rot(yaw) e|        bearing = direction of it − yaw − yaw of the mount

Near a beacon that is measured well a derivative holds only for an error that is small already, so
it is taken where the update leads to, as often as that changes anything: with H and ν of a state
that is δ from the prior, the innovation is ν + H δ, and the update from the prior K (ν + H δ).

A beacon that has no name is taken for the one that it fits, unless it fits several. A filter that
has been refusing beacons for long is lost; two that are sighted at once then tell the pose by
themselves, and it starts over from there.
"""

from __future__ import annotations

import math

from astray.estimators.ekf_lost import forget_fixes
from astray.estimators.ekf_state import LANDMARK_EVENT, YAW, X, Y
from astray.estimators.ekf_update import aim, fuse, is_tired, weigh
from astray.kernel import kernel
from astray.maths import atan2, sincos, wrap
from astray.table import Array, Row

AT_ONCE = 1e-9  # s between two sightings of one moment
FAR_APART = 0.5  # m between two beacons that tell a heading
SURE = 4.0  # standard deviations within which all is, as good as surely
MOST_STEPS, CURVED = 5, 0.05  # of an update, and the share of a noise that curvature may be
NEAR = 1e-6  # m; a beacon nearer than this has no direction


@kernel
def sight(f: Row, w: Row, value: Array, x: float, y: float) -> bool:
    """Compare a range and a bearing with a beacon at x, y; whether it can be compared."""
    aim(w)
    s, c = sincos(f.yaw)
    eye_x, eye_y = c * w.eye_x - s * w.eye_y, s * w.eye_x + c * w.eye_y
    dx, dy = x - f.x - eye_x, y - f.y - eye_y
    square = dx * dx + dy * dy
    far = math.sqrt(square)
    if far < NEAR:
        return False
    w.nu[0] = value[0] - far
    w.nu[1] = wrap(value[1] - atan2(dy, dx) + f.yaw + w.eye_yaw)
    w.h[0, X], w.h[0, Y] = -dx / far, -dy / far
    w.h[0, YAW] = (dx * eye_y - dy * eye_x) / far
    w.h[1, X], w.h[1, Y] = dy / square, -dx / square
    w.h[1, YAW] = -1.0 - (dx * eye_x + dy * eye_y) / square
    sd = w.range_sd + w.range_sd_per_m * far
    w.noise[0, 0], w.noise[1, 1] = sd * sd, w.bearing_sd * w.bearing_sd
    return True


@kernel
def settle(f: Row, w: Row, value: Array, x: float, y: float) -> None:
    """Let a sighting of a beacon at x, y be compared where it leads to; the state stays."""
    before = (f.x, f.y, f.yaw)
    dx, dy, turn = 0.0, 0.0, 0.0
    for _ in range(MOST_STEPS):
        weigh(f, w, 2)
        area = w.s[0, 0] * w.s[1, 1] - w.s[0, 1] * w.s[1, 0]
        if not area > 0.0:
            break
        a = (w.s[1, 1] * w.nu[0] - w.s[0, 1] * w.nu[1]) / area
        b = (w.s[0, 0] * w.nu[1] - w.s[1, 0] * w.nu[0]) / area
        to_x, to_y = w.ph[X, 0] * a + w.ph[X, 1] * b, w.ph[Y, 0] * a + w.ph[Y, 1] * b
        to_turn = w.ph[YAW, 0] * a + w.ph[YAW, 1] * b
        far = max(value[0], NEAR)
        step = abs(to_x - dx) + abs(to_y - dy) + far * abs(to_turn - turn)
        if step * step < CURVED * far * min(w.range_sd, w.bearing_sd * far):
            break
        dx, dy, turn = to_x, to_y, to_turn
        f.x, f.y, f.yaw = before[0] + dx, before[1] + dy, before[2] + turn
        if not sight(f, w, value, x, y):
            break
        for c in range(2):
            w.nu[c] += w.h[c, X] * dx + w.h[c, Y] * dy + w.h[c, YAW] * turn
    f.x, f.y, f.yaw = before


@kernel
def recognise(f: Row, w: Row, value: Array, beacons: Array) -> int:
    """The one beacon that a sighting fits within the gate; −1 if it fits none, or several."""
    found = -1
    for k in range(len(beacons)):
        if sight(f, w, value, beacons[k, 0], beacons[k, 1]) and weigh(f, w, 2) <= w.gate[2]:
            if found >= 0:
                return -1
            found = k
    return found


@kernel
def in_body(w: Row, far: float, bearing: float) -> tuple[float, float]:
    """Where in the body's frame something is that was sighted."""
    s, c = sincos(w.eye_yaw + bearing)
    return w.eye_x + far * c, w.eye_y + far * s


@kernel
def relocate(f: Row, w: Row, value: Array, beacons: Array) -> bool:
    """Start over from two beacons that were sighted at once; whether they told the pose."""
    one, other = int(f.sighting[1]), int(value[2])
    if abs(f.sighting[0] - f.stamp) > AT_ONCE or one == other:
        return False
    ax, ay = in_body(w, f.sighting[2], f.sighting[3])
    bx, by = in_body(w, value[0], value[1])
    dx, dy = beacons[other, 0] - beacons[one, 0], beacons[other, 1] - beacons[one, 1]
    apart, seen = (
        math.sqrt(dx * dx + dy * dy),
        math.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay)),
    )
    far = max(f.sighting[2], value[0])
    sd = w.range_sd + (w.range_sd_per_m + w.bearing_sd) * far
    if apart < FAR_APART or abs(apart - seen) > SURE * sd:
        return False
    f.yaw = wrap(atan2(dy, dx) - atan2(by - ay, bx - ax))
    s, c = sincos(f.yaw)
    f.x, f.y = beacons[one, 0] - c * ax + s * ay, beacons[one, 1] - s * ax - c * ay
    for i in range(YAW + 1):
        for j in range(w.states):
            f.cov[i, j] = 0.0
            f.cov[j, i] = 0.0
    turned = SURE * sd / apart
    f.cov[YAW, YAW] = turned * turned
    f.cov[X, X] = f.cov[Y, Y] = SURE * SURE * sd * sd + turned * turned * far * far
    f.refused[LANDMARK_EVENT] = 0
    f.lost = False
    forget_fixes(f)
    return True


@kernel
def fuse_landmark(f: Row, w: Row, value: Array, beacons: Array) -> None:
    """Take in range, bearing and identity of one beacon; one without identity is recognised."""
    k = int(value[2])
    if k < 0:
        k = recognise(f, w, value, beacons)
    if not (0 <= k < len(beacons) and sight(f, w, value, beacons[k, 0], beacons[k, 1])):
        return
    if is_tired(f, w, LANDMARK_EVENT, 1.0) and value[2] >= 0.0 and weigh(f, w, 2) > w.gate[2]:
        if relocate(f, w, value, beacons):
            return
        f.sighting[0], f.sighting[1] = f.stamp, value[2]
        f.sighting[2], f.sighting[3] = value[0], value[1]
    settle(f, w, value, beacons[k, 0], beacons[k, 1])
    fuse(f, w, 2, LANDMARK_EVENT)
