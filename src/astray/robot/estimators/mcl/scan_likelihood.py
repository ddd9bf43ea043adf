"""How well a scan fits a pose: by a likelihood field (Thrun, Burgard and Fox, 2005).

A beam ends d from the nearest wall of the map. Over the best that it could be, its likelihood is

    q(d) = (hit exp(−d² / 2 sigma²) + (1 − hit) / max_range) / (hit + (1 − hit) / max_range)

Beams of one scan err together, so the product of theirs is tempered: w = (Π q)^temper. A pose is
thrown by looking at many places of the floor with a blurred q, and climbing from the best of them.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import (
    PI,
    TAU,
    arc,
    exp,
    inlined_kernel,
    kernel,
    log,
    normal_pair,
    sincos,
    uniform_pair,
    wrap,
)
from astray.tables import Array, Row
from astray.world.planning import DISTANCE_STEP, MAX_STEPS, LikelihoodFieldArrays

SHARP, BLURRED = 0, 1
BLUR = 3.0  # times sigma: how wide a place attracts poses that are thrown
ENOUGH = 0.2  # of the poses
HALVINGS = 5  # to find a power of the fit
CLIMBS = 48  # steps from the best place to its summit
CLIMB, CLIMB_YAW = 0.3, 0.15  # m, rad: the first of them; the last is a tenth of it

Mount = tuple[float, float, float]
Shot = tuple[Array, int, Array]
"""The ends of beams in the body frame, (beams, 2) m; how many; and the tables of log q."""
Ground = tuple[LikelihoodFieldArrays, int]
"""The fields of the maps, and the number of this one."""


@kernel
def tabulate(q: Array, p: Row, max_range: float) -> None:
    """Write log q for every distance, (2, FAR + 1): sharp and blurred."""
    for blurred in range(2):
        sigma = p.sigma * (BLUR if blurred == BLURRED else 1.0)
        rest = (1.0 - p.hit) / max_range
        best = p.hit + rest
        for k in range(MAX_STEPS + 1):
            d = k * DISTANCE_STEP / sigma
            near = p.hit * exp(-0.5 * d * d) if k < MAX_STEPS else 0.0
            q[blurred, k] = log((near + rest) / best)


@kernel
def aim(ends: Array, ranges: Array, o: Row, b: Row, mount: Mount) -> int:
    """Write where beams, evenly chosen, ended in the body frame at the stamp; how many did.

    A beam of a scanner that turns was cast some time before, from where the body then was.
    """
    rays, beams, count = len(ranges), len(ends), 0
    for k in range(beams):
        ray = k * (rays - 1) // max(beams - 1, 1)
        r = ranges[ray]
        if not (o.min_range <= r < o.max_range):
            continue
        s, c = sincos(mount[2] + o.start + ray * o.step)
        x, y = mount[0] + r * c, mount[1] + r * s
        if o.duration > 0.0:
            ago = o.duration * (rays - 1 - ray) / rays
            then = arc((0.0, 0.0, 0.0), -b.vx * ago, -b.vy * ago, -b.wz * ago)
            s, c = sincos(then[2])
            x, y = then[0] + c * x - s * y, then[1] + s * x + c * y
        ends[count, 0], ends[count, 1] = x, y
        count += 1
    return count


@inlined_kernel
def fit(x: float, y: float, yaw: float, shot: Shot, ground: Ground, table: int) -> float:
    """The sum of log q over the beams of a scan from a pose."""
    ends, count, q = shot
    fields, number = ground
    f, steps = fields.fields[number], fields.steps
    per = 1.0 / f.cell  # all in cells from here: this is the innermost loop
    s, c = sincos(yaw)
    s, c, x, y = s * per, c * per, (x - f.x) * per, (y - f.y) * per
    first, wide, far = f.first, f.width, q[table, MAX_STEPS]
    right, top = float(f.width), float(f.height)
    total = 0.0
    for k in range(count):
        u = x + c * ends[k, 0] - s * ends[k, 1]
        v = y + s * ends[k, 0] + c * ends[k, 1]
        # Bounds are compared as floats: what is inside can then be cut off, which needs no floor.
        inside = 0.0 <= u < right and 0.0 <= v < top
        at = first + int(v) * wide + int(u) if inside else 0
        total += q[table, steps[at]] if inside else far
    return total


@kernel
def fit_all(fits: Array, cloud: Array, shot: Shot, ground: Ground) -> None:
    """How well each pose of a cloud fits a scan, less the best of them."""
    most = -math.inf
    for k in range(len(cloud)):
        fits[k] = fit(cloud[k, 0], cloud[k, 1], cloud[k, 2], shot, ground, SHARP)
        most = max(most, fits[k])
    for k in range(len(cloud)):
        fits[k] -= most


@kernel
def survivors(cloud: Array, fits: Array, power: float) -> float:
    """How many poses of equal weight would say as much, once weighed with a power of the fit."""
    total, squares = 0.0, 0.0
    for k in range(len(cloud)):
        weight = cloud[k, 3] * exp(power * fits[k])
        total += weight
        squares += weight * weight
    return total * total / squares


@kernel
def bearable(cloud: Array, fits: Array, most: float) -> float:
    """The largest power of the fit, up to the most, that leaves enough poses to speak of."""
    enough = ENOUGH * len(cloud)
    if survivors(cloud, fits, most) >= enough:
        return most
    low, high = 0.0, most
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if survivors(cloud, fits, middle) >= enough:
            low = middle
        else:
            high = middle
    return high


@kernel
def weigh(cloud: Array, fits: Array, power: float) -> None:
    """Multiply the weights by a power of the fit."""
    total = 0.0
    for k in range(len(cloud)):
        cloud[k, 3] *= exp(power * fits[k])
        total += cloud[k, 3]
    for k in range(len(cloud)):
        cloud[k, 3] /= total


@kernel
def throw(pose: Array, m: Row, shot: Shot, ground: Ground, tries: int, key: np.uint64) -> None:
    """Put one pose onto the floor where the scan fits: the best of some places, and its summit."""
    fields, number = ground
    f = fields.fields[number]
    best = -math.inf
    for k in range(tries):
        u, v = uniform_pair(m, key, k)
        cell = fields.floor[f.first_floor + min(int(u * f.floors), f.floors - 1)]
        x = f.x + (cell % f.width + 0.5) * f.cell
        y = f.y + (cell // f.width + 0.5) * f.cell
        yaw = TAU * v - PI
        here = fit(x, y, yaw, shot, ground, BLURRED)
        if here > best:
            best = here
            pose[0], pose[1], pose[2] = x, y, yaw
    best = fit(pose[0], pose[1], pose[2], shot, ground, SHARP)
    for k in range(CLIMBS):
        shrink = 1.0 - 0.9 * k / CLIMBS
        a, b = normal_pair(m, key, tries + 2 * k)
        c, _ = normal_pair(m, key, tries + 2 * k + 1)
        x, y = pose[0] + CLIMB * shrink * a, pose[1] + CLIMB * shrink * b
        yaw = wrap(pose[2] + CLIMB_YAW * shrink * c)
        here = fit(x, y, yaw, shot, ground, SHARP)
        if here > best:
            best = here
            pose[0], pose[1], pose[2] = x, y, yaw
    m.tick += 1
