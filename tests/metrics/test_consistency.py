"""Consistency of the Kalman filter: chi-square bands over 100 runs, left by a wrong model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import astray
from astray.tables import Array

WORLDS, MOMENTS, EVERY = 100, 12, 4.0
BAND = (2.54, 3.50)  # 95 % of the average of 100 chi-squares of 3 degrees of freedom
WHEELS = {
    "kind": "wheels",
    "rate": 50,
    "radius_sd": 0.005,
    "baseline_sd": 0.01,
    "slip_density": 0.01,
}
IMU = {
    "kind": "imu",
    "rate": 100,
    "planar": True,
    "gyro_density": 2e-4,
    "gyro_bias_sd": 2e-3,
    "gyro_walk": 1e-5,
    "accel_density": 2e-3,
    "accel_bias_sd": 0.02,
    "accel_walk": 1e-4,
}
GNSS = {
    "kind": "gnss",
    "rate": 5,
    "x": 0.3,
    "y": 0.1,
    "position_sd": 0.2,
    "drift_sd": 0.3,
    "drift_tau": 20.0,
}
COMPASS = {"kind": "compass", "rate": 10, "white_sd": 0.03}
BEACONS = {
    "kind": "landmarks",
    "rate": 5,
    "x": 0.1,
    "beacons": [[0, 0], [6, 0], [6, 4], [0, 5], [-3, 2]],
    "max_range": 30,
    "range_sd": 0.05,
    "range_sd_per_m": 0.02,
    "bearing_sd": 0.03,
}
DRIFTING = {
    "gyro_drift_sd": 1e-3,
    "gyro_drift_tau": 30.0,
    "accel_drift_sd": 0.01,
    "accel_drift_tau": 20.0,
}


SQUARE = {
    "kind": "waypoints",
    "points": [[4, 0], [4, 3], [0, 3], [0, 0]],
    "loop": True,
    "speed": 0.8,
}


def load(
    sensors: list[Any],
    motion: str = "differential",
    metrics: Any = ("nees",),
    worlds: int = WORLDS,
    dt: float = 0.01,
    autonomy: Any = SQUARE,
) -> Any:
    robot = {
        "name": "rover",
        "start": {"spread": 0.3, "yaw_spread": 1.0},
        "motion": {"kind": motion},
        "sensors": sensors,
        "estimator": {"kind": "ekf"},
        "autonomy": autonomy,
    }
    kinds = [{"kind": kind} for kind in metrics]
    scenario = {"dt": dt, "seed": 5, "robots": [robot], "metrics": kinds}
    return astray.load(scenario, worlds=worlds)


def values(sim: Any, kind: str) -> Array:
    evaluators = {e.metric.kind: e for e in sim.robots["rover"].evaluators}
    found: Array = evaluators[kind].values.copy()
    return found


def anees(sim: Any, moments: int = MOMENTS) -> Array:
    """NEES averaged over the runs, at moments that are seconds apart."""
    found = []
    for _ in range(moments):
        sim.run(EVERY)
        found.append(values(sim, "nees").mean())
    return np.array(found)


def assert_consistent(found: Array) -> None:
    """On average over time in the band, and outside of it no more often than chance allows."""
    assert BAND[0] < found.mean() < BAND[1]
    outside = (found < BAND[0]) | (found > BAND[1])
    assert outside.sum() <= 3  # of 12 at 5 % each more are outside in 2 of 1000 cases


MATCHED: dict[str, tuple[list[Any], str]] = {
    "wheels, gnss": ([WHEELS, GNSS], "differential"),
    "imu, wheels, gnss": ([IMU, WHEELS, GNSS], "differential"),
    "imu, gnss with Doppler": ([IMU, {**GNSS, "velocity_sd": 0.05}], "unicycle"),
    "wheels, beacons": ([WHEELS, BEACONS], "differential"),
    "wheels, beacons without names": ([WHEELS, {**BEACONS, "identified": False}], "differential"),
    "wheels, compass, gnss": ([WHEELS, COMPASS, GNSS], "differential"),
    "a compass that is turned": ([WHEELS, {**COMPASS, "bias_sd": 0.1}, GNSS], "differential"),
    "a mounted imu that drifts": (
        [{**IMU, **DRIFTING, "x": 0.2, "y": -0.1, "yaw": 0.3}, WHEELS, GNSS],
        "differential",
    ),
    "a car": ([IMU, WHEELS, GNSS], "ackermann"),
    "mecanum wheels": ([WHEELS, GNSS], "omni"),
    "outages": ([WHEELS, {**GNSS, "mean_up": 10.0, "mean_down": 10.0}], "differential"),
    "latency": ([IMU, WHEELS, {**GNSS, "latency": 0.2}], "differential"),
    "outliers": ([WHEELS, {**GNSS, "outlier": 0.01}], "differential"),
    "all of it": (
        [
            IMU,
            WHEELS,
            {**GNSS, "mean_up": 10.0, "mean_down": 5.0, "latency": 0.2, "outlier": 0.01},
        ],
        "differential",
    ),
    "two receivers, one of them late": (
        [WHEELS, {**GNSS, "name": "front", "x": 0.5}, {**GNSS, "name": "back", "latency": 0.2}],
        "differential",
    ),
    "two receivers and two compasses": (
        [
            IMU,
            WHEELS,
            {**GNSS, "name": "front", "x": 0.5},
            {**GNSS, "name": "back", "x": -0.5},
            {**COMPASS, "bias_sd": 0.05},
            {**COMPASS, "name": "other", "bias_sd": 0.05},
        ],
        "differential",
    ),
    "two sensors of beacons, one of them late": (
        [
            WHEELS,
            {**BEACONS, "name": "front", "x": 0.4, "field_of_view": 3.0, "latency": 0.2},
            {**BEACONS, "name": "back", "x": -0.4, "yaw": 3.14, "beacons": [[-2, -2], [8, 5]]},
        ],
        "differential",
    ),
    "two sensors of the same beacons without names": (
        [
            IMU,
            WHEELS,
            {**BEACONS, "name": "front", "x": 0.4, "identified": False},
            {**BEACONS, "name": "back", "x": -0.4, "identified": False, "rate": 2},
        ],
        "differential",
    ),
    "beacons late and confused": (
        [WHEELS, {**BEACONS, "latency": 0.2, "confusion": 0.01}],
        "differential",
    ),
}


@pytest.mark.parametrize("case", MATCHED)
def test_with_matched_models_anees_is_inside_the_band(case: str) -> None:
    sensors, motion = MATCHED[case]
    assert_consistent(anees(load(sensors, motion)))


def test_a_second_receiver_reduces_the_error() -> None:
    front, back = {**GNSS, "name": "front", "x": 0.5}, {**GNSS, "name": "back", "x": -0.5}
    errors = []
    for sensors in ([WHEELS, front], [WHEELS, front, back]):
        sim = load(sensors, metrics=("position_error",))
        sim.run(40.0)
        errors.append(float(np.sqrt(np.mean(values(sim, "position_error") ** 2))))
    assert errors[1] < 0.9 * errors[0]


def test_a_second_landmark_sensor_reduces_the_error() -> None:
    near, far = [[0, 0], [6, 0]], [[6, 4], [0, 5], [-3, 2]]
    front = {**BEACONS, "name": "front", "beacons": near}
    back = {**BEACONS, "name": "back", "x": -0.4, "yaw": 3.0, "beacons": far}
    errors = []
    for sensors in ([WHEELS, front], [WHEELS, front, back]):
        sim = load(sensors, metrics=("position_error",))
        sim.run(40.0)
        errors.append(float(np.sqrt(np.mean(values(sim, "position_error") ** 2))))
    assert errors[1] < 0.9 * errors[0]


@pytest.mark.parametrize("motion", ["unicycle", "ackermann"])
def test_an_imu_with_fixes_alone_is_consistent_from_the_first_second_on(motion: str) -> None:
    """The second-order error of speed and heading together shows while both are uncertain."""
    sim = load([IMU, GNSS], motion, worlds=4 * WORLDS)  # to tell the filter from the luck of a few
    found = []
    for _ in range(8):
        sim.run(1.0)
        found.append(values(sim, "nees").mean())
    assert BAND[0] < min(found)
    assert max(found) < BAND[1]


@pytest.mark.parametrize("scenario", ["fusion", "ins"])
def test_every_robot_of_the_bundled_scenarios_is_consistent(scenario: str) -> None:
    sim = astray.load(scenario, worlds=WORLDS)
    found: dict[str, list[float]] = {name: [] for name in sim.robots}
    for _ in range(10):
        sim.run(10.0)
        for name, robot in sim.robots.items():
            evaluator = next(e for e in robot.evaluators if e.metric.kind == "nees")
            found[name].append(float(evaluator.values.mean()))
    for name in found:
        assert BAND[0] < np.mean(found[name]) < BAND[1], name


@pytest.mark.parametrize(
    ("sensors", "side"),
    [
        ([WHEELS, {**GNSS, "drift_sd": 0.0, "claim": 0.5}], 1),  # fixes claim to be better
        ([WHEELS, {**GNSS, "drift_sd": 0.0, "claim": 2.0}], -1),  # or worse than they are
        (
            [{**WHEELS, "slip": 0.05, "radius_sd": 0.0}, BEACONS],
            1,
        ),  # slip that is not in the datasheet
    ],
    ids=["sure", "modest", "slipping"],
)
def test_with_a_wrong_model_anees_leaves_the_band(sensors: list[Any], side: int) -> None:
    found = anees(load(sensors), 6)[2:].mean()
    assert found > 1.5 * BAND[1] if side > 0 else found < BAND[0]


KIDNAPPED_TO = {"x": 10.0, "y": -5.0, "yaw": 2.0}
HARD = {**GNSS, "mean_up": 10.0, "mean_down": 5.0, "latency": 0.2, "outlier": 0.01}


@pytest.mark.parametrize(
    ("sensors", "motion"),
    [
        ([WHEELS, GNSS], "differential"),
        ([WHEELS, COMPASS, GNSS], "differential"),
        ([WHEELS, BEACONS], "differential"),
        ([WHEELS, BEACONS, {**BEACONS, "name": "back", "x": -0.4, "yaw": 3.0}], "differential"),
        ([IMU, WHEELS, GNSS], "differential"),
        ([IMU, WHEELS, COMPASS, GNSS], "differential"),
        ([IMU, WHEELS, {**COMPASS, "bias_sd": 0.05}, GNSS], "differential"),
        ([IMU, WHEELS, BEACONS], "differential"),
        ([IMU, GNSS, BEACONS], "differential"),
        ([IMU, GNSS], "unicycle"),
        ([IMU, {**GNSS, "velocity_sd": 0.05}], "unicycle"),
    ],
    ids=lambda case: ", ".join(s["kind"] for s in case) if isinstance(case, list) else case,
)
def test_a_kidnapped_filter_recovers_and_is_consistent(sensors: list[Any], motion: str) -> None:
    sim = load(sensors, motion, metrics=("nees", "position_error"))
    sim.run(10.0)
    sim.robots["rover"].place(**KIDNAPPED_TO)
    sim.run(2.0)
    assert values(sim, "position_error").min() > 5.0  # it has not noticed yet
    sim.run(6.0)
    found = anees(sim)
    assert values(sim, "position_error").max() < 1.0
    assert_consistent(found)


@pytest.mark.parametrize(
    "sensors",
    [[WHEELS, HARD], [IMU, WHEELS, HARD], [IMU, WHEELS, COMPASS, HARD]],
    ids=["wheels", "imu", "compass"],
)
def test_a_kidnapped_filter_recovers_by_fixes_with_outages_latency_and_outliers(
    sensors: list[Any],
) -> None:
    sim = load(sensors)
    sim.run(20.0)
    sim.robots["rover"].place(**KIDNAPPED_TO)
    sim.run(28.0)  # outages of half a minute are one in 400
    assert_consistent(anees(sim))


def test_a_filter_that_was_only_shifted_recovers_with_doppler_velocity() -> None:
    """Velocities that fit must not keep positions rejected."""
    sim = load([IMU, {**GNSS, "velocity_sd": 0.05}], "unicycle", ("nees", "position_error"))
    sim.run(10.0)
    sim.robots["rover"].place(x=10.0, y=-5.0)
    sim.run(8.0)
    assert values(sim, "position_error").max() < 1.5


def test_the_robots_of_fusion_are_consistent_after_a_kidnapping() -> None:
    sim = astray.load("fusion", worlds=WORLDS)
    sim.run(20.0)
    for name in ("equipped", "plain"):
        sim.robots[name].place(**KIDNAPPED_TO)
    guided = sim.robots["guided"]
    for world, s in enumerate(guided.truth.copy()):
        guided.place(worlds=[world], x=s["x"] + 1.2, y=s["y"] - 0.8, yaw=s["yaw"] + 0.6)
    sim.run(12.0)
    late = 5  # moments: there are outages
    found = first_nees(sim, ("guided", "equipped", "plain"), MOMENTS + late)
    assert_consistent(found["guided"][:MOMENTS])  # by beacons without names, from a metre away
    for name in ("equipped", "plain"):
        assert_consistent(found[name][late:])


def test_a_robot_with_an_ins_is_consistent_after_a_kidnapping() -> None:
    sim = astray.load("ins", worlds=WORLDS)
    sim.run(20.0)
    sim.robots["fused"].place(**KIDNAPPED_TO)
    sim.run(32.0)
    assert_consistent(first_nees(sim, ("fused",), MOMENTS)["fused"])


def first_nees(sim: Any, names: tuple[str, ...], moments: int) -> dict[str, Array]:
    """NEES of the beliefs of some groups, and not of their rivals, averaged over the runs."""
    evaluators = {
        name: next(e for e in sim.robots[name].evaluators if e.metric.kind == "nees")
        for name in names
    }
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(moments):
        sim.run(EVERY)
        for name, evaluator in evaluators.items():
            found[name].append(float(evaluator.values.mean()))
    return {name: np.array(values) for name, values in found.items()}


def test_innovations_are_as_large_as_the_filter_expects() -> None:
    sim = load([WHEELS, BEACONS], metrics=("nis",))
    sim.run(30.0)
    statistics = sim.robots["rover"].evaluators[0].statistics
    mean = statistics["total"].sum() / statistics["count"].sum()
    # 100 runs of 151 readings of ten numbers; the gate cuts off the largest thousandth.
    assert mean == pytest.approx(1.0, abs=0.02)
    wrong = load([WHEELS, {**BEACONS, "x": -0.3}], metrics=("nis",))
    wrong.robots["rover"].set("landmarks.x", 0.1)
    wrong.run(30.0)
    statistics = wrong.robots["rover"].evaluators[0].statistics
    assert statistics["total"].sum() / statistics["count"].sum() > 1.05


def test_a_consistent_filter_is_seldom_outside_of_three_sigmas() -> None:
    sim = load([WHEELS, COMPASS, GNSS], metrics=("time_outside",))
    sim.run(40.0)
    assert 0.001 < values(sim, "time_outside").mean() < 0.02  # 0.8 % for three numbers
    wrong = load([WHEELS, {**GNSS, "drift_sd": 0.0, "claim": 0.3}], metrics=("time_outside",))
    wrong.run(40.0)
    assert values(wrong, "time_outside").mean() > 0.2


# Slow sensors.

RATES = [
    (imu, wheels, dt)
    for dt in (0.1, 0.01, 0.002)
    for imu in (5, 10, 20, 100)
    for wheels in (5, 50)
    if max(imu, wheels) * dt <= 1.0 and (dt > 0.005 or (imu, wheels) in ((5, 50), (20, 5)))
]


@pytest.mark.parametrize(("imu", "wheels", "dt"), RATES)
def test_the_filter_is_consistent_whatever_the_rates(imu: int, wheels: int, dt: float) -> None:
    """What a slow IMU does not tell is in the covariance; faster wheels propagate the filter."""
    sensors = [{**IMU, "rate": imu}, {**WHEELS, "rate": wheels}, GNSS]
    assert_consistent(anees(load(sensors, dt=dt)))


@pytest.mark.parametrize("offset", [0.0, 0.07])
def test_measurements_between_readings_of_a_slow_imu_are_consistent(offset: float) -> None:
    imu = {**IMU, "rate": 5}
    assert_consistent(anees(load([imu, {**GNSS, "rate": 10}, {**COMPASS, "rate": 20}])))
    assert_consistent(anees(load([imu, {**WHEELS, "rate": 5, "offset": offset}])))


STOP_AND_GO = {
    "kind": "scripted",
    "loop": True,
    "steps": [{"lasts": 6.3, "vx": 0.8, "wz": 0.2}, {"lasts": 3.1}],
}


@pytest.mark.parametrize("ticks", [2048, 0])
@pytest.mark.parametrize("gnss", [[], [GNSS]], ids=["imu, wheels", "imu, wheels, gnss"])
def test_the_filter_is_consistent_after_rests(gnss: list[Any], ticks: int) -> None:
    """At rest counts do not change: that is a speed of zero, and not a tick of noise each time."""
    sensors = [IMU, {**WHEELS, "ticks": ticks}, *gnss]
    sim = load(sensors, worlds=1500, autonomy=STOP_AND_GO, metrics=("nees", "position_error"))
    found = anees(sim)
    assert 2.75 < found.mean() < 3.25  # four standard deviations of one moment
    assert np.sqrt(np.mean(values(sim, "position_error") ** 2)) < 0.06  # 0.15 m by ticks of noise


@pytest.mark.parametrize("imu", [5, 10, 20])
def test_slow_sensors_are_consistent_when_stopping_and_going(imu: int) -> None:
    sensors = [{**IMU, "rate": imu}, {**WHEELS, "rate": 5}]
    found = anees(load(sensors, worlds=400, autonomy=STOP_AND_GO))
    assert 2.66 < found.mean() < 3.34  # 95 % of the average of 400
    assert 2.4 < found.min() <= found.max() < 3.6


def test_a_gyro_beside_wheels_that_lead_is_used() -> None:
    """With it the heading is as good as the gyro's, without it as the wheels'."""
    imu = {**IMU, "rate": 25, "gyro_bias_sd": 0.0}
    errors = []
    for sensors in ([WHEELS], [imu, WHEELS]):
        sim = load(sensors, metrics=("nees", "heading_error"))
        sim.run(12.0)
        errors.append(np.sqrt(np.mean(values(sim, "heading_error") ** 2)))
    assert errors[1] < 0.2 * errors[0]


def test_a_consumer_imu_beside_slipping_wheels_does_not_diverge() -> None:
    """Large biases at the start, slip of the size of a tick, and no measurement of the pose."""
    imu = {"kind": "imu", "rate": 100, "grade": "consumer"}
    sim = load([imu, {**WHEELS, "slip_density": 0.02}], worlds=200)
    sim.run(60.0)
    truth, filters = sim.truth, sim.robots["rover"].estimator.arrays["filters"][:, 0]
    speed_error = filters["vx"] - truth["vx"]
    assert 0.85 < np.sqrt(np.mean(speed_error**2 / filters["cov"][:, 3, 3])) < 1.15
    turn = np.angle(np.exp(1j * (filters["yaw"] - truth["yaw"])))
    assert np.sqrt(np.mean(turn**2 / filters["cov"][:, 2, 2])) < 1.5  # of 0.6 rad: not linear
    assert (filters["rejected"].sum(axis=1) > 0).mean() < 0.02
