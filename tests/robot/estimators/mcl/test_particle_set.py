"""The parts of the particle filter, each against its definition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from astray.numerics import random
from astray.numerics.se2 import arc
from astray.robot.estimators.mcl.filter import MEMORY, Particle
from astray.robot.estimators.mcl.odometry_buffer import (
    LENGTH,
    ODOMETRY,
    OdometryPose,
    append_odometry,
    covers,
    latest_odometry,
    odometry_at,
)
from astray.robot.estimators.mcl.particle_set import (
    effective_sample_size,
    estimate_pose,
    mode_cholesky,
    mode_mean,
    regularise,
    resample,
    sample_motion,
)
from astray.robot.estimators.mcl.scan_likelihood import (
    BLURRED,
    SHARP,
    TABLES,
    Beams,
    MapField,
    beam_endpoints,
    largest_power,
    log_likelihood,
    tabulate_log_q,
    tempered_sample_size,
)
from astray.tables import SCAN, STATE, WHEELS, table
from astray.world.map import wall
from astray.world.maps.map_set import MapSet
from astray.world.planning.likelihood_field import DISTANCE_STEP, MAX_STEPS, LikelihoodFieldCache

KEY = random.key(3, "cloud")
SDS = ("slip_density", "shift_density", "veer_density", "turn_density")
ROOM = wall([(0, 0), (6, 0), (6, 4), (2, 4), (2, 3), (0, 3)], closed=True)


def parameters(**values: float) -> Any:
    """A row of parameters, the defaults unless given."""
    row = np.zeros(1, np.dtype((np.record, [(name, "f8") for name in (*SDS, "sigma", "hit")])))
    for name in row.dtype.names or ():
        row[name] = values.get(name, getattr(Particle, name))
    return row[0]


def particles_at(n: int, x: float = 0.0, y: float = 0.0, yaw: float = 0.0) -> Any:
    """Particles of equal poses."""
    particles = np.zeros((n, 4))
    particles[:] = x, y, yaw, 1.0 / n
    return particles


def memory() -> Any:
    return np.zeros(1, MEMORY)[0]


# Motion model.


START = OdometryPose(0.0, 0.0, 0.0, 0.0, 0.0)


def moved_particles(steps: int, path: float, turn: float, p: Any) -> Any:
    """Particles that moved along a path and then turned, each in so many steps."""
    particles, m = particles_at(4000), memory()
    for _ in range(steps):
        step = OdometryPose(path / steps, 0.0, 0.0, path / steps, 0.0)
        sample_motion(particles, m, p, START, step, KEY)
    for _ in range(steps):
        step = OdometryPose(0.0, 0.0, turn / steps, 0.0, turn / steps)
        sample_motion(particles, m, p, START, step, KEY)
    return particles


@pytest.mark.parametrize("steps", [1, 5])
def test_the_errors_of_a_motion_do_not_depend_on_the_number_of_steps(steps: int) -> None:
    path, turn = 2.0, 0.5
    p = parameters(slip_density=0.1, shift_density=0.0, veer_density=0.02, turn_density=0.05)
    particles = moved_particles(steps, path, turn, p)
    within = 4.0 / math.sqrt(2 * len(particles))  # four standard deviations of a standard deviation
    assert particles[:, 0].mean() == pytest.approx(path, abs=0.01)
    assert particles[:, 2].mean() == pytest.approx(turn, abs=0.005)
    assert particles[:, 0].std() == pytest.approx(0.1 * math.sqrt(path), rel=within)
    heading = math.sqrt(0.02**2 * path + 0.05**2 * turn)
    assert particles[:, 2].std() == pytest.approx(heading, rel=within)


def test_a_motion_backwards_is_sampled_backwards() -> None:
    p = parameters(**dict.fromkeys(SDS, 0.0))
    particles = particles_at(3, 1.0, 2.0, 0.5 * math.pi)
    backwards = OdometryPose(-1.0, 0.2, 0.3, 1.0, 0.3)
    sample_motion(particles, memory(), p, START, backwards, KEY)
    assert particles[0, :3] == pytest.approx([1.0 - 0.2, 2.0 - 1.0, 0.5 * math.pi + 0.3])


# Statistics, resampling, regularisation.


def normal_particles(n: int, seed: int = 0) -> tuple[Any, Any]:
    """Particles with a covariance that couples all three, and that covariance."""
    rng = np.random.default_rng(seed)
    factor = np.array([[0.2, 0.0, 0.0], [0.1, 0.05, 0.0], [-0.02, 0.03, 0.04]])
    particles = particles_at(n)
    particles[:, :3] = (3.0, -1.0, math.pi) + rng.normal(size=(n, 3)) @ factor.T
    particles[:, 2] = np.arctan2(np.sin(particles[:, 2]), np.cos(particles[:, 2]))
    return particles, factor @ factor.T


def test_the_estimate_of_particles_across_the_seam_of_yaw_is_right() -> None:
    particles, covariance = normal_particles(20000)
    m = memory()
    estimate_pose(m, particles, 0.0)
    assert (m.x, m.y, abs(m.yaw)) == pytest.approx((3.0, -1.0, math.pi), abs=0.01)
    assert np.asarray(m.cov) == pytest.approx(covariance, rel=0.05, abs=1e-4)


def test_the_mean_is_that_of_the_best_mode_and_the_covariance_that_of_all() -> None:
    particles = np.vstack([particles_at(90, 1.0, 1.0, 0.1), particles_at(10, 9.0, 1.0, 0.1)])
    particles[:, 3] = 1.0 / 100
    particles[5, 3] *= 1.5
    particles[:, 3] /= particles[:, 3].sum()
    m = memory()
    estimate_pose(m, particles, 0.0)
    assert (m.x, m.y) == pytest.approx((1.0, 1.0))
    assert m.cov[0, 0] == pytest.approx(64.0 * 0.1, rel=0.02)


def test_resampling_draws_each_pose_as_often_as_its_weight_says_to_the_nearest_whole() -> None:
    rng = np.random.default_rng(1)
    particles = particles_at(200)
    particles[:, 0] = np.arange(200)
    particles[:, 3] = rng.exponential(size=200) ** 3
    particles[:, 3] /= particles[:, 3].sum()
    expected = 200 * particles[:, 3]
    resample(particles, particles.copy(), memory(), 200, KEY)
    drawn = np.bincount(particles[:, 0].astype(int), minlength=200)
    assert (drawn >= np.floor(expected - 1e-9)).all()
    assert (drawn <= np.ceil(expected + 1e-9)).all()
    assert effective_sample_size(particles) == pytest.approx(200)


def test_regularisation_separates_equal_particles_and_keeps_mean_and_covariance() -> None:
    start, covariance = normal_particles(4000)
    particles = np.repeat(start[::20], 20, axis=0)  # each of 200 poses 20 times
    mean = mode_mean(particles)
    before = statistics(particles)
    regularise(particles, memory(), mean, mode_cholesky(particles, mean), 0.4, KEY)
    after = statistics(particles)
    assert len(np.unique(particles[:, 0])) == len(particles)
    assert after[0] == pytest.approx(before[0], abs=0.01)
    assert after[1] == pytest.approx(before[1], rel=0.15, abs=3e-4)
    assert after[1] == pytest.approx(covariance, rel=0.4, abs=1e-3)


def statistics(particles: Any) -> tuple[Any, Any]:
    m = memory()
    estimate_pose(m, particles, 0.0)
    return np.array([m.x, m.y, m.yaw % (2 * math.pi)]), np.array(m.cov)


# Scan likelihood.


def field() -> MapField:
    return MapField(LikelihoodFieldCache().of(MapSet([ROOM])), 0)


def tables(sigma: float = 0.1, hit: float = 0.9) -> Any:
    q = np.zeros((TABLES, MAX_STEPS + 1))
    tabulate_log_q(q, parameters(sigma=sigma, hit=hit), 10.0)
    return q


def test_the_table_has_the_likelihood_of_the_equation() -> None:
    q, d = tables(0.1, 0.9), np.arange(MAX_STEPS) * DISTANCE_STEP
    for table_, sigma in ((SHARP, 0.1), (BLURRED, 0.3)):
        expected = (0.9 * np.exp(-0.5 * (d / sigma) ** 2) + 0.01) / 0.91
        assert np.exp(q[table_, :MAX_STEPS]) == pytest.approx(expected, rel=1e-12)
    assert math.exp(q[SHARP, MAX_STEPS]) == pytest.approx(0.01 / 0.91)


def endpoints_from(pose: tuple[float, float, float], rays: int = 90) -> Any:
    """Where rays from a pose end, in its frame, (rays, 2) m: brute force."""
    angles = pose[2] + np.arange(rays) * 2.0 * math.pi / rays
    ends = np.zeros((rays, 2))
    for k, angle in enumerate(angles):
        c, s = math.cos(angle), math.sin(angle)
        met = math.inf
        for ax, ay, bx, by in ROOM.segments:
            ex, ey = bx - ax, by - ay
            across = c * ey - s * ex
            if abs(across) > 1e-12:
                r = ((ax - pose[0]) * ey - (ay - pose[1]) * ex) / across
                t = ((ax - pose[0]) * s - (ay - pose[1]) * c) / across
                if r > 0 and 0 <= t <= 1:
                    met = min(met, r)
        ends[k] = met * math.cos(angle - pose[2]), met * math.sin(angle - pose[2])
    return ends


def test_a_scan_fits_best_where_it_was_taken() -> None:
    pose = (3.1, 1.7, 0.6)
    beams = Beams(endpoints_from(pose), 90, tables())
    there = log_likelihood(*pose, beams, field(), SHARP)
    assert math.exp(there / 90) > 0.95
    for dx, dy, turn in ((0.1, 0, 0), (0, -0.1, 0), (0, 0, 0.05), (-0.3, 0.2, 0), (0, 0, math.pi)):
        at = (pose[0] + dx, pose[1] + dy, pose[2] + turn)
        elsewhere = log_likelihood(*at, beams, field(), SHARP)
        assert elsewhere < there - 1.0


def test_beams_that_hit_nothing_are_left_out_and_rotating_scans_are_undistorted() -> None:
    o, b = table(SCAN, 1)[0], table(STATE, 1)[0]
    o.start, o.step, o.min_range, o.max_range, o.duration = -1.0, 0.5, 0.1, 5.0, 1.0
    b.vx, b.wz = 0.4, 0.8
    ranges = np.array([1.0, math.inf, 2.0, 0.05, -math.inf, 3.0])
    ends = np.zeros((6, 2))
    count = beam_endpoints(ends, ranges, o, b, (0.3, -0.1, 0.2))
    assert count == 3
    for j, k in enumerate((0, 2, 5)):
        age = (5 - k) / 6
        x, y, yaw = arc((0.0, 0.0, 0.0), -0.4 * age, 0.0, -0.8 * age)
        angle = 0.2 - 1.0 + 0.5 * k
        at = (0.3 + ranges[k] * math.cos(angle), -0.1 + ranges[k] * math.sin(angle))
        c, s = math.cos(yaw), math.sin(yaw)
        assert ends[j] == pytest.approx((x + c * at[0] - s * at[1], y + s * at[0] + c * at[1]))


def test_a_step_of_reweighting_leaves_enough_sample_size_and_not_much_more() -> None:
    particles = particles_at(500)
    log_weights = -np.linspace(0.0, 300.0, 500)
    power = largest_power(particles, log_weights, 0.6)
    assert 0.0 < power < 0.6
    assert tempered_sample_size(particles, log_weights, power) > 0.05 * 500
    assert tempered_sample_size(particles, log_weights, power) < 0.25 * 500
    assert largest_power(particles, 0.01 * log_weights, 0.6) == 0.6


# Odometry buffer.


def filled_buffer(stamps: Any, u: float, w: float) -> tuple[Any, Any]:
    buffer, m = np.zeros((LENGTH, 6)), np.zeros(1, ODOMETRY)[0]
    wheels = table(WHEELS, 1)[0]
    for stamp in stamps:
        wheels.stamp = stamp
        append_odometry(buffer, m, wheels, (u, 0.0, w))
    return buffer, m


def test_a_stamp_between_two_readings_is_on_the_arc_between_them() -> None:
    buffer, m = filled_buffer(np.arange(20) * 0.1, 0.05, 0.04)
    for stamp in (0.0, 0.05, 0.733, 1.9, 1.95):
        x, y, yaw, path, rotation = odometry_at(buffer, m, stamp)
        share = stamp / 0.1
        assert covers(buffer, m, stamp)
        assert (x, y, yaw) == pytest.approx(arc((0.0, 0.0, 0.0), 0.05 * share, 0.0, 0.04 * share))
        assert (path, rotation) == pytest.approx((0.05 * share, 0.04 * share))
    assert latest_odometry(buffer, m) == pytest.approx(odometry_at(buffer, m, 1.9))


def test_the_buffer_drops_the_oldest_and_does_not_cover_it() -> None:
    stamps = np.arange(3 * LENGTH) * 0.1
    buffer, m = filled_buffer(stamps, 0.05, 0.0)
    first = stamps[-LENGTH]
    assert odometry_at(buffer, m, first + 0.25)[0] == pytest.approx((first + 0.25) * 0.5)
    assert covers(buffer, m, first)
    assert not covers(buffer, m, first - 0.01)
    assert not covers(buffer, m, stamps[-1] + 1.0)
