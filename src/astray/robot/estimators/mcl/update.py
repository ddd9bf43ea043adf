"""One update of a particle filter by a scan: reweight, search elsewhere, decide.

A scan is used in steps, each by a power of its likelihood that leaves enough effective sample size.
Between the steps particles are resampled and regularised: particles that are wide after a long way
would else degenerate to a few.

Global localisation injects particles that fit the scan. So does the search for a robot that was
moved, into a set of its own; see relocalisation.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from astray.numerics import Pose, exp, kernel
from astray.robot.estimators.mcl.particle_set import (
    WEIGHT,
    add_spread,
    copy_particles,
    effective_sample_size,
    estimate_pose,
    mode_cholesky,
    mode_mean,
    regularise,
    resample,
)
from astray.robot.estimators.mcl.relocalisation import (
    CONVINCING,
    FAST,
    INJECTED_PER_M,
    MAX_INJECTED,
    SETTLED_GROUND,
    TRUSTED,
    UpdateMotion,
    add_evidence,
    average_fit,
    candidate_probability,
    clear_evidence,
    follow_candidate,
    has_won,
    injected_share,
    is_convincing,
)
from astray.robot.estimators.mcl.scan_likelihood import (
    ROBUST,
    SHARP,
    Beams,
    MapField,
    inject_particle,
    largest_power,
    log_likelihood,
    log_likelihoods,
    occluded_log_likelihood,
    reweight,
)
from astray.tables import Array, Row, Table

MAX_TEMPERING_STEPS = 6  # by which a scan is used


class ParticleTables(NamedTuple):
    """The tables and arrays of all filters, by row."""

    memory: Table
    """MEMORY (n,)."""
    params: Table
    particles: Array
    """(n, particles, 4): see particle_set.py."""
    search: Array
    """The particles that search the map while the track is doubted, like the others."""
    spare: Array
    """Workspace of resampling, like the particles."""
    log_weights: Array
    """Workspace of an update, (n, particles)."""
    ends: Array
    """Workspace of a scan, (n, beams, 2)."""
    buffers: Array
    """(n, LENGTH, 6): see odometry_buffer.py."""
    log_q: Array
    """(n, TABLES, MAX_STEPS + 1): see scan_likelihood.py."""


class Settings(NamedTuple):
    """What is the same for all rows."""

    key: np.uint64
    """Of the noise."""
    mount: Pose
    """Of the scanner on the body."""
    tries: int
    """Poses that are tried for a particle that is injected."""
    bandwidth: float
    """Of the regularisation."""


@kernel
def inject_particles(
    particles: Array, memory: Row, first: int, beams: Beams, field: MapField, settings: Settings
) -> None:
    """Move the particles from a first one on to poses that fit the scan."""
    for k in range(first, len(particles)):
        inject_particle(particles[k], memory, beams, field, settings.tries, settings.key)


@kernel
def throw_particles(
    particles: Array, memory: Row, beams: Beams, field: MapField, settings: Settings
) -> None:
    """Move all particles to poses that fit the scan, with equal weights."""
    inject_particles(particles, memory, 0, beams, field, settings)
    for k in range(len(particles)):
        particles[k, WEIGHT] = 1.0 / len(particles)


@kernel
def inject_share(
    particles: Array,
    tables: ParticleTables,
    i: int,
    share: float,
    beams: Beams,
    field: MapField,
    settings: Settings,
) -> None:
    """Replace a share of the particles by poses that fit the scan."""
    injected = int(share * len(particles))
    if injected > 0:
        memory, kept = tables.memory[i], len(particles) - injected
        resample(particles, tables.spare[i], memory, kept, settings.key)
        inject_particles(particles, memory, kept, beams, field, settings)


@kernel
def reweight_in_steps(
    particles: Array,
    tables: ParticleTables,
    i: int,
    beams: Beams,
    field: MapField,
    settings: Settings,
    table: int,
) -> None:
    """Weight particles of a row by a scan, in steps that leave enough sample size."""
    memory, left = tables.memory[i], tables.params[i].temper
    spare, log_weights = tables.spare[i], tables.log_weights[i]
    for step in range(MAX_TEMPERING_STEPS):
        if step > 0 or effective_sample_size(particles) < 0.5 * len(particles):
            mean = mode_mean(particles)
            root = mode_cholesky(particles, mean)
            resample(particles, spare, memory, len(particles), settings.key)
            regularise(particles, memory, mean, root, settings.bandwidth, settings.key)
        log_likelihoods(log_weights, particles, beams, field, table)
        is_last = step == MAX_TEMPERING_STEPS - 1
        power = left if is_last else largest_power(particles, log_weights, left)
        reweight(particles, log_weights, power)
        left -= power
        if left <= 0.0:
            break


@kernel
def mean_log_q(pose: Pose, beams: Beams, field: MapField) -> float:
    """The mean of log q over the beams of a scan from a pose."""
    mean: float = log_likelihood(pose[0], pose[1], pose[2], beams, field, SHARP) / beams.used
    return mean


@kernel
def settle(
    tables: ParticleTables,
    i: int,
    beams: Beams,
    field: MapField,
    settings: Settings,
    motion: UpdateMotion,
    q: float,
) -> None:
    """Inject particles into those of a robot without a track, or find that it has one."""
    memory = tables.memory[i]
    if follow_candidate(memory, (memory.x, memory.y, memory.yaw), motion):
        add_evidence(memory, motion, beams.used / len(beams.ends), q, 0.0)
    else:
        clear_evidence(memory, motion)
    memory.settled = is_convincing(memory, SETTLED_GROUND)
    usual = tables.params[i].doubt * memory.w_slow
    share = injected_share(memory.w_fast, usual, MAX_INJECTED)
    inject_share(tables.particles[i], tables, i, share, beams, field, settings)


@kernel
def search_elsewhere(
    tables: ParticleTables,
    i: int,
    beams: Beams,
    field: MapField,
    settings: Settings,
    motion: UpdateMotion,
) -> None:
    """Update the search by a scan, and decide if that is due."""
    memory, search = tables.memory[i], tables.search[i]
    if memory.w_fast >= TRUSTED * memory.w_slow:
        memory.searching = False
        return
    reweight_in_steps(search, tables, i, beams, field, settings, SHARP)
    pose = mode_mean(search)
    q = exp(mean_log_q(pose, beams, field))
    memory.candidate_fast += FAST * (q - memory.candidate_fast)
    if follow_candidate(memory, pose, motion):
        track = (memory.x, memory.y, memory.yaw)
        ratio = occluded_log_likelihood(pose, beams, field, settings.mount)
        ratio -= occluded_log_likelihood(track, beams, field, settings.mount)
        add_evidence(memory, motion, beams.used / len(beams.ends), q, ratio)
    else:
        clear_evidence(memory, motion)
    if has_won(memory):
        copy_particles(tables.particles[i], search)
        memory.w_fast, memory.searching = memory.candidate_fast, False
        estimate_pose(memory, tables.particles[i], cell_variance(field))
        return
    most = min(INJECTED_PER_M * motion.path, MAX_INJECTED)
    share = injected_share(memory.candidate_fast, CONVINCING * memory.w_slow, most)
    inject_share(search, tables, i, share, beams, field, settings)


@kernel
def cell_variance(field: MapField) -> float:
    """The variance of a position within a cell of the likelihood field, m²."""
    cell: float = field.fields.fields[field.number].cell
    return cell * cell / 12.0


@kernel
def update(
    tables: ParticleTables,
    i: int,
    beams: Beams,
    field: MapField,
    settings: Settings,
    motion: UpdateMotion,
) -> None:
    """Update the particles of a row, moved to the stamp of a scan, by the scan."""
    memory, p, floors = tables.memory[i], tables.params[i], field.fields.fields[field.number].floors
    particles, search = tables.particles[i], tables.search[i]
    if memory.lost:
        if floors == 0:
            return
        throw_particles(particles, memory, beams, field, settings)
        memory.lost = False
    table = ROBUST if memory.searching else SHARP
    reweight_in_steps(particles, tables, i, beams, field, settings, table)
    estimate_pose(memory, particles, cell_variance(field))
    q = exp(mean_log_q((memory.x, memory.y, memory.yaw), beams, field))
    average_fit(memory, q)
    if floors == 0 or not p.doubt > 0.0:
        return
    if not memory.settled:
        settle(tables, i, beams, field, settings, motion, q)
    elif memory.searching:
        search_elsewhere(tables, i, beams, field, settings, motion)
    elif memory.w_fast < p.doubt * memory.w_slow:
        throw_particles(search, memory, beams, field, settings)
        memory.searching, memory.candidate_fast = True, 0.0
        memory.candidate_x, memory.candidate_y, memory.candidate_yaw = mode_mean(search)
        clear_evidence(memory, motion)
    if memory.searching:
        add_spread(memory, search, candidate_probability(memory))
