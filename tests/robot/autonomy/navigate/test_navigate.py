"""Robots find their way over a map, keep clear of its walls, and stop before what is not on it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astray
from astray import PluginError, ScenarioError
from astray.errors import EventError
from astray.robot.autonomy.navigate.navigate import swept_reach
from astray.robot.autonomy.navigate.path_tracking import free_distance
from astray.tables import Array
from astray.world.geometry.footprint import Footprint
from astray.world.map import Map, Place, block, merge, wall
from astray.world.maps.read import read_map
from astray.world.planning.navigation_function import make_navigation_grid
from support.tables import same

LIDAR = {"kind": "lidar", "rate": 10, "rays": 180, "max_range": 6.0}
HALL: dict[str, Any] = {"walls": [[[-5, -3], [5, -3], [5, 3], [-5, 3], [-5, -3]]]}
SPLIT = {"walls": [*HALL["walls"], [[0, -3], [0, 2]]]}  # a wall with a gap of a metre in the north


def load(
    world: Any, goals: list[Any], robot: Any = None, worlds: Any = 1, **more: Any
) -> astray.Sim:
    a = {
        "name": "a",
        "footprint": {"radius": 0.2},
        "autonomy": {"kind": "navigate", "rate": 10, "goals": goals, **more},
        **(robot or {}),
    }
    return astray.load({"dt": 0.02, "world": {"map": world}, "robots": [a]}, worlds=worlds)


def memory(sim: astray.Sim) -> Any:
    return sim.robots["a"].autonomy.memory[0]


def path(sim: astray.Sim, seconds: float) -> Array:
    """Where the first robot was, (n, 3): x, y, yaw."""
    truth = sim.run(seconds, log=0.1)["a"].truth
    return np.stack([truth[c][:, 0] for c in ("x", "y", "yaw")], axis=1)


def length(driven: Array) -> float:
    return float(np.hypot(*np.diff(driven[:, :2], axis=0).T).sum())


def clearance(driven: Array, found: Map, footprint: Footprint) -> float:
    """The least distance of points of an outline from the segments of a map, m."""
    outline = footprint.outline(16)
    a, b = found.segments[:, :2], found.segments[:, 2:]
    nearest = math.inf
    for x, y, yaw in driven[::3]:
        c, s = math.cos(yaw), math.sin(yaw)
        for px, py in outline @ np.array([[c, s], [-s, c]]) + [x, y]:
            share = ((np.array([px, py]) - a) * (b - a)).sum(axis=1) / ((b - a) ** 2).sum(axis=1)
            foot = a + np.clip(share, 0, 1)[:, None] * (b - a)
            nearest = min(nearest, float(np.hypot(foot[:, 0] - px, foot[:, 1] - py).min()))
    return nearest


# The field.


def test_the_way_over_open_ground_is_the_distance() -> None:
    ground = make_navigation_grid(Map(), np.array([[0.0, 0.0], [6.0, 4.0]]), 0.1, 0.2, 0.3)
    driven = ground.distance_to_goal(0.03, -0.02)
    y, x = np.indices(driven.shape)
    x, y = ground.corner[0] + (x + 0.5) * 0.1, ground.corner[1] + (y + 0.5) * 0.1
    far = np.hypot(x - 0.03, y + 0.02)
    assert np.abs(driven - far).max() < 0.1
    assert np.abs(driven / far - 1.0).max() < 0.03


def test_a_clearance_closes_what_is_too_narrow_and_forbidden_places_are_walls() -> None:
    split = merge([wall(line) for line in SPLIT["walls"]])
    goals = np.array([[2.0, 0.0]])
    for clear, opens in ((0.3, True), (0.6, False)):
        ground = make_navigation_grid(split, goals, 0.1, clear, 0.3)
        driven = ground.distance_to_goal(2.0, 0.0)
        row, column = (
            int((v - c) / 0.1) for v, c in zip((0.0, -2.0), ground.corner[::-1], strict=True)
        )
        assert np.isfinite(driven[row, column]) == opens
    line = Place("forbidden_line", points=((0.0, 2.0), (0.0, 3.0)))
    area = Place("forbidden_area", points=((-0.5, 1.5), (0.5, 1.5), (0.5, 2.9), (-0.5, 2.9)))
    for place in (line, area):
        closed = Map(split.segments, split.solid, (place,))
        driven = make_navigation_grid(closed, goals, 0.1, 0.3, 0.3).distance_to_goal(2.0, 0.0)
        assert np.isinf(driven[row, column])


def test_whoever_is_inside_something_is_led_out() -> None:
    solid = block([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    ground = make_navigation_grid(solid, np.array([[3.0, 0.0]]), 0.1, 0.2, 0.3)
    driven = ground.distance_to_goal(3.0, 0.0)
    assert np.isfinite(driven).all()
    row, first = int(-ground.corner[1] / 0.1), int((0.0 - ground.corner[0]) / 0.1)
    assert (np.diff(driven[row, first : first + 30]) < 0.0).all()  # from the middle to the east


# What is ahead.


def test_the_free_way_along_an_arc_has_its_closed_form() -> None:
    assert free_distance(2.0, 0.1, 0.0, 0.2, 0.3) == pytest.approx(1.7)
    assert free_distance(2.0, 0.3, 0.0, 0.2, 0.3) == math.inf
    assert free_distance(-2.0, 0.0, 0.0, 0.2, 0.3) == math.inf
    assert free_distance(0.0, 2.0, 1.0, 0.2, 0.0) == pytest.approx(
        math.pi
    )  # half a circle to the left
    assert free_distance(0.0, -2.0, -1.0, 0.2, 0.0) == pytest.approx(math.pi)
    assert free_distance(1.0, 1.0, 1.0, 0.2, 0.3) == pytest.approx(math.pi / 2 - math.asin(0.3))
    corner = math.hypot(1.2, 0.3)  # the outer corner in front sweeps out farthest
    assert free_distance(corner - 0.001, 1.0, 1.0, 0.2, 0.3) < math.inf
    assert free_distance(corner + 0.001, 1.0, 1.0, 0.2, 0.3) == math.inf


def test_a_body_sweeps_over_its_reach_on_the_spot_and_less_on_an_arc() -> None:
    box = Footprint.box(0.6, 0.4, x=0.2).outline()
    assert swept_reach(box, math.inf) == pytest.approx(math.hypot(0.5, 0.2))
    assert swept_reach(box, 1.0) == pytest.approx(math.hypot(0.5, 1.2) - 1.0)


# The way.


def test_the_way_around_a_wall_is_at_most_a_tenth_longer_than_the_shortest() -> None:
    sim = load(SPLIT, [[2, -2]], {"start": {"x": -2, "y": -2, "yaw": 1.0}}, keep=0.0)
    driven = path(sim, 40.0)
    # Two tangents and an arc of the clearance, 0.25 m, around the end of the wall at (0, 2).
    far, clear = math.hypot(2, 4), 0.25
    turn = 2 * math.pi - 2 * math.atan2(2, 4) - 2 * math.acos(clear / far)
    best = 2 * math.sqrt(far**2 - clear**2) + clear * turn
    assert memory(sim)["done"]
    assert math.hypot(driven[-1, 0] - 2, driven[-1, 1] + 2) < 0.2
    assert best - 0.3 < length(driven) < 1.1 * best


@pytest.mark.parametrize("motion", ["differential", "omni", "unicycle", "ackermann"])
def test_goals_in_the_office_are_reached_without_touching_a_wall(motion: str) -> None:
    box = Footprint.box(0.55, 0.3, x=0.2) if motion == "ackermann" else Footprint(radius=0.2)
    size: dict[str, Any] = {"radius": 0.2}
    if motion == "ackermann":
        size = {"length": 0.55, "width": 0.3, "x": 0.2}
    robot = {"motion": {"kind": motion}, "footprint": size, "sensors": [LIDAR]}
    goals = ["office 1", "workshop", "meeting"]
    sim = load("office", goals, {**robot, "start": {"x": 2, "y": 2}})
    driven = path(sim, 170.0)
    assert memory(sim)["reached"] == 3
    assert memory(sim)["skipped"] == 0
    assert clearance(driven, read_map("office"), box) > 0.01
    assert not sim.robots["a"].scene.collisions["touching"].any()


def test_the_end_of_a_maze_is_found() -> None:
    maze = {"kind": "maze", "size": [14, 10], "cell": 1.5, "seed": 3}
    sim = load(maze, ["end"], {"sensors": [LIDAR]})
    driven = path(sim, 150.0)
    assert memory(sim)["done"]
    assert clearance(driven, read_map(maze), Footprint(radius=0.2)) > 0.01


def test_a_loop_begins_again_and_a_list_ends() -> None:
    around = load(HALL, [[1, 0], [1, 1], [0, 1]], loop=True)
    around.run(60.0)
    assert memory(around)["reached"] > 6
    once = load(HALL, [[1, 0], [1, 1], [0, 1]])
    once.run(30.0)
    assert (memory(once)["reached"], memory(once)["done"]) == (3, True)
    assert float(once.truth["vx"][0]) == 0.0


def test_every_world_may_have_its_own_map_and_all_are_as_alone() -> None:
    maze = {"kind": "maze", "size": [10, 8], "per_world": True}
    robot = {"sensors": [{**LIDAR, "sigma": 0.01}], "start": {"spread": 0.1}, "count": 2}
    batch, alone = (load(maze, ["end"], robot, worlds) for worlds in (4, [2]))
    for sim in (batch, alone):
        sim.run(20.0)
    rows_of_world = batch.truth["world"] == 2
    for column in ("x", "y", "yaw", "vx"):
        assert batch.truth[column][rows_of_world].tobytes() == alone.truth[column].tobytes()
    assert len(set(batch.truth["x"])) == 8


# What is not on the map.


@pytest.mark.parametrize("motion", ["differential", "ackermann"])
def test_a_robot_stops_before_an_obstacle_that_is_not_on_its_map(motion: str) -> None:
    blocked = {**HALL, "boxes": [{"x": 2.5, "y": 0, "length": 0.2, "width": 5.9}]}
    robot = {"motion": {"kind": motion}, "sensors": [LIDAR], "map": HALL, "start": {"x": -3}}
    sim = load(blocked, [[4, 0]], robot)
    sim.run(40.0)
    s = sim.truth[0]
    assert s.x + 0.2 == pytest.approx(2.4 - 0.15, abs=0.1)
    assert abs(s.vx) < 0.02
    assert not memory(sim)["done"]
    assert not sim.robots["a"].scene.collisions["touching"].any()


def test_a_robot_without_eyes_trusts_its_map() -> None:
    blocked = {**HALL, "boxes": [{"x": 2.5, "y": 0, "length": 0.2, "width": 5.9}]}
    sim = load(blocked, [[4, 0]], {"map": HALL, "start": {"x": -3}})
    touched = [sim.robots["a"].scene.collisions["touching"][0] for _ in sim.ticks(25.0)]
    assert any(touched)


def test_a_goal_that_stays_blocked_is_skipped_for_the_next() -> None:
    blocked = {**HALL, "boxes": [{"x": 2.5, "y": 0, "length": 0.2, "width": 5.9}]}
    robot = {"sensors": [LIDAR], "map": HALL}
    sim = load(blocked, [[4, 0], [-2, 0]], robot, patience=3.0)
    sim.run(30.0)
    m = memory(sim)
    assert (m["skipped"], m["reached"], m["done"]) == (1, 1, True)


def test_a_goal_that_no_way_leads_to_is_skipped() -> None:
    walled = {"walls": [*HALL["walls"], [[2, -1], [4, -1], [4, 1], [2, 1], [2, -1]]]}
    sim = load(walled, [[3, 0], [0, 2]])
    sim.run(20.0)
    m = memory(sim)
    assert (m["skipped"], m["reached"], m["done"]) == (1, 1, True)
    only = load(walled, [[3, 0]], loop=True)
    only.run(2.0)
    assert float(only.truth["vx"][0]) == 0.0


def test_an_unknown_place_is_told_with_those_that_there_are() -> None:
    message = r"goals\[0\]: unknown place 'workshp' on the map 'office'.*workshop"
    with pytest.raises(ScenarioError, match=message):
        load("office", ["workshp"])


def test_an_unknown_place_of_a_map_that_is_made_is_told_in_the_run() -> None:
    sim = load({"kind": "rooms", "seed": 1}, ["workshp"])
    with pytest.raises(PluginError, match=r"unknown place 'workshp' on the map"):
        sim.step()


@pytest.mark.parametrize("name", ["clearance", "resolution", "keep"])
def test_what_all_robots_share_cannot_be_drawn(name: str) -> None:
    with pytest.raises(ScenarioError, match=f"{name} of navigate must be one number"):
        load(HALL, [[1, 0]], **{name: {"uniform": [0.1, 0.2]}})


def test_whoever_goes_astray_heads_for_where_it_believes_the_goal_to_be() -> None:
    robot = {"sensors": [{"kind": "wheels"}], "estimator": {"kind": "odometry"}}
    sim = load(HALL, [[2, 0]], robot)
    sim.robots["a"].place(y=1.0)
    sim.run(15.0)
    assert memory(sim)["done"]
    assert float(sim.truth["y"][0]) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize(
    "preset",
    ["turtlebot3_burger", "turtlebot3_waffle", "turtlebot4", "p3dx", "ackermann_car"],
)
def test_real_robots_find_their_way_with_their_own_bodies(preset: str) -> None:
    robot = {"preset": preset, "start": {"x": 2, "y": 2}, "estimator": None}
    sim = astray.load(
        {
            "world": {"map": "office"},
            "robots": [
                {
                    "name": "a",
                    **robot,
                    "autonomy": {"kind": "navigate", "rate": 10, "goals": ["lab", "office 1"]},
                }
            ],
        }
    )
    touched = False
    for _ in range(1300):
        sim.run(0.1)
        touched = touched or bool(sim.robots["a"].scene.collisions["touching"].any())
    assert memory(sim)["reached"] == 2
    assert not touched


def test_a_goal_from_outside_takes_the_place_of_all_others_and_is_replayed() -> None:
    sim = load("office", [], {"start": {"x": 2, "y": 2}, "count": 2})
    sim.run(1.0)
    assert sim.truth["x"].tolist() == [2.0, 2.0]  # nothing to go to yet
    sim.robots["a"].go_to(8.0, 6.0, robots=[1])
    sim.run(40.0)
    assert np.hypot(sim.truth["x"][1] - 8.0, sim.truth["y"][1] - 6.0) < 0.2
    assert sim.truth["x"][0] == 2.0
    again = load("office", [], {"start": {"x": 2, "y": 2}, "count": 2})
    again.replay(sim.events)
    again.run(41.0)
    assert again.digest() == sim.digest()


def test_a_robot_that_was_told_a_goal_is_alone_with_it_in_any_batch(tmp_path: Path) -> None:
    def make(worlds: Any) -> astray.Sim:
        sim = load("office", ["lab"], {"start": {"x": 2, "y": 2}}, worlds, loop=True)
        for world, goal in ((3, (8.0, 6.0)), (4, (2.0, 3.0))):
            if world in sim.worlds:
                sim.robots["a"].go_to(*goal, worlds=[world])
        return sim

    batch, alone = make(range(6)), make([3])
    batch.run(5.0)
    batch.save(tmp_path / "half.astray")
    resumed = astray.resume(tmp_path / "half.astray")
    for sim, seconds in ((batch, 20.0), (resumed, 20.0), (alone, 25.0)):
        sim.run(seconds)
    assert resumed.digest() == batch.digest()
    assert same(batch.truth[3:4], alone.truth)
    assert batch.truth["x"][3] > 4.0 > batch.truth["x"][4]


def test_a_reset_brings_the_goals_of_the_scenario_back() -> None:
    sim = load("office", ["lab"], {"start": {"x": 2, "y": 2}})
    sim.robots["a"].go_to(2.0, 3.0)
    sim.run(20.0)
    assert sim.robots["a"].autonomy.memory["done"][0]
    sim.reset()
    sim.run(1.0)
    assert not sim.robots["a"].autonomy.memory["told"][0]


@pytest.mark.parametrize(
    ("goal", "words"),
    [((math.nan, 0.0), "finite"), ((1e9, 0.0), "beyond the map")],
)
def test_a_goal_that_makes_no_sense_is_refused(goal: Any, words: str) -> None:
    sim = load("office", ["lab"])
    with pytest.raises(EventError, match=words):
        sim.robots["a"].go_to(*goal)


def test_only_robots_that_navigate_take_goals() -> None:
    sim = astray.load({"dt": 0.1, "robots": [{"name": "a"}]})
    with pytest.raises(EventError, match="kind: navigate"):
        sim.robots["a"].go_to(1.0, 2.0)
