"""Errors of wheels: where they come from, how they grow, and what odometry knows of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import astray
from astray.plugin import Known, Reading
from astray.robot.estimators import Odometry
from astray.robot.motion import Differential
from astray.robot.sensors import Wheels
from astray.tables import WHEELS

SQUARE_LAP = [{"lasts": 4.0, "vx": 0.5}, {"lasts": 2.0, "vx": 0.3, "wz": np.pi / 4}] * 4


def robot(wheels: dict[str, Any], steps: list[dict[str, float]], **more: Any) -> dict[str, Any]:
    return {
        "name": "rover",
        "sensors": [{"kind": "wheels", **wheels}],
        "estimator": {"kind": "odometry"},
        "autonomy": {"kind": "scripted", "steps": steps},
        **more,
    }


def straight(wheels: dict[str, Any], **more: Any) -> dict[str, Any]:
    return robot(wheels, [{"lasts": 100.0, "vx": 0.5}], **more)


def test_odometry_without_noise_is_the_truth_over_a_closed_course() -> None:
    sim = astray.load({"dt": 0.01, "robots": [robot({"ticks": 0}, SQUARE_LAP)]})
    log = sim.run(24.0, log=0.1)
    truth, belief = log["rover"].truth, log["rover"].belief
    assert np.ptp(truth["x"]) > 2.0
    for column in ("x", "y", "yaw"):
        assert np.abs(truth[column] - belief[column]).max() < 1e-9
    assert np.abs(log["rover"].belief["cov"]).max() == 0.0


def test_logged_velocity_is_the_derivative_of_the_logged_pose() -> None:
    sim = astray.load({"dt": 0.001, "robots": [robot({"ticks": 0}, SQUARE_LAP)]})
    log = sim.run(8.0, log=0.001)
    s = log["rover"].truth[:, 0]
    middle, h = s[1:-1], 0.001
    dx, dy = (np.asarray(s[c][2:] - s[c][:-2]) / (2 * h) for c in ("x", "y"))
    along = dx * np.cos(middle["yaw"]) + dy * np.sin(middle["yaw"])
    across = -dx * np.sin(middle["yaw"]) + dy * np.cos(middle["yaw"])
    turning = np.diff(np.unwrap(s["yaw"]))
    turning = (turning[1:] + turning[:-1]) / (2 * h)
    assert np.abs(along - middle["vx"]).max() < 1e-3  # one tick of acceleration at most
    assert np.abs(across - middle["vy"]).max() < 1e-3
    assert np.abs(turning - middle["wz"]).max() < 4e-3
    assert np.median(np.abs(along - middle["vx"])) < 1e-6


def test_logged_acceleration_is_the_derivative_of_the_logged_velocity() -> None:
    sim = astray.load({"dt": 0.001, "robots": [robot({"ticks": 0}, SQUARE_LAP)]})
    log = sim.run(8.0, log=0.001)
    s = log["rover"].truth[:, 0]
    assert np.abs(np.diff(s["vx"]) / 0.001 - s["ax"][1:]).max() < 1e-9
    assert np.abs(np.diff(s["wz"]) / 0.001 - s["alpha"][1:]).max() < 1e-9
    assert np.abs(s["vx"] * s["wz"] - s["ay"]).max() < 1e-12
    wheel = np.diff(s["wheel"], axis=0)[:, :2] / 0.001
    assert np.abs(wheel - (s["wheel_rate"][1:, :2] + s["wheel_rate"][:-1, :2]) / 2).max() < 1e-9


def test_errors_do_not_depend_on_the_rate_of_the_sensor() -> None:
    rms = []
    for rate in (50, 100, 400):
        wheels = {"rate": rate, "slip_density": 0.01, "ticks": 0}
        sim = astray.load({"dt": 1 / 400, "robots": [straight(wheels)], "seed": rate}, worlds=5000)
        sim.run(8.0)
        group = sim.robots["rover"]
        error = np.hypot(group.belief["x"] - group.truth["x"], group.belief["y"] - group.truth["y"])
        rms.append(np.sqrt((error**2).mean()))
    assert max(rms) / min(rms) < 1.03


def test_errors_do_not_depend_on_dt() -> None:
    rms = []
    for dt in (0.1, 0.01):
        scenario = {"dt": dt, "robots": [straight({"slip_density": 0.01, "ticks": 0})]}
        sim = astray.load(scenario, worlds=5000)
        sim.run(8.0)
        group = sim.robots["rover"]
        rms.append(np.std(group.belief["y"] - group.truth["y"]))
    assert max(rms) / min(rms) < 1.03


def test_random_slip_grows_with_the_root_of_the_way() -> None:
    k, sim_seconds = 0.0005, 20.0
    sim = astray.load(
        {"dt": 0.02, "robots": [straight({"slip_density": k, "ticks": 0})]}, worlds=4000
    )
    sim.run(sim_seconds)
    group = sim.robots["rover"]
    way = group.truth["x"].mean()
    along = np.std(group.belief["x"] - group.truth["x"])
    heading = np.std(group.belief["yaw"])
    assert along == pytest.approx(k * np.sqrt(way / 2), rel=0.05)
    assert heading == pytest.approx(k * np.sqrt(2 * way) / 0.4, rel=0.05)


def test_a_drawn_radius_gives_the_error_of_its_closed_form() -> None:
    drawn = {"motion": {"kind": "differential", "radius": {"normal": [0.1, 0.001]}}}
    sim = astray.load({"dt": 0.01, "robots": [straight({"ticks": 0}, **drawn)]}, worlds=1000)
    sim.run(20.0)
    group = sim.robots["rover"]
    radius = group.motion.params["radius"]
    way = group.truth["x"]
    assert np.allclose(group.belief["x"], way * 0.1 / radius, rtol=0, atol=1e-9)
    assert np.std(radius) == pytest.approx(0.001, rel=0.06)
    assert np.std(group.belief["x"] - way) == pytest.approx(way[0] * 0.01, rel=0.06)
    assert group.estimator.memory["radius"].tolist() == [0.1] * 1000  # the datasheet's


def test_rounding_to_ticks_never_adds_up() -> None:
    sim = astray.load({"dt": 0.01, "robots": [straight({"ticks": 16, "rate": 100})]})
    sim.run(60.0)
    group = sim.robots["rover"]
    one_tick = 2 * np.pi / 16 * 0.1
    assert abs(float(group.belief["x"][0] - group.truth["x"][0])) <= one_tick
    count = group.readings["wheels"]["count"][0, :2]
    assert (count == np.floor(group.truth["wheel"][0, :2] * 16 / (2 * np.pi))).all()


def test_slip_makes_the_belief_run_ahead() -> None:
    sim = astray.load({"dt": 0.01, "robots": [straight({"slip": 0.02, "ticks": 0})]})
    sim.run(10.0)
    group = sim.robots["rover"]
    assert float(group.belief["x"][0]) == pytest.approx(1.02 * float(group.truth["x"][0]), rel=1e-9)


def test_the_covariance_of_odometry_is_that_of_its_error() -> None:
    wheels = {
        "radius_sd": 0.002,
        "baseline_sd": 0.005,
        "slip_density": 0.003,
        "ticks": 0,
        "rate": 50,
    }
    sim = astray.load({"dt": 0.01, "robots": [robot(wheels, SQUARE_LAP)]}, worlds=1000)
    for seconds in (5.0, 10.0, 9.0):
        sim.run(seconds)
        group = sim.robots["rover"]
        error = np.stack([group.belief[c] - group.truth[c] for c in ("x", "y", "yaw")], axis=1)
        error[:, 2] = (error[:, 2] + np.pi) % (2 * np.pi) - np.pi
        nees = np.einsum("ni,nij,nj->n", error, np.linalg.inv(group.belief["cov"]), error)
        # The mean of 1000 values of chi-square with 3 degrees: 3 within 4 standard errors.
        assert abs(nees.mean() - 3.0) < 4 * np.sqrt(6.0 / 1000)
    wrong = np.einsum("ni,nij,nj->n", error, np.linalg.inv(group.belief["cov"] / 2), error)
    assert abs(wrong.mean() - 3.0) > 4 * np.sqrt(6.0 / 1000)


def test_counting_in_ticks_does_not_make_odometry_too_sure_of_itself() -> None:
    scenario = {
        "dt": 0.01,
        "robots": [robot({"ticks": 256, "slip_density": 0.0005, "rate": 50}, SQUARE_LAP)],
        "metrics": [{"kind": "nees"}],
    }
    sim = astray.load(scenario, worlds=200)
    log = sim.run(12.0, log=0.02)
    nees = log["rover"].metrics["nees"]["belief"][2:].mean(axis=1)
    assert 2.0 < nees.mean() < 3.5
    assert nees.max() < 6.0  # from the first centimetres on, where all worlds count alike


def test_odometry_runs_alone_on_a_log() -> None:
    odometry, belief = Odometry().alone(Differential(radius=0.1, baseline=0.4), Wheels(ticks=0))
    wheels = Reading(WHEELS, 1, {})
    known = Known(belief, {"wheels": wheels})
    # A quarter circle to the left of radius 1 m: the wheels roll 0.8 and 1.2 times π / 2.
    for k in range(101):
        wheels.stamp[:] = 0.1 * k
        wheels.fresh[:] = True
        wheels["angle"][0, :2] = np.array([0.8, 1.2]) * np.pi / 2 / 0.1 * k / 100
        odometry.estimate(np.arange(1), known, belief)
    assert float(belief["x"][0]) == pytest.approx(1.0, abs=1e-9)
    assert float(belief["y"][0]) == pytest.approx(1.0, abs=1e-9)
    assert float(belief["yaw"][0]) == pytest.approx(np.pi / 2, abs=1e-9)
    assert float(belief["stamp"][0]) == pytest.approx(10.0)
    assert float(belief["vx"][0]) == pytest.approx(np.pi / 20, abs=1e-9)
