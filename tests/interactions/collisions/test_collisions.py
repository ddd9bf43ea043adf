"""Collisions: nothing tunnels, nothing sticks, and the order of robots changes nothing."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import astray
from astray.interactions import Collisions
from astray.numerics.se2 import arc
from astray.plugin import Scene
from astray.tables import ADDRESS, COLLISION_STATE, STATE, table
from astray.world.geometry.footprint import Footprint, make_shapes
from astray.world.geometry.grids import make_robot_grid
from astray.world.map import Map, block, merge, wall
from astray.world.maps.map_set import MapSet

SKIN = 1e-6
TOUCHING = 3e-6  # m: as near as robots come, with the tolerance of the sweep
U_SHAPE = Footprint.polygon(
    [
        (-0.3, -0.3),
        (0.3, -0.3),
        (0.3, -0.2),
        (-0.1, -0.2),
        (-0.1, 0.2),
        (0.3, 0.2),
        (0.3, 0.3),
        (-0.3, 0.3),
    ]
)
SHAPES = [
    Footprint(radius=0.2),
    Footprint(x=0.15, y=-0.05, radius=0.1),
    Footprint.box(0.5, 0.3),
    Footprint.box(0.6, 0.2, x=0.2),
    Footprint.polygon([(0.3, 0.0), (-0.2, 0.2), (-0.2, -0.2)]),
    U_SHAPE,
]
Pose = Sequence[float]


# A scene by hand, in which robots are moved by the velocity that they are given.


class Arena:
    """Some robots and a map, without a simulator."""

    def __init__(
        self,
        map: Map,
        poses: Sequence[Pose],
        shapes: Sequence[Footprint] = SHAPES[:1],
        dt: float = 0.1,
        **params: Any,
    ) -> None:
        n = len(poses)
        truth = table(STATE, n)
        truth["alive"] = True
        truth["footprint"] = [k % len(shapes) for k in range(n)]
        for name, column in zip(("x", "y", "yaw"), np.array(poses, float).T, strict=True):
            truth[name] = column
        self.shapes = [shapes[k % len(shapes)] for k in range(n)]
        worlds = np.zeros(n, np.int64)
        self.scene = Scene(
            truth,
            truth,
            truth,
            worlds,
            0,
            MapSet([map]),
            make_shapes(shapes),
            make_robot_grid(n, 1),
            table(COLLISION_STATE, n),
        )
        self.rows = np.arange(n)
        self.collisions = Collisions(**params).attach(table(ADDRESS, n), {}, dt, 0, "")
        self.collisions.begin(self.rows)
        self.collisions.placed(self.rows, self.scene, self.rows)
        self.truth, self.states, self.dt, self.map = truth, self.scene.collisions, dt, map

    def drive(self, *velocities: Sequence[float]) -> np.ndarray | None:
        """One tick in which each robot moves with its body velocity (vx, vy, wz)."""
        self.collisions.prepare(self.rows, self.scene)
        for i in self.rows:
            s, (vx, vy, wz) = self.truth[i], velocities[i % len(velocities)]
            s.x, s.y, s.yaw = arc((s.x, s.y, s.yaw), vx * self.dt, vy * self.dt, wz * self.dt)
            s.vx, s.vy, s.wz = vx, vy, wz
            s.wheel[:2] += 1.0  # what is gone of the tick's motion
            s.wheel_rate[:2] = 1.0 / self.dt
        self.truth["stamp"] += self.dt
        return self.collisions.interact(self.rows, self.scene)

    def stopped(self, velocity: Sequence[float], before: Pose) -> tuple[float, float, float]:
        """Where the first robot was stopped, before it turned on."""
        gone = float(self.truth["wheel"][0, 0])
        return arc(before, *(self.dt * gone * part for part in velocity))

    def pose(self, i: int = 0) -> tuple[float, float, float]:
        return tuple(float(self.truth[name][i]) for name in ("x", "y", "yaw"))  # type: ignore[return-value]

    def state(self) -> bytes:
        return self.truth.tobytes() + self.states.tobytes() + self.collisions.memory.tobytes()


# An oracle that shares no code with the kernels.


def outline(shape: Footprint, pose: Pose) -> tuple[np.ndarray, float]:
    """The edges of a footprint in the map, (n, 4), and its radius: a circle is one point."""
    corners = np.array(shape.corners or [(shape.x, shape.y)])
    x, y, yaw = pose
    c, s = math.cos(yaw), math.sin(yaw)
    at = np.stack(
        [x + c * corners[:, 0] - s * corners[:, 1], y + s * corners[:, 0] + c * corners[:, 1]], 1
    )
    return np.hstack([at, np.roll(at, -1, axis=0)]), 0.0 if shape.corners else shape.radius


def to_segments(points: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Distances of points from segments, (points, segments)."""
    a, e = ends[:, :2], ends[:, 2:] - ends[:, :2]
    size = np.maximum((e**2).sum(1), 1e-30)
    d = points[:, None, :] - a[None]
    t = np.clip((d * e).sum(2) / size, 0.0, 1.0)
    return np.sqrt(((d - t[:, :, None] * e[None]) ** 2).sum(2))


def inside(points: np.ndarray, ring: np.ndarray) -> np.ndarray:
    """Whether points are inside the ring of edges, (points,)."""
    x, y = points[:, 0, None], points[:, 1, None]
    ax, ay, bx, by = ring.T
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = ((ay > y) != (by > y)) & (x < ax + (y - ay) / (by - ay) * (bx - ax))
    return hit.sum(1) % 2 == 1


def clearance(
    a: tuple[np.ndarray, float], b: tuple[np.ndarray, float], solid: bool = False
) -> float:
    """How far two outlines are apart; ≤ 0 where they overlap, or one holds the other if both are solid."""
    (one, r), (two, q) = a, b
    if not len(one) or not len(two):
        return math.inf
    d = min(to_segments(one[:, :2], two).min(), to_segments(two[:, :2], one).min())
    d = min(d, to_segments(one[:, 2:], two).min(), to_segments(two[:, 2:], one).min())
    p, v = one[:, None, :2], one[:, None, 2:] - one[:, None, :2]
    o, w = two[None, :, :2], two[None, :, 2:] - two[None, :, :2]
    s = lambda e, f: e[..., 0] * f[..., 1] - e[..., 1] * f[..., 0]  # noqa: E731
    crossed = (s(v, o - p) * s(v, o + w - p) < 0) & (s(w, p - o) * s(w, p + v - o) < 0)
    if crossed.any():
        return -1.0
    if len(one) > 2 and inside(two[:, :2], one).any():
        return -1.0
    if solid and len(two) > 2 and inside(one[:, :2], two).any():
        return -1.0
    return float(d) - r - q


def path(before: Pose, after: Pose, t: float) -> tuple[float, float, float]:
    """The pose at fraction t of the arc of constant twist."""
    dx, dy = after[0] - before[0], after[1] - before[1]
    w = math.remainder(after[2] - before[2], math.tau)
    if abs(w) < 1e-9:
        return before[0] + t * dx, before[1] + t * dy, before[2] + t * w
    # The centre of the circle through both, seen under the angle w.
    k = 0.5 / math.tan(0.5 * w)
    cx, cy = 0.5 * dx - k * dy, 0.5 * dy + k * dx
    c, s = math.cos(t * w), math.sin(t * w)
    return before[0] + cx - c * cx + s * cy, before[1] + cy - s * cx - c * cy, before[2] + t * w


def wall_gap(arena: Arena, i: int = 0, pose: Pose | None = None) -> float:
    return clearance(outline(arena.shapes[i], pose or arena.pose(i)), (arena.map.segments, 0.0))


def gaps(arena: Arena) -> float:
    """The least distance of any robot from a wall or another robot."""
    bodies = [outline(shape, arena.pose(i)) for i, shape in enumerate(arena.shapes)]
    least = min(wall_gap(arena, i) for i in range(len(bodies)))
    for i, body in enumerate(bodies):
        for other in bodies[:i]:
            least = min(least, clearance(body, other, solid=True))
    return least


# Walls.

FENCE = wall([(1.0, -30.0), (1.0, 30.0)])
THIN = block([(1.0, -30.0), (1.001, -30.0), (1.001, 30.0), (1.0, 30.0)])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("map", [FENCE, THIN], ids=["line", "millimetre"])
@settings(max_examples=25)
@given(
    yaw=st.floats(-3.1, 3.1),
    heading=st.floats(-1.4, 1.4),
    wz=st.floats(-30.0, 30.0),
    far=st.floats(0.65, 8.0),
)
def test_nothing_tunnels_at_100_m_per_s(
    map: Map, shape: Footprint, yaw: float, heading: float, wz: float, far: float
) -> None:
    arena = Arena(map, [(1.0 - far, 0.0, yaw)], [shape])
    turned = heading - yaw - 0.05 * wz  # so that the chord points ahead
    velocity, before = (100.0 * math.cos(turned), 100.0 * math.sin(turned), wz), arena.pose()
    arena.drive(velocity)
    assert bool(arena.states["touching"][0]) == bool(arena.states["stalled"][0])
    ends, radius = outline(shape, arena.pose())
    assert ends[:, 0].max() + radius < 1.0
    if arena.states["touching"][0]:
        assert 0.0 < wall_gap(arena, 0, arena.stopped(velocity, before)) < TOUCHING


@settings(max_examples=60)
@given(
    shape=st.sampled_from(SHAPES),
    v=st.tuples(st.floats(-15, 15), st.floats(-15, 15), st.floats(-20, 20)),
    yaw=st.floats(-3.1, 3.1),
    seed=st.integers(0, 10**6),
)
def test_the_first_contact_agrees_with_fine_steps(
    shape: Footprint, v: tuple[float, float, float], yaw: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    ends = rng.uniform(-2, 2, (rng.integers(1, 60), 2))
    map = Map(
        np.hstack([ends, ends + rng.uniform(-0.7, 0.7, ends.shape)]), np.zeros(len(ends), bool)
    )
    before = (0.0, 0.0, yaw)
    if clearance(outline(shape, before), (map.segments, 0.0)) < 1e-5:
        return
    arena = Arena(map, [before], [shape])
    after = arc(before, *(0.1 * part for part in v))
    arena.drive(v)
    steps = 250
    free = [
        clearance(outline(shape, path(before, after, k / steps)), (map.segments, 0.0))
        for k in range(steps + 1)
    ]
    end = arena.pose()
    if not arena.states["touching"][0]:
        assert end == after
        assert min(free) > 0.0
        return
    gone = float(arena.truth["wheel"][0, 0])
    first = next((k for k, d in enumerate(free) if d <= 0.0), steps + 1)
    assert gone * steps <= first
    assert min(free[: math.floor(gone * steps) + 1]) > 0.0
    assert 0.0 < wall_gap(arena, 0, path(before, after, gone)) < TOUCHING
    assert wall_gap(arena) > 0.0


@pytest.mark.parametrize("shape", SHAPES[:4])
def test_a_robot_at_a_wall_is_not_held_by_it(shape: Footprint) -> None:
    arena = Arena(FENCE, [(0.0, 0.0, 0.0)], [shape])
    arena.drive((30.0, 0.0, 0.0))
    x = arena.pose()[0]
    for k in range(5):  # along the wall, both ways
        arena.drive((0.0, 7.0 if k % 2 else -9.0, 0.0))
        assert not arena.states["touching"][0]
        assert arena.pose()[0] == x
    arena.drive((1.0, 0.0, 0.0))  # into it, again
    assert arena.states["stalled"][0]
    assert arena.pose()[0] == pytest.approx(x, abs=2e-9)
    arena.drive((-1.0, 0.5, 0.0))
    assert not arena.states["touching"][0]
    assert arena.pose()[0] == pytest.approx(x - 0.1)


@pytest.mark.parametrize("angle", [0.3, 1.1, 2.0, -2.6])
@pytest.mark.parametrize("far", [0.0, 1e3, -1e5])
def test_rounding_does_not_hold_a_robot_at_a_slanted_wall(angle: float, far: float) -> None:
    c, s = math.cos(angle), math.sin(angle)
    map = wall([(far - 50 * c, far - 50 * s), (far + 50 * c, far + 50 * s)])
    arena = Arena(map, [(far - 0.5 * s, far + 0.5 * c, angle)])
    arena.drive((0.0, -50.0, 0.0))
    assert arena.states["touching"][0]
    for k in range(40):
        arena.drive((20.0 if k % 2 else -20.0, 0.0, 0.0))
        assert not arena.states["touching"][0]
        assert 0.0 < wall_gap(arena) < TOUCHING


def test_curving_away_from_a_wall_is_free() -> None:
    arena = Arena(FENCE, [(0.5, 0.0, math.pi / 2)])
    arena.drive((0.0, -20.0, 0.0))
    assert arena.states["touching"][0]
    before = arena.pose()
    arena.drive((5.0, 0.0, 10.0))  # forward is along the wall, left is away from it
    assert not arena.states["touching"][0]
    assert arena.pose() == arc(before, 0.5, 0.0, 1.0)


def test_a_circle_turns_at_a_wall_and_a_box_as_far_as_its_corner_allows() -> None:
    circle, box = (
        Arena(FENCE, [(0.0, 0.0, 0.0)], [shape]) for shape in (Footprint(radius=0.3), SHAPES[2])
    )
    circle.drive((100.0, 0.0, 0.0))
    circle.drive((0.0, 0.0, 25.0))
    assert not circle.states["touching"][0]
    assert circle.pose()[2] == pytest.approx(2.5)
    # A box of 0.5 × 0.3 whose middle is 0.28 m from the wall: its corner is at √(0.25² + 0.15²).
    box.truth["x"] = 0.72
    box.collisions.placed(box.rows, box.scene, box.rows)
    box.drive((0.0, 0.0, 6.0))
    reach, corner = math.hypot(0.25, 0.15), math.atan2(0.15, 0.25)
    turned = corner - math.acos((0.28 - SKIN) / reach)
    assert box.states["stalled"][0]
    assert box.truth["wz"][0] == 0.0
    assert box.pose()[2] == pytest.approx(turned, abs=3e-5)
    assert 0.0 < wall_gap(box) < TOUCHING


def test_a_stopped_robot_has_the_state_of_one_that_stands() -> None:
    arena = Arena(FENCE, [(0.0, 0.0, 0.0)])
    arena.truth["vx"] = 10.0
    arena.drive((10.0, 0.0, 2.0))
    s, c = arena.truth[0], arena.states[0]
    gone = (0.8 - SKIN) / 1.0
    assert s.wheel[0] == pytest.approx(gone, rel=0.02)
    assert (s.vx, s.vy, s.wz) == (0.0, 0.0, 2.0)
    assert s.yaw == pytest.approx(0.2)  # it turned on where it stands
    assert s.wheel_rate[0] == 0.0
    assert s.ax == pytest.approx(-100.0)
    assert (c.other, c.x) == (-1, pytest.approx(1.0, abs=TOUCHING))
    assert c.y == pytest.approx(s.y, abs=1e-9)
    assert c.speed == pytest.approx(10.0, rel=0.05)


def test_the_bearing_of_a_contact_is_in_the_body() -> None:
    arena = Arena(FENCE, [(0.0, 0.0, math.pi / 2)])
    arena.drive((0.0, -20.0, 0.0))
    assert arena.states["bearing"][0] == pytest.approx(-math.pi / 2)
    flat = Arena(FENCE, [(0.0, 0.0, 0.0)], [SHAPES[2]])
    flat.drive((20.0, 0.0, 0.0))
    assert flat.states["bearing"][0] == pytest.approx(0.0, abs=1e-9)  # the middle of its front


def test_a_u_shape_docks_around_a_post() -> None:
    post = block([(1.0, -0.02), (1.04, -0.02), (1.04, 0.02), (1.0, 0.02)])
    arena = Arena(post, [(0.0, 0.0, 0.0)], [U_SHAPE])
    arena.drive((20.0, 0.0, 0.0))
    assert arena.pose()[0] == pytest.approx(1.1, abs=TOUCHING)  # the bottom of the U at the post
    arena.drive((0.0, 5.0, 0.0))
    assert arena.pose()[1] == pytest.approx(0.18, abs=TOUCHING)  # its arm at the post's side
    arena.drive((-20.0, 0.0, 0.0))
    assert not arena.states["touching"][0]


# Robots.

OPEN = Map()


def test_head_on_robots_meet_in_the_middle() -> None:
    arena = Arena(OPEN, [(-3.0, 0.0, 0.0), (3.0, 0.0, math.pi)])
    arena.drive((100.0, 0.0, 0.0))
    a, b = arena.pose(0), arena.pose(1)
    assert b[0] - a[0] == pytest.approx(0.4, abs=TOUCHING)
    assert a[0] + b[0] == pytest.approx(0.0, abs=1e-12)
    assert arena.states["other"].tolist() == [1, 0]
    assert arena.states["speed"].tolist() == pytest.approx([200.0, 200.0])
    assert arena.states["stalled"].all()


def test_a_robot_hit_from_behind_continues_and_one_that_stands_stays() -> None:
    arena = Arena(OPEN, [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    arena.drive((20.0, 0.0, 0.0), (5.0, 0.0, 0.0))
    assert arena.pose(1)[0] == pytest.approx(1.5)
    assert arena.states["touching"].tolist() == [True, True]
    assert arena.states["stalled"].tolist() == [True, False]
    assert arena.pose(0)[0] == pytest.approx(0.6 + 0.6 / 15.0 * 5.0, abs=1e-5)
    arena = Arena(OPEN, [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    arena.drive((20.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    assert arena.pose(1) == (1.0, 0.0, 0.0)
    assert arena.pose(0)[0] == pytest.approx(0.6, abs=TOUCHING)
    assert arena.states["stalled"].tolist() == [True, False]


def test_a_chain_of_robots_stops_at_a_wall() -> None:
    arena = Arena(FENCE, [(-4.0 + k, 0.0, 0.0) for k in range(4)], SHAPES[2:3])
    for _ in range(3):
        arena.drive((100.0, 0.0, 0.0))
        xs = sorted(arena.pose(k)[0] for k in range(4))
        assert xs == pytest.approx([0.75 - 0.5 * k for k in (3, 2, 1, 0)], abs=1e-5)
        assert 0.0 < gaps(arena) < TOUCHING


def test_robots_that_cross_at_different_times_do_not_meet() -> None:
    arena = Arena(OPEN, [(-1.0, 0.0, 0.0), (0.0, -3.0, math.pi / 2)])
    arena.drive((30.0, 0.0, 0.0))
    assert not arena.states["touching"].any()


def test_a_robot_stopped_at_a_wall_is_hit_where_it_stands() -> None:
    # The first stops at the wall at once; the second would have followed it for ever.
    map = wall([(0.3, -1.0), (0.3, 1.0)])
    arena = Arena(map, [(0.0, 0.0, 0.0), (-1.0, 0.0, 0.0)])
    arena.drive((10.0, 0.0, 0.0))
    assert arena.pose(0)[0] == pytest.approx(0.1, abs=TOUCHING)
    assert arena.pose(1)[0] == pytest.approx(-0.3, abs=2 * TOUCHING)
    assert arena.states["other"].tolist() == [-1, 0]


def test_robots_may_pass_through_each_other_if_asked() -> None:
    arena = Arena(OPEN, [(-3.0, 0.0, 0.0), (3.0, 0.0, math.pi)], robots=False)
    arena.drive((100.0, 0.0, 0.0))
    assert not arena.states["touching"].any()


def scatter(seed: int, n: int, response: str, back: bool = False) -> Arena:
    """Robots of all shapes that do not overlap at first, in a map of walls and blocks."""
    rng = np.random.default_rng(seed)
    parts = [wall([(-3, -3), (3, -3), (3, 3), (-3, 3)], closed=True)]
    for _ in range(rng.integers(0, 14)):
        x, y, a = [*rng.uniform(-2.5, 2.5, 2).tolist(), rng.uniform(-3, 3)]
        corners = [(x + 0.4 * math.cos(a + k), y + 0.4 * math.sin(a + k)) for k in (0.0, 1.5, 3.5)]
        parts.append(block(corners) if rng.random() < 0.6 else wall(corners[:2]))
    map = merge(parts)
    poses: list[Pose] = []
    bodies = [(p.segments, 0.0) for p in parts if p.solid.any()]
    while len(poses) < n:
        pose = (*rng.uniform(-2.6, 2.6, 2).tolist(), float(rng.uniform(-3, 3)))
        body = outline(SHAPES[len(poses) % len(SHAPES)], pose)
        free = clearance(body, (map.segments, 0.0))
        if min([free, *(clearance(body, other, solid=True) for other in bodies)]) > 1e-3:
            poses.append(pose)
            bodies.append(body)
    shapes = [SHAPES[k % len(SHAPES)] for k in range(n)]
    velocities = [(rng.normal(0, 15, (n, 3)) * (1, 1, 0.3)).tolist() for _ in range(4)]
    order = range(n)[::-1] if back else range(n)
    arena = Arena(map, [poses[k] for k in order], [shapes[k] for k in order], response=response)
    arena.plan = [[v[k] for k in order] for v in velocities]  # type: ignore[attr-defined]
    return arena


@pytest.mark.parametrize("response", ["stop", "slide"])
@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12))
def test_robots_never_overlap_and_the_order_of_rows_changes_nothing(
    response: str, seed: int, n: int
) -> None:
    arena, back = scatter(seed, n, response), scatter(seed, n, response, back=True)
    assert not arena.states["touching"].any()
    for one, two in zip(arena.plan, back.plan, strict=True):  # type: ignore[attr-defined]
        before = arena.truth.copy()
        arena.drive(*one)
        back.drive(*two)
        assert gaps(arena) > 0.0
        for i in range(n if response == "stop" else 0):  # nor did any robot pass a wall on its path
            start, gone = before[i], arena.truth["wheel"][i, 0] - before["wheel"][i, 0]
            for f in np.linspace(0.0, gone, 20):
                turn = [0.1 * f * part for part in one[i]]
                assert wall_gap(arena, i, arc((start.x, start.y, start.yaw), *turn)) > 0.0
        for name in STATE.names or ():
            if name != "footprint":
                assert arena.truth[name].tobytes() == back.truth[name][::-1].tobytes()
        for name in COLLISION_STATE.names or ():
            if name != "other":
                assert arena.states[name].tobytes() == back.states[name][::-1].tobytes()
        other, mirrored = arena.states["other"], back.states["other"][::-1]
        assert (other == np.where(mirrored < 0, mirrored, n - 1 - mirrored)).all()


# Responses.


def test_sliding_keeps_the_speed_along_the_wall() -> None:
    arena = Arena(FENCE, [(0.0, 0.0, 0.0)], response="slide")
    arena.drive((10.0, 10.0, 0.0))
    x, y, _ = arena.pose()
    assert (x, y) == (pytest.approx(0.8, abs=TOUCHING), pytest.approx(1.0))
    s = arena.truth[0]
    assert (s.vx, s.vy) == (pytest.approx(0.0, abs=1e-9), pytest.approx(10.0))
    assert arena.states["touching"][0]
    assert not arena.states["stalled"][0]
    arena.drive((10.0, 10.0, 0.0))
    assert arena.pose()[1] == pytest.approx(2.0)
    assert arena.truth["wheel"][0, 0] == 2.0  # the wheels turn as they are driven


def test_sliding_while_turning_is_not_held() -> None:
    arena = Arena(FENCE, [(0.0, 0.0, math.pi / 4)], response="slide")
    for _ in range(8):
        arena.drive((5.0, 0.0, 0.5))
    assert arena.pose()[1] > 2.0
    assert wall_gap(arena) > 0.0


def test_sliding_into_a_corner_stops() -> None:
    map = wall([(1.0, -9.0), (1.0, 2.0), (-9.0, 2.0)])
    arena = Arena(map, [(0.0, 0.0, 0.0)], response="slide")
    arena.drive((50.0, 40.0, 0.0))
    assert arena.pose()[:2] == (pytest.approx(0.8, abs=TOUCHING), pytest.approx(1.8, abs=TOUCHING))
    assert arena.states["stalled"][0]
    assert abs(arena.truth["vx"][0]) + abs(arena.truth["vy"][0]) < 1e-9


def test_remove_returns_all_rows_that_collide() -> None:
    poses = [(0.0, 0.0, 0.0), (-2.0, 5.0, 0.0), (-1.5, 5.0, 0.0), (-5.0, -5.0, 0.0)]
    arena = Arena(FENCE, poses, response="remove")
    gone = arena.drive((20.0, 0.0, 0.0), (10.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    assert gone is not None
    assert sorted(gone.tolist()) == [0, 1, 2]
    assert Arena(FENCE, poses[3:], response="remove").drive((1.0, 0.0, 0.0)) is None


def test_a_collision_is_logged_once() -> None:
    arena = Arena(FENCE, [(0.0, 0.0, 0.0)])
    for v in (0.0, 10.0, 10.0, -1.0, 0.0, 20.0):
        arena.drive((v, 0.0, 0.0))
    begun = arena.collisions.log.all()
    assert begun["stamp"].tolist() == pytest.approx([0.2, 0.6])
    assert begun["other"].tolist() == [-1, -1]
    assert begun["speed"].tolist() == pytest.approx([10.0, 20.0])


# Bad starts.


def test_a_robot_placed_over_a_wall_is_stalled_and_can_only_leave() -> None:
    for shape in (SHAPES[0], SHAPES[2]):
        arena = Arena(FENCE, [(0.9, 0.0, 0.0)], [shape])
        assert arena.states["stalled"][0]
        assert len(arena.collisions.log) == 1
        arena.drive((3.0, 0.0, 0.0))
        assert arena.pose()[0] == pytest.approx(0.9, abs=1e-5)
        assert arena.states["stalled"][0]
        arena.drive((0.0, 1.0, 0.0))
        assert arena.pose()[1] == pytest.approx(0.1)
        arena.drive((-10.0, 0.0, 0.0))
        assert arena.pose()[0] == pytest.approx(-0.1)
        arena.drive((0.0, 0.0, 0.0))
        assert not arena.states["touching"][0]
        arena.drive((50.0, 0.0, 0.0))
        assert arena.pose()[0] < 0.81


def test_a_robot_inside_a_solid_leaves_it_only_towards_the_nearest_wall() -> None:
    cube = block([(-2.0, -2.0), (2.0, -2.0), (2.0, 2.0), (-2.0, 2.0)])
    arena = Arena(merge([cube, wall([(2.6, -9.0), (2.6, 9.0)])]), [(1.6, 0.0, 0.0)])
    assert arena.states["stalled"][0]
    arena.drive((-3.0, 0.0, 0.0))  # deeper is not allowed
    assert arena.pose()[0] == 1.6
    arena.drive((100.0, 0.0, 0.0))  # fast, but no farther than just out
    assert arena.pose()[0] == pytest.approx(2.0, abs=1e-5)
    assert arena.states["stalled"][0]
    arena.drive((-3.0, 0.0, 0.0))  # not in again
    assert arena.pose()[0] == pytest.approx(2.0, abs=1e-5)
    arena.drive((3.0, 0.0, 0.0))
    assert arena.pose()[0] == pytest.approx(2.3)
    arena.drive((100.0, 0.0, 0.0))
    assert arena.pose()[0] == pytest.approx(2.4, abs=TOUCHING)  # the wall behind


def test_a_post_inside_a_robot_is_a_collision() -> None:
    post = block([(0.1, 0.05), (0.12, 0.05), (0.12, 0.07), (0.1, 0.07)])
    for shape in (SHAPES[0], SHAPES[2]):
        arena = Arena(post, [(0.0, 0.0, 0.0)], [shape])
        assert arena.states["stalled"][0]
        arena.drive((0.5, 0.0, 0.0))
        assert arena.pose()[0] < 0.06  # its inner point stays on this side
        arena.drive((-6.0, 0.0, 0.0))
        assert arena.pose()[0] < -0.4
        arena.drive((10.0, 0.0, 0.0))
        assert wall_gap(arena) > 0.0


def test_robots_that_start_in_each_other_may_separate() -> None:
    arena = Arena(OPEN, [(0.0, 0.0, 0.0), (0.1, 0.0, 0.0)], SHAPES[2:3])
    assert arena.states["stalled"].all()
    arena.drive((1.0, 0.0, 0.0), (-1.0, 0.0, 0.0))  # not further in
    assert arena.pose(1)[0] - arena.pose(0)[0] == pytest.approx(0.1, abs=1e-5)
    arena.drive((-3.0, 0.0, 0.0), (3.0, 0.0, 0.0))
    assert arena.pose(1)[0] - arena.pose(0)[0] == pytest.approx(0.7, abs=1e-5)
    arena.drive((0.0, 0.0, 0.0))
    assert not arena.states["touching"].any()
    same = Arena(OPEN, [(0.0, 0.0, 0.0)] * 3)
    assert same.states["stalled"].all()
    same.drive((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (-1.0, 0.0, 0.0))
    assert same.pose(1)[1] == pytest.approx(0.2)


# Bytes.

SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
import test_collisions as t
import hashlib
for response in ("stop", "slide"):
    arena = t.scatter(3, 5, response)
    for velocities in arena.plan[:2]:
        arena.drive(*velocities)
    print(hashlib.sha256(arena.state()).hexdigest())
"""


def test_the_bytes_are_the_same_without_the_compiler() -> None:
    digests = []
    for jit in "01":
        script = SCRIPT.format(folder=str(Path(__file__).parent))
        environment = {**os.environ, "ASTRAY_JIT": jit}
        run = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert run.returncode == 0, run.stderr
        digests.append(run.stdout)
    assert digests[0] == digests[1]


def test_a_batch_of_worlds_is_each_world_alone() -> None:
    map = merge([FENCE, wall([(-1.0, -9.0), (-1.0, 9.0)])])
    starts = [(0.1 * k, 0.3 * k, 0.4 * k) for k in range(6)]
    arenas = [Arena(map, [pose]) for pose in starts]
    batch = Arena(map, starts)
    batch.scene.worlds, batch.scene.map = np.arange(6), MapSet([map], 6)
    batch.scene.robot_grid = make_robot_grid(6, 6)
    batch.collisions.placed(batch.rows, batch.scene, batch.rows)
    for _ in range(5):
        batch.drive((6.0, 1.0, 3.0))
        for k, arena in enumerate(arenas):
            arena.drive((6.0, 1.0, 3.0))
            assert batch.truth[k : k + 1].tobytes() == arena.truth.tobytes()
            assert batch.states[k : k + 1].tobytes() == arena.states.tobytes()


def test_a_scenario_with_walls_stops_its_robots() -> None:
    robot = {
        "name": "a",
        "start": {"x": 0.5, "y": 0.5},
        "autonomy": {"kind": "scripted", "steps": [{"lasts": 9.0, "vx": 1.0}]},
    }
    world = {"map": {"walls": [[[0, 0], [2, 0], [2, 1], [0, 1], [0, 0]]]}}
    sim = astray.load(
        {"dt": 0.05, "robots": [robot], "world": world, "interactions": [{"kind": "collisions"}]}
    )
    sim.run(5.0)
    group = sim.robots["a"]
    reach = float(group.scene.shapes.table["reach"][group.truth["footprint"][0]])
    assert group.truth["x"][0] == pytest.approx(2.0 - reach, abs=TOUCHING)
    assert group.scene.collisions["stalled"][0]


# Ticks in which nothing can be met.

LAPS = {
    "duration": 20,
    "dt": 0.001,
    "world": {"map": {"walls": [[[0, 0], [12, 0], [12, 12], [0, 12], [0, 0]]]}},
    "interactions": [{"kind": "collisions"}],
    "robots": [
        {
            "name": "car",
            "motion": {"kind": "ackermann"},
            "footprint": {"length": 0.55, "width": 0.28, "x": 0.2},
            "start": {"x": 6.0, "y": 6.0, "yaw": 0.3},
            "autonomy": {"kind": "remote"},
        }
    ],
}


def drive_to_a_wall(sim: astray.Sim, at_once: int) -> str:
    """Circle, drive into a wall, place the car elsewhere and continue; so many ticks at once."""
    car = sim.robots["car"]
    for seconds, speed, curvature in ((5.0, 0.8, 0.8), (12.0, 0.8, 0.0), (3.0, -0.5, 0.4)):
        car.steer(speed, curvature)
        for _ in range(round(seconds / 0.001 / at_once)):
            sim.step(at_once)
        if speed > 0.0 and curvature == 0.0:
            assert sim.truth["vx"] == 0.0
            assert len(sim.collisions) > 0
            car.place(x=4.0, y=4.0, vx=3.0)  # faster than it can drive
    return sim.digest()


@pytest.mark.parametrize("motion", ["ackermann", "differential", "omni", "unicycle", "integrator"])
def test_ticks_far_from_walls_are_skipped_and_change_no_byte(
    motion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    interact = Collisions.interact

    def watched(self: Collisions, rows: np.ndarray, scene: Scene) -> Any:
        calls.append(len(rows))
        return interact(self, rows, scene)

    monkeypatch.setattr(Collisions, "interact", watched)
    changed = {**LAPS, "robots": [{**LAPS["robots"][0], "motion": {"kind": motion}}]}  # type: ignore[index]
    at_once = drive_to_a_wall(astray.load(changed), 1000)
    batched = len(calls)
    assert batched < 7000  # of 20 000 ticks, a quarter of them at a wall
    tick_by_tick = drive_to_a_wall(astray.load(changed), 1)
    assert tick_by_tick == at_once
    assert len(calls) - batched == batched


def test_a_run_resumed_in_another_map_forgets_the_old_walls(tmp_path: Path) -> None:
    sim = astray.load(LAPS)
    sim.robots["car"].steer(0.8, 0.0)
    sim.run(1.0)
    sim.replace_map({"walls": [[[8.0, 0.0], [8.0, 12.0]]]})
    sim.step()
    sim.save(tmp_path / "run.npz")
    resumed = astray.resume(tmp_path / "run.npz")
    for one in (sim, resumed):
        one.run(3.0)
        assert one.truth["vx"] == 0.0
    assert resumed.digest() == sim.digest()
