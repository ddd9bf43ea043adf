"""How an error-state filter goes on in time: by its IMU, or by its wheels where it has none.

With F the derivative of the moving states, and noise of power q_j that drives them along g_j,

    P ← F P Fᵀ + Σ q_j g_j g_jᵀ

By wheels the move (u, v, w) and its derivatives are those of `spread.py`, with the estimated errors
of the wheels taken off. By an IMU, with h half the turn of a step dt, the velocity of the mount
goes by V ← R(−2h) V + R(−h) a dt, which is exact for readings that are means; a robot that cannot
go sideways keeps vy = 0, and its speed changes by a_x dt / cos h.

What a derivative leaves out is small, but so is what such a filter is unsure of: an error of the
heading leads aside by the true speed, not by the believed one. Errors δv and δyaw that last lead
aside by ∫ δv δyaw dt, of the standard deviation Σ √(P_vv P_yy + P_vy²) dt, which counts as noise;
it shrinks as those two do when they are corrected.

Between two readings of what it goes by, the filter goes on as it last did; the next reading then
makes up for the difference.
"""

from __future__ import annotations

import math

from astray.numerics import arc, clothoid_step, exp, kernel, sincos, tan
from astray.robot.estimators.ekf.recovery import go_anywhere
from astray.robot.estimators.ekf.state import ACROSS, ALONG, TURN, VX, VY, YAW, X, Y
from astray.tables import WHEELS_PER_ROBOT, Row

Three = tuple[float, float, float]


@kernel
def carry(f: Row, w: Row) -> None:
    """F P Fᵀ + Σ q g gᵀ: F differs from the identity in the rows of the moving states only."""
    n, moved = w.states, w.moved
    for r in range(moved):
        for j in range(n):
            w.block[r, j] = 0.0
        for i in range(n):
            factor = w.jac[r, i]
            if factor != 0.0:
                for j in range(n):
                    w.block[r, j] += factor * f.cov[i, j]
    for r in range(moved):
        for j in range(moved, n):
            f.cov[r, j] = w.block[r, j]
            f.cov[j, r] = w.block[r, j]
        for c in range(r + 1):
            total = 0.0
            for i in range(n):
                total += w.block[r, i] * w.jac[c, i]
            for q in range(WHEELS_PER_ROBOT):
                total += w.power[q] * w.drive[r, q] * w.drive[c, q]
            f.cov[r, c] = total
            f.cov[c, r] = total


@kernel
def clear(w: Row) -> None:
    """Let F be the identity, with no noise."""
    for r in range(w.moved):
        for i in range(w.states):
            w.jac[r, i] = 1.0 if r == i else 0.0
        for q in range(WHEELS_PER_ROBOT):
            w.drive[r, q] = 0.0
    for q in range(WHEELS_PER_ROBOT):
        w.power[q] = 0.0


@kernel
def age(f: Row, w: Row, elapsed: float) -> None:
    """Let the lasting errors walk, and forget themselves where they do."""
    for i in range(w.moved, w.states):
        if w.tau[i] < math.inf:
            keep = exp(-elapsed / w.tau[i])
            f.error[i] *= keep
            for j in range(w.states):
                f.cov[i, j] *= keep
                f.cov[j, i] *= keep
            f.cov[i, i] += w.sd[i] * w.sd[i] * (1.0 - keep * keep)
        f.cov[i, i] += w.walk[i] * w.walk[i] * elapsed


@kernel
def rolled(f: Row, w: Row) -> Three:
    """Note what each wheel rolls up to the goal, as the filter believes; what the body moves."""
    along, across, around = 0.0, 0.0, 0.0
    for k in range(WHEELS_PER_ROBOT):
        way = (w.goal[k] - f.angle[k]) * w.radius
        if w.wheel[k] >= 0:
            way *= 1.0 + f.error[w.wheel[k]]
        w.rolled[k] = way
        along += w.along[k] * way
        across += w.across[k] * way
        around += w.around[k] * way
    arm = w.arm * (1.0 + f.error[w.arm_error]) if w.arm_error >= 0 else w.arm
    return along, across, around / arm


@kernel
def blame_wheels(f: Row, w: Row, move: Three) -> None:
    """The derivative of a move by wheels, and what their slip does to it."""
    u, v, turn = move
    clear(w)
    s, c = sincos(f.yaw + 0.5 * turn)
    to_x, to_y = -(s * u + c * v), c * u - s * v
    w.jac[X, YAW], w.jac[Y, YAW] = to_x, to_y
    for k in range(WHEELS_PER_ROBOT):
        turning = w.around[k] / w.arm
        w.drive[X, k] = w.along[k] * c - w.across[k] * s + 0.5 * to_x * turning
        w.drive[Y, k] = w.along[k] * s + w.across[k] * c + 0.5 * to_y * turning
        w.drive[YAW, k] = turning
        w.power[k] = w.slip_density * w.slip_density * abs(w.rolled[k])
        place = w.wheel[k]
        if place >= 0:
            w.jac[X, place] = w.drive[X, k] * w.rolled[k]
            w.jac[Y, place] = w.drive[Y, k] * w.rolled[k]
            w.jac[YAW, place] = turning * w.rolled[k]
    if w.arm_error >= 0:
        w.jac[X, w.arm_error] = -0.5 * to_x * turn
        w.jac[Y, w.arm_error] = -0.5 * to_y * turn
        w.jac[YAW, w.arm_error] = -turn


@kernel
def roll(f: Row, w: Row, steer: float, stamp: float) -> None:
    """Go on by wheels, up to the angles in the goal and to a stamp."""
    elapsed = stamp - f.stamp
    move = rolled(f, w)
    u, v, turn = move
    blame_wheels(f, w, move)
    carry(f, w)
    if f.lost:
        go_anywhere(f, math.sqrt(u * u + v * v))
    if w.wheelbase > 0.0:
        change = (tan(steer) - tan(f.steer)) / w.wheelbase
        f.x, f.y, f.yaw = clothoid_step((f.x, f.y, f.yaw), u, turn, change)
    else:
        f.x, f.y, f.yaw = arc((f.x, f.y, f.yaw), u, v, turn)
    if elapsed > 0.0:
        age(f, w, elapsed)
    for k in range(WHEELS_PER_ROBOT):
        f.angle[k] = w.goal[k]
    f.steer, f.stamp = steer, stamp


@kernel
def look_at_rates(f: Row, w: Row) -> None:
    """The velocity of a body whose wheels turn at the rates that were last read."""
    for k in range(WHEELS_PER_ROBOT):
        w.goal[k] = f.angle[k] + f.rate[k]
    f.vx, f.vy, f.wz = rolled(f, w)


@kernel
def velocity_after(f: Row, w: Row, felt: Three, dt: float) -> tuple[float, float]:
    """The body's velocity after a step of turn rate and acceleration at the mount."""
    wz, ax, ay = felt
    s, c = sincos(0.5 * wz * dt)
    if not w.sideways:
        lever = 2.0 * s * wz * w.imu_x  # the mount is carried around
        return f.vx + (ax * dt + lever) / c + (wz - f.wz) * w.imu_y, 0.0
    along, across = f.vx - f.wz * w.imu_y, f.vy + f.wz * w.imu_x
    along, across = c * along + s * across + ax * dt, c * across - s * along + ay * dt
    along, across = c * along + s * across, c * across - s * along
    return along + wz * w.imu_y, across - wz * w.imu_x


@kernel
def blame_gyro(w: Row, place: int, dt: float) -> None:
    """The derivative by a bias of the rate: as that of noise of the turn, over a whole step."""
    for r in range(w.moved):
        w.jac[r, place] -= w.drive[r, 0] * dt


@kernel
def blame_accel(w: Row, place: int, dt: float) -> None:
    """The derivatives by the biases of both accelerations: noise of the velocity, over a step."""
    for r in range(w.moved):
        w.jac[r, place] -= w.drive[r, 1] * dt
        w.jac[r, place + 1] -= w.drive[r, 2] * dt


@kernel
def blame_imu(f: Row, w: Row, after: tuple[float, float], wz: float, dt: float) -> None:
    """The derivative of a step by an IMU, and what its noise does to it."""
    clear(w)
    s, c = sincos(f.yaw + 0.5 * wz * dt)
    u, v = 0.5 * (f.vx + after[0]) * dt, 0.5 * (f.vy + after[1]) * dt
    to_x, to_y = -(s * u + c * v), c * u - s * v
    w.jac[X, YAW], w.jac[Y, YAW] = to_x, to_y
    w.jac[X, VX], w.jac[Y, VX], w.jac[ALONG, VX] = c * dt, s * dt, dt
    w.drive[X, 0], w.drive[Y, 0] = 0.5 * to_x, 0.5 * to_y
    w.drive[YAW, 0] = w.drive[TURN, 0] = 1.0
    w.drive[X, 1], w.drive[Y, 1] = 0.5 * c * dt, 0.5 * s * dt
    w.drive[VX, 1], w.drive[ALONG, 1] = 1.0, 0.5 * dt
    if w.sideways:
        sine, cosine = sincos(wz * dt)
        w.jac[X, VY], w.jac[Y, VY], w.jac[ACROSS, VY] = -s * dt, c * dt, dt
        w.jac[VX, VX], w.jac[VX, VY] = cosine, sine
        w.jac[VY, VX], w.jac[VY, VY] = -sine, cosine
        w.drive[VX, 0], w.drive[VY, 0] = after[1], -after[0]
        w.drive[X, 2], w.drive[Y, 2] = -0.5 * s * dt, 0.5 * c * dt
        w.drive[VY, 2], w.drive[ACROSS, 2] = 1.0, 0.5 * dt
    if w.gyro >= 0:
        blame_gyro(w, w.gyro, dt)
    if w.gyro_drift >= 0:
        blame_gyro(w, w.gyro_drift, dt)
    if w.gyro_scale >= 0:
        blame_gyro(w, w.gyro_scale, wz * dt)
    if w.accel >= 0:
        blame_accel(w, w.accel, dt)
    if w.accel_drift >= 0:
        blame_accel(w, w.accel_drift, dt)
    w.power[0] = w.gyro_density * w.gyro_density * dt
    w.power[1] = w.accel_density * w.accel_density * dt
    w.power[2] = w.power[1]


@kernel
def unbiased(f: Row, w: Row, felt: Three) -> Three:
    """A reading in the body's axes with the estimated biases taken off."""
    wz, ax, ay = felt
    if w.gyro >= 0:
        wz -= f.error[w.gyro]
    if w.gyro_drift >= 0:
        wz -= f.error[w.gyro_drift]
    if w.gyro_scale >= 0:
        wz /= 1.0 + f.error[w.gyro_scale]
    if w.accel >= 0:
        ax -= f.error[w.accel]
        ay -= f.error[w.accel + 1]
    if w.accel_drift >= 0:
        ax -= f.error[w.accel_drift]
        ay -= f.error[w.accel_drift + 1]
    return wz, ax, ay


@kernel
def lead_aside(f: Row, dt: float) -> None:
    """Add what errors of speed and heading do together, which no derivative has."""
    both = f.cov[VX, YAW] * f.cov[VX, YAW]
    rate = math.sqrt(max(0.0, f.cov[VX, VX] * f.cov[YAW, YAW] + both))
    if rate < f.bending:
        f.bent *= rate / f.bending
    f.bending = rate
    grown = f.bent + rate * dt
    power = grown * grown - f.bent * f.bent
    f.bent = grown
    s, c = sincos(f.yaw)
    f.cov[X, X] += s * s * power
    f.cov[Y, Y] += c * c * power
    f.cov[X, Y] -= s * c * power
    f.cov[Y, X] = f.cov[X, Y]


@kernel
def integrate(f: Row, w: Row, felt: Three, stamp: float) -> None:
    """Go on by an IMU to a stamp, with the mean rate and acceleration until then."""
    dt = stamp - f.stamp
    free = unbiased(f, w, felt)
    wz = free[0]
    after = velocity_after(f, w, free, dt)
    blame_imu(f, w, after, wz, dt)
    carry(f, w)
    lead_aside(f, dt)
    age(f, w, dt)
    u, v = 0.5 * (f.vx + after[0]) * dt, 0.5 * (f.vy + after[1]) * dt
    if f.lost:
        go_anywhere(f, math.sqrt(u * u + v * v))
    f.x, f.y, f.yaw = arc((f.x, f.y, f.yaw), u, v, wz * dt)
    f.along += u
    f.across += v
    f.turn += wz * dt
    f.vx, f.vy, f.wz = after[0], after[1], wz
    f.stamp = stamp


@kernel
def feel(f: Row, w: Row, felt: Three, stamp: float) -> None:
    """Go on by a reading of the IMU: of what it says, the filter may have foreseen a part."""
    dt = stamp - f.stamp
    if f.begun and dt > 0.0:
        share = (stamp - f.felt) / dt
        wz = felt[0] * share - f.held[0] * (share - 1.0)
        ax = felt[1] * share - f.held[1] * (share - 1.0)
        ay = felt[2] * share - f.held[2] * (share - 1.0)
        integrate(f, w, (wz, ax, ay), stamp)
    elif not f.begun:
        f.wz, f.stamp = unbiased(f, w, felt)[0], stamp
    f.held[0], f.held[1], f.held[2] = felt
    f.begun, f.felt = True, stamp


@kernel
def go_on(f: Row, w: Row, stamp: float) -> None:
    """Go on to a stamp for which there is no reading yet, as the filter last did."""
    if not stamp > f.stamp or not f.begun:
        return
    if w.moved > YAW + 1:
        integrate(f, w, (f.held[0], f.held[1], f.held[2]), stamp)
        return
    for k in range(WHEELS_PER_ROBOT):
        w.goal[k] = f.angle[k] + f.rate[k] * (stamp - f.stamp)
    roll(f, w, f.steer, stamp)
