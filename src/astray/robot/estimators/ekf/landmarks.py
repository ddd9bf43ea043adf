"""What a filter makes of beacons: range and bearing from the mount e at p + Rot(yaw) e.

    range = |b − p − Rot(yaw) e|        bearing = direction of it − yaw − yaw of the mount

Near a beacon that is measured well a derivative holds only for an error that is small already, so
it is taken where the update leads to, as often as that changes anything: with H and ν of a state
that is δ from the prior, the innovation is ν + H δ, and the update from the prior K (ν + H δ).

A beacon that has no name is taken for the one that it fits, unless it fits several. A filter that
has been refusing beacons for long is lost, and finds back as `ekf_relocate.py` has it.
"""

from __future__ import annotations

import math

from astray.numerics import atan2, kernel, sincos, wrap
from astray.robot.estimators.ekf.relocalization import relocate
from astray.robot.estimators.ekf.state import LANDMARK_EVENT, WHICH, YAW, X, Y
from astray.robot.estimators.ekf.update import aim, fuse, is_tired, refuse, weigh
from astray.tables import Array, Row

NONE_FITS, SEVERAL_FIT = -1, -2
MOST_STEPS, CURVED = 5, 0.05  # of an update, and the share of a noise that curvature may be
NEAR = 1e-6  # m; a beacon nearer than this has no direction


@kernel
def sight(f: Row, w: Row, value: Array, x: float, y: float) -> bool:
    """Compare a range and a bearing with a beacon at x, y; whether it can be compared."""
    aim(w)
    k = int(value[WHICH])
    s, c = sincos(f.yaw)
    eye_x, eye_y = c * w.eye_x[k] - s * w.eye_y[k], s * w.eye_x[k] + c * w.eye_y[k]
    dx, dy = x - f.x - eye_x, y - f.y - eye_y
    square = dx * dx + dy * dy
    far = math.sqrt(square)
    if far < NEAR:
        return False
    w.nu[0] = value[0] - far
    w.nu[1] = wrap(value[1] - atan2(dy, dx) + f.yaw + w.eye_yaw[k])
    w.h[0, X], w.h[0, Y] = -dx / far, -dy / far
    w.h[0, YAW] = (dx * eye_y - dy * eye_x) / far
    w.h[1, X], w.h[1, Y] = dy / square, -dx / square
    w.h[1, YAW] = -1.0 - (dx * eye_x + dy * eye_y) / square
    sd = w.range_sd[k] + w.range_sd_per_m[k] * far
    w.noise[0, 0], w.noise[1, 1] = sd * sd, w.bearing_sd[k] * w.bearing_sd[k]
    return True


@kernel
def settle(f: Row, w: Row, value: Array, x: float, y: float) -> None:
    """Let a sighting of a beacon at x, y be compared where it leads to; the state stays."""
    before, k = (f.x, f.y, f.yaw), int(value[WHICH])
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
        if step * step < CURVED * far * min(w.range_sd[k], w.bearing_sd[k] * far):
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
    """The one beacon that a sighting fits within the gate, or that none does, or several do."""
    found = NONE_FITS
    which = w.beacons[int(value[WHICH])]
    for k in range(which[0], which[1]):
        if sight(f, w, value, beacons[k, 0], beacons[k, 1]) and weigh(f, w, 2) <= w.gate[2]:
            if found >= 0:
                return SEVERAL_FIT
            found = k
    return found


@kernel
def fuse_landmark(f: Row, w: Row, value: Array, beacons: Array) -> None:
    """Take in range, bearing and identity of one beacon; one without identity is recognised."""
    which = w.beacons[int(value[WHICH])]
    k = int(value[2])
    if k >= which[1] - which[0]:
        return
    k = which[0] + k if k >= 0 else recognise(f, w, value, beacons)
    if k == NONE_FITS:
        refuse(f, LANDMARK_EVENT)
        if is_tired(f, w, LANDMARK_EVENT, 1.0):
            relocate(f, w, value, beacons, -1)
        return
    if not (k >= 0 and sight(f, w, value, beacons[k, 0], beacons[k, 1])):
        return
    if (
        is_tired(f, w, LANDMARK_EVENT, 1.0)
        and weigh(f, w, 2) > w.gate[2]
        and relocate(f, w, value, beacons, k)
    ):
        return
    settle(f, w, value, beacons[k, 0], beacons[k, 1])
    fuse(f, w, 2, LANDMARK_EVENT)
