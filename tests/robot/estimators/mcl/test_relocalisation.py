"""Relocalisation in 200 worlds: none that is false, and kidnapped robots are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import astray
from astray.world.map import Map, boxes, merge, wall

WHEELS = {"kind": "wheels", "rate": 20, "slip_density": 0.01, "radius_sd": 0.01}
SCAN = {"kind": "lidar", "name": "scan", "rate": 5, "rays": 120, "max_range": 10.0, "sigma": 0.02}
WORLDS = 200
GOOD, ELSEWHERE = 0.5, 3.0  # m: errors of a belief on its track, and of one that was thrown away
ROOM, DOOR = 5.0, 1.2  # m


def rover(**changes: Any) -> dict[str, Any]:
    return {
        "name": "rover",
        "footprint": {"radius": 0.17},
        "start": {"clearance": 0.4, "yaw_spread": 3.0},
        "sensors": [WHEELS, SCAN],
        "estimator": {"kind": "particle"},
        "autonomy": {"kind": "wander", "speed": 0.5},
        **changes,
    }


def room(west: float, line: float, depth: float) -> Map:
    """A room with a door in its wall along a corridor."""
    middle, end = west + 0.5 * ROOM, line + depth
    left, right = middle - 0.5 * DOOR, middle + 0.5 * DOOR
    inside = [(west, line), (west, end), (west + ROOM, end), (west + ROOM, line)]
    return wall([(left, line), *inside, (right, line)])


def similar_rooms() -> dict[str, Any]:
    """Sixteen rooms that are alike along a corridor; the robot's map lacks three of them."""
    known = [wall([(0, 0), (0, 2)]), wall([(8 * ROOM, 0), (8 * ROOM, 2)])]
    unknown = []
    for k in range(8):
        known.append(room(k * ROOM, 0.0, -ROOM))
        (unknown if k in (3, 4, 5) else known).append(room(k * ROOM, 2.0, ROOM))
        if k % 3 == 0:
            known.append(boxes([[k * ROOM + 1.0, -3.5, 0.8, 0.5, 0.0]]))
    truth = merge(known + unknown)
    start = {"x": 22.5, "y": 1.0, "spread": 0.5, "yaw_spread": 3.0}
    robots = [rover(map=merge(known), start=start)]
    return {"dt": 0.05, "seed": 1, "world": {"map": truth}, "robots": robots}


def empty_plan() -> dict[str, Any]:
    """Another building in each world, with people; the robot's map is the plan without furniture."""
    plan = {"kind": "rooms", "size": [30, 16], "per_world": True, "seed": 1}
    people = {
        "name": "people",
        "count": 6,
        "footprint": {"radius": 0.25},
        "start": {"clearance": 0.4, "yaw_spread": 3.0},
        "sensors": [{"kind": "lidar", "rate": 5, "rays": 19, "max_range": 4.0}],
        "autonomy": {"kind": "wander", "speed": 0.6},
    }
    robots = [rover(map={**plan, "furniture": 0.0}), people]
    return {"dt": 0.05, "seed": 1, "world": {"map": plan}, "robots": robots}


def errors(sim: Any) -> Any:
    """The distance of belief and truth now, (rows,) m."""
    robots = sim.robots["rover"]
    return np.hypot(robots.belief["x"] - robots.truth["x"], robots.belief["y"] - robots.truth["y"])


def falsely_moved(sim: Any, seconds: float) -> Any:
    """Whether a good belief jumped away from the truth within half a second, (rows,)."""
    before, found = errors(sim), np.zeros(WORLDS, bool)
    for _ in range(round(2 * seconds)):
        sim.run(0.5)
        now = errors(sim)
        found |= (before < GOOD) & (now > ELSEWHERE)
        before = now
    return found


@pytest.mark.parametrize("scenario", [similar_rooms, empty_plan])
def test_what_the_map_lacks_moves_no_good_belief_elsewhere(scenario: Any) -> None:
    sim = astray.load(scenario(), worlds=WORLDS)
    assert falsely_moved(sim, 60).sum() == 0
    memory = sim.robots["rover"].estimator.memory
    assert (memory["w_fast"] < 0.5 * memory["w_slow"]).sum() > 10  # doubt arises all the same


def test_a_belief_in_doubt_claims_a_wide_covariance() -> None:
    sim = astray.load(similar_rooms(), worlds=WORLDS)
    sim.run(30)
    robots = sim.robots["rover"]
    searching = robots.estimator.memory["searching"]
    assert searching.sum() > 10
    assert (np.sqrt(robots.belief["cov"][searching, 0, 0]) > 0.5).mean() > 0.9
    assert (np.sqrt(robots.belief["cov"][~searching, 0, 0]) < 0.5).mean() > 0.9


def test_nine_of_ten_kidnapped_robots_are_found_within_a_minute() -> None:
    robots = [rover(start={"x": 2.0, "y": 2.0, "spread": 0.3, "yaw_spread": 3.0})]
    sim = astray.load(
        {"dt": 0.05, "seed": 4, "world": {"map": "office"}, "robots": robots}, worlds=WORLDS
    )
    sim.run(20)
    sim.robots["rover"].place(x=16.7, y=5.6, yaw=1.0)
    sim.run(1)
    assert (errors(sim) > 2.0).all()
    sim.run(59)
    assert (errors(sim) < GOOD).sum() >= 180


def test_without_doubt_a_kidnapped_robot_stays_on_its_track() -> None:
    robots = [rover(start={"x": 2.0, "y": 2.0}, estimator={"kind": "particle", "doubt": 0})]
    sim = astray.load(
        {"dt": 0.05, "seed": 4, "world": {"map": "office"}, "robots": robots}, worlds=10
    )
    sim.run(20)
    sim.robots["rover"].place(x=16.7, y=5.6, yaw=1.0)
    sim.run(30)
    assert not sim.robots["rover"].estimator.memory["searching"].any()
    assert (errors(sim) > ELSEWHERE).sum() >= 8
