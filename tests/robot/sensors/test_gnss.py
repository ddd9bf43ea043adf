"""Satellite fixes are wrong as they are said to be, and missing where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import astray
from astray.errors import ScenarioError
from astray.robot.sensors.error_models import Zones, in_zones, make_zones
from astray.tables import Array

CIRCLE = {"kind": "scripted", "steps": [{"lasts": 1000.0, "vx": 0.8, "wz": 0.5}]}
PERFECT = {"position_sd": 0.0, "drift_sd": 0.0}


def sim(worlds: int = 1, rate: float = 5, **gnss: Any) -> Any:
    robot = {
        "name": "rover",
        "sensors": [{"kind": "gnss", "rate": rate, **gnss}],
        "autonomy": CIRCLE,
    }
    return astray.load({"dt": 0.05, "seed": 4, "robots": [robot]}, worlds=worlds)


def history(run: Any, seconds: float, column: str, every: float = 0.2) -> Array:
    """A column of the fixes at each step, (steps, worlds)."""
    found = []
    for _ in range(round(seconds / every)):
        run.run(every)
        found.append(run.robots["rover"].readings["gnss"][column].copy())
    return np.array(found)


def test_a_perfect_fix_is_the_antenna_and_its_velocity() -> None:
    run = sim(x=0.4, y=-0.3, velocity_sd=1e-12, **PERFECT)
    run.run(3.0)
    before = run.robots["rover"].readings["gnss"].table[0].copy()
    s = run.truth[0].copy()
    assert before["x"] == pytest.approx(s["x"] + 0.4 * np.cos(s["yaw"]) + 0.3 * np.sin(s["yaw"]))
    assert before["y"] == pytest.approx(s["y"] + 0.4 * np.sin(s["yaw"]) - 0.3 * np.cos(s["yaw"]))
    run.run(0.2)
    after = run.robots["rover"].readings["gnss"].table[0]
    # On a circle, turned by 2 h in a step: the mean of both ends is cos(h) of the velocity in the
    # middle, and the mean over the step sin(h) / h of it.
    h = 0.5 * 0.5 * 0.2
    middle = 0.5 * (before["map_vx"] + after["map_vx"]) / np.cos(h)
    mean = (after["x"] - before["x"]) / 0.2
    assert mean == pytest.approx(middle * np.sin(h) / h, abs=1e-9)


def test_the_claimed_covariance_is_that_of_the_error() -> None:
    run = sim(worlds=4000, position_sd=0.3, drift_sd=0.4, claim=2.0)
    run.run(2.0)
    fix, truth = run.robots["rover"].readings["gnss"], run.truth
    for axis in ("x", "y"):
        assert (fix[axis] - truth[axis]).std() == pytest.approx(0.5, rel=0.04)
    assert fix["cov"][0] == pytest.approx(np.eye(2) * (2.0 * 0.5) ** 2)


def test_outages_take_their_share_of_time_and_last_as_long_as_they_should() -> None:
    lost = history(sim(worlds=300, mean_up=6.0, mean_down=4.0), 60.0, "lost")
    assert lost.mean() == pytest.approx(0.4, abs=0.03)
    assert lost[0].mean() == pytest.approx(0.4, abs=0.09)  # from the start
    begins = (lost[1:] & ~lost[:-1]).sum()
    # Outages that begin and end between two fixes are not seen: those seen last longer.
    assert 0.2 * lost.sum() / begins == pytest.approx(4.0, rel=0.12)


def test_what_is_lost_reads_nan() -> None:
    run = sim(worlds=200, mean_up=1.0, mean_down=1.0, velocity_sd=0.1)
    run.run(1.0)
    fix = run.robots["rover"].readings["gnss"]
    assert 0 < fix["lost"].sum() < 200
    for column in ("x", "y", "map_vx", "map_vy"):
        assert np.array_equal(np.isnan(fix[column]), fix["lost"])


def test_there_is_no_fix_in_a_denied_zone() -> None:
    zone = [[-10.0, 1.6], [10.0, 1.6], [10.0, 9.0], [-10.0, 9.0]]  # the upper part of the circle
    run = sim(denied=[zone], **PERFECT)
    lost, y = [], []
    for _ in range(100):
        run.run(0.2)
        lost.append(bool(run.robots["rover"].readings["gnss"]["lost"][0]))
        y.append(float(run.truth["y"][0]))
    assert lost == [at > 1.6 for at in y]
    assert 20 < sum(lost) < 80


def test_jumps_come_and_go() -> None:
    run = sim(worlds=300, jump_sd=5.0, jump_every=8.0, jump_stay=2.0, **PERFECT)
    jumped = []
    for _ in range(150):
        run.run(0.2)
        fix, truth = run.robots["rover"].readings["gnss"], run.truth
        jumped.append(np.hypot(fix["x"] - truth["x"], fix["y"] - truth["y"]) > 1e-9)
    settled = np.array(jumped)[50:]
    assert settled.mean() == pytest.approx(0.2, abs=0.03)


def test_outliers_are_as_rare_and_as_far_off_as_they_are_said_to_be() -> None:
    run = sim(worlds=2000, outlier=0.05, outlier_sd=10.0, **PERFECT)
    off = []
    for _ in range(10):
        run.run(0.2)
        off.append(run.robots["rover"].readings["gnss"]["x"] - run.truth["x"])
    far = np.array(off)[np.abs(off) > 1e-9]
    assert len(far) / 20000 == pytest.approx(0.05, abs=0.006)
    assert far.std() == pytest.approx(10.0, rel=0.08)


def test_a_late_fix_is_of_the_time_of_its_stamp() -> None:
    run = sim(latency=0.4, **PERFECT)
    run.run(5.0)
    before = float(run.truth["x"][0])
    run.run(0.4)
    fix = run.robots["rover"].readings["gnss"]
    assert float(fix["stamp"][0]) == pytest.approx(5.0)
    assert float(fix["x"][0]) == pytest.approx(before)


def test_a_point_is_inside_of_any_of_several_zones() -> None:
    square = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)]
    hook = [(1.0, 1.0), (5.0, 1.0), (5.0, 5.0), (4.0, 5.0), (4.0, 2.0), (1.0, 2.0)]
    zones = Zones(*make_zones([square, hook]))
    for x, y, there in [(1, 0.5, 1), (1.5, 1.5, 1), (4.5, 4, 1), (3, 4, 0), (-1, 1, 0), (6, 1, 0)]:
        assert in_zones(zones, float(x), float(y)) is bool(there)
    assert not in_zones(Zones(*make_zones([])), 0.0, 0.0)


def test_a_zone_of_two_corners_is_refused() -> None:
    with pytest.raises(ScenarioError, match="three corners"):
        sim(denied=[[[0, 0], [1, 1]]])
