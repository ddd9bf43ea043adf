"""Zero-velocity updates: they correct a filter without wheels at rest, and only at rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import astray
from astray.robot.estimators import Ekf
from astray.robot.motion import Differential, Omni
from astray.robot.sensors import Imu, Wheels

IMU = {
    "kind": "imu",
    "rate": 100,
    "planar": True,
    "gyro_density": 2e-4,
    "gyro_bias_sd": 2e-3,
    "accel_density": 2e-3,
    "accel_bias_sd": 0.02,
}
GNSS = {"kind": "gnss", "rate": 5, "x": 0.3, "position_sd": 0.2, "drift_sd": 0.3, "drift_tau": 20}
STOP_AND_GO = [
    {"lasts": 4.0, "vx": 0.8, "wz": 0.3},
    {"lasts": 3.0},
    {"lasts": 3.0, "vx": 0.6, "wz": -0.2},
    {"lasts": 2.0},
]
BAND = (2.54, 3.50)  # 95 % of the average of 100 chi-squares of 3 degrees of freedom


def load(steps: list[Any], rests: bool, imu: Any = IMU, **gnss: Any) -> Any:
    robot = {
        "name": "rover",
        "start": {"spread": 0.3, "yaw_spread": 1.0},
        "motion": {"kind": "unicycle"},
        "sensors": [imu, {**GNSS, **gnss}],
        "estimator": {"kind": "ekf", "rests": rests},
        "autonomy": {"kind": "scripted", "loop": True, "steps": steps},
    }
    metrics = [{"kind": "nees"}, {"kind": "position_error"}]
    return astray.load({"dt": 0.01, "seed": 5, "robots": [robot], "metrics": metrics}, worlds=100)


def gyro_error(sim: Any) -> float:
    rover = sim.robots["rover"]
    index = int(rover.estimator.model["gyro"])
    believed = rover.estimator.arrays["filters"]["error"][:, 0, index]
    wrong = believed - rover.pipelines["imu"].sensor.memory["bias"][:, 2]
    return float(np.sqrt(np.mean(wrong**2)))


@pytest.mark.parametrize(
    ("imu", "gnss"),
    [
        ({}, {}),
        ({}, {"latency": 0.2}),
        ({}, {"mean_up": 10.0, "mean_down": 10.0}),
        ({"gyro_resolution": 1e-3, "accel_resolution": 2e-3}, {}),
    ],
    ids=["fixes", "late fixes", "outages", "rounded"],
)
def test_stop_and_go_makes_the_belief_more_precise_and_still_honest(imu: Any, gnss: Any) -> None:
    sim = load(STOP_AND_GO, True, {**IMU, **imu}, **gnss)
    nees, position = sim.robots["rover"].evaluators
    found = []
    for _ in range(10):
        sim.run(4.0)
        found.append(nees.values.mean())
    assert BAND[0] < np.mean(found) < BAND[1]
    assert np.sum((np.array(found) < BAND[0]) | (np.array(found) > BAND[1])) <= 3
    assert np.sqrt(np.mean(position.values**2)) < 0.15  # it is 0.4 m by fixes alone
    assert gyro_error(sim) < 2e-4


def test_by_default_there_are_no_zero_velocity_updates() -> None:
    sim = load(STOP_AND_GO, False)
    sim.run(40.0)
    assert gyro_error(sim) > 4e-4


@pytest.mark.parametrize(
    "step", [{"vx": 0.8}, {"vx": 0.8, "wz": 0.5}, {"wz": 0.5}], ids=["straight", "curve", "spin"]
)
def test_a_constant_speed_is_not_taken_for_rest(step: dict[str, float]) -> None:
    beliefs = []
    for rests in (True, False):
        sim = load([{"lasts": 1000.0, **step}], rests)
        sim.run(20.0)
        beliefs.append(sim.robots["rover"].belief.copy())
    for column in ("x", "y", "yaw", "cov"):
        assert beliefs[0][column] == pytest.approx(beliefs[1][column], abs=1e-9)


def test_robots_with_wheels_or_sideways_motion_make_no_zero_velocity_updates() -> None:
    imu = Imu(gyro_density=2e-4)
    for sensors, motion, expected in (
        ([imu], Differential(), True),
        ([imu, Wheels()], Differential(), False),
        ([imu], Omni(), False),
    ):
        bound, _ = Ekf(rests=True).alone(motion, *sensors)
        assert bool(bound.model["zero_velocity"]) is expected
