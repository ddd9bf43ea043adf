"""What a filter expects wheels, fixes and compass to say, and how that depends on its state.

With an IMU the wheels are compared with the way that it has led since they were last read. A wheel
that rolled d metres by the filter's reckoning turned by d / (1 + error) of its radius, and a little
more or less by slip; the turn is further apart by the error of the arm. A robot that does not slide
goes nowhere sideways.

A fix is of the antenna, p + Rot(yaw) l, with an error that lasts and another that is white.
"""

from __future__ import annotations

import math

from astray.numerics import kernel, sincos, wrap
from astray.robot.estimators.ekf.recovery import forget_fixes, note_fix, turn_back
from astray.robot.estimators.ekf.state import (
    ACROSS,
    ALONG,
    COMPASS_EVENT,
    FIX_EVENT,
    TURN,
    VELOCITY,
    VX,
    VY,
    WHEELS_EVENT,
    WHICH,
    YAW,
    X,
    Y,
)
from astray.robot.estimators.ekf.update import (
    admit,
    aim,
    apply,
    fuse,
    is_tired,
    refuse,
    weigh,
    yield_to,
)
from astray.tables import WHEELS_PER_ROBOT, Array, Row

LEAST_WHITE = 0.05  # share of a claimed variance that is white, whatever is said to last


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
def compare_fix(f: Row, w: Row, value: Array) -> tuple[float, float]:
    """Compare a fix of an antenna, x, y, and their covariance xx, xy, yy, with the filter; which
    one comes last. Where the antenna should be.
    """
    aim(w)
    k = int(value[WHICH])
    s, c = sincos(f.yaw)
    x, y = c * w.antenna_x[k] - s * w.antenna_y[k], s * w.antenna_x[k] + c * w.antenna_y[k]
    w.nu[0], w.nu[1] = value[0] - f.x - x, value[1] - f.y - y
    w.h[0, X] = w.h[1, Y] = 1.0
    w.h[0, YAW], w.h[1, YAW] = -y, x
    xx, xy, yy = value[2], value[3], value[4]
    if not (xx > 0.0 and yy > 0.0):
        xx, xy, yy = w.fix_variance, 0.0, w.fix_variance
    w.noise[0, 0] = max(xx - w.drift_variance[k], LEAST_WHITE * xx)
    w.noise[1, 1] = max(yy - w.drift_variance[k], LEAST_WHITE * yy)
    w.noise[0, 1] = w.noise[1, 0] = xy
    drift = w.fix[k]
    if drift >= 0:
        w.nu[0] -= f.error[drift]
        w.nu[1] -= f.error[drift + 1]
        w.h[0, drift] = w.h[1, drift + 1] = 1.0
    return f.x + x, f.y + y


@kernel
def fuse_fix(f: Row, w: Row, value: Array) -> None:
    """Take in a fix, unless it is too unlikely; go there if such fixes agree for long enough."""
    place = compare_fix(f, w, value)
    nis = weigh(f, w, 2)
    if nis <= w.gate[2] and not f.lost:
        admit(f, w, 2, FIX_EVENT, nis)
        forget_fixes(f)
        return
    drift, white = w.fix[int(value[WHICH])], max(w.noise[0, 0], w.noise[1, 1])
    spread, tau = white, math.inf
    if drift >= 0:
        spread, tau = white + w.sd[drift] * w.sd[drift], w.tau[drift]
    goes_with = note_fix(f, place, (value[0], value[1]), spread, tau)
    refuse(f, FIX_EVENT)
    if not goes_with or not (f.lost or is_tired(f, w, FIX_EVENT, 1.0)):
        return
    if w.headed:
        yield_to(f, w, 2, FIX_EVENT)
        forget_fixes(f)
        return
    turn_back(f, w, white, drift)
    place = compare_fix(f, w, value)
    weigh(f, w, 2)
    if f.lost:
        w.taught = YAW
    apply(f, w, 2)
    if f.lost:
        after = compare_fix(f, w, value)
        f.led[0] += after[0] - place[0]
        f.led[1] += after[1] - place[1]
    else:
        forget_fixes(f)
        f.refused[FIX_EVENT] = 0


@kernel
def fuse_velocity(f: Row, w: Row, value: Array) -> None:
    """Take in the velocity of an antenna in the map, with the standard deviation behind it."""
    aim(w)
    k, sd = int(value[WHICH]), value[7]
    s, c = sincos(f.yaw)
    along, across = f.vx - f.wz * w.antenna_y[k], f.vy + f.wz * w.antenna_x[k]
    x, y = c * along - s * across, s * along + c * across
    w.nu[0], w.nu[1] = value[5] - x, value[6] - y
    w.h[0, YAW], w.h[1, YAW] = -y, x
    w.h[0, VX], w.h[1, VX] = c, s
    if w.sideways:
        w.h[0, VY], w.h[1, VY] = -s, c
    w.noise[0, 0] = w.noise[1, 1] = sd * sd
    fuse(f, w, 2, VELOCITY)


@kernel
def fuse_compass(f: Row, w: Row, value: Array) -> None:
    """Take in a heading and its standard deviation; which compass comes last."""
    aim(w)
    yaw, sd, k = value[0], value[1], int(value[WHICH])
    w.nu[0] = wrap(yaw - f.yaw)
    w.h[0, YAW] = 1.0
    variance = sd * sd if sd > 0.0 else w.compass_variance
    w.noise[0, 0] = max(variance - w.compass_modelled[k], LEAST_WHITE * variance)
    if w.compass[k] >= 0:
        w.nu[0] = wrap(w.nu[0] - f.error[w.compass[k]])
        w.h[0, w.compass[k]] = 1.0
    fuse(f, w, 1, COMPASS_EVENT)
