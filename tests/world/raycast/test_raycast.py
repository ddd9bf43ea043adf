"""Ranges against a brute force that shares nothing but the predicate, and against closed forms."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astray.tables import Array
from astray.world import Map, block, merge, wall
from astray.world.geometry.segment_index import FEW
from astray.world.geometry.segments import Segment
from astray.world.maps.read import read_map
from astray.world.raycast.angular_interval import bearing_32
from astray.world.raycast.casting import cast_rays
from astray.world.raycast.intersection import intersect_ray_segment
from astray.world.raycast.ray_bundle import ANGLE_ERROR
from support.paths import ROOT
from support.rays import TAU, clutter, directions, kernels


def brute(segments: Array, pose: Array, d: Array, max_range: float) -> tuple[Array, Array]:
    """Ranges by testing all segments, and the least angle (rad) between each ray and any end."""
    a, b = segments[:, :2] - pose[:2], segments[:, 2:] - pose[:2]
    area = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    turn = np.where(area < 0.0, -1.0, 1.0)[:, None]
    c, s = d
    left = turn * (a[:, :1] * s - a[:, 1:] * c)
    right = turn * (c * b[:, 1:] - s * b[:, :1])
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = (c * (b - a)[:, 1:] - s * (b - a)[:, :1]) / area[:, None]
        met = (left >= 0.0) & (right >= 0.0) & (area != 0.0)[:, None]
        nearest = np.where(met, inverse, 0.0).max(axis=0, initial=0.0)
        ends = np.vstack([a, b])
        aside = np.abs(ends[:, :1] * s - ends[:, 1:] * c) / np.hypot(*ends.T)[:, None]
        ahead = ends[:, :1] * c + ends[:, 1:] * s > 0.0
        near_end = np.where(ahead, aside, np.inf).min(axis=0, initial=np.inf)
        ranges = np.where(nearest > 1.0 / max_range, 1.0 / nearest, np.inf)
    return ranges, near_end


def assert_exact(map_: Map, poses: Array, rays: int, start: float, step: float, far: float) -> None:
    found = cast_rays(map_, poses, rays=rays, start=start, step=step, max_range=far)
    doubtful = 0
    for k, pose in enumerate(poses):
        expected, near_end = brute(map_.segments, pose, directions(pose, rays, start, step), far)
        same = np.isclose(found[k], expected, rtol=0.0, atol=1e-9)
        # What is just within the longest range may be just beyond it by the other's rounding.
        same |= (np.minimum(found[k], expected) > far * (1.0 - 1e-9)) & ~same
        doubtful += int((~same & (near_end < 1e-12)).sum())
        assert (same | (near_end < 1e-12)).all()
    assert doubtful <= 1 + 1e-6 * found.size


POSES = st.lists(
    st.tuples(st.floats(-12, 12), st.floats(-12, 12), st.floats(-7, 7)), min_size=1, max_size=4
)


@settings(max_examples=150)
@given(
    segments=st.integers(1, 200),
    seed=st.integers(0, 2**31),
    poses=POSES,
    rays=st.integers(1, 200),
    start=st.floats(-4, 4),
    view=st.floats(1e-4, TAU),
    far=st.floats(0.5, 60.0),
)
def test_any_map_any_view_any_pose(
    segments: int,
    seed: int,
    poses: list[tuple[float, float, float]],
    rays: int,
    start: float,
    view: float,
    far: float,
) -> None:
    step = view / max(1, rays - 1) if rays > 1 else 1.0
    step = min(step, TAU / rays)
    assert_exact(clutter(segments, seed), np.array(poses), rays, start, step, far)


def blocks(count: int, seed: int, extent: float) -> Map:
    """Convex blocks that may overlap, in a room."""
    rng = np.random.default_rng(seed)
    room = wall([(-extent, -extent), (extent, -extent), (extent, extent), (-extent, extent)], True)
    parts = [room]
    for _ in range(count):
        corners = int(rng.integers(3, 9))
        angle = np.sort(rng.uniform(0.0, TAU, corners))
        ring = rng.uniform(0.1, 2.0) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        parts.append(block(rng.uniform(-extent, extent, 2) + ring))
    return merge(parts)


@settings(max_examples=60)
@given(count=st.integers(1, 60), seed=st.integers(0, 2**31))
def test_solids_are_seen_from_outside_and_from_within(count: int, seed: int) -> None:
    map_ = blocks(count, seed, 6.0)
    first, second, third = map_.segments[4, :2], map_.segments[4, 2:], map_.segments[5, 2:]
    rng = np.random.default_rng(seed)
    within = np.array([[*(first + second + third) / 3.0, 0.0]])
    poses = np.vstack([rng.uniform(-6, 6, (4, 3)), within])
    assert_exact(map_, poses, 150, 0.3, TAU / 150, 25.0)


@pytest.mark.parametrize("segments", [10, 100, 1000, 10_000])
@pytest.mark.parametrize(("rays", "far"), [(1080, 30.0), (180, 8.0), (16, 30.0), (3, 200.0)])
def test_maps_of_every_size(segments: int, rays: int, far: float) -> None:
    extent = max(4.0, math.sqrt(segments * 1.25))
    map_ = clutter(segments, segments, extent, extent / 4)
    rng = np.random.default_rng(rays)
    poses = rng.uniform(-extent, extent, (4, 3))
    assert_exact(map_, poses, rays, -math.pi, TAU / rays, far)


@pytest.mark.parametrize("segments", [FEW + 1, 300, 3000])
def test_every_kernel_gives_the_same_ranges(segments: int) -> None:
    extent = math.sqrt(segments)
    map_ = clutter(segments, 7, extent)
    poses = np.random.default_rng(3).uniform(-extent, extent, (20, 3))
    found = kernels(map_, poses, 97, 9.0)
    assert np.isfinite(found["intervals"]).mean() > 0.5
    for name, ranges in found.items():
        np.testing.assert_allclose(ranges, found["intervals"], rtol=1e-12, err_msg=name)


PLAIN = """
import hashlib, math, sys
sys.path.insert(0, {tests!r})
import numpy as np
from support.rays import clutter, kernels
made = hashlib.blake2b()
for segments in (20, 60):
    poses = np.random.default_rng(1).uniform(-5, 5, (3, 3))
    for ranges in kernels(clutter(segments, 5, 6.0), poses, 40, 9.0).values():
        made.update(ranges.tobytes())
print(made.hexdigest())
"""


def test_compiled_and_plain_give_the_same_bytes() -> None:
    tests = str(ROOT / "tests")
    printed = [
        subprocess.run(
            [sys.executable, "-c", PLAIN.format(tests=tests)],
            env={**os.environ, "ASTRAY_JIT": jit},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for jit in ("0", "1")
    ]
    assert printed[0] == printed[1] != ""


def test_no_ray_leaves_a_closed_room() -> None:
    room = wall([(0, 0), (4, 0), (4, 3), (0, 3)], closed=True)
    lattice = np.array(
        [(x, y, 0.0) for x in np.arange(0.5, 4, 0.5) for y in np.arange(0.5, 3, 0.5)]
    )
    for rays in (8, 360, 1080, 20_000):
        assert np.isfinite(cast_rays(room, lattice, rays=rays, max_range=10.0)).all()


def test_a_million_rays_through_shared_corners_do_not_leak() -> None:
    # A room of many short walls on a lattice, inside a far circle: what leaks meets the circle.
    n = 50
    ring = [(k, 0) for k in range(n)] + [(n, k) for k in range(n)]
    ring += [(n - k, n) for k in range(n)] + [(0, n - k) for k in range(n)]
    room = wall(ring, closed=True)
    rng = np.random.default_rng(2)
    corners = np.array(ring, float)
    inside = np.round(rng.uniform(1, n - 1, (700, 2)))  # lattice points: many collinear corners
    aimed = corners[rng.integers(len(corners), size=700)] - inside
    poses = np.hstack([inside, np.arctan2(aimed[:, 1], aimed[:, 0])[:, None]])
    found = cast_rays(room, poses, rays=1440, max_range=200.0)
    free = rng.uniform(0.01, n - 0.01, (100, 3))
    assert found.size >= 1_000_000
    assert np.isfinite(found).all()
    assert (found <= n * math.sqrt(2.0) + 1e-9).all()
    assert np.isfinite(cast_rays(room, free, rays=1440, max_range=200.0)).all()


def test_a_maze_does_not_leak_either() -> None:
    maze = read_map({"kind": "maze", "segments": 2000, "seed": 3})
    low_x, low_y, high_x, high_y = maze.bounds
    rng = np.random.default_rng(0)
    poses = rng.uniform((low_x + 0.1, low_y + 0.1, -3), (high_x - 0.1, high_y - 0.1, 3), (200, 3))
    far = math.hypot(high_x - low_x, high_y - low_y) + 1.0
    assert np.isfinite(cast_rays(maze, poses, rays=720, max_range=far)).all()


def test_ranges_in_a_square_room_are_the_closed_form() -> None:
    room = wall([(-2, -2), (2, -2), (2, 2), (-2, 2)], closed=True)
    rays = 360
    angle = np.arange(rays) * TAU / rays
    expected = 2.0 / np.maximum(np.abs(np.cos(angle)), np.abs(np.sin(angle)))
    found = cast_rays(room, np.zeros((1, 3)), rays=rays)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_ray_without_a_hit_in_range_reads_inf() -> None:
    pole = block([(5, -1), (6, -1), (6, 1), (5, 1)])
    pose = np.zeros((1, 3))
    assert np.isinf(cast_rays(Map(), pose, rays=4)).all()
    assert cast_rays(pole, pose, rays=4, max_range=10.0)[0].tolist() == [5.0] + [math.inf] * 3
    assert np.isinf(cast_rays(pole, pose, rays=4, max_range=4.0)).all()


def test_a_segment_seen_edge_on_is_met_at_its_nearer_end() -> None:
    ahead, between, aside = np.array([[[0, 0, 0]], [[2, 0, 0.3]], [[0, 1e-3, 0.0]]])
    for edge_on in (wall([(1.0, 0.0), (3.0, 0.0)]), wall([(3.0, 0.0), (1.0, 0.0)])):
        assert cast_rays(edge_on, ahead, rays=4)[0].tolist() == [1.0] + [math.inf] * 3
        assert (cast_rays(edge_on, between, rays=5) == 0.0).all()
        assert np.isinf(cast_rays(edge_on, aside, rays=1)).all()


def test_a_segment_is_closed() -> None:
    for ends in ((1.0, 0.0, 1.0, 1.0), (1.0, -1.0, 1.0, 0.0)):
        reverse = Segment(ends[2], ends[3], ends[0], ends[1])
        assert intersect_ray_segment(Segment(*ends), 1.0, 0.0) == 1.0
        assert intersect_ray_segment(reverse, 1.0, 0.0) == 1.0
    assert intersect_ray_segment(Segment(1.0, 1e-9, 1.0, 1.0), 1.0, 0.0) == 0.0


def test_threads_change_no_byte() -> None:
    map_ = clutter(500, 1)
    poses = np.random.default_rng(4).uniform(-9, 9, (64, 3))
    one = cast_rays(map_, poses, rays=200)
    np.testing.assert_array_equal(one, cast_rays(map_, poses, rays=200, threads=2))


def test_a_sensor_far_outside_the_map_has_exact_ranges() -> None:
    map_ = merge([clutter(300, 9), wall([(-10, -10), (10, -10), (10, 10), (-10, 10)], closed=True)])
    poses = np.array([[-60.0, 0.0, 0.0], [0.0, 500.0, 0.0], [-12.0, -12.0, 0.8]])
    assert_exact(map_, poses, 720, 0.0, TAU / 720, 80.0)
    assert np.isinf(cast_rays(map_, poses[1:2], rays=90, max_range=80.0)).all()


def test_bearings_are_as_good_as_rays_near_ends_need_them() -> None:
    rng = np.random.default_rng(8)
    away, angle = 10.0 ** rng.uniform(-6, 7, 20_000), rng.uniform(-math.pi, math.pi, 20_000)
    angle[::10] = np.round(angle[::10] / (TAU / 8)) * (TAU / 8)  # along axes and diagonals, too
    first = rng.uniform(-math.pi, math.pi, 20_000)
    x, y = away * np.cos(angle), away * np.sin(angle)
    single = np.stack([x, y, first]).astype(np.float32).T
    found = np.array([bearing_32(*row) for row in single], float)
    wrong = np.abs((found - (np.arctan2(y, x) - first) + math.pi) % TAU - math.pi)
    # Half of it is left for what is done with them.
    assert wrong.max() < 0.5 * ANGLE_ERROR
    assert found.min() >= 0.0
    assert found.max() < TAU + ANGLE_ERROR


@pytest.mark.parametrize("view", [1e-3, 1e-6, 1e-9])
def test_rays_that_are_very_close_together(view: float) -> None:
    rays = 300
    gap = merge([wall([(5.0, -1.0), (5.0, 0.41 * view)]), wall([(9.0, 1.0), (8.0, -1.0)])])
    poses = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, -0.2 * view], [-1.0, 0.1 * view, 0.0]])
    assert_exact(gap, poses, rays, -0.5 * view, view / (rays - 1), 20.0)
    beyond = cast_rays(gap, poses[:1], rays=rays, start=-view, step=view / 150)[0] > 7.0
    assert np.flatnonzero(np.diff(beyond)).tolist() == [162]  # rays below 0.082 of the view meet it


def test_segments_many_cells_away_are_met() -> None:
    # Posts around a square field: from its middle the next ones are in a ring of 368 cells.
    rng = np.random.default_rng(0)
    n, far = 60_000, rng.uniform(300.0, 330.0, 60_000)
    along, turn = rng.uniform(-330.0, 330.0, n), rng.integers(0, 4, n) * (TAU / 4)
    c, s = np.round(np.cos(turn)), np.round(np.sin(turn))
    middle = np.stack([c * far - s * along, s * far + c * along], axis=1)
    lie = rng.uniform(0.0, TAU, n)
    half = 0.05 * np.stack([np.cos(lie), np.sin(lie)], axis=1)
    field = Map(np.hstack([middle - half, middle + half]), np.zeros(n, bool))
    found = kernels(field, np.array([[0.0, 0.0, 0.3]]), 1080, 500.0)
    chosen = cast_rays(field, np.array([[0.0, 0.0, 0.3]]), rays=1080, max_range=500.0)
    assert 0.5 < np.isfinite(chosen).mean() < 1.0
    np.testing.assert_allclose(chosen, found["by ray"], rtol=1e-12)
