"""Bumpers are pressed where the body touches something, and only there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import astray
from astray import ScenarioError
from astray.tables import Array

ROOM: dict[str, Any] = {"walls": [[[-3, -3], [3, -3], [3, 3], [-3, 3], [-3, -3]]]}


def load(bumper: dict[str, Any], **more: Any) -> astray.Sim:
    robot = {
        "name": "a",
        "start": more.pop("start", {}),
        "footprint": {"radius": 0.2},
        "sensors": [{"kind": "bumper", **bumper}],
    }
    scenario = {"dt": 0.05, "world": {"map": ROOM}, "robots": [robot], "interactions": []}
    return astray.load({**scenario, **more})


def touch(sim: astray.Sim, bearing: float, touching: bool = True) -> Array:
    """What the bumpers read when something is touched in a direction."""
    group = sim.robots["a"]
    sim.environment.scene.collisions["touching"] = touching
    sim.environment.scene.collisions["bearing"] = bearing
    sim.step()
    return np.asarray(group.readings["bumper"]["arcs"][0])


@pytest.mark.parametrize("bearing", [0.0, 1.5, -1.5, math.pi / 2, -math.pi / 2])
def test_the_front_is_pressed_by_what_is_ahead(bearing: float) -> None:
    sim = load({})
    assert touch(sim, bearing).tolist() == [1.0]
    assert sim.robots["a"].readings["bumper"]["pressed"][0]
    assert touch(sim, bearing, touching=False).tolist() == [0.0]
    assert not sim.robots["a"].readings["bumper"]["pressed"][0]


@pytest.mark.parametrize("bearing", [1.7, -1.7, math.pi, -3.0])
def test_the_front_is_not_pressed_by_what_is_behind(bearing: float) -> None:
    assert touch(load({}), bearing).tolist() == [0.0]


def test_equal_segments_go_all_round_from_behind() -> None:
    sim = load({"segments": 4})
    for k, bearing in enumerate((-2.5, -0.5, 0.5, 2.5)):
        assert touch(sim, bearing).tolist() == [float(k == j) for j in range(4)]


def test_an_arc_may_go_through_the_back() -> None:
    sim = load({"arcs": [[2.5, 3.8], [-0.2, 0.2]]})
    assert touch(sim, 3.0).tolist() == [1.0, 0.0]
    assert touch(sim, -3.0).tolist() == [1.0, 0.0]
    assert touch(sim, -2.4).tolist() == [0.0, 0.0]
    assert touch(sim, 0.1).tolist() == [0.0, 1.0]


def test_driving_into_a_wall_presses_the_side_that_meets_it() -> None:
    sim = load({"segments": 4}, interactions=[{"kind": "collisions"}], start={"yaw": 0.4})
    pressed = sim.robots["a"].readings["bumper"]
    sim.robots["a"].drive(1.0)
    sim.run(2.0)
    assert not pressed["pressed"][0]
    sim.run(4.0)
    # The wall is straight ahead in the map, to the right of the heading.
    assert pressed["arcs"][0].tolist() == [0.0, 1.0, 0.0, 0.0]
    sim.robots["a"].drive(-0.5)
    sim.run(2.0)
    assert not pressed["pressed"][0]


@pytest.mark.parametrize(
    ("bumper", "message"),
    [
        ({"arcs": []}, "needs arcs"),
        ({"arcs": [[1.0, 0.5]]}, "goes counter-clockwise"),
        ({"arcs": [[0.0, 7.0]]}, "by 2 pi at most"),
        ({"arcs": [[0.0, 1.0]], "segments": 3}, "either arcs or equal segments"),
    ],
)
def test_arcs_that_cannot_be_are_refused(bumper: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        load(bumper)
