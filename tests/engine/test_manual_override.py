"""A hand on a robot: it drives whatever the autonomy wants, lets go by itself, and replays."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astray
from astray import Event, EventError
from astray.sim import Sim


def load(rover: dict[str, Any], **more: Any) -> Sim:
    robot = {**copy.deepcopy(rover), **more}
    return astray.load({"robots": [robot], "seed": 3, "dt": 0.01, "duration": 20.0})


def test_a_hand_drives_a_robot_that_has_a_mind_of_its_own_and_then_gives_it_back(
    rover: dict[str, Any],
) -> None:
    sim, alone = load(rover), load(rover)
    sim.run(1.0)
    alone.run(1.0)
    sim.robots["rover"].drive(-0.3, 0.0, hold=1.0)
    sim.run(0.99)
    assert sim.truth["vx"][0] < 0.0  # the waypoints lie ahead: only a hand goes back
    sim.run(2.0)
    alone.run(2.99)
    assert sim.truth["vx"][0] > 0.3  # its autonomy drives again, as fast as the one left alone
    assert alone.truth["vx"][0] == pytest.approx(sim.truth["vx"][0], abs=0.1)


def test_a_hold_of_nothing_lets_go_at_once(rover: dict[str, Any]) -> None:
    sim = load(rover)
    sim.robots["rover"].drive(-0.3, hold=10.0)
    sim.run(0.5)
    assert sim.truth["vx"][0] < 0.0
    sim.robots["rover"].drive(0.0, hold=0.0)
    sim.run(2.0)
    assert sim.truth["vx"][0] > 0.0


def test_a_remote_robot_goes_on_with_what_it_was_told_when_the_hand_lets_go() -> None:
    robot = {"name": "r", "autonomy": {"kind": "remote"}, "motion": {"kind": "differential"}}
    sim = astray.load({"robots": [robot], "dt": 0.01, "duration": 10.0})
    sim.robots["r"].drive(0.4)
    sim.run(1.0)
    sim.robots["r"].drive(-0.4, hold=1.0)
    sim.run(1.0)
    assert sim.truth["vx"][0] == pytest.approx(-0.4)
    sim.run(1.0)
    assert sim.truth["vx"][0] == pytest.approx(0.4)


def test_only_the_robots_in_hand_are_driven_by_it(rover: dict[str, Any]) -> None:
    sim, alone = load(rover, count=3), load(rover, count=3)
    sim.robots["rover"].drive(-0.3, hold=0.5, robots=[1])
    sim.run(1.0)
    alone.run(1.0)
    same = sim.truth["x"] == alone.truth["x"]
    assert same.tolist() == [True, False, True]


def test_a_run_that_was_touched_replays_from_its_events(rover: dict[str, Any]) -> None:
    sim = load(rover)
    sim.run(0.7)
    sim.robots["rover"].drive(0.2, 0.9, hold=0.4)
    sim.run(0.1)
    sim.robots["rover"].drive(0.1, -0.9, hold=0.4)
    sim.run(2.0)
    again = load(rover)
    again.replay(sim.events)
    again.run(2.8)
    assert again.digest() == sim.digest()


@pytest.mark.parametrize("cut", [1, 3, 7])
def test_how_a_run_is_cut_does_not_matter_to_a_hand(rover: dict[str, Any], cut: int) -> None:
    whole, cut_up = load(rover), load(rover)
    for sim in (whole, cut_up):
        sim.post(Event("command", "rover", values={"vx": -0.2, "hold": 0.33}, step=21))
    whole.run(1.0)
    for _ in range(100 // cut):
        cut_up.step(cut)
    cut_up.step(100 % cut)
    assert whole.digest() == cut_up.digest()


def test_a_hand_is_saved_with_the_run_and_gone_after_a_reset(
    rover: dict[str, Any], tmp_path: Path
) -> None:
    sim, fresh = load(rover), load(rover)
    sim.robots["rover"].drive(-0.3, hold=1.0)
    sim.run(0.5)
    sim.save(tmp_path / "run.npz")
    resumed = astray.resume(tmp_path / "run.npz")
    sim.run(2.0)
    resumed.run(2.0)
    assert resumed.digest() == sim.digest()
    sim.reset()
    assert sim.digest() == fresh.digest()


@pytest.mark.parametrize("hold", [-1.0, float("nan"), float("inf"), "long"])
def test_a_hold_that_is_no_time_is_refused(rover: dict[str, Any], hold: Any) -> None:
    with pytest.raises(EventError, match="hold"):
        load(rover).robots["rover"].drive(0.1, hold=hold)


def test_without_a_hold_a_robot_with_a_mind_of_its_own_is_not_driven(rover: dict[str, Any]) -> None:
    with pytest.raises(EventError, match="hold it for a while"):
        load(rover).robots["rover"].drive(0.1)


def test_a_hand_on_one_world_is_none_on_another(rover: dict[str, Any]) -> None:
    scenario = {"robots": [rover], "seed": 3, "dt": 0.01, "duration": 5.0}
    sim, alone = astray.load(scenario, worlds=3), astray.load(scenario, worlds=3)
    sim.robots["rover"].drive(-0.3, hold=0.5, worlds=[1])
    sim.run(1.0)
    alone.run(1.0)
    assert (sim.truth["x"] == alone.truth["x"]).tolist() == [True, False, True]
    assert np.isfinite(sim.truth["x"]).all()
