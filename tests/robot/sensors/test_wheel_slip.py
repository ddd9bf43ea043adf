"""Wheels that slip for a while or on a surface, and readings that come late or never."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import astray

EAST = [[3.0, -50.0], [50.0, -50.0], [50.0, 50.0], [3.0, 50.0]]  # all that is east of x = 3


def load(wheels: dict[str, Any], worlds: int = 1, dt: float = 0.01) -> astray.Sim:
    robot = {
        "name": "rover",
        "motion": {"kind": "differential", "accel": 1e9, "turn_accel": 1e9},
        "sensors": [{"kind": "wheels", "ticks": 0, **wheels}],
        "estimator": {"kind": "odometry"},
        "autonomy": {"kind": "scripted", "steps": [{"lasts": 1e3, "vx": 0.5}]},
    }
    return astray.load({"dt": dt, "seed": 3, "robots": [robot]}, worlds=worlds)


def test_on_a_slippery_surface_odometry_goes_farther_than_the_robot() -> None:
    sim = load({"surfaces": [{"zone": EAST, "slip": 0.2}]})
    rover = sim.robots["rover"]
    sim.run(5.9)
    assert rover.belief["x"] == pytest.approx(rover.truth["x"], abs=1e-9)
    sim.run(4.1)
    beyond = float(rover.truth["x"][0]) - 3.0
    assert beyond > 1.9
    assert rover.belief["x"] - rover.truth["x"] == pytest.approx(0.2 * beyond, abs=0.01)
    slipped = rover.pipelines["wheels"].sensor.memory["slipped"][0, :2]
    radius = rover.plan.motion.radius
    assert slipped * radius == pytest.approx(0.2 * beyond, abs=0.01)  # the truth has it


@pytest.mark.parametrize("dt", [0.05, 0.01])
def test_spells_come_as_often_and_last_as_long_as_they_say(dt: float) -> None:
    worlds, seconds = 200, 60.0
    sim = load({"spells": {"every": 4.0, "stay": 1.0, "sd": 0.3}}, worlds, dt)
    state = sim.robots["rover"].pipelines["wheels"].sensor.arrays["slipping"]
    shares = []
    for _ in range(round(seconds / 0.05)):
        sim.run(0.05)
        shares.append(state[:, -4:-2].copy())
    slips = np.array(shares) != 0.0
    assert slips.mean() == pytest.approx(0.2, abs=0.012)  # stay / (stay + every)
    begun = (np.diff(slips.astype(int), axis=0) > 0).sum() / (2 * worlds * seconds)
    assert begun == pytest.approx(0.2, rel=0.06)  # a spell every 5 s; the shortest go unseen
    sizes = np.array(shares)[-1][slips[-1]]
    assert sizes.std() == pytest.approx(0.3, rel=4 / math.sqrt(2 * len(sizes)))


def test_spells_of_slipping_mislead_odometry_by_what_the_truth_says_they_do() -> None:
    sim = load({"spells": {"every": 2.0, "stay": 1.0, "sd": 0.3}}, 50)
    sim.run(8.0)
    rover = sim.robots["rover"]
    slipped = rover.pipelines["wheels"].sensor.memory["slipped"][:, :2] * rover.plan.motion.radius
    turned = (slipped[:, 1] - slipped[:, 0]) / rover.plan.motion.baseline
    assert turned.std() > 0.05
    off = rover.belief["yaw"] - rover.truth["yaw"] - turned
    assert np.sin(off / 2) == pytest.approx(0.0, abs=1e-6)  # both are angles


def test_a_surface_of_two_corners_is_refused() -> None:
    with pytest.raises(astray.ScenarioError, match="at least three corners"):
        load({"surfaces": [{"zone": [[0, 0], [1, 1]]}]})
    with pytest.raises(astray.ScenarioError, match="greater than 0"):
        load({"spells": {"every": 0.0}})


# Readings on their way.


def arrivals(worlds: int = 200, **timing: Any) -> tuple[list[float], list[float]]:
    """When readings arrive, and how late that is, of all worlds; they are taken every 0.2 s."""
    sim = load({"rate": 5, **timing}, worlds)
    reading = sim.robots["rover"].readings["wheels"]
    stamps, late = [], []
    before = np.full(worlds, -1.0)
    for _ in range(400):
        sim.step()
        fresh = reading.fresh
        assert np.all(reading.stamp[fresh] > before[fresh])  # none comes twice or overtakes
        before[fresh] = reading.stamp[fresh]
        stamps += reading.stamp[fresh].tolist()
        late += (sim.time - reading.stamp[fresh]).tolist()
    return stamps, late


def test_jitter_delays_readings_by_all_whole_ticks_up_to_it_alike() -> None:
    stamps, late = arrivals(latency=0.3, jitter=0.1)
    assert np.allclose(np.mod(np.array(stamps) + 1e-9, 0.2), 0.0, atol=1e-6)  # as they were taken
    ticks = np.round(np.array(late) / 0.01).astype(int) - 30
    assert set(ticks) == set(range(11))
    counts = np.bincount(ticks)
    expected = len(ticks) / 11
    assert len(ticks) > 3000
    assert np.sum((counts - expected) ** 2 / expected) < 29.6  # chi-square of 10 at 0.1 %


def test_so_many_readings_are_lost_as_the_probability_says() -> None:
    all_of_them, _ = arrivals()
    stamps, late = arrivals(loss=0.3)
    assert len(stamps) / len(all_of_them) == pytest.approx(0.7, abs=4 * math.sqrt(0.21 / 4000))
    assert max(late) < 1e-9


def test_jitter_that_lets_readings_overtake_is_refused() -> None:
    with pytest.raises(astray.ScenarioError, match="a reading could overtake the next one"):
        load({"rate": 5, "jitter": 0.2})


def test_odometry_is_the_truth_of_its_stamp_whatever_the_jitter() -> None:
    sim = load({"rate": 10, "latency": 0.05, "jitter": 0.09}, 3)
    log = sim.run(5.0, log=0.01)["rover"]
    for row in range(3):
        then = np.round(log.belief["stamp"][:, row] / 0.01).astype(int)
        assert log.belief["x"][:, row] == pytest.approx(log.truth["x"][then, row], abs=1e-9)
