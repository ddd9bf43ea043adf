"""Robot models: their figures, their files and their odometry errors."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astray
from astray.engine.event_queue import Event
from astray.errors import ScenarioError, WrongInput
from astray.pioneer.mobilesim import MODES, like_mobilesim, odometry_errors
from astray.pioneer.models import ALIASES, RobotModel, find_model, model_names
from astray.sim import Sim
from astray.tables import Array

WORLDS = 400
SURE = 3.0 / math.sqrt(2 * (WORLDS - 1))  # three standard deviations of a standard deviation


def load(model: RobotModel, worlds: int = 1, only: tuple[str, ...] = (), **world: Any) -> Sim:
    """A run with one robot of a model, with all or only some kinds of sensors."""
    robot = {"name": "robot", **model.robot}
    if only:
        robot["sensors"] = [s for s in robot["sensors"] if s["kind"] in only]
    return astray.load({"dt": 0.01, "robots": [robot], **world}, worlds=worlds)


def command(sim: Sim, model: RobotModel, step: int | None = None, **values: Any) -> None:
    """Command the robot as a session does."""
    limits = ("accel", "decel", "turn_accel", "turn_decel")
    values = {"mode": "servo", **{k: getattr(model, k) for k in limits}, **values}
    values |= {"speed": model.default_speed, "turn": model.default_turn}
    sim.post(Event("command", "robot", values=values, step=step))


def errors(sim: Sim) -> Array:
    """Belief minus truth, (worlds, 3) m and rad."""
    belief, truth = sim.robots["robot"].belief, sim.robots["robot"].truth
    yaw = [
        math.remainder(b - t, math.tau) for b, t in zip(belief["yaw"], truth["yaw"], strict=True)
    ]
    return np.stack([belief["x"] - truth["x"], belief["y"] - truth["y"], np.array(yaw)], axis=1)


@pytest.mark.parametrize("name", model_names())
def test_every_model_drives_senses_and_stops(name: str) -> None:
    model = find_model(name)
    room = {"walls": [[[-5, -5], [5, -5], [5, 5], [-5, 5], [-5, -5]]]}
    sim = load(model, world={"map": room})
    command(sim, model, vx=0.4, wz=0.5)
    sim.run(2.0)
    robot = sim.robots["robot"]
    assert float(robot.truth["vx"][0]) == pytest.approx(0.4)
    assert float(robot.truth["wz"][0]) == pytest.approx(0.5)
    if model.sonar:
        ranges = robot.readings[model.sonar].arrays["ranges"][0]
        assert len(ranges) == len(model.sensor(model.sonar).get("mounts", range(16)))
        assert ((ranges >= 0.1) & (ranges <= 5.0)).all()  # nothing infinite: ARIA knows no such
    if model.laser:
        ranges = robot.readings[model.laser].arrays["ranges"][0]
        assert len(ranges) == model.sensor(model.laser)["rays"]
        assert (ranges < 12.0).all()
    if model.bumper:
        assert not robot.readings[model.bumper]["pressed"][0]
    command(sim, model)
    sim.run(2.0)
    assert float(robot.truth["vx"][0]) == 0.0


@pytest.mark.parametrize("name", ["p3dx", "p3at", "seekur", "amigo"])
def test_a_model_has_the_limits_of_its_session_and_an_emergency_stop_takes_a_cycle(
    name: str,
) -> None:
    model = find_model(name)
    sim = load(model, only=("wheels",))
    command(sim, model, vx=0.6)
    sim.run(1.0)
    assert float(sim.truth["vx"][0]) == pytest.approx(model.accel)
    sim.run(2.0)
    sim.post(Event("command", "robot", values={"mode": "servo", "decel": 9.999}))
    sim.run(0.1)
    assert float(sim.truth["vx"][0]) == 0.0


def test_only_a_seekur_moves_sideways() -> None:
    for name in ("seekur", "p3dx"):
        model = find_model(name)
        sim = load(model, only=("wheels",))
        command(sim, model, vy=0.3)
        sim.run(3.0)
        assert model.lateral == (float(sim.truth["vy"][0]) == pytest.approx(0.3))


def test_the_figures_of_a_p3dx_are_those_of_its_parameter_file() -> None:
    model = find_model("p3dx")
    assert (model.name, model.robot_class, model.vel2_divisor) == ("p3dx", "Pioneer", 20)
    assert model.angle_factor == pytest.approx(math.tau / 4096, rel=1e-3)
    assert (model.distance_factor, model.wheel_factor) == (0.485, 0.0056)
    assert model.robot["motion"]["baseline"] == pytest.approx(0.002 / model.wheel_factor, abs=2e-4)
    assert (model.accel, model.decel) == (0.3, 0.6)
    assert math.degrees(model.turn_accel) == pytest.approx(100.0, abs=0.5)
    assert find_model("p3dx-sh").distance_factor == 1.0
    assert find_model("p3dx-sh").robot == model.robot


def test_names_are_found_or_suggested() -> None:
    assert {find_model(name).name for name in model_names()} == set(model_names())
    for spoken, name in ALIASES.items():
        assert find_model(spoken).name == name
    with pytest.raises(WrongInput, match=r"unknown robot model 'p3dz'; did you mean 'p3dx'\?"):
        find_model("p3dz")
    with pytest.raises(WrongInput, match=r"nowhere\.p: No such file"):
        find_model("nowhere.p")
    with pytest.raises(WrongInput, match=r"nowhere\.yaml: No such file"):
        find_model("nowhere.yaml")


def test_presets_of_the_robots_run_in_ordinary_scenarios() -> None:
    presets = ("p3dx", "p3at", "amigo", "powerbot", "peoplebot", "patrolbot", "pioneer_lx")
    robots = [
        {"name": name, "preset": name, "start": {"x": 3.0 * k}}
        for k, name in enumerate((*presets, "seekur", "seekurjr"))
    ]
    sim = astray.load({"robots": robots})
    for group in sim.robots.values():
        group.drive(0.2)
    sim.run(2.0)
    for group in sim.robots.values():
        assert float(group.truth["vx"][0]) == pytest.approx(0.2)


def write(folder: Path, text: str) -> str:
    file = folder / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_a_model_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "body.yaml").write_text("preset: p3dx\nmotion: {radius: 0.2}\n")
    model = find_model(
        write(
            tmp_path,
            "name: P3DX-mine\nlike: p3at-sh\nwatchdog: 1.0\n"
            "robot:\n  preset: body.yaml\n  motion: {max_speed: 0.7}\n"
            "  autonomy: {kind: waypoints, points: [[1, 0]]}\n",
        )
    )
    assert (model.name, model.distance_factor, model.watchdog) == ("p3dx-mine", 1.0, 1.0)
    assert (model.max_speed, model.wheel_factor) == (0.7, 0.0034)
    assert model.robot["motion"]["radius"] == 0.2
    assert model.robot["autonomy"] == {"kind": "remote"}
    load(model).run(0.1)


def test_a_preset_alone_is_a_model(tmp_path: Path) -> None:
    model = find_model(write(tmp_path, "name: cart\nmotion: {kind: omni, max_speed: 0.4}\n"))
    assert (model.name, model.sonar, model.laser, model.bumper) == ("p3dx-sh", None, None, None)
    assert model.max_speed == 0.4
    sim = load(model)
    assert sim.robots["robot"].belief is not sim.robots["robot"].truth  # clients can set it
    sim.run(0.1)


def test_limits_that_are_distributions_are_reported_by_their_nominal_values(tmp_path: Path) -> None:
    drawn = "preset: p3dx\nmotion: {max_speed: {uniform: [0.6, 1.0]}, accel: {normal: [0.4, 0.01]}}"
    model = find_model(write(tmp_path, drawn))
    assert (model.max_speed, model.accel) == pytest.approx((0.8, 0.4))
    load(model, 3).run(0.1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1\n", r"mine.yaml:1: a robot is a mapping"),
        ("robot: {preset: p3dx}\nwatchdg: 1\n", r"unknown key 'watchdg'; did you mean 'watchdog'"),
        ("robot: {preset: p3dx}\ntold_turn: 1\n", r"told_turn is called reported_turn now"),
        ("robot: {preset: p3dx}\nwatchdog: -1\n", r"watchdog is -1: it must be a positive number"),
        (
            "robot: {preset: p3dx}\nway_error: x\n",
            r"way_error is 'x': it must be a number from 0 on",
        ),
        ("robot: {preset: p3dx}\nlike: p3d\n", r"like: unknown robot model 'p3d'; did you mean"),
        ("robot: {preset: p3d}\n", r"unknown preset 'p3d'; did you mean 'p3dx'"),
        ("motion: {kind: ackermann}\n", r"ARIA cannot drive a motion 'ackermann'"),
        ("motion: {kind: hover}\n", r"robot.motion"),
        ("motion: 3\n", r"robot.motion"),
        ("sensors: {a: 1}\n", r"robot.sensors"),
        ("sensors: [3]\n", r"robot.sensors\[0\]"),
        ("sensors: [{kind: sonar}]\n", r"robot.sensors\[0\]: a sonar needs mounts"),
        ("estimator: {kind: inertial}\n", r"robot.estimator: .* needs a sensor"),
        ("robot: 5\n", r"robot: a robot is a mapping"),
        (
            "robot: {}\nname: two words\n",
            r"could not find a parameter file by the name 'two words'",
        ),
        ("robot: {}\nvel2_divisor: 0\n", r"vel2_divisor is 0: it must be a positive whole"),
        ("robot: {}\nvel2_divisor: -5\n", r"vel2_divisor is -5: it must be a positive whole"),
        ("robot: {}\nlateral: 1\n", r"lateral is 1: it must be true or false"),
        ("robot: {}\nlaser_type: 7\n", r"laser_type is 7: it must be a word"),
        ("robot: {}\nlike: [1]\n", r"like: unknown robot model \[1\]"),
        ("motion: [\n", r"mine.yaml:"),
    ],
)
def test_a_model_that_is_wrong_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises((WrongInput, ScenarioError), match=message):
        find_model(write(tmp_path, text))


# Odometry errors.


def wheels(model: RobotModel) -> Mapping[str, Any]:
    return next(s for s in model.robot["sensors"] if s["kind"] == "wheels")


def test_the_belief_after_a_straight_drive_has_the_configured_spread() -> None:
    model = find_model("p3dx")
    sim = load(model, WORLDS, ("wheels",))
    command(sim, model, vx=0.5)
    sim.run(5.0 / 0.5 + 0.5 / model.accel / 2)
    distance, baseline = 5.0, model.robot["motion"]["baseline"]
    assert sim.truth["x"].mean() == pytest.approx(distance, abs=0.01)
    radius, slip = wheels(model)["radius_sd"], wheels(model)["slip_density"]
    # The error of a wheel grows with the distance by its radius, with its root by slip.
    each, walk = radius * distance, slip * math.sqrt(distance)
    along = math.hypot(each, walk) / math.sqrt(2)
    about = math.sqrt(2) * math.hypot(each, walk) / baseline
    aside = (
        math.sqrt(2)
        * math.hypot(each * distance / 2, slip * distance**1.5 / math.sqrt(3))
        / baseline
    )
    spread = errors(sim).std(axis=0, ddof=1)
    assert spread[1:] == pytest.approx([aside, about], rel=SURE)
    # A heading error shortens the distance along the path besides, to second order.
    assert spread[0] == pytest.approx(along, rel=2 * SURE)


def test_the_belief_after_a_square_has_the_error_of_its_covariance() -> None:
    model = find_model("p3dx")
    sim = load(model, WORLDS, ("wheels",))
    for side in range(4):
        command(sim, model, side * 1600, distance=2.0, heading=side * math.pi / 2, serial=side)
        command(sim, model, side * 1600 + 900, heading=(side + 1) * math.pi / 2, serial=side)
    sim.run(64.0)
    belief = sim.robots["robot"].belief
    assert np.hypot(belief["x"], belief["y"]).max() < 0.03  # closed on the belief
    off = errors(sim)
    datasheet = wheels(model)
    baseline = model.robot["motion"]["baseline"]
    distance, turn = 8.0, math.tau
    about = math.sqrt(
        2 * (datasheet["radius_sd"] * distance / baseline) ** 2
        + (datasheet["radius_sd"] * turn) ** 2 / 2
        + (datasheet["baseline_sd"] * turn) ** 2
        + 2 * datasheet["slip_density"] ** 2 * (distance + turn * baseline / 2) / baseline**2
    )
    assert off[:, 2].std(ddof=1) == pytest.approx(about, rel=1.2 * SURE)
    nees = np.einsum("ni,nij,nj->n", off, np.linalg.inv(belief["cov"]), off)
    assert nees.mean() == pytest.approx(3.0, abs=3 * math.sqrt(6 / WORLDS))


def straight(mode: str, worlds: int = WORLDS) -> tuple[RobotModel, Sim]:
    """A drive of 4 m straight ahead with one of MobileSim's odometry errors, enlarged."""
    model = dataclasses.replace(find_model("p3dx"), way_error=0.02, turn_error=0.01)
    model = odometry_errors(model, mode)
    sim = load(model, worlds, ("wheels", "odometer"))
    command(sim, model, vx=0.8)
    command(sim, model, 500)
    sim.run(7.0)
    assert float(sim.truth["vx"][0]) == 0.0
    return model, sim


def test_without_odometry_error_the_belief_is_exact() -> None:
    _, sim = straight("none", 1)
    assert float(sim.truth["x"][0]) > 2.0
    assert np.abs(errors(sim)).max() < 1e-12


def test_a_constant_odometry_error_is_a_share_of_distance_and_turn() -> None:
    model, sim = straight("constant", 2)
    assert sim.robots["robot"].belief["x"] == pytest.approx(1.02 * sim.truth["x"])
    before = errors(sim)[:, 2].copy()
    command(sim, model, wz=0.5)
    sim.run(4.0)
    turned = sim.truth["yaw"]
    assert errors(sim)[:, 2] - before == pytest.approx(0.01 * turned)


def test_an_initial_odometry_error_is_uniform() -> None:
    _, sim = straight("random_init")
    share = errors(sim)[:, 0] / sim.truth["x"]
    assert np.abs(share).max() < 0.02
    assert share.std(ddof=1) == pytest.approx(0.02 / math.sqrt(3), rel=SURE)
    assert share.mean() == pytest.approx(0.0, abs=3 * 0.02 / math.sqrt(3 * WORLDS))


def test_an_odometry_error_of_each_update_cancels_as_in_mobilesim() -> None:
    _, sim = straight("random_each_update")
    # The sum over MobileSim's cycles of 100 ms, with the speeds of this drive.
    accel, decel, top, lasts = 0.3, 0.6, 0.8, 5.0
    times = np.arange(0.0, 7.0, 0.1)
    speed = np.minimum(np.minimum(accel * times, top), np.maximum(0, top - decel * (times - lasts)))
    expected = 0.02 / math.sqrt(3) * math.sqrt(((speed * 0.1) ** 2).sum())
    assert errors(sim)[:, 0].std(ddof=1) == pytest.approx(expected, rel=SURE + 0.02)
    assert expected < 0.2 * 0.02 / math.sqrt(3) * float(sim.truth["x"][0])


def test_modes_of_odometry_error_are_named_or_suggested() -> None:
    model = find_model("p3dx")
    assert odometry_errors(model, MODES[0]) is model
    with pytest.raises(
        WrongInput, match=r"unknown odometry error 'constnt'; did you mean 'constant'\?"
    ):
        odometry_errors(model, "constnt")


def test_an_odometer_measures_platforms_and_cars_too() -> None:
    for motion in ("omni", "ackermann", "differential"):
        robot = {
            "name": "robot",
            "motion": {"kind": motion},
            "sensors": [{"kind": "odometer", "rate": 100, "way_error": 0.02, "turn_error": 0.02}],
            "estimator": {"kind": "odometry"},
        }
        sim = astray.load({"dt": 0.01, "robots": [robot]})
        sim.robots["robot"].drive(0.4, 0.0)
        sim.run(3.0)
        x, believed = float(sim.truth["x"][0]), float(sim.robots["robot"].belief["x"][0])
        assert believed == pytest.approx(1.02 * x, rel=1e-9)


@pytest.mark.parametrize("name", model_names())
def test_every_model_can_be_simulated_like_mobilesim(name: str) -> None:
    model = like_mobilesim(find_model(name))
    sim = load(model, world={"map": {"walls": [[[3, -9], [3, 9]]]}})
    command(sim, model, vx=5.0)
    sim.run(1.0)
    assert float(sim.truth["vx"][0]) == pytest.approx(min(model.accel, model.max_speed))
    assert sim.robots["robot"].pipelines["wheels"].sensor.kind == "odometer"
    if model.sonar:
        reading = sim.robots["robot"].readings[model.sonar]
        assert reading["fired"][0] == len(reading.arrays["ranges"][0])


def test_a_sonar_of_mobilesim_is_one_ray_that_any_surface_returns() -> None:
    # A wall at 60 degrees from its normal reflects the sound of a cone away.
    slanted = {"map": {"walls": [[[1.0, -5.0], [9.0, 9.0]]]}}
    x, y, heading = 0.166, 0.027, math.radians(10)
    along, aside = (math.cos(heading), math.sin(heading)), (8.0, 14.0)
    cross = along[0] * aside[1] - along[1] * aside[0]
    true = ((1.0 - x) * aside[1] - (-5.0 - y) * aside[0]) / cross
    model = like_mobilesim(find_model("p3dx"))
    assert model.max_speed == 1.0
    sim = load(model, world=slanted)
    ranges = sim.robots["robot"].readings[model.sonar or ""].arrays["ranges"][0]
    assert ranges[3] == pytest.approx(true, abs=0.002)
