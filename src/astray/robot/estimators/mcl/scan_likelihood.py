"""Scan likelihood: how well a scan fits a pose, by a likelihood field.

Thrun, Burgard and Fox, Probabilistic Robotics, 2005, section 6.4. A beam ends d from the nearest
wall of the map. Relative to the best case, its likelihood is

    q(d) = (hit exp(−d² / 2 sigma²) + (1 − hit) / max_range) / (hit + (1 − hit) / max_range)

The beams of a scan have correlated errors, so their product is tempered: w = (Π q)^temper. A
particle is injected from a scan: the best of many poses on the floor by a blurred q, then the top
of the likelihood near it by a random search.

Whether a robot is elsewhere is asked of another model, in which something new cuts beams short as
likely as not: people, furniture, a part of the building that the map lacks. Nothing new lets a beam
pass a wall of the map. So the log likelihood of a beam that passes none is at least SHORT.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from astray.numerics import (
    PI,
    TAU,
    Pose,
    arc,
    compose,
    exp,
    inlined_kernel,
    kernel,
    log,
    normal_pair,
    sincos,
    uniform_pair,
    wrap,
)
from astray.robot.estimators.mcl.particle_set import WEIGHT, YAW, X, Y
from astray.tables import Array, Row
from astray.world.planning import DISTANCE_STEP, MAX_STEPS, LikelihoodFieldArrays

SHARP, BLURRED, ROBUST = 0, 1, 2
"""The tables of log q: as given, of a larger sigma, in which a wide area attracts, and as given but
at least LEAST, for scans of which many beams may end at what the map lacks."""
TABLES = 3
LEAST = -1.0  # log q of a beam in the robust table
BLUR = 3.0  # times sigma
MIN_SAMPLE_SHARE = 0.2  # of the particles, as effective sample size after a step
BISECTIONS = 5  # to find the power of a step
SEARCH_STEPS = 48  # of the random search
SHORT = -0.4  # least log likelihood of a beam that passes no wall of the map
BEYOND = 0.3  # m from a wall to the end of a beam that passes it
SEARCH_SD, SEARCH_YAW_SD = 0.3, 0.15  # m, rad: of the first step; the last is a tenth of it


class Beams(NamedTuple):
    """A scan as it is compared with a map."""

    ends: Array
    """Where beams ended in the body frame, (beams, 2) m."""
    used: int
    """How many beams did."""
    log_q: Array
    """log q by distance, (TABLES, MAX_STEPS + 1)."""


class MapField(NamedTuple):
    """The likelihood field of one of the maps."""

    fields: LikelihoodFieldArrays
    number: int


@kernel
def tabulate_log_q(log_q: Array, p: Row, max_range: float) -> None:
    """Write the tables of log q for every distance of the field, (TABLES, MAX_STEPS + 1)."""
    for number in range(TABLES):
        sigma = p.sigma * (BLUR if number == BLURRED else 1.0)
        random = (1.0 - p.hit) / max_range
        best = p.hit + random
        for k in range(MAX_STEPS + 1):
            d = k * DISTANCE_STEP / sigma
            hit = p.hit * exp(-0.5 * d * d) if k < MAX_STEPS else 0.0
            log_q[number, k] = log((hit + random) / best)
            if number == ROBUST:
                log_q[number, k] = max(log_q[number, k], LEAST)


@kernel
def beam_endpoints(ends: Array, ranges: Array, scan: Row, belief: Row, mount: Pose) -> int:
    """Write where evenly chosen beams ended in the body frame at the stamp; how many did.

    A rotating scanner cast a beam some time before the stamp, from where the body was then.
    """
    rays, beams, count = len(ranges), len(ends), 0
    for k in range(beams):
        ray = k * (rays - 1) // max(beams - 1, 1)
        r = ranges[ray]
        if not (scan.min_range <= r < scan.max_range):
            continue
        s, c = sincos(mount[2] + scan.start + ray * scan.step)
        x, y = mount[0] + r * c, mount[1] + r * s
        if scan.duration > 0.0:
            age = scan.duration * (rays - 1 - ray) / rays
            then = arc((0.0, 0.0, 0.0), -belief.vx * age, -belief.vy * age, -belief.wz * age)
            s, c = sincos(then[2])
            x, y = then[0] + c * x - s * y, then[1] + s * x + c * y
        ends[count, 0], ends[count, 1] = x, y
        count += 1
    return count


@inlined_kernel
def log_likelihood(
    x: float, y: float, yaw: float, beams: Beams, field: MapField, table: int
) -> float:
    """The sum of log q over the beams of a scan from a pose."""
    ends, log_q = beams.ends, beams.log_q
    f, steps = field.fields.fields[field.number], field.fields.steps
    per_cell = 1.0 / f.cell  # all in cells from here: this is the innermost loop
    s, c = sincos(yaw)
    s, c, x, y = s * per_cell, c * per_cell, (x - f.x) * per_cell, (y - f.y) * per_cell
    first, width, far = f.first, f.width, log_q[table, MAX_STEPS]
    right, top = float(f.width), float(f.height)
    total = 0.0
    for k in range(beams.used):
        u = x + c * ends[k, 0] - s * ends[k, 1]
        v = y + s * ends[k, 0] + c * ends[k, 1]
        # Bounds are compared as floats: what is inside can then be truncated, which needs no floor.
        inside = 0.0 <= u < right and 0.0 <= v < top
        cell = first + int(v) * width + int(u) if inside else 0
        total += log_q[table, steps[cell]] if inside else far
    return total


@kernel
def log_likelihoods(
    out: Array, particles: Array, beams: Beams, field: MapField, table: int
) -> None:
    """Write the log likelihood of a scan from each particle, less that of the best of them."""
    most = -math.inf
    for k in range(len(particles)):
        x, y, yaw = particles[k, X], particles[k, Y], particles[k, YAW]
        out[k] = log_likelihood(x, y, yaw, beams, field, table)
        most = max(most, out[k])
    for k in range(len(particles)):
        out[k] -= most


@kernel
def passes_wall(x: float, y: float, end_x: float, end_y: float, field: MapField) -> bool:
    """Whether a wall of the map is between two points, and not near the second (sphere tracing)."""
    f = field.fields.fields[field.number]
    dx, dy = end_x - x, end_y - y
    length = math.sqrt(dx * dx + dy * dy)
    # All distances are those of the centre of a cell: 0.71 cells is half of its diagonal.
    reach, half = 0.0, 0.71 * f.cell
    while reach < length - BEYOND:
        u = (x + dx * reach / length - f.x) / f.cell
        v = (y + dy * reach / length - f.y) / f.cell
        distance = DISTANCE_STEP * MAX_STEPS
        if 0.0 <= u < f.width and 0.0 <= v < f.height:
            distance = DISTANCE_STEP * field.fields.steps[f.first + int(v) * f.width + int(u)]
        if distance < half + DISTANCE_STEP:
            return True
        reach += max(distance - half, 0.5 * f.cell)
    return False


@kernel
def occluded_log_likelihood(pose: Pose, beams: Beams, field: MapField, mount: Pose) -> float:
    """The mean log likelihood of the beams of a scan from a pose, which something may cut short."""
    f = field.fields.fields[field.number]
    x, y, _ = compose(pose, mount)
    s, c = sincos(pose[2])
    total = 0.0
    for k in range(beams.used):
        end_x = pose[0] + c * beams.ends[k, 0] - s * beams.ends[k, 1]
        end_y = pose[1] + s * beams.ends[k, 0] + c * beams.ends[k, 1]
        u, v, steps = (end_x - f.x) / f.cell, (end_y - f.y) / f.cell, MAX_STEPS
        if 0.0 <= u < f.width and 0.0 <= v < f.height:
            steps = field.fields.steps[f.first + int(v) * f.width + int(u)]
        log_q = beams.log_q[SHARP, steps]
        if log_q < SHORT and not passes_wall(x, y, end_x, end_y, field):
            log_q = SHORT
        total += log_q
    return total / beams.used


# Tempered weights.


@kernel
def tempered_sample_size(particles: Array, log_weights: Array, power: float) -> float:
    """The effective sample size once weights are multiplied by a power of the likelihood."""
    total, squares = 0.0, 0.0
    for k in range(len(particles)):
        weight = particles[k, WEIGHT] * exp(power * log_weights[k])
        total += weight
        squares += weight * weight
    return total * total / squares


@kernel
def largest_power(particles: Array, log_weights: Array, limit: float) -> float:
    """The largest power of the likelihood, up to a limit, that leaves enough sample size."""
    enough = MIN_SAMPLE_SHARE * len(particles)
    if tempered_sample_size(particles, log_weights, limit) >= enough:
        return limit
    low, high = 0.0, limit
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if tempered_sample_size(particles, log_weights, middle) >= enough:
            low = middle
        else:
            high = middle
    return high


@kernel
def reweight(particles: Array, log_weights: Array, power: float) -> None:
    """Multiply the weights by a power of the likelihood, and normalise them."""
    total = 0.0
    for k in range(len(particles)):
        particles[k, WEIGHT] *= exp(power * log_weights[k])
        total += particles[k, WEIGHT]
    for k in range(len(particles)):
        particles[k, WEIGHT] /= total


# Injection.


@kernel
def inject_particle(
    pose: Array, memory: Row, beams: Beams, field: MapField, tries: int, key: np.uint64
) -> None:
    """Move one particle to a pose on the floor that fits the scan."""
    fields = field.fields
    f = fields.fields[field.number]
    best = -math.inf
    for k in range(tries):
        u, v = uniform_pair(memory, key, k)
        cell = fields.floor[f.first_floor + min(int(u * f.floors), f.floors - 1)]
        x = f.x + (cell % f.width + 0.5) * f.cell
        y = f.y + (cell // f.width + 0.5) * f.cell
        yaw = TAU * v - PI
        likelihood = log_likelihood(x, y, yaw, beams, field, BLURRED)
        if likelihood > best:
            best = likelihood
            pose[X], pose[Y], pose[YAW] = x, y, yaw
    best = log_likelihood(pose[X], pose[Y], pose[YAW], beams, field, SHARP)
    for k in range(SEARCH_STEPS):
        shrink = 1.0 - 0.9 * k / SEARCH_STEPS
        a, b = normal_pair(memory, key, tries + 2 * k)
        c, _ = normal_pair(memory, key, tries + 2 * k + 1)
        x, y = pose[X] + SEARCH_SD * shrink * a, pose[Y] + SEARCH_SD * shrink * b
        yaw = wrap(pose[YAW] + SEARCH_YAW_SD * shrink * c)
        likelihood = log_likelihood(x, y, yaw, beams, field, SHARP)
        if likelihood > best:
            best = likelihood
            pose[X], pose[Y], pose[YAW] = x, y, yaw
    memory.tick += 1
