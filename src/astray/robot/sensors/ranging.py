"""What sensors that cast rays share: the mount, the rays of a cone, and the errors of a range.

A range r is measured as

    r' = r + (sigma + sigma_per_m · r) n        n a standard normal

rounded to the resolution, or lost with the probability of a dropout. What is beyond the longest
range, or lost, reads +inf; what is nearer than the shortest reads −inf (REP 117).
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import inlined_kernel, kernel, normal_pairs, sincos, uniform_pairs
from astray.plugin import Scene
from astray.tables import Array, Row, Rows

DROPOUT_DRAW = 1 << 15  # the first draw that decides about dropouts; those before it are noise
MAX_NOISY_RANGE = 1e9  # m, for noise that grows with the range where nothing was hit


@inlined_kernel
def mount_position(s: Row, p: Row, sine: float, cosine: float) -> tuple[float, float]:
    """The position of a mount in the map, from sine and cosine of the robot's yaw."""
    return s.x + cosine * p.x - sine * p.y, s.y + sine * p.x + cosine * p.y


@kernel
def cone_rays(rays: Array, x: float, y: float, yaw: float, half_angle: float) -> None:
    """The rays (k, 4) that sample a cone: origin and direction; a single ray is its axis."""
    last = len(rays) - 1
    for k in range(last + 1):
        aside = half_angle * (2.0 * k / last - 1.0) if last else 0.0
        ray_sine, ray_cosine = sincos(yaw + aside)
        ray = rays[k]
        ray[0], ray[1], ray[2], ray[3] = x, y, ray_cosine, ray_sine


@kernel
def add_range_errors(ranges: Array, p: Row, s: Row, key: np.uint64, w: Array) -> None:
    """Turn the true ranges of one scan into measured ones; w is (2, half of the ranges or more)."""
    pairs, sigma, per_m, step = (len(ranges) + 1) // 2, p.sigma, p.sigma_per_m, p.resolution
    if sigma + per_m > 0.0:
        normal_pairs(w, s, key, 0, pairs)
        for k in range(len(ranges)):
            # The noise of an infinite range would be infinite, or not a number.
            r = min(ranges[k], MAX_NOISY_RANGE)
            ranges[k] += (sigma + per_m * r) * w[k & 1, k >> 1]
    if step > 0.0:
        for k in range(len(ranges)):
            ranges[k] = np.floor(ranges[k] / step + 0.5) * step
    if p.dropout > 0.0:
        uniform_pairs(w, s, key, DROPOUT_DRAW, pairs)
        for k in range(len(ranges)):
            ranges[k] = math.inf if w[k & 1, k >> 1] < p.dropout else ranges[k]
    for k in range(len(ranges)):
        r = ranges[k]
        r = r if r >= p.min_range else -math.inf
        ranges[k] = r if r <= p.max_range else math.inf


def ray_owners(rows: Rows, scene: Scene, rays: int, sees_robots: bool) -> Array:
    """World and own row of each ray, (len(rows) · rays, 2); row −1 if robots are not seen."""
    owners = np.empty((len(rows) * rays, 2), np.int64)
    owners[:, 0] = np.repeat(scene.worlds[rows], rays)
    owners[:, 1] = np.repeat(scene.first_row + rows, rays) if sees_robots else -1
    return owners
