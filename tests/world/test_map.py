"""The world in a scenario: its map, its faults, its events, and the maps of robots."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import astray
from astray.engine.event_queue import Event
from astray.errors import EventError, ScenarioError, WrongInput
from astray.world import Map, block, merge, read_map, wall, write_map
from astray.world.geometry.polygons import build_solids, inside_solid, inside_solids
from astray.world.map import Place
from astray.world.maps.map_set import MapSet
from astray.world.planning.free_space import sample_free_positions
from support.free_space import distance, is_free

ROOM = {"walls": [[[-3, -3], [3, -3], [3, 3], [-3, 3], [-3, -3]]]}
PLACES = {"places": [{"kind": "home", "name": "home", "x": 1, "y": 2}]}
LIDAR = {"kind": "lidar", "rays": 4, "max_range": 20}


def scenario(**more: Any) -> dict[str, Any]:
    robot = {"name": "a", "sensors": [LIDAR], **more.pop("robot", {})}
    return {"dt": 0.1, "world": {"map": ROOM}, "robots": [robot], **more}


def ranges(sim: astray.Sim, name: str = "a") -> list[float]:
    return [float(r) for r in sim.robots[name].readings["lidar"]["ranges"][0]]


def test_a_robot_sees_the_map_at_once() -> None:
    assert ranges(astray.load(scenario())) == pytest.approx([3.0] * 4)


@pytest.mark.parametrize("spec", ["office", "maze", {"kind": "rooms", "seed": 3}])
def test_a_map_may_be_bundled_or_generated(spec: Any) -> None:
    sim = astray.load({"world": {"map": spec}, "robots": [{"name": "a"}]})
    assert len(sim.map()) == len(read_map(spec))
    assert sim.scenario.effective["world"] == {"map": spec}


def test_a_path_is_relative_to_the_file_that_names_it(tmp_path: Path) -> None:
    write_map(block([(1, -1), (2, -1), (2, 1), (1, 1)]), tmp_path / "post.geojson")
    file = tmp_path / "run.yaml"
    file.write_text("world: {map: post.geojson}\nrobots: [{name: a, sensors: [{kind: lidar}]}]\n")
    sim = astray.load(file)
    assert len(sim.map()) == 4
    again = astray.load(sim.scenario.effective)
    assert again.map().digest() == sim.map().digest()


def test_every_fault_of_a_world_comes_at_once(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(
        "world:\n"
        "  map: {wals: [], circles: [[0, 0, -1]]}\n"
        "robots:\n"
        "  - name: a\n"
        "    map: nowhere.geojson\n"
        "    footprint: {radius: 1, length: 2}\n"
        "  - name: b\n"
        "    start: {place: home, clearance: 0.3}\n"
        "    footprint: {corners: [[0, 0], [1, 1], [2, 2]]}\n"
    )
    with pytest.raises(ScenarioError) as caught:
        astray.load(file)
    messages = str(caught.value)
    assert f"{file}:2:" in messages
    assert "walls" in messages
    assert "world.map.circles[0]" in messages
    assert f"{file}:5:10" in messages
    assert "nowhere.geojson" in messages
    assert f"{file}:6:" in messages
    assert "radius, or length and width, or corners" in messages
    assert f"{file}:8:" in messages
    assert "give a place or a clearance, not both" in messages
    assert f"{file}:9:" in messages
    assert "enclose no area" in messages


def test_a_map_is_replaced_by_those_that_a_scenario_would_generate() -> None:
    for spec in ({"kind": "forest", "size": [9, 9]}, {"kind": "forest", "per_world": True}):
        sim = astray.load(scenario(seed=5), worlds=[3, 4, 8])
        sim.replace_map(spec, worlds=[3, 8])
        sim.step()
        like = astray.load(scenario(seed=5, world={"map": spec}), worlds=[3, 4, 8])
        for world in (3, 8):
            assert sim.map(world).digest() == like.map(world).digest()
        assert (sim.map(3).digest() == sim.map(8).digest()) is ("per_world" not in spec)
        assert sim.map(4).digest() == read_map(ROOM).digest()
        again = astray.load(scenario(seed=5), worlds=[3, 4, 8])
        again.replay(sim.events)
        again.step()
        assert again.map(8).digest() == sim.map(8).digest()
    sim.replace_map(spec)
    sim.step()
    assert sim.map(4).digest() == like.map(4).digest()


def test_a_map_can_be_replaced_and_cleared_while_belief_stays() -> None:
    robot = {"sensors": [LIDAR, {"kind": "wheels"}], "estimator": {"kind": "odometry"}}
    sim = astray.load(scenario(robot=robot))
    known = sim.robots["a"].known.map.map()
    believed = sim.robots["a"].belief.copy()
    sim.replace_map({"walls": [[[1, -9], [1, 9]]]})
    sim.step()
    assert min(ranges(sim)) == pytest.approx(1.0)
    sim.clear_map()
    sim.step()
    assert np.isinf(ranges(sim)).all()
    assert sim.robots["a"].known.map.map().digest() == known.digest()
    for column in ("x", "y", "yaw"):
        assert (sim.robots["a"].belief[column] == believed[column]).all()


def test_a_world_event_is_logged_by_content_and_replays() -> None:
    def run(sim: astray.Sim) -> str:
        sim.step(20)
        return sim.digest()

    sim = astray.load(scenario())
    sim.post(Event("world", values={"map": "arena"}, step=5))
    first = run(sim)
    (event,) = sim.events
    assert len(event.values["segments"]) == len(read_map("arena"))
    again = astray.load(scenario())
    again.replay([Event.from_json(event.to_json())])
    assert run(again) == first
    sim.reset()
    assert len(sim.map()) == 4
    assert run(sim) != first


def test_a_world_event_may_be_for_some_worlds() -> None:
    sim = astray.load(scenario(), worlds=range(10, 13))
    sim.replace_map(wall([(1, -9), (1, 9)]), worlds=11)
    sim.step()
    nearest = sim.robots["a"].readings["lidar"]["ranges"].min(axis=1)
    assert nearest == pytest.approx([3.0, 1.0, 3.0])
    assert [len(sim.map(w)) for w in (10, 11, 12)] == [4, 1, 4]


def test_a_wrong_world_event_is_refused_where_it_is_posted() -> None:
    sim = astray.load(scenario())
    with pytest.raises(WrongInput, match="no such file"):
        sim.replace_map("nowhere.map")
    with pytest.raises(EventError, match="no world 7"):
        sim.clear_map(worlds=7)
    with pytest.raises(EventError, match="mop"):
        sim.post(Event("world", values={"mop": 1}))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"segments": [[0, 0, 1]]}, "not a map"),
        ({"segments": [[0, 0, 1, 1]], "solid": [1]}, "not a map"),
        ({"segments": [], "places": [{"name": "home"}]}, "not a map"),
        ({"segments": [], "places": 3}, "not a map"),
        ({"segments": [], "plaices": []}, "unknown value 'plaices'"),
    ],
)
def test_the_content_of_a_world_event_is_checked_when_it_is_posted(
    values: dict[str, Any], message: str
) -> None:
    with pytest.raises(EventError, match=message):
        astray.load(scenario()).post(Event("world", values=values))


def named_map() -> Map:
    points = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0))
    home = Place("home", "home", 1.0, -1.0, 0.5)
    pit = Place("forbidden_area", "pit", points=points)
    return replace(read_map(ROOM), places=(home, pit), name="house")


def same_map(one: Map, other: Map) -> bool:
    return (one.digest(), one.places, one.name) == (other.digest(), other.places, other.name)


def test_a_replaced_map_keeps_its_places_and_its_name() -> None:
    start = {"place": "home", "x": 0.25}
    sim = astray.load(scenario(robot={"start": start}, world={"map": {**ROOM, **PLACES}}))
    sim.replace_map(named_map())
    sim.step()
    sim.reset(worlds=[0])
    assert float(sim.truth["x"][0]) == pytest.approx(1.0 + 0.25 * np.cos(0.5))
    assert same_map(sim.map(), named_map())
    sim.step()
    again = astray.load(sim.scenario.effective)
    again.replay([Event.from_json(event.to_json()) for event in sim.events])
    again.step(2)
    assert same_map(again.map(), named_map())
    assert again.digest() == sim.digest()


def test_a_world_event_of_an_older_log_has_no_places() -> None:
    sim = astray.load(scenario())
    sim.replay([Event.from_json('{"kind": "world", "values": {"segments": [[0, 0, 1, 1]]}}')])
    sim.step()
    assert (len(sim.map()), sim.map().places, sim.map().name) == (1, (), "")


def test_a_robot_may_know_another_map() -> None:
    sim = astray.load(scenario(robot={"map": {**ROOM, "shift": [0.5, 0.0, 0.0]}}))
    assert sim.robots["a"].known.map.map().bounds == pytest.approx((-2.5, -3.0, 3.5, 3.0))
    assert sim.map().bounds == pytest.approx((-3.0, -3.0, 3.0, 3.0))


def test_each_world_may_have_its_own_map_whatever_the_batch() -> None:
    world = {"map": {"kind": "forest", "size": [12, 12], "per_world": True}}
    many = astray.load(scenario(world=world), worlds=6)
    alone = astray.load(scenario(world=world), worlds=range(4, 5))
    assert len({many.map(w).digest() for w in range(6)}) == 6
    assert many.map(4).digest() == alone.map(4).digest()
    many.step(30)
    alone.step(30)
    row = many.robots["a"].readings["lidar"]["ranges"][4]
    assert (row == alone.robots["a"].readings["lidar"]["ranges"][0]).all()


def test_a_saved_run_has_the_places_and_the_names_of_its_maps(tmp_path: Path) -> None:
    robot = {"start": {"place": "home"}}
    sim = astray.load(scenario(robot=robot, world={"map": {**ROOM, **PLACES}}), worlds=2)
    sim.replace_map(named_map(), worlds=1)
    sim.step()
    sim.save(tmp_path / "run.npz")
    resumed = astray.resume(tmp_path / "run.npz")
    for world in (0, 1):
        assert same_map(resumed.map(world), sim.map(world))
    for run in (sim, resumed):
        run.reset(worlds=[0, 1])
        run.step()
    assert resumed.digest() == sim.digest()


def test_a_run_that_was_saved_without_places_resumes(tmp_path: Path) -> None:
    sim = astray.load(scenario())
    sim.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz") as archive:
        kept = {name: archive[name] for name in archive.files if name != "map/labels"}
    np.savez(tmp_path / "older.npz", **kept)
    resumed = astray.resume(tmp_path / "older.npz")
    assert resumed.map().digest() == sim.map().digest()


def test_a_saved_run_has_its_map(tmp_path: Path) -> None:
    sim = astray.load(scenario(robot={"autonomy": {"kind": "wander"}}))
    sim.replace_map({"circles": [[1.5, 0, 0.3]], **ROOM})
    sim.step(30)
    sim.save(tmp_path / "run.astray")
    again = astray.resume(tmp_path / "run.astray")
    assert again.map().digest() == sim.map().digest()
    sim.step(200)
    again.step(200)
    assert again.digest() == sim.digest()
    assert (again.collisions == sim.collisions).all()
    assert len(sim.collisions)


def test_robots_start_where_there_is_room() -> None:
    start = {"clearance": 0.5}
    world = {"map": {"kind": "rooms", "size": [14, 10], "per_world": True}}
    sim = astray.load(scenario(world=world, robot={"count": 5, "start": start}), worlds=4)
    truth = sim.robots["a"].truth
    for w in range(4):
        some = truth[truth["world"] == w]
        spots = np.stack([some["x"], some["y"]], axis=1)
        assert (distance(sim.map(w), spots) >= 0.5).all()
        apart = np.hypot(*(spots[:, None] - spots).T) + 9.0 * np.eye(5)
        assert apart.min() >= 1.0
    fewer = astray.load(scenario(world=world, robot={"count": 2, "start": start}), worlds=4)
    assert (fewer.robots["a"].truth["x"] == truth["x"][truth["robot"] < 2]).all()


def test_a_full_map_is_refused() -> None:
    with pytest.raises(WrongInput, match="no spot with a clearance of 4 m"):
        astray.load(scenario(robot={"start": {"clearance": 4.0}}))


@pytest.mark.parametrize("kind", ["rooms", "forest", "maze"])
@pytest.mark.parametrize("clearance", [0.0, 0.2, 0.45])
def test_a_position_is_the_first_try_with_enough_clearance(kind: str, clearance: float) -> None:
    walls = {"walls": [[[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]]], "boxes": [[4, 5, 2, 3]]}
    maps = [read_map({"kind": kind, "size": [12, 9], "seed": 3}), read_map(walls)]
    map_set, worlds = MapSet(maps, 2), np.repeat([0, 1], 6)
    tries = np.random.default_rng(1).uniform(size=(12, 80))
    found = sample_free_positions(tries, map_set, worlds, clearance)
    assert found is not None
    for i, world in enumerate(worlds):
        low, high = np.reshape(maps[world].bounds, (2, 2))
        points = low + tries[i].reshape(-1, 2) * (high - low)
        earlier = found[:i][worlds[:i] == world]
        squared = ((points[:, None] - earlier) ** 2).sum(axis=2).min(axis=1, initial=np.inf)
        free = is_free(maps[world], points, clearance) & (squared >= 4.0 * clearance**2)
        assert found[i].tolist() == points[np.flatnonzero(free)[0]].tolist()
    assert sample_free_positions(tries, map_set, worlds, 6.0) is None


def test_robots_start_at_a_place_of_the_map() -> None:
    places = [{"kind": "dock", "name": "north", "x": 1.0, "y": 2.0, "yaw": 1.5707963267948966}]
    world = {"map": {**ROOM, "places": places}}
    for name in ("north", "dock"):
        start = {"place": name, "x": 0.5, "step": [0.0, 1.0]}
        sim = astray.load(scenario(world=world, robot={"count": 2, "start": start}))
        assert sim.robots["a"].truth["x"] == pytest.approx([1.0, 0.0])
        assert sim.robots["a"].truth["y"] == pytest.approx([2.5, 2.5])
        assert sim.robots["a"].truth["yaw"] == pytest.approx([1.5707963] * 2)
    with pytest.raises(WrongInput, match="no place 'nord'; did you mean 'north'"):
        astray.load(scenario(world=world, robot={"start": {"place": "nord"}}))


def test_robots_see_each_other_at_the_start_whatever_the_order() -> None:
    robots = [
        {"name": "a", "start": {"x": -2}, "sensors": [{**LIDAR, "field_of_view": 0.0, "rays": 1}]},
        {"name": "b", "start": {"x": 1}, "footprint": {"length": 1.0, "width": 0.5}},
    ]
    for order in (robots, robots[::-1]):
        sim = astray.load({"dt": 0.1, "world": {"map": ROOM}, "robots": order})
        assert ranges(sim) == pytest.approx([2.5])


def test_collisions_are_on_in_a_world_and_off_without_one() -> None:
    bare = astray.load({"robots": [{"name": "a"}]})
    assert bare.scenario.interactions == []
    assert "interactions" not in bare.scenario.effective
    sim = astray.load(scenario())
    assert [i.kind for i in sim.scenario.interactions] == ["collisions"]
    through = astray.load(scenario(interactions=[]))
    through.robots["a"].drive(1.0)
    through.step(100)
    assert through.truth["x"][0] > 5.0


def test_a_robot_stops_at_the_wall_and_the_run_tells_of_it(tmp_path: Path) -> None:
    sim = astray.load(scenario(robot={"footprint": {"radius": 0.25}}))
    sim.robots["a"].drive(1.0)
    log = sim.run(10.0, log=0.1)
    assert sim.truth["x"][0] == pytest.approx(2.75, abs=1e-5)
    assert sim.robots["a"].scene.collisions["stalled"][0]
    (hit,) = sim.collisions
    assert (hit["row"], hit["other"]) == (0, -1)
    assert (hit["x"], hit["y"]) == pytest.approx((3.0, 0.0), abs=1e-4)
    assert astray.summary(sim)["robots"]["a"]["collisions"] == 1
    sim.write(log, tmp_path / "run")
    lines = (tmp_path / "run" / "collisions.csv").read_text().splitlines()
    assert lines[1].split(",")[1:4] == ["0", "a-0", "wall"]
    assert read_map(tmp_path / "run" / "map.geojson").digest() == sim.map().digest()


def test_a_removed_robot_no_longer_collides() -> None:
    sim = astray.load(scenario(interactions=[{"kind": "collisions", "response": "remove"}]))
    sim.robots["a"].drive(1.0)
    sim.step(100)
    assert not sim.truth["alive"].any()
    assert len(sim.collisions) == 1


def test_map_needs_a_value_of_solid_for_every_segment() -> None:
    with pytest.raises(WrongInput, match="as many values of solid"):
        Map(np.zeros((2, 4)), np.zeros(1, bool))
    with pytest.raises(WrongInput, match="finite"):
        wall([(0.0, 0.0), (np.inf, 0.0)])


def test_segments_too_short_to_be_squared_are_left_out() -> None:
    ends = np.array([[0.0, 0.0, 0.0, 3.4e-253], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1e-12, 0.0]])
    map_ = Map(ends, np.zeros(3, bool))
    assert map_.segments.tolist() == [[0.0, 0.0, 1e-12, 0.0]]
    assert distance(map_, np.array([[3.0, 4.0]])) == pytest.approx(5.0)


@given(st.integers(0, 2**31))
def test_a_point_is_inside_a_solid_of_its_own_map_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    maps = [wall(rng.normal(size=(4, 2))) for _ in range(5)]
    corners = rng.uniform(-3.0, 3.0, (5, 2, 2))
    for k in (0, 2, 4):  # two of them have nothing solid
        (left, low), (right, high) = np.sort(corners[k], axis=0)
        box = block([(left, low), (right, low), (right, high), (left, high)])
        maps[k] = merge([maps[k], box])
    of = rng.integers(0, 5, 200)
    x, y = rng.uniform(-3.0, 3.0, (2, 200))
    low, high = corners[of].min(axis=1), corners[of].max(axis=1)
    expected = (low[:, 0] < x) & (x < high[:, 0]) & (low[:, 1] < y) & (y < high[:, 1])
    expected &= of % 2 == 0
    np.testing.assert_array_equal(inside_solids(build_solids(maps), of, x, y), expected)
    for k, map in enumerate(maps):
        mine = of == k
        np.testing.assert_array_equal(inside_solid(map, x[mine], y[mine]), expected[mine])
