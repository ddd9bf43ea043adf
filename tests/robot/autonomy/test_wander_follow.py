"""Robots that drive about by themselves, and robots that drive behind others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import astray
from astray import Positive, Sensor, check_plugin, columns
from astray.plugin import Datasheet
from astray.robot.autonomy import Wander
from astray.robot.autonomy.wander import ray_bearings
from astray.tables import READING

HALF = 3.0  # m, from the middle of the room to each wall


class FourWalls(Sensor, kind="four_walls"):
    """Ranges to the walls of a square room around the origin."""

    measures = columns(READING)
    rays: int = 36
    angle_min: float = -math.pi  # rad
    angle_max: float = math.pi  # rad
    farthest: Positive = 100.0  # m; what is further away is not seen

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"ranges": (self.rays,)}

    def sense(self, rows: Any, scene: Any, out: Any) -> None:
        s = scene.truth[rows]
        angles = s["yaw"][:, None] + ray_bearings(self.datasheet(), self.rays)
        c, k = np.cos(angles), np.sin(angles)
        with np.errstate(divide="ignore"):  # along a wall the range to it is infinite
            to_x = np.where(c > 0, HALF - s["x"][:, None], HALF + s["x"][:, None]) / np.abs(c)
            to_y = np.where(k > 0, HALF - s["y"][:, None], HALF + s["y"][:, None]) / np.abs(k)
        ranges = np.minimum(to_x, to_y)
        out["ranges"][rows] = np.where(ranges > self.params["farthest"][rows, None], np.inf, ranges)


def wanderer(sensor: dict[str, Any] | None = None, **autonomy: Any) -> dict[str, Any]:
    sensors = [{"kind": "four_walls", "rate": 25, **sensor}] if sensor is not None else []
    return {"name": "rover", "sensors": sensors, "autonomy": {"kind": "wander", **autonomy}}


def turns(worlds: int, dt: float, rate: float, seconds: float) -> Any:
    """The random turn rates of many worlds at the end, and those of half a second before."""
    sim = astray.load({"dt": dt, "robots": [wanderer(rate=rate)]}, worlds=worlds)
    sim.run(seconds)
    before = sim.robots["rover"].commands["wz"].copy()
    sim.run(0.5)
    return before, sim.robots["rover"].commands["wz"].copy()


# Wander.


@pytest.mark.parametrize(("dt", "rate"), [(0.1, 10.0), (0.01, 10.0), (0.01, 100.0), (0.05, 2.0)])
def test_the_random_turn_has_the_same_statistics_at_any_dt_and_rate(dt: float, rate: float) -> None:
    before, after = turns(4000, dt, rate, 2.0)
    # 4000 values: their standard deviation is known to 1.1 %, a correlation of 0.78 to 0.6 %.
    assert np.std(before) == pytest.approx(0.4, rel=0.045)
    assert np.std(after) == pytest.approx(0.4, rel=0.045)
    assert np.corrcoef(before, after)[0, 1] == pytest.approx(math.exp(-0.5 / 2.0), abs=0.025)


def test_the_first_turn_is_as_random_as_any() -> None:
    first = turns(4000, 0.01, 100.0, 0.01)[0]
    assert np.std(first) == pytest.approx(0.4, rel=0.045)


def test_deciding_twice_in_a_tick_changes_nothing() -> None:
    sim = astray.load({"dt": 0.01, "robots": [wanderer({})]}, worlds=3)
    sim.run(2.0)
    rover = sim.robots["rover"]
    rover.autonomy.decide(rover.rows, rover.known, rover.commands)
    once = rover.commands.tobytes()
    rover.autonomy.decide(rover.rows, rover.known, rover.commands)
    assert rover.commands.tobytes() == once


@pytest.mark.parametrize("motion", ["differential", "unicycle", "omni", "integrator"])
def test_a_wanderer_stays_in_its_room(motion: str) -> None:
    robot = {**wanderer({}, speed=0.6), "motion": {"kind": motion}, "start": {"spread": 0.5}}
    sim = astray.load({"dt": 0.02, "robots": [robot]}, worlds=40)
    log = sim.run(120.0, log=0.2)["rover"].truth
    assert max(np.abs(log[c]).max() for c in ("x", "y")) < HALF
    assert np.abs(log["x"]).max() > 2.0  # it does get about
    assert np.abs(np.diff(log["x"], axis=0)).sum(axis=0).min() > 5.0


def test_a_car_that_keeps_more_than_its_turning_circle_stays_in_its_room() -> None:
    robot = {**wanderer({}, keep=2.0), "motion": {"kind": "ackermann"}}
    sim = astray.load({"dt": 0.02, "robots": [robot]}, worlds=40)
    log = sim.run(120.0, log=0.2)["rover"].truth
    assert max(np.abs(log[c]).max() for c in ("x", "y")) < HALF
    assert np.abs(np.diff(log["x"], axis=0)).sum(axis=0).min() > 5.0


def test_what_is_far_or_not_there_does_not_matter() -> None:
    seeing, blind = (
        astray.load({"dt": 0.01, "robots": [wanderer(sensor)]})
        for sensor in ({"farthest": 0.5}, None)
    )
    for sim in (seeing, blind):
        sim.run(3.0)  # the walls are three metres away: every range is infinite
    assert seeing.truth["yaw"].tobytes() == blind.truth["yaw"].tobytes()


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_wanderer_turns_away_from_the_side_where_something_is(side: float) -> None:
    robot = {**wanderer({}), "start": {"x": HALF - 0.5, "yaw": side * 1.0}}
    sim = astray.load({"dt": 0.01, "robots": [robot]})  # the wall is ahead, on the other side
    sim.run(0.5)
    assert side * float(sim.truth["wz"][0]) > 0.0
    assert float(sim.robots["rover"].commands["vx"][0]) < 0.4


def test_nothing_is_dodged_before_a_reading_has_arrived() -> None:
    robot = {**wanderer({"latency": 1.0}, turn_sd=0.0), "start": {"x": HALF - 0.2}}
    sim = astray.load({"dt": 0.01, "robots": [robot]})
    sim.run(0.9)
    assert float(sim.robots["rover"].commands["vx"][0]) == 0.4
    sim.run(0.2)
    assert float(sim.robots["rover"].commands["vx"][0]) < 0.4


def test_rays_lie_where_the_datasheet_says() -> None:
    circle = ray_bearings(Datasheet("x", {}), 4)
    assert circle == pytest.approx([-math.pi, -math.pi / 2, 0.0, math.pi / 2])
    whole = ray_bearings(Datasheet("x", {"angle_min": 0.0, "angle_max": 2 * math.pi}), 4)
    assert whole == pytest.approx([0.0, math.pi / 2, -math.pi, -math.pi / 2])
    bearings = ray_bearings(Datasheet("x", {"angle_min": -0.6, "angle_max": 0.6}), 3)
    assert bearings == pytest.approx([-0.6, 0.0, 0.6])
    assert ray_bearings(Datasheet("x", {"angle_min": 0.2, "angle_max": 0.2}), 1) == pytest.approx(
        [0.2]
    )


def test_a_wanderer_that_sees_keeps_the_contract() -> None:
    sensors = [{"kind": "wheels"}, {"kind": "four_walls", "rays": 8, "latency": 0.1}]
    check_plugin(Wander, {"sensors": sensors, "start": {"x": 2.5, "spread": 0.1}})


# Follow.


def leader(**more: Any) -> dict[str, Any]:
    course = {"kind": "scripted", "steps": [{"lasts": 100.0, "vx": 0.3}]}
    return {"name": "leader", "start": {"x": 3.0}, "autonomy": course, **more}


def follower(**autonomy: Any) -> dict[str, Any]:
    return {"name": "dog", "autonomy": {"kind": "follow", "target": "leader", **autonomy}}


def gap(sim: astray.Sim) -> Any:
    a, b = sim.robots["leader"].truth, sim.robots["dog"].truth
    return np.hypot(a["x"] - b["x"], a["y"] - b["y"])


@pytest.mark.parametrize("motion", ["differential", "ackermann", "unicycle", "omni", "integrator"])
def test_a_follower_keeps_its_distance_without_a_lag(motion: str) -> None:
    robots = [leader(), {**follower(distance=0.7), "motion": {"kind": motion}}]
    sim = astray.load({"dt": 0.02, "robots": robots})
    sim.run(40.0)
    assert gap(sim)[0] == pytest.approx(0.7, abs=0.01)
    assert float(sim.robots["dog"].truth["vx"][0]) == pytest.approx(0.3, abs=1e-3)


@pytest.mark.parametrize("motion", ["differential", "ackermann"])
def test_a_follower_goes_round_corners_and_finds_what_is_behind_it(motion: str) -> None:
    course = {"kind": "waypoints", "points": [[6, 0], [6, 5], [0, 5], [0, 0]], "loop": True}
    dog = {**follower(), "motion": {"kind": motion}, "start": {"yaw": 3.0}}
    sim = astray.load({"dt": 0.02, "robots": [leader(autonomy={**course, "speed": 0.3}), dog]})
    sim.run(25.0)
    gaps = [gap(sim)[0] for _ in range(40) if sim.run(2.0) is None]
    assert 0.6 < min(gaps) < max(gaps) < 1.4


def test_a_follower_stops_at_its_distance_and_does_not_back_up() -> None:
    still = leader(autonomy={"kind": "idle"}, start={"x": 0.5})
    sim = astray.load({"dt": 0.02, "robots": [still, follower()]})
    sim.run(5.0)
    assert float(sim.robots["dog"].truth["x"][0]) == 0.0
    far = astray.load({"dt": 0.02, "robots": [leader(autonomy={"kind": "idle"}), follower()]})
    far.run(30.0)
    assert gap(far)[0] == pytest.approx(1.0, abs=1e-3)


def test_each_follows_the_robot_of_its_own_world() -> None:
    start = {"x": {"uniform": [2.0, 6.0]}, "y": {"uniform": [-4.0, 4.0]}}
    robots = [leader(start=start, count=2, capacity=3), {**follower(robot=1), "count": 2}]
    scenario = {"dt": 0.02, "robots": robots}
    batch, alone = astray.load(scenario, worlds=[7, 2, 5]), astray.load(scenario, worlds=[5])
    for sim in (batch, alone):
        sim.run(40.0)
    led = batch.robots["leader"].truth
    dogs = batch.robots["dog"].truth
    for dog in dogs:
        target = led[(led["world"] == dog.world) & (led["robot"] == 1)]
        away = np.hypot(target["x"] - dog.x, target["y"] - dog.y)
        assert away == pytest.approx([1.0], abs=0.05)
    assert alone.robots["dog"].truth["x"].tobytes() == dogs["x"][-2:].tobytes()


def test_a_follower_goes_where_its_target_believes_to_be() -> None:
    still = leader(
        autonomy={"kind": "idle"}, sensors=[{"kind": "wheels"}], estimator={"kind": "odometry"}
    )
    sim = astray.load({"dt": 0.02, "robots": [still, follower()]})
    sim.robots["leader"].place(x=-50.0)  # it was carried away and does not know
    sim.run(30.0)
    assert float(sim.robots["dog"].truth["x"][0]) == pytest.approx(2.0, abs=1e-3)


def test_a_follower_whose_target_is_gone_stops() -> None:
    sim = astray.load({"dt": 0.02, "robots": [leader(), follower()]}, worlds=2)
    sim.run(10.0)
    sim.robots["leader"].remove(worlds=[1])
    sim.run(3.0)
    assert (sim.robots["dog"].truth["vx"] == 0.0).tolist() == [False, True]


def test_a_robot_that_follows_itself_stands_still_and_leads_the_others() -> None:
    pack = {"name": "pack", "count": 3, "autonomy": {"kind": "follow", "target": "pack"}}
    sim = astray.load({"dt": 0.02, "robots": [{**pack, "start": {"spread": 3.0}}]})
    before = sim.truth.copy()
    sim.run(60.0)
    assert (sim.truth["x"] == before["x"]).tolist() == [True, False, False]
    away = np.hypot(sim.truth["x"] - sim.truth["x"][0], sim.truth["y"] - sim.truth["y"][0])
    assert away[1:] == pytest.approx([1.0, 1.0], abs=0.01)


@pytest.mark.parametrize(
    ("autonomy", "message"),
    [
        ({"target": "liedar"}, r"follow: there are no robots 'liedar' \(leader, dog\)"),
        ({"robot": 1}, "follow: there is no robot 1 of 'leader', which has 1"),
    ],
)
def test_a_target_that_does_not_exist_is_named(autonomy: dict[str, Any], message: str) -> None:
    with pytest.raises(astray.ScenarioError, match=message):
        astray.load({"robots": [leader(), follower(**autonomy)]})


def test_a_follower_needs_a_target() -> None:
    with pytest.raises(astray.ScenarioError, match="target"):
        astray.load({"robots": [{"name": "dog", "autonomy": {"kind": "follow"}}]})
