"""A cloud of poses with weights that add up to 1: x, y, yaw and weight of each, (particles, 4).

Moved by dead reckoning, which turned by r1, went t and turned by r2, a pose turns, goes and turns,
each a little differently:

    t  + √(slip² way + shift² turned) n        r1, r2  + √((veer² way + turn² turned) / 2) n

way and turned are what was gone and turned altogether, so it is no matter how often one looks.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import (
    PI,
    atan2,
    kernel,
    normal_pair,
    relative_pose,
    sincos,
    uniform_pair,
    wrap,
)
from astray.tables import Array, Row

X, Y, YAW, WEIGHT = range(4)
LITTLE = 1e-3  # m: over a shorter way no direction of it is known
TINY = 1e-18  # m², rad²: of a cloud that is a point
NEAR, NEAR_YAW = 1.0, 0.5  # m, rad: poses that are about where the best is

Spot = tuple[float, float, float, float, float]
Sds = tuple[float, float, float]
Pose = tuple[float, float, float]
Root = tuple[float, float, float, float, float, float]
Stirring = tuple[float, np.uint64]


@kernel
def scatter(cloud: Array, m: Row, sds: Sds, key: np.uint64) -> None:
    """Draw a cloud around the pose in the memory: standard deviations of x, y and yaw."""
    for k in range(len(cloud)):
        a, b = normal_pair(m, key, 2 * k)
        c, _ = normal_pair(m, key, 2 * k + 1)
        cloud[k, X] = m.x + sds[0] * a
        cloud[k, Y] = m.y + sds[1] * b
        cloud[k, YAW] = wrap(m.yaw + sds[2] * c)
        cloud[k, WEIGHT] = 1.0 / len(cloud)
    m.tick += 1


@kernel
def shake(cloud: Array, m: Row, p: Row, spots: tuple[Spot, Spot], key: np.uint64) -> None:
    """Move a cloud as dead reckoning moved from one spot to the next, each pose a little other."""
    a, b = spots
    dx, dy, turn = relative_pose((a[0], a[1], a[2]), (b[0], b[1], b[2]))
    went, first = math.sqrt(dx * dx + dy * dy), 0.0
    if went > LITTLE:
        first = atan2(dy, dx)
        if abs(first) > 0.5 * PI:  # backwards
            first, went = wrap(first + PI), -went
    last = wrap(turn - first)
    way, turned = b[3] - a[3], b[4] - a[4]
    slip, shift = p.slip_density * p.slip_density, p.shift_density * p.shift_density
    veer, twist = p.veer_density * p.veer_density, p.turn_density * p.turn_density
    sd = math.sqrt(max(slip * way + shift * turned, 0.0))
    turn_sd = math.sqrt(max(0.5 * (veer * way + twist * turned), 0.0))
    for k in range(len(cloud)):
        n1, n2 = normal_pair(m, key, 2 * k)
        n3, _ = normal_pair(m, key, 2 * k + 1)
        yaw = cloud[k, YAW] + first + turn_sd * n2
        s, c = sincos(yaw)
        gone = went + sd * n1
        cloud[k, X] += gone * c
        cloud[k, Y] += gone * s
        cloud[k, YAW] = wrap(yaw + last + turn_sd * n3)
    m.tick += 1


@kernel
def best_of(cloud: Array) -> int:
    """The number of the pose with the largest weight."""
    best = 0
    for k in range(1, len(cloud)):
        if cloud[k, WEIGHT] > cloud[best, WEIGHT]:
            best = k
    return best


@kernel
def from_pose(cloud: Array, k: int, at: Pose) -> tuple[bool, float, float, float]:
    """How far a pose of the cloud is from another, and whether the two are about the same."""
    dx, dy, turn = cloud[k, X] - at[0], cloud[k, Y] - at[1], wrap(cloud[k, YAW] - at[2])
    return dx * dx + dy * dy < NEAR * NEAR and abs(turn) < NEAR_YAW, dx, dy, turn


@kernel
def middle_of(cloud: Array) -> Pose:
    """The mean of the poses around the best; others are somewhere else altogether."""
    best = best_of(cloud)
    at = (cloud[best, X], cloud[best, Y], cloud[best, YAW])
    total, x, y, yaw = 0.0, 0.0, 0.0, 0.0
    for k in range(len(cloud)):
        near, dx, dy, turn = from_pose(cloud, k, at)
        if near:
            weight = cloud[k, WEIGHT]
            total += weight
            x += weight * dx
            y += weight * dy
            yaw += weight * turn
    return at[0] + x / total, at[1] + y / total, wrap(at[2] + yaw / total)


@kernel
def root(cloud: Array, at: Pose) -> Root:
    """The Cholesky factor of the covariance of the poses around one, row by row."""
    total, xx, xy, yy = 0.0, 0.0, 0.0, 0.0
    xt, yt, tt = 0.0, 0.0, 0.0
    for k in range(len(cloud)):
        near, dx, dy, turn = from_pose(cloud, k, at)
        if near:
            weight = cloud[k, WEIGHT]
            total += weight
            xx += weight * dx * dx
            xy += weight * dx * dy
            yy += weight * dy * dy
            xt += weight * dx * turn
            yt += weight * dy * turn
            tt += weight * turn * turn
    a = math.sqrt(max(xx / total, TINY))
    b, d = xy / total / a, xt / total / a
    c = math.sqrt(max(yy / total - b * b, TINY))
    e = (yt / total - b * d) / c
    return a, b, c, d, e, math.sqrt(max(tt / total - d * d - e * e, TINY))


@kernel
def stir(cloud: Array, m: Row, at: Pose, spread: Root, how: Stirring) -> None:
    """Let equal poses part a little, so that the mean and covariance around one stay as they are.

    Each pose around it is drawn towards it by √(1 − h²) and then moved by h times the spread
    (Liu and West, 2001).
    """
    h, key = how
    a, b, c, d, e, f = spread
    pull = math.sqrt(1.0 - h * h)
    for k in range(len(cloud)):
        n1, n2 = normal_pair(m, key, 2 * k)
        n3, _ = normal_pair(m, key, 2 * k + 1)
        near, dx, dy, turn = from_pose(cloud, k, at)
        if near:
            cloud[k, X] = at[0] + pull * dx
            cloud[k, Y] = at[1] + pull * dy
            cloud[k, YAW] = at[2] + pull * turn
        cloud[k, X] += h * a * n1
        cloud[k, Y] += h * (b * n1 + c * n2)
        cloud[k, YAW] = wrap(cloud[k, YAW] + h * (d * n1 + e * n2 + f * n3))
    m.tick += 1


@kernel
def summarise(m: Row, cloud: Array, grain: float) -> None:
    """Write the middle of a cloud and its covariance about it to the memory.

    The whole cloud counts for the covariance: a belief that may be elsewhere says so. `grain`, m²,
    is what the field's cells blur.
    """
    m.x, m.y, m.yaw = middle_of(cloud)
    for i in range(3):
        for j in range(3):
            m.cov[i, j] = 0.0
    for k in range(len(cloud)):
        e = (cloud[k, X] - m.x, cloud[k, Y] - m.y, wrap(cloud[k, YAW] - m.yaw))
        for i in range(3):
            for j in range(3):
                m.cov[i, j] += cloud[k, WEIGHT] * e[i] * e[j]
    m.cov[0, 0] += grain
    m.cov[1, 1] += grain


@kernel
def effective(cloud: Array) -> float:
    """How many poses of equal weight would say as much."""
    squares = 0.0
    for k in range(len(cloud)):
        squares += cloud[k, WEIGHT] * cloud[k, WEIGHT]
    return 1.0 / squares


@kernel
def resample(cloud: Array, spare: Array, m: Row, kept: int, key: np.uint64) -> None:
    """Let the first `kept` poses be drawn by weight, evenly spaced; all weights become equal."""
    count = len(cloud)
    for k in range(count):
        for j in range(4):
            spare[k, j] = cloud[k, j]
    at = uniform_pair(m, key, 0)[0]
    m.tick += 1
    k, so_far = 0, spare[0, WEIGHT]
    for j in range(kept):
        goal = (at + j) / kept
        while so_far < goal and k < count - 1:
            k += 1
            so_far += spare[k, WEIGHT]
        for i in range(3):
            cloud[j, i] = spare[k, i]
    for j in range(count):
        cloud[j, WEIGHT] = 1.0 / count
