"""Odometry of every motion that has wheels: exact without noise, and honest with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import astray
from astray import ScenarioError, Sim
from astray.engine.robots import Robots
from astray.plugin import KINDS, Known, Motion, Reading
from astray.robot.estimators import Odometry
from astray.robot.motion import Ackermann, Omni
from astray.robot.sensors import Wheels
from astray.scenario.schema import BUILT_IN_PACKAGES
from astray.tables import WHEELS, Array

assert BUILT_IN_PACKAGES
WHEELED = ["ackermann", "differential", "omni"]
LAPS = {
    "differential": [{"lasts": 4.0, "vx": 0.5}, {"lasts": 2.0, "vx": 0.3, "wz": 0.8}] * 4,
    "ackermann": [{"lasts": 4.0, "vx": 0.6}, {"lasts": 2.0, "vx": 0.4, "wz": 0.6}] * 4,
    "omni": [
        {"lasts": 3.0, "vx": 0.3, "vy": 0.2},
        {"lasts": 2.0, "vy": 0.3, "wz": 0.6},
        {"lasts": 1.0, "vx": -0.3, "wz": -0.2},
    ]
    * 4,
}
NOISE = {"radius_sd": 0.001, "baseline_sd": 0.005, "slip_density": 0.0015}
"""So little that the heading of the narrow car stays within 0.1 rad: the covariance is linear."""
wheeled = pytest.mark.parametrize("kind", WHEELED)
speeds = st.floats(-0.9, 0.9)
commands = st.tuples(speeds, st.floats(-1.0, 1.0), speeds, st.booleans(), st.integers(1, 150))


def scenario(kind: str, autonomy: dict[str, Any], dt: float = 0.01, **wheels: Any) -> Any:
    robot = {
        "name": "rover",
        "start": {"yaw": 0.7},
        "motion": {"kind": kind},
        "sensors": [{"kind": "wheels", "ticks": 0, **wheels}],
        "estimator": {"kind": "odometry"},
        "autonomy": autonomy,
    }
    return {"dt": dt, "seed": 2, "robots": [robot]}


def lap(kind: str, worlds: int = 1, **wheels: Any) -> Sim:
    script = {"kind": "scripted", "steps": LAPS[kind]}
    return astray.load(scenario(kind, script, **wheels), worlds=worlds)


def error(group: Robots) -> Array:
    """Belief minus truth of (x, y, yaw), (n, 3)."""
    off = np.stack([group.belief[c] - group.truth[c] for c in ("x", "y", "yaw")], axis=1)
    off[:, 2] = (off[:, 2] + np.pi) % (2 * np.pi) - np.pi
    return off


def nees(group: Robots) -> float:
    off = error(group)
    return float(np.einsum("ni,nij,nj->n", off, np.linalg.inv(group.belief["cov"]), off).mean())


# Without noise.


def test_every_motion_with_wheels_is_tried() -> None:
    built_in = [c for c in KINDS["motion"].values() if c.__module__.startswith("astray.")]
    assert sorted(c.kind for c in built_in if getattr(c, "wheels", 0)) == WHEELED


@wheeled
def test_odometry_without_noise_is_the_truth_over_a_closed_course(kind: str) -> None:
    course = {"kind": "waypoints", "points": [[4, 0], [4, 3], [0, 3], [0, 0]], "loop": True}
    sim = astray.load(scenario(kind, {**course, "speed": 0.6, "lookahead": 0.8}))
    log = sim.run(60.0, log=0.1)["rover"]
    assert np.ptp(log.truth["x"]) > 3.5
    assert np.abs(np.diff(np.unwrap(log.truth["yaw"][:, 0]))).sum() > 2 * np.pi
    for column in ("x", "y", "yaw", "steer"):
        assert np.abs(log.truth[column] - log.belief[column]).max() < 1e-9
    assert np.abs(log.belief["cov"]).max() == 0.0


@wheeled
@settings(max_examples=20)
@given(course=st.lists(commands, min_size=5, max_size=25), dt=st.sampled_from([0.001, 0.01, 0.1]))
def test_odometry_without_noise_is_the_truth_whatever_is_commanded(
    kind: str, course: list[tuple[float, float, float, bool, int]], dt: float
) -> None:
    sim = astray.load(scenario(kind, {"kind": "remote"}, dt))
    rover = sim.robots["rover"]
    for vx, wz, vy, curve, ticks in course:
        if curve:
            rover.steer(vx, 2.0 * wz)
        else:
            rover.drive(vx, wz, vy)
        sim.step(ticks)
    assert np.abs(error(rover)).max() < 1e-9
    for column in ("wheel", "steer"):
        assert np.abs(rover.belief[column] - rover.truth[column]).max() < 1e-12


@wheeled
def test_a_slow_reader_of_a_steady_curve_is_exact_too(kind: str) -> None:
    steady = {"kind": "scripted", "steps": [{"lasts": 60.0, "vx": 0.4, "wz": 0.3}]}
    sim = astray.load(scenario(kind, steady, rate=5))
    sim.run(3.0)
    rover = sim.robots["rover"]
    for column in ("x", "y", "yaw"):
        rover.believe(**{column: float(rover.truth[column][0])})
    sim.run(20.0)
    assert np.abs(error(rover)).max() < 1e-7


@wheeled
def test_believed_velocities_are_those_of_the_last_interval(kind: str) -> None:
    sim = lap(kind)
    sim.run(3.5)
    rover = sim.robots["rover"]
    for column in ("vx", "vy", "wz", "ax", "ay", "alpha", "steer_rate"):
        assert float(rover.belief[column][0]) == pytest.approx(
            float(rover.truth[column][0]), abs=1e-9
        )


def test_odometry_of_a_car_runs_alone_on_a_log() -> None:
    odometry, belief = Odometry().alone(Ackermann(), Wheels(ticks=0))
    steer = float(np.arctan(0.405))  # a circle of radius 1 m
    drive_alone(odometry, belief, [0.0, 0.0, 1 - 0.1065, 1 + 0.1065], 0.0525, steer)
    assert float(belief["steer"][0]) == steer


def test_odometry_of_a_platform_runs_alone_on_a_log() -> None:
    odometry, belief = Odometry().alone(Omni(), Wheels(ticks=0))
    drive_alone(odometry, belief, [0.1, 1.9, 0.1, 1.9], 0.2, 0.0)


def drive_alone(
    odometry: Any, belief: Any, per_metre: list[float], radius: float, s: float
) -> None:
    """A quarter circle to the left of radius 1 m, from what each wheel rolls per metre."""
    wheels = Reading(WHEELS, 1, {})
    known = Known(belief, {"wheels": wheels})
    for k in range(101):
        wheels.stamp[:], wheels.fresh[:] = 0.1 * k, True
        wheels["angle"][0] = np.array(per_metre) * np.pi / 2 / radius * k / 100
        wheels["steer"][0] = s
        odometry.estimate(np.arange(1), known, belief)
    assert float(belief["x"][0]) == pytest.approx(1.0, abs=1e-9)
    assert float(belief["y"][0]) == pytest.approx(1.0, abs=1e-9)
    assert float(belief["yaw"][0]) == pytest.approx(np.pi / 2, abs=1e-9)
    assert float(belief["vx"][0]) == pytest.approx(np.pi / 20, abs=1e-9)


# With errors.


def with_baseline_error(kind: str, share: float, **command: float) -> Robots:
    sim = astray.load(scenario(kind, {"kind": "remote"}))
    rover = sim.robots["rover"]
    rover.pipelines["wheels"].sensor.memory["baseline_error"][:] = share
    rover.drive(**{"vx": 0.0, **command})
    sim.run(2.0)
    return rover


@wheeled
def test_an_error_of_the_baseline_is_an_error_of_the_turn(kind: str) -> None:
    rover = with_baseline_error(kind, 0.03, vx=0.3, wz=0.4)
    turned, believed = (float(s["yaw"][0]) - 0.7 for s in (rover.truth, rover.belief))
    assert believed == pytest.approx(1.03 * turned)
    assert float(rover.belief["vx"][0]) == pytest.approx(0.3)


@wheeled
def test_an_error_of_the_baseline_does_nothing_on_a_straight_line(kind: str) -> None:
    assert np.abs(error(with_baseline_error(kind, 0.03, vx=0.3))).max() < 1e-9


def test_an_error_of_the_baseline_does_nothing_to_a_platform_that_drives_sideways() -> None:
    assert np.abs(error(with_baseline_error("omni", 0.03, vx=0.1, vy=0.3))).max() < 1e-9


def test_an_error_of_the_track_shows_in_front_of_a_car_as_well() -> None:
    wide = with_baseline_error("ackermann", 0.01, vx=0.3, wz=0.3).readings["wheels"]["angle"][0]
    truly = astray.load(
        scenario("ackermann", {"kind": "remote"}), set=["robots.rover.motion.track=0.21513"]
    )
    truly.robots["rover"].drive(0.3, 0.3)
    truly.run(2.0)
    angle = truly.robots["rover"].truth["wheel"][0]
    assert wide[2:] == pytest.approx(angle[2:], rel=1e-12)
    assert wide[:2] == pytest.approx(angle[:2], rel=2e-4)  # to first order


@wheeled
@pytest.mark.parametrize("only", NOISE)
def test_each_error_alone_has_the_covariance_that_odometry_reports(kind: str, only: str) -> None:
    sim = lap(kind, 1000, rate=20, **{only: NOISE[only]})
    sim.run(9.0)
    rover = sim.robots["rover"]
    spread, claimed = np.cov(error(rover).T), rover.belief["cov"].mean(axis=0)
    # The variance of 1000 normals is known to 4.5 %; a direction without error has none to claim.
    scale = np.sqrt(np.outer(np.diag(claimed), np.diag(claimed)))
    assert (np.abs(spread - claimed) <= 0.2 * scale + 1e-12).all()


@wheeled
def test_the_covariance_of_odometry_is_that_of_its_error(kind: str) -> None:
    sim = lap(kind, 1000, rate=50, **NOISE)
    for seconds in (5.0, 10.0, 8.0):
        sim.run(seconds)
        # The mean of 1000 values of chi-square with 3 degrees: 3 within 4 standard errors.
        assert abs(nees(sim.robots["rover"]) - 3.0) < 4 * np.sqrt(6.0 / 1000)


@wheeled
def test_a_belief_that_was_set_from_outside_stays_honest(kind: str) -> None:
    sim = lap(kind, 1000, **NOISE)
    sim.run(8.0)
    rover = sim.robots["rover"]
    rover.believe(**{c: rover.truth[c] for c in ("x", "y", "yaw")})
    sim.run(5.0)
    assert abs(nees(rover) - 3.0) < 4 * np.sqrt(6.0 / 1000)


def test_a_motion_that_odometry_does_not_know_is_refused() -> None:
    class Crawler(Motion, kind="crawler"):
        """Has wheels of its own."""

        wheels = 2
        radius: float = 0.1  # m

        def move(self, rows: Any, truth: Any, drive: Any, dt: float, steps: int) -> None:
            """Stay."""

    message = "has no wheel kinematics for motion 'crawler' .ackermann, differential, omni."
    with pytest.raises(ScenarioError, match=message):
        astray.load(scenario("crawler", {"kind": "idle"}))
