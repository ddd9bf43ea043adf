"""Particle set: poses with weights that sum to 1: x, y, yaw and weight of each, (particles, 4).

The odometry motion model (Thrun, Burgard and Fox, Probabilistic Robotics, 2005, section 5.4): dead
reckoning turned by r1, moved by t and turned by r2. Each particle does so with errors of its own

    t  + √(slip² path + shift² rotation) n       r1, r2  + √((veer² path + turn² rotation) / 2) n

with standard normals n. Path and rotation are summed up over the motion, so the errors do not
depend on how often the particles are moved.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from astray.numerics import (
    PI,
    Pose,
    atan2,
    kernel,
    normal_pair,
    relative_pose,
    sincos,
    uniform_pair,
    wrap,
)
from astray.robot.estimators.mcl.odometry_buffer import OdometryPose
from astray.tables import Array, Row

X, Y, YAW, WEIGHT = range(4)
MIN_TRANSLATION = 1e-3  # m; a shorter one has no direction
MIN_VARIANCE = 1e-18  # m², rad²: of particles at one point
MODE_RADIUS, MODE_YAW = 1.0, 0.5  # m, rad: particles that belong to the mode of the best one


@kernel
def draw_particles(
    particles: Array, memory: Row, sd: tuple[float, float, float], key: np.uint64
) -> None:
    """Draw particles around the pose in the memory: standard deviations of x, y and yaw."""
    for k in range(len(particles)):
        a, b = normal_pair(memory, key, 2 * k)
        c, _ = normal_pair(memory, key, 2 * k + 1)
        particles[k, X] = memory.x + sd[0] * a
        particles[k, Y] = memory.y + sd[1] * b
        particles[k, YAW] = wrap(memory.yaw + sd[2] * c)
        particles[k, WEIGHT] = 1.0 / len(particles)
    memory.tick += 1


@kernel
def sample_motion(
    particles: Array, memory: Row, p: Row, a: OdometryPose, b: OdometryPose, key: np.uint64
) -> None:
    """Move each particle as dead reckoning moved from a to b, with a sample of its errors."""
    dx, dy, turn = relative_pose((a.x, a.y, a.yaw), (b.x, b.y, b.yaw))
    translation, first_turn = math.sqrt(dx * dx + dy * dy), 0.0
    if translation > MIN_TRANSLATION:
        first_turn = atan2(dy, dx)
        if abs(first_turn) > 0.5 * PI:  # backwards
            first_turn, translation = wrap(first_turn + PI), -translation
    last_turn = wrap(turn - first_turn)
    path, rotation = b.path - a.path, b.rotation - a.rotation
    slip, shift = p.slip_density * p.slip_density, p.shift_density * p.shift_density
    veer, twist = p.veer_density * p.veer_density, p.turn_density * p.turn_density
    sd = math.sqrt(max(slip * path + shift * rotation, 0.0))
    turn_sd = math.sqrt(max(0.5 * (veer * path + twist * rotation), 0.0))
    for k in range(len(particles)):
        n1, n2 = normal_pair(memory, key, 2 * k)
        n3, _ = normal_pair(memory, key, 2 * k + 1)
        yaw = particles[k, YAW] + first_turn + turn_sd * n2
        s, c = sincos(yaw)
        distance = translation + sd * n1
        particles[k, X] += distance * c
        particles[k, Y] += distance * s
        particles[k, YAW] = wrap(yaw + last_turn + turn_sd * n3)
    memory.tick += 1


# Statistics.


@kernel
def most_likely(particles: Array) -> int:
    """The index of the particle with the largest weight."""
    best = 0
    for k in range(1, len(particles)):
        if particles[k, WEIGHT] > particles[best, WEIGHT]:
            best = k
    return best


@kernel
def offset_from(particles: Array, k: int, pose: Pose) -> tuple[bool, float, float, float]:
    """Whether a particle belongs to the mode around a pose, and its offset from the pose."""
    dx, dy = particles[k, X] - pose[0], particles[k, Y] - pose[1]
    turn = wrap(particles[k, YAW] - pose[2])
    is_near = dx * dx + dy * dy < MODE_RADIUS * MODE_RADIUS and abs(turn) < MODE_YAW
    return is_near, dx, dy, turn


@kernel
def mode_mean(particles: Array) -> Pose:
    """The mean of the mode around the most likely particle."""
    best = most_likely(particles)
    at = (particles[best, X], particles[best, Y], particles[best, YAW])
    total, x, y, yaw = 0.0, 0.0, 0.0, 0.0
    for k in range(len(particles)):
        is_near, dx, dy, turn = offset_from(particles, k, at)
        if is_near:
            weight = particles[k, WEIGHT]
            total += weight
            x += weight * dx
            y += weight * dy
            yaw += weight * turn
    return at[0] + x / total, at[1] + y / total, wrap(at[2] + yaw / total)


class Cholesky3(NamedTuple):
    """The lower triangular factor L of a covariance L Lᵀ of x, y and yaw."""

    xx: float
    yx: float
    yy: float
    tx: float
    ty: float
    tt: float


@kernel
def mode_cholesky(particles: Array, mean: Pose) -> Cholesky3:
    """The Cholesky factor of the covariance of the mode around a mean."""
    total, xx, xy, yy = 0.0, 0.0, 0.0, 0.0
    xt, yt, tt = 0.0, 0.0, 0.0
    for k in range(len(particles)):
        is_near, dx, dy, turn = offset_from(particles, k, mean)
        if is_near:
            weight = particles[k, WEIGHT]
            total += weight
            xx += weight * dx * dx
            xy += weight * dx * dy
            yy += weight * dy * dy
            xt += weight * dx * turn
            yt += weight * dy * turn
            tt += weight * turn * turn
    l_xx = math.sqrt(max(xx / total, MIN_VARIANCE))
    l_yx, l_tx = xy / total / l_xx, xt / total / l_xx
    l_yy = math.sqrt(max(yy / total - l_yx * l_yx, MIN_VARIANCE))
    l_ty = (yt / total - l_yx * l_tx) / l_yy
    l_tt = math.sqrt(max(tt / total - l_tx * l_tx - l_ty * l_ty, MIN_VARIANCE))
    return Cholesky3(l_xx, l_yx, l_yy, l_tx, l_ty, l_tt)


@kernel
def add_spread(memory: Row, particles: Array, share: float) -> None:
    """Mix the covariance in the memory with that of particles about its pose, which get a share."""
    cov = memory.cov
    for i in range(3):
        for j in range(3):
            cov[i, j] *= 1.0 - share
    for k in range(len(particles)):
        dx, dy = particles[k, X] - memory.x, particles[k, Y] - memory.y
        error = (dx, dy, wrap(particles[k, YAW] - memory.yaw))
        weight = share * particles[k, WEIGHT]
        for i in range(3):
            for j in range(3):
                cov[i, j] += weight * error[i] * error[j]


@kernel
def estimate_pose(memory: Row, particles: Array, cell_variance: float) -> None:
    """Write the mean of the best mode, and the covariance of all particles about it, to the memory.

    All particles count for the covariance: a belief that may be elsewhere has a large one.
    `cell_variance`, m², is that of a position within a cell of the likelihood field.
    """
    memory.x, memory.y, memory.yaw = mode_mean(particles)
    for i in range(3):
        for j in range(3):
            memory.cov[i, j] = 0.0
    add_spread(memory, particles, 1.0)
    memory.cov[0, 0] += cell_variance
    memory.cov[1, 1] += cell_variance


@kernel
def effective_sample_size(particles: Array) -> float:
    """How many particles of equal weight would be worth as much."""
    squares = 0.0
    for k in range(len(particles)):
        squares += particles[k, WEIGHT] * particles[k, WEIGHT]
    return 1.0 / squares


# Resampling.


@kernel
def copy_particles(out: Array, particles: Array) -> None:
    """Copy poses and weights."""
    for k in range(len(particles)):
        for j in range(4):
            out[k, j] = particles[k, j]


@kernel
def resample(particles: Array, spare: Array, memory: Row, kept: int, key: np.uint64) -> None:
    """Systematic (low variance) resampling into the first `kept` particles; weights become equal.

    Thrun, Burgard and Fox, 2005, table 4.4.
    """
    count = len(particles)
    copy_particles(spare, particles)
    offset = uniform_pair(memory, key, 0)[0]
    memory.tick += 1
    k, cumulative = 0, spare[0, WEIGHT]
    for j in range(kept):
        target = (offset + j) / kept
        while cumulative < target and k < count - 1:
            k += 1
            cumulative += spare[k, WEIGHT]
        for i in range(3):
            particles[j, i] = spare[k, i]
    for j in range(count):
        particles[j, WEIGHT] = 1.0 / count


@kernel
def regularise(
    particles: Array, memory: Row, mean: Pose, root: Cholesky3, bandwidth: float, key: np.uint64
) -> None:
    """Separate equal particles by kernel noise; mean and covariance of the mode stay the same.

    Each particle of the mode is drawn towards its mean by √(1 − h²), and noise of h times the
    standard deviation is added, with the bandwidth h (Liu and West, 2001).
    """
    shrink = math.sqrt(1.0 - bandwidth * bandwidth)
    for k in range(len(particles)):
        n1, n2 = normal_pair(memory, key, 2 * k)
        n3, _ = normal_pair(memory, key, 2 * k + 1)
        is_near, dx, dy, turn = offset_from(particles, k, mean)
        if is_near:
            particles[k, X] = mean[0] + shrink * dx
            particles[k, Y] = mean[1] + shrink * dy
            particles[k, YAW] = mean[2] + shrink * turn
        particles[k, X] += bandwidth * root.xx * n1
        particles[k, Y] += bandwidth * (root.yx * n1 + root.yy * n2)
        noise = bandwidth * (root.tx * n1 + root.ty * n2 + root.tt * n3)
        particles[k, YAW] = wrap(particles[k, YAW] + noise)
    memory.tick += 1
