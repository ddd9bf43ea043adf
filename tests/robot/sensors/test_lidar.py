"""A laser scanner reads closed forms, and is wrong as it was asked to be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import astray
from astray import ScenarioError
from astray.robot.sensors.lidar import ray_angles
from astray.tables import Array
from astray.world.map import wall

HALF = 3.0  # m, from the middle of the room to each wall
ROOM: dict[str, Any] = {
    "walls": [[[-HALF, -HALF], [HALF, -HALF], [HALF, HALF], [-HALF, HALF], [-HALF, -HALF]]]
}
FAR = {"boxes": [{"x": 500, "y": 500, "length": 1, "width": 1}]}  # a world, and nothing in reach


def load(
    sensor: dict[str, Any],
    start: dict[str, Any] | None = None,
    others: Any = (),
    world: Any = None,
    **more: Any,
) -> astray.Sim:
    robot = {
        "name": "a",
        "start": start or {},
        "footprint": {"radius": 0.2},
        "sensors": [{"kind": "lidar", **sensor}],
    }
    scenario = {"dt": 0.1, "world": {"map": world or ROOM}, "robots": [robot, *others]}
    return astray.load(scenario, **more)


def scan(sim: astray.Sim, robot: str = "a") -> Array:
    return np.asarray(sim.robots[robot].readings["lidar"]["ranges"])


def to_walls(x: float, y: float, angles: Array) -> Array:
    """Ranges from a point of the room."""
    c, s = np.cos(angles), np.sin(angles)
    with np.errstate(divide="ignore"):
        to_x = (HALF - np.where(c > 0, x, -x)) / np.abs(c)
        to_y = (HALF - np.where(s > 0, y, -y)) / np.abs(s)
    return np.asarray(np.minimum(to_x, to_y))


def angles_of(sim: astray.Sim) -> Array:
    reading = sim.robots["a"].readings["lidar"]
    return np.asarray(reading["start"][0] + reading["step"][0] * np.arange(scan(sim).shape[1]))


def test_a_scan_in_a_square_room_has_its_closed_form() -> None:
    sim = load({"rays": 360}, {"x": 1.0, "y": -0.5, "yaw": 0.3})
    assert scan(sim)[0] == pytest.approx(to_walls(1.0, -0.5, 0.3 + angles_of(sim)), rel=1e-9)


def test_the_mount_turns_and_moves_with_the_body() -> None:
    sim = load({"rays": 90, "x": 0.1, "y": -0.05, "yaw": 1.0}, {"x": 1.0, "y": -0.5, "yaw": 0.7})
    x = 1.0 + 0.1 * math.cos(0.7) + 0.05 * math.sin(0.7)
    y = -0.5 + 0.1 * math.sin(0.7) - 0.05 * math.cos(0.7)
    assert scan(sim)[0] == pytest.approx(to_walls(x, y, 1.7 + angles_of(sim)), rel=1e-9)


def test_a_field_of_view_has_rays_on_both_of_its_edges() -> None:
    assert ray_angles(181, math.pi) == pytest.approx((-math.pi / 2, math.pi / 180))
    assert ray_angles(4, 2 * math.pi) == pytest.approx((-math.pi, math.pi / 2))  # none is repeated
    assert ray_angles(1, 1.0)[0] == 0.0
    sim = load({"rays": 3, "field_of_view": 2.0}, {"x": 1.0})
    assert scan(sim)[0] == pytest.approx(to_walls(1.0, 0.0, np.array([-1.0, 0.0, 1.0])))


def test_too_near_and_too_far_read_as_rep_117_has_it() -> None:
    sim = load({"rays": 4, "min_range": 1.5, "max_range": 4.5}, {"x": 2.0})
    assert scan(sim)[0].tolist() == [np.inf, 3.0, -np.inf, 3.0]
    reading = sim.robots["a"].readings["lidar"]
    assert (reading["min_range"][0], reading["max_range"][0]) == (1.5, 4.5)


def test_nothing_in_reach_reads_inf_even_with_noise() -> None:
    sim = load({"rays": 50, "sigma": 0.1, "sigma_per_m": 0.1, "resolution": 0.01}, world=FAR)
    assert np.isposinf(scan(sim)).all()


def test_the_error_of_a_range_grows_with_it_as_asked_for() -> None:
    sim = load({"rays": 8, "sigma": 0.01, "sigma_per_m": 0.02}, {"x": 1.0}, worlds=2000)
    sim.step(4)
    true = to_walls(1.0, 0.0, angles_of(sim))
    errors = scan(sim) - true
    # 2000 values: a standard deviation is known to 1.6 %, a mean to 2.2 % of it.
    assert np.std(errors, axis=0) == pytest.approx(0.01 + 0.02 * true, rel=0.07)
    assert np.abs(errors.mean(axis=0) / (0.01 + 0.02 * true)).max() < 0.1
    assert np.abs(np.corrcoef(errors.T) - np.eye(8)).max() < 0.1  # no ray knows of the others


def test_dropouts_have_their_share_and_are_not_noise() -> None:
    sim = load({"rays": 100, "dropout": 0.2}, worlds=200)
    lost = np.isinf(scan(sim))
    assert lost.mean() == pytest.approx(0.2, abs=0.012)  # 20000 rays: 0.28 % is one sigma
    kept = np.where(lost, np.nan, scan(sim))
    assert np.nanstd(kept, axis=0).max() < 1e-12
    sim.step()
    again = np.isinf(scan(sim))
    assert (again & lost).mean() == pytest.approx(0.04, abs=0.01)


def test_ranges_are_whole_multiples_of_the_resolution() -> None:
    sim = load({"rays": 100, "resolution": 0.25, "sigma": 0.1})
    steps = scan(sim)[0] / 0.25
    assert steps.tolist() == np.round(steps).tolist()
    plain = load({"rays": 100, "resolution": 0.25})
    assert np.abs(scan(plain)[0] - to_walls(0, 0, angles_of(plain))).max() <= 0.125 + 1e-12


def test_a_parameter_that_is_set_in_a_run_takes_effect() -> None:
    sim = load({"rays": 50})
    sim.robots["a"].set("lidar.sigma", 0.1)
    sim.step(2)
    assert np.std(scan(sim)[0] - to_walls(0, 0, angles_of(sim))) > 0.05


def test_a_sweep_bends_a_scan_as_recasting_every_ray_from_its_time_does() -> None:
    sweep, rays = 0.2, 60
    robot = {"rays": rays, "sweep": sweep, "x": 0.15, "yaw": 0.4}
    sim = load(robot, {"x": -0.5, "y": 0.4, "yaw": 0.2})
    sim.robots["a"].drive(0.8, 1.5)
    sim.step(20)  # long enough that speed and turn are steady over the sweep
    s = sim.truth[0]
    expected = np.empty(rays)
    for k in range(rays):
        ago = sweep * (rays - 1 - k) / rays
        yaw = s.yaw - s.wz * ago
        radius = s.vx / s.wz  # back along the circle that it drives
        x = s.x - radius * (math.sin(s.yaw) - math.sin(yaw))
        y = s.y + radius * (math.cos(s.yaw) - math.cos(yaw))
        angle = np.array([yaw + 0.4 + angles_of(sim)[k]])
        expected[k] = to_walls(x + 0.15 * math.cos(yaw), y + 0.15 * math.sin(yaw), angle)[0]
    assert scan(sim)[0] == pytest.approx(expected, rel=1e-9)
    assert sim.robots["a"].readings["lidar"]["duration"][0] == sweep
    still = to_walls(
        s.x + 0.15 * math.cos(s.yaw), s.y + 0.15 * math.sin(s.yaw), s.yaw + 0.4 + angles_of(sim)
    )
    assert np.abs(scan(sim)[0] - still).max() > 0.1  # it does matter


def test_a_robot_at_rest_has_the_same_scan_with_a_sweep() -> None:
    plain, swept = load({}, {"x": 1.0}), load({"sweep": 0.1}, {"x": 1.0})
    assert scan(swept)[0] == pytest.approx(scan(plain)[0], rel=1e-12)


# Other robots.


def other(footprint: dict[str, Any], **start: float) -> dict[str, Any]:
    return {"name": "b", "footprint": footprint, "start": start}


@pytest.mark.parametrize("sweep", [0.0, 0.1])
def test_a_round_robot_is_seen_as_a_circle(sweep: float) -> None:
    sim = load({"rays": 720, "sweep": sweep}, others=[other({"radius": 0.5}, x=2.0, yaw=1.0)])
    angles = angles_of(sim)
    h = 2.0 * np.sin(angles)
    hit = (np.abs(h) < 0.5) & (np.cos(angles) > 0)
    near = 2.0 * np.cos(angles) - np.sqrt(np.maximum(0.25 - h * h, 0.0))
    expected = np.where(hit, near, to_walls(0, 0, angles))
    assert hit.sum() > 50
    assert scan(sim)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("sweep", [0.0, 0.1])
def test_a_polygon_is_seen_by_its_edges(sweep: float) -> None:
    box = {"length": 1.0, "width": 0.6, "x": 0.2}
    sim = load({"rays": 720, "sweep": sweep}, others=[other(box, x=2.0, yaw=math.pi / 2)])
    angles = angles_of(sim)  # turned by a right angle its near side is the plane x = 1.7
    y = 1.7 * np.tan(angles)
    hit = (np.cos(angles) > 0) & (y > -0.3) & (y < 0.7)
    assert hit.sum() > 50
    assert scan(sim)[0][hit] == pytest.approx(1.7 / np.cos(angles[hit]), rel=1e-9)
    aside = (np.cos(angles) < 0) | (np.abs(y) > 0.8)
    assert scan(sim)[0][aside] == pytest.approx(to_walls(0, 0, angles)[aside], rel=1e-9)


@pytest.mark.parametrize("sweep", [0.0, 0.1])
def test_robots_can_be_overlooked_and_nobody_sees_himself(sweep: float) -> None:
    blind = load({"robots": False, "sweep": sweep}, others=[other({"radius": 0.5}, x=2.0)])
    assert scan(blind)[0] == pytest.approx(to_walls(0, 0, angles_of(blind)), rel=1e-9)
    inside = load({"x": 0.15, "sweep": sweep})  # the mount lies within the own body
    assert scan(inside)[0] == pytest.approx(to_walls(0.15, 0, angles_of(inside)), rel=1e-9)


@pytest.mark.parametrize("sweep", [0.0, 0.1])
def test_a_mount_may_reach_beyond_the_body(sweep: float) -> None:
    sim = load({"x": -0.9, "sweep": sweep, "max_range": 0.3, "rays": 8})
    assert np.isposinf(scan(sim)[0]).all()


def test_a_robot_of_another_world_is_never_seen() -> None:
    start = {"x": {"choice": [2.0, 2.5]}, "y": {"uniform": [-0.1, 0.1]}}
    b = {"name": "b", "footprint": {"radius": 0.3}, "start": start}
    batch = load({"rays": 180}, others=[b], worlds=6)
    for world in range(6):
        alone = load({"rays": 180}, others=[b], worlds=[world])
        assert scan(batch)[world].tobytes() == scan(alone)[0].tobytes()
    assert len({row.tobytes() for row in scan(batch)}) == 6


def test_a_robot_that_is_removed_is_no_longer_seen() -> None:
    sim = load({"rays": 36}, others=[other({"radius": 0.5}, x=2.0)])
    assert scan(sim)[0, 18] == pytest.approx(1.5)
    sim.robots["b"].remove()
    sim.step()
    assert scan(sim)[0, 18] == pytest.approx(3.0)


@pytest.mark.parametrize("name", ["field_of_view", "max_range", "sweep"])
def test_what_all_robots_share_cannot_be_drawn(name: str) -> None:
    with pytest.raises(ScenarioError, match=f"{name} of a lidar must be one number"):
        load({name: {"uniform": [0.1, 0.2]}})


def test_any_world_can_be_scanned() -> None:
    assert len(wall([[0, 0], [1, 0]])) == 1
    for name in ("office", "maze"):
        ranges = scan(load({"rays": 360, "max_range": 60}, {"x": 2.0, "y": 2.0}, world=name))
        assert np.isfinite(ranges).mean() > 0.9


def test_a_fan_meets_a_crowd_of_round_robots_as_single_rays_do() -> None:
    # More of them than are culled together, some around the sensor of another.
    anywhere = {"x": {"uniform": [-5.0, 5.0]}, "y": {"uniform": [-5.0, 5.0]}}
    found = []
    for sweep in (0.0, 0.01):
        lidar = {"kind": "lidar", "rays": 90, "max_range": 20, "sweep": sweep}
        seeing = {"name": "a", "count": 20, "start": anywhere, "sensors": [lidar]}
        seen = {"name": "b", "count": 300, "start": anywhere, "footprint": {"radius": 0.2}}
        scenario = {"dt": 0.1, "world": {"map": FAR}, "robots": [seeing, seen], "interactions": []}
        sim = astray.load(scenario)
        found.append(scan(sim))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)
    a, b = sim.robots["a"].truth, sim.robots["b"].truth
    apart = np.hypot(a["x"][:, None] - b["x"], a["y"][:, None] - b["y"]).min(axis=1)
    assert (apart < 0.2).any()
    assert (apart > 0.2).any()


def test_a_scan_does_not_depend_on_how_its_rows_are_handed_in() -> None:
    sim = load({"rays": 30, "sigma": 0.01}, {"x": {"uniform": [-2.0, 2.0]}}, worlds=6)
    group = sim.robots["a"]
    every = np.arange(6)
    for _ in range(4):  # a kernel that knows these very rows is not given others
        whole = group.look("lidar", every)["ranges"]
    apart = np.arange(12)[::2] // 2  # numbers that do not lie side by side
    np.testing.assert_array_equal(group.look("lidar", apart)["ranges"], whole)
    few = every[1::3]
    for rows in (few, few.copy(), every):
        np.testing.assert_array_equal(group.look("lidar", rows)["ranges"][rows], whole[rows])
    sim.step(3)
    sim.clear_map()
    sim.step()
    assert np.isinf(group.look("lidar", every)["ranges"]).all()


def test_many_rays_need_a_field_of_view() -> None:
    with pytest.raises(ScenarioError, match="field_of_view is 0: 5 rays need some, or use 1 ray"):
        load({"rays": 5, "field_of_view": 0})
    assert scan(load({"rays": 1, "field_of_view": 0})).tolist() == [[HALF]]


def test_a_footprint_of_very_many_corners_is_seen_all_around() -> None:
    angle = np.arange(700) * math.tau / 700  # more than are looked at together
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1).tolist()
    big, disc = (other(body, x=2.0, y=0.5) for body in ({"corners": ring}, {"radius": 1.0}))
    sim, circle = load({"rays": 360}, others=[big]), load({"rays": 360}, others=[disc])
    ray_by_ray = load({"rays": 360, "sweep": 0.1}, others=[big])
    np.testing.assert_allclose(scan(sim), scan(ray_by_ray), rtol=1e-9)
    ahead = scan(circle)[0] < 1.6
    assert ahead.sum() > 40
    np.testing.assert_allclose(scan(sim)[0][ahead], scan(circle)[0][ahead], atol=1e-3)
