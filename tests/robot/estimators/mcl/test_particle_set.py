"""The parts of the particle filter, each against what it should be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from astray.numerics import random
from astray.numerics.se2 import arc
from astray.robot.estimators.mcl.filter import Particle
from astray.robot.estimators.mcl.odometry_buffer import (
    LENGTH,
    TRAIL,
    latest,
    reaches,
    roll,
    spot_at,
)
from astray.robot.estimators.mcl.particle_set import (
    effective,
    middle_of,
    resample,
    root,
    shake,
    stir,
    summarise,
)
from astray.robot.estimators.mcl.scan_likelihood import (
    BLURRED,
    SHARP,
    aim,
    bearable,
    fit,
    survivors,
    tabulate,
)
from astray.robot.estimators.mcl.update import MEMORY
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


def cloud_at(n: int, x: float = 0.0, y: float = 0.0, yaw: float = 0.0) -> Any:
    """A cloud of equal poses."""
    cloud = np.zeros((n, 4))
    cloud[:] = x, y, yaw, 1.0 / n
    return cloud


def memory() -> Any:
    return np.zeros(1, MEMORY)[0]


# Moving.


def shaken(cuts: int, way: float, turn: float, p: Any) -> Any:
    """A cloud that went a way and then turned, in so many looks."""
    cloud, m = cloud_at(4000), memory()
    for _ in range(cuts):
        step = (way / cuts, 0.0, 0.0, way / cuts, 0.0)
        shake(cloud, m, p, ((0.0, 0.0, 0.0, 0.0, 0.0), step), KEY)
    for _ in range(cuts):
        step = (0.0, 0.0, turn / cuts, 0.0, turn / cuts)
        shake(cloud, m, p, ((0.0, 0.0, 0.0, 0.0, 0.0), step), KEY)
    return cloud


@pytest.mark.parametrize("cuts", [1, 5])
def test_the_errors_of_a_move_do_not_depend_on_how_often_one_looks(cuts: int) -> None:
    way, turn = 2.0, 0.5
    p = parameters(slip_density=0.1, shift_density=0.0, veer_density=0.02, turn_density=0.05)
    cloud = shaken(cuts, way, turn, p)
    within = 4.0 / math.sqrt(2 * len(cloud))  # four standard deviations of a standard deviation
    assert cloud[:, 0].mean() == pytest.approx(way, abs=0.01)
    assert cloud[:, 2].mean() == pytest.approx(turn, abs=0.005)
    assert cloud[:, 0].std() == pytest.approx(0.1 * math.sqrt(way), rel=within)
    heading = math.sqrt(0.02**2 * way + 0.05**2 * turn)
    assert cloud[:, 2].std() == pytest.approx(heading, rel=within)


def test_a_move_backwards_is_made_backwards() -> None:
    p = parameters(**dict.fromkeys(SDS, 0.0))
    cloud = cloud_at(3, 1.0, 2.0, 0.5 * math.pi)
    spots = ((0.0, 0.0, 0.0, 0.0, 0.0), (-1.0, 0.2, 0.3, 1.0, 0.3))
    shake(cloud, memory(), p, spots, KEY)
    assert cloud[0, :3] == pytest.approx([1.0 - 0.2, 2.0 - 1.0, 0.5 * math.pi + 0.3])


# Summing up, resampling, stirring.


def normal_cloud(n: int, seed: int = 0) -> tuple[Any, Any]:
    """A cloud with a covariance that couples all three, and that covariance."""
    rng = np.random.default_rng(seed)
    factor = np.array([[0.2, 0.0, 0.0], [0.1, 0.05, 0.0], [-0.02, 0.03, 0.04]])
    cloud = cloud_at(n)
    cloud[:, :3] = (3.0, -1.0, math.pi) + rng.normal(size=(n, 3)) @ factor.T
    cloud[:, 2] = np.arctan2(np.sin(cloud[:, 2]), np.cos(cloud[:, 2]))
    return cloud, factor @ factor.T


def test_a_cloud_across_the_seam_of_yaw_is_summed_up_right() -> None:
    cloud, covariance = normal_cloud(20000)
    m = memory()
    summarise(m, cloud, 0.0)
    assert (m.x, m.y, abs(m.yaw)) == pytest.approx((3.0, -1.0, math.pi), abs=0.01)
    assert np.asarray(m.cov) == pytest.approx(covariance, rel=0.05, abs=1e-4)


def test_the_middle_is_that_of_the_best_and_the_covariance_tells_of_the_others() -> None:
    cloud = np.vstack([cloud_at(90, 1.0, 1.0, 0.1), cloud_at(10, 9.0, 1.0, 0.1)])
    cloud[:, 3] = 1.0 / 100
    cloud[5, 3] *= 1.5
    cloud[:, 3] /= cloud[:, 3].sum()
    m = memory()
    summarise(m, cloud, 0.0)
    assert (m.x, m.y) == pytest.approx((1.0, 1.0))
    assert m.cov[0, 0] == pytest.approx(64.0 * 0.1, rel=0.02)


def test_resampling_draws_each_pose_as_often_as_its_weight_says_to_the_nearest_whole() -> None:
    rng = np.random.default_rng(1)
    cloud = cloud_at(200)
    cloud[:, 0] = np.arange(200)
    cloud[:, 3] = rng.exponential(size=200) ** 3
    cloud[:, 3] /= cloud[:, 3].sum()
    expected = 200 * cloud[:, 3]
    resample(cloud, cloud.copy(), memory(), 200, KEY)
    drawn = np.bincount(cloud[:, 0].astype(int), minlength=200)
    assert (drawn >= np.floor(expected - 1e-9)).all()
    assert (drawn <= np.ceil(expected + 1e-9)).all()
    assert effective(cloud) == pytest.approx(200)


def test_stirring_parts_equal_poses_and_keeps_mean_and_covariance() -> None:
    start, covariance = normal_cloud(4000)
    cloud = np.repeat(start[::20], 20, axis=0)  # each of 200 poses 20 times
    at = middle_of(cloud)
    before = summed(cloud)
    stir(cloud, memory(), at, root(cloud, at), (0.4, KEY))
    after = summed(cloud)
    assert len(np.unique(cloud[:, 0])) == len(cloud)
    assert after[0] == pytest.approx(before[0], abs=0.01)
    assert after[1] == pytest.approx(before[1], rel=0.15, abs=3e-4)
    assert after[1] == pytest.approx(covariance, rel=0.4, abs=1e-3)


def summed(cloud: Any) -> tuple[Any, Any]:
    m = memory()
    summarise(m, cloud, 0.0)
    return np.array([m.x, m.y, m.yaw % (2 * math.pi)]), np.array(m.cov)


# Matching.


def ground() -> Any:
    return LikelihoodFieldCache().of(MapSet([ROOM])), 0


def tables(sigma: float = 0.1, hit: float = 0.9) -> Any:
    q = np.zeros((2, MAX_STEPS + 1))
    tabulate(q, parameters(sigma=sigma, hit=hit), 10.0)
    return q


def test_the_table_has_the_likelihood_of_the_equation() -> None:
    q, d = tables(0.1, 0.9), np.arange(MAX_STEPS) * DISTANCE_STEP
    for table_, sigma in ((SHARP, 0.1), (BLURRED, 0.3)):
        expected = (0.9 * np.exp(-0.5 * (d / sigma) ** 2) + 0.01) / 0.91
        assert np.exp(q[table_, :MAX_STEPS]) == pytest.approx(expected, rel=1e-12)
    assert math.exp(q[SHARP, MAX_STEPS]) == pytest.approx(0.01 / 0.91)


def seen_from(pose: tuple[float, float, float], rays: int = 90) -> Any:
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
    shot = (seen_from(pose), 90, tables())
    there = fit(*pose, shot, ground(), SHARP)
    assert math.exp(there / 90) > 0.95
    for dx, dy, turn in ((0.1, 0, 0), (0, -0.1, 0), (0, 0, 0.05), (-0.3, 0.2, 0), (0, 0, math.pi)):
        elsewhere = fit(pose[0] + dx, pose[1] + dy, pose[2] + turn, shot, ground(), SHARP)
        assert elsewhere < there - 1.0


def test_beams_that_met_nothing_and_bent_scans_are_understood() -> None:
    o, b = table(SCAN, 1)[0], table(STATE, 1)[0]
    o.start, o.step, o.min_range, o.max_range, o.duration = -1.0, 0.5, 0.1, 5.0, 1.0
    b.vx, b.wz = 0.4, 0.8
    ranges = np.array([1.0, math.inf, 2.0, 0.05, -math.inf, 3.0])
    ends = np.zeros((6, 2))
    count = aim(ends, ranges, o, b, (0.3, -0.1, 0.2))
    assert count == 3
    for j, k in enumerate((0, 2, 5)):
        ago = (5 - k) / 6
        x, y, yaw = arc((0.0, 0.0, 0.0), -0.4 * ago, 0.0, -0.8 * ago)
        angle = 0.2 - 1.0 + 0.5 * k
        at = (0.3 + ranges[k] * math.cos(angle), -0.1 + ranges[k] * math.sin(angle))
        c, s = math.cos(yaw), math.sin(yaw)
        assert ends[j] == pytest.approx((x + c * at[0] - s * at[1], y + s * at[0] + c * at[1]))


def test_a_step_of_weighing_leaves_enough_poses_and_no_more_than_it_has_to() -> None:
    cloud = cloud_at(500)
    fits = -np.linspace(0.0, 300.0, 500)
    power = bearable(cloud, fits, 0.6)
    assert 0.0 < power < 0.6
    assert survivors(cloud, fits, power) > 0.05 * 500
    assert survivors(cloud, fits, power) < 0.25 * 500
    assert bearable(cloud, 0.01 * fits, 0.6) == 0.6


# The trail of dead reckoning.


def rolled(stamps: Any, u: float, w: float) -> tuple[Any, Any]:
    trail, m = np.zeros((LENGTH, 6)), np.zeros(1, TRAIL)[0]
    o = table(WHEELS, 1)[0]
    for stamp in stamps:
        o.stamp = stamp
        roll(trail, m, o, (u, 0.0, w))
    return trail, m


def test_a_stamp_between_two_readings_is_on_the_arc_between_them() -> None:
    trail, m = rolled(np.arange(20) * 0.1, 0.05, 0.04)
    for stamp in (0.0, 0.05, 0.733, 1.9, 1.95):
        x, y, yaw, way, turned = spot_at(trail, m, stamp)
        share = stamp / 0.1
        assert reaches(trail, m, stamp)
        assert (x, y, yaw) == pytest.approx(arc((0.0, 0.0, 0.0), 0.05 * share, 0.0, 0.04 * share))
        assert (way, turned) == pytest.approx((0.05 * share, 0.04 * share))
    assert latest(trail, m) == pytest.approx(spot_at(trail, m, 1.9))


def test_the_trail_forgets_the_oldest_and_says_so() -> None:
    stamps = np.arange(3 * LENGTH) * 0.1
    trail, m = rolled(stamps, 0.05, 0.0)
    first = stamps[-LENGTH]
    assert spot_at(trail, m, first + 0.25)[0] == pytest.approx((first + 0.25) * 0.5)
    assert reaches(trail, m, first)
    assert not reaches(trail, m, first - 0.01)
    assert not reaches(trail, m, stamps[-1] + 1.0)
