"""How an error-state filter takes in a measurement: gate, gain, and Joseph's form.

With the innovation ν, its derivative H by the state, and the noise R of the measurement

    S = H P Hᵀ + R        NIS = νᵀ S⁻¹ ν        K = P Hᵀ S⁻¹
    P ← (I − K H) P (I − K H)ᵀ + K R Kᵀ

A measurement whose NIS is beyond the gate is refused. If a source has been refused for longer than
the patience, it is the filter that is wrong, for it was moved or misled: the covariance of what
moves is blown up until the measurement is likely, and taken in.
"""

from __future__ import annotations

import math

from astray.estimators.ekf_state import (
    ACROSS,
    ALONG,
    COMPASS_EVENT,
    FIX_EVENT,
    LANDMARK_EVENT,
    TURN,
    VX,
    VY,
    WHEELS_EVENT,
    YAW,
    X,
    Y,
)
from astray.kernel import kernel
from astray.maths import atan2, sincos, wrap
from astray.table import WHEELS_PER_ROBOT, Array, Row

LEAST_REFUSED = 5  # in a row, before a source may be believed against the filter
MOST_BLOWN = 1e8  # times that a covariance grows at once
LOST_YAW = 0.25  # rad², at least, of a filter that was misled
LEAST_WHITE = 0.05  # share of a claimed variance that is white, whatever is said to last
NEAR = 1e-6  # m; a beacon nearer than this has no direction


@kernel
def aim(w: Row) -> None:
    """Begin a measurement: nothing is measured yet."""
    for a in range(2):
        for i in range(w.states):
            w.h[a, i] = 0.0
        w.noise[a, 0] = w.noise[a, 1] = 0.0


@kernel
def weigh(f: Row, w: Row, m: int) -> float:
    """P Hᵀ, S and the NIS of a measurement of m numbers."""
    for i in range(w.states):
        for a in range(m):
            total = 0.0
            for j in range(w.states):
                if w.h[a, j] != 0.0:
                    total += f.cov[i, j] * w.h[a, j]
            w.ph[i, a] = total
    for a in range(m):
        for b in range(m):
            total = w.noise[a, b]
            for i in range(w.states):
                if w.h[a, i] != 0.0:
                    total += w.h[a, i] * w.ph[i, b]
            w.s[a, b] = total
    if m == 1:
        return float(w.nu[0] * w.nu[0] / w.s[0, 0]) if w.s[0, 0] > 0.0 else math.inf
    area = w.s[0, 0] * w.s[1, 1] - w.s[0, 1] * w.s[1, 0]
    if not area > 0.0:
        return math.inf
    square = w.nu[0] * w.nu[0] * w.s[1, 1] + w.nu[1] * w.nu[1] * w.s[0, 0]
    return float((square - 2.0 * w.nu[0] * w.nu[1] * w.s[0, 1]) / area)


@kernel
def correct(f: Row, w: Row, i: int, by: float) -> None:
    """Move one state."""
    if i == X:
        f.x += by
    elif i == Y:
        f.y += by
    elif i == YAW:
        f.yaw = wrap(f.yaw + by)
    elif i >= w.moved:
        f.error[i] += by
    elif i == VX:
        f.vx += by
    elif i == VY:
        f.vy += by
    elif i == ALONG:
        f.along += by
    elif i == ACROSS:
        f.across += by
    elif i == TURN:
        f.turn += by


@kernel
def apply(f: Row, w: Row, m: int) -> None:
    """Take in a measurement that was weighed."""
    n = w.states
    for i in range(n):
        if m == 1:
            w.gain[i, 0] = w.ph[i, 0] / w.s[0, 0]
        else:
            area = w.s[0, 0] * w.s[1, 1] - w.s[0, 1] * w.s[1, 0]
            w.gain[i, 0] = (w.ph[i, 0] * w.s[1, 1] - w.ph[i, 1] * w.s[1, 0]) / area
            w.gain[i, 1] = (w.ph[i, 1] * w.s[0, 0] - w.ph[i, 0] * w.s[0, 1]) / area
    for i in range(n):
        by = 0.0
        for a in range(m):
            by += w.gain[i, a] * w.nu[a]
        correct(f, w, i, by)
        for j in range(n):
            kept = f.cov[i, j]
            for a in range(m):
                kept -= w.gain[i, a] * w.ph[j, a]
            w.left[i, j] = kept
    for i in range(n):
        for a in range(m):  # (I − K H) P Hᵀ, in place of P Hᵀ
            total = 0.0
            for j in range(n):
                if w.h[a, j] != 0.0:
                    total += w.left[i, j] * w.h[a, j]
            w.ph[i, a] = total
    for i in range(n):
        for j in range(i + 1):
            kept = w.left[i, j]
            for a in range(m):
                kept -= w.ph[i, a] * w.gain[j, a]
                for b in range(m):
                    kept += w.gain[i, a] * w.noise[a, b] * w.gain[j, b]
            f.cov[i, j] = kept
            f.cov[j, i] = kept


@kernel
def blow_up(f: Row, w: Row, times: float) -> None:
    """Be less sure of what moves: its standard deviations grow by the root of this."""
    root = math.sqrt(min(max(times, 1.0), MOST_BLOWN))
    for i in range(min(w.moved, VY + 1)):
        for j in range(w.states):
            f.cov[i, j] *= root
            f.cov[j, i] *= root
    f.cov[YAW, YAW] += LOST_YAW


@kernel
def fuse(f: Row, w: Row, m: int, source: int) -> None:
    """Take in a measurement of m numbers, unless it is too unlikely."""
    nis = weigh(f, w, m)
    if nis > w.gate[m]:
        if f.refused[source] == 0:
            f.refused_since[source] = f.stamp
        f.refused[source] += 1
        waited = f.stamp - f.refused_since[source]
        if f.refused[source] < LEAST_REFUSED or waited < w.patience:
            return
        blow_up(f, w, nis)
        nis = weigh(f, w, m)
    elif w.counts:
        f.squares += nis
        f.freedom += m
    f.refused[source] = 0
    if nis < math.inf:
        apply(f, w, m)


@kernel
def forget_way(f: Row, w: Row) -> None:
    """Begin to count the way since the wheels were read anew."""
    f.along = f.across = f.turn = 0.0
    for i in range(ALONG, TURN + 1):
        for j in range(w.states):
            f.cov[i, j] = 0.0
            f.cov[j, i] = 0.0


@kernel
def foresee_rolled(f: Row, w: Row) -> None:
    """What each wheel should have rolled on the way that the IMU has led.

    Noise and derivatives go by this and not by what the wheels say: a wheel that slips back would
    count as one that rolled less and is therefore surer, and all ways would come out too short.
    """
    arms = 0.0
    for k in range(WHEELS_PER_ROBOT):
        arms += abs(w.around[k])
    for k in range(WHEELS_PER_ROBOT):
        way = f.along + w.around[k] * f.turn * w.arm / arms
        if w.across[k] != 0.0:
            way += math.copysign(f.across, w.across[k] * f.across)
        w.rolled[k] = way


@kernel
def blame_rolled(w: Row, a: int, k: int, per: float) -> None:
    """What an error of wheel k does to an innovation that counts its way by so much."""
    if w.wheel[k] >= 0:
        w.h[a, w.wheel[k]] = -per * w.rolled[k]


@kernel
def fuse_way(f: Row, w: Row, move: tuple[float, float, float]) -> None:
    """Compare what the wheels rolled with the way that the IMU has led."""
    aim(w)
    foresee_rolled(f, w)
    slip, rounding = w.slip_density * w.slip_density, w.tick * w.tick / 6.0
    w.nu[0], w.nu[1] = move[0] - f.along, move[2] - f.turn
    w.h[0, ALONG] = w.h[1, TURN] = 1.0
    for k in range(WHEELS_PER_ROBOT):
        power = slip * abs(w.rolled[k]) + rounding
        turning = w.around[k] / w.arm
        w.noise[0, 0] += w.along[k] * w.along[k] * power
        w.noise[1, 1] += turning * turning * power
        w.noise[0, 1] += w.along[k] * turning * power
        blame_rolled(w, 0, k, w.along[k])
        blame_rolled(w, 1, k, turning)
    w.noise[1, 0] = w.noise[0, 1]
    if w.arm_error >= 0:
        w.h[1, w.arm_error] = f.turn
    fuse(f, w, 2, WHEELS_EVENT)
    if w.sideways:
        aim(w)
        w.nu[0] = move[1] - f.across
        w.h[0, ACROSS] = 1.0
        for k in range(WHEELS_PER_ROBOT):
            power = slip * abs(w.rolled[k]) + rounding
            w.noise[0, 0] += w.across[k] * w.across[k] * power
            blame_rolled(w, 0, k, w.across[k])
        fuse(f, w, 1, WHEELS_EVENT)
    forget_way(f, w)


@kernel
def fuse_fix(f: Row, w: Row, value: Array) -> None:
    """Take in a fix of the antenna: x, y, and their covariance xx, xy, yy."""
    aim(w)
    s, c = sincos(f.yaw)
    x, y = c * w.antenna_x - s * w.antenna_y, s * w.antenna_x + c * w.antenna_y
    w.nu[0], w.nu[1] = value[0] - f.x - x, value[1] - f.y - y
    w.h[0, X] = w.h[1, Y] = 1.0
    w.h[0, YAW], w.h[1, YAW] = -y, x
    xx, xy, yy = value[2], value[3], value[4]
    if not (xx > 0.0 and yy > 0.0):
        xx, xy, yy = w.fix_variance, 0.0, w.fix_variance
    w.noise[0, 0] = max(xx - w.drift_variance, LEAST_WHITE * xx)
    w.noise[1, 1] = max(yy - w.drift_variance, LEAST_WHITE * yy)
    w.noise[0, 1] = w.noise[1, 0] = xy
    if w.fix >= 0:
        w.nu[0] -= f.error[w.fix]
        w.nu[1] -= f.error[w.fix + 1]
        w.h[0, w.fix] = w.h[1, w.fix + 1] = 1.0
    fuse(f, w, 2, FIX_EVENT)


@kernel
def fuse_velocity(f: Row, w: Row, vx: float, vy: float, sd: float) -> None:
    """Take in the velocity of the antenna in the map."""
    aim(w)
    s, c = sincos(f.yaw)
    along, across = f.vx - f.wz * w.antenna_y, f.vy + f.wz * w.antenna_x
    x, y = c * along - s * across, s * along + c * across
    w.nu[0], w.nu[1] = vx - x, vy - y
    w.h[0, YAW], w.h[1, YAW] = -y, x
    w.h[0, VX], w.h[1, VX] = c, s
    if w.sideways:
        w.h[0, VY], w.h[1, VY] = -s, c
    w.noise[0, 0] = w.noise[1, 1] = sd * sd
    fuse(f, w, 2, FIX_EVENT)


@kernel
def fuse_compass(f: Row, w: Row, yaw: float, sd: float) -> None:
    """Take in a heading."""
    aim(w)
    w.nu[0] = wrap(yaw - f.yaw)
    w.h[0, YAW] = 1.0
    variance = sd * sd if sd > 0.0 else w.compass_variance
    w.noise[0, 0] = max(variance - w.compass_modelled, LEAST_WHITE * variance)
    if w.compass >= 0:
        w.nu[0] = wrap(w.nu[0] - f.error[w.compass])
        w.h[0, w.compass] = 1.0
    fuse(f, w, 1, COMPASS_EVENT)


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
def fuse_landmark(f: Row, w: Row, value: Array, beacons: Array) -> None:
    """Take in range, bearing and identity of one beacon; one without identity is recognised."""
    k = int(value[2])
    if k < 0:
        k = recognise(f, w, value, beacons)
    if 0 <= k < len(beacons) and sight(f, w, value, beacons[k, 0], beacons[k, 1]):
        fuse(f, w, 2, LANDMARK_EVENT)
