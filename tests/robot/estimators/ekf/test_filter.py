"""The error-state Kalman filter: update, Jacobians, delayed measurements, estimated errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import astray
from astray.errors import ScenarioError
from astray.robot.estimators import Ekf, Odometry
from astray.robot.estimators.ekf.filter import nis_gates
from astray.robot.estimators.ekf.measurements import MEASUREMENT
from astray.robot.estimators.ekf.propagation import propagate_by_imu
from astray.robot.estimators.ekf.state_layout import FILTER, MAX_STATES, MODEL, make_model
from astray.robot.estimators.ekf.update import compute_nis, kalman_update
from astray.robot.estimators.ekf.wheel_propagation import propagate_by_wheels
from astray.robot.motion import Differential, Omni
from astray.robot.sensors import Gnss, Imu, Wheels
from astray.tables import Array
from support.paths import DATA

CURVE = {"kind": "scripted", "steps": [{"lasts": 3.0, "vx": 0.6, "wz": 0.5}, {"lasts": 2.0}]}


def load(sensors: list[Any], worlds: int = 1, motion: str = "differential", **ekf: Any) -> Any:
    robot = {
        "name": "rover",
        "motion": {"kind": motion},
        "sensors": sensors,
        "estimator": {"kind": "ekf", **ekf},
        "autonomy": {**CURVE, "loop": True},
    }
    return astray.load({"dt": 0.01, "seed": 9, "robots": [robot]}, worlds=worlds)


def filter_of(states: int, moving: int = 3) -> tuple[Any, Any]:
    state, model = np.zeros(1, FILTER), np.zeros(1, MODEL)
    model["states"], model["moving"], model["corrected"] = states, moving, states
    model["tau"] = np.inf
    return state[0], model[0]


# Update.


@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_an_update_is_that_of_the_textbook(m: int, seed: int) -> None:
    rng, n = np.random.default_rng(seed), 7
    state, model = filter_of(n)
    root = rng.normal(size=(n, n))
    p, h = root @ root.T + 0.1 * np.eye(n), rng.normal(size=(m, n))
    r = np.diag(rng.uniform(0.1, 1.0, m)) + (0.05 if m == 2 else 0.0)
    nu = rng.normal(size=m)
    state["cov"][:n, :n], model["jacobian"][:m, :n] = p, h
    model["noise"][:m, :m], model["innovation"][:m] = r, nu
    s = h @ p @ h.T + r
    assert compute_nis(state, model, m) == pytest.approx(float(nu @ np.linalg.solve(s, nu)))
    kalman_update(state, model, m)
    k = p @ h.T @ np.linalg.inv(s)
    reduced = np.eye(n) - k @ h
    assert state["cov"][:n, :n] == pytest.approx(reduced @ p @ reduced.T + k @ r @ k.T)
    correction = np.array([state["x"], state["y"], state["yaw"], *state["error"][3:n]])
    expected = k @ nu
    expected[2] = np.angle(np.exp(1j * expected[2]))
    assert correction == pytest.approx(expected)


def test_the_gate_accepts_the_share_that_is_asked_for() -> None:
    zero, one, two = nis_gates(0.999)
    assert (zero, one, two) == pytest.approx((0.0, 10.828, 13.816), abs=1e-3)


# Jacobians, against differences.

SHEETS = {
    "imu": Imu(
        gyro_bias_sd=0.1, gyro_scale_sd=0.1, accel_bias_sd=0.1, gyro_density=0.1
    ).datasheet(),
    "wheels": Wheels(radius_sd=0.1, baseline_sd=0.1, slip_density=0.1).datasheet(),
    "fix": Gnss().datasheet(),
}
MOVING = ("x", "y", "yaw", "vx", "vy", "dx", "dy", "dyaw")


def vector(state: Any, model: Any) -> Array:
    moving = [float(state[name]) for name in MOVING[: int(model["moving"])]]
    return np.array([*moving, *state["error"][int(model["moving"]) : int(model["states"])]])


def disturb(state: Any, model: Any, i: int, by: float) -> None:
    if i < model["moving"]:
        state[MOVING[i]] += by
    else:
        state["error"][i] += by


def numerical_jacobian(step: Any, start: Any, model: Any) -> Array:
    columns = []
    for i in range(int(model["states"])):
        ends = []
        for by in (1e-6, -1e-6):
            state = np.array([start])[0:1].copy()
            disturb(state[0], model, i, by)
            step(state[0], model)
            ends.append(vector(state[0], model))
        columns.append((ends[0] - ends[1]) / 2e-6)
    return np.array(columns).T[: int(model["moving"])]


@pytest.mark.parametrize("motion", [Differential(), Omni()], ids=["differential", "omni"])
@pytest.mark.parametrize("by", ["imu", "wheels"])
def test_jacobians_are_those_of_the_propagation(motion: Any, by: str) -> None:
    sheets = {k: v for k, v in SHEETS.items() if by == "imu" or k != "imu"}
    model = np.zeros(1, MODEL)
    model[0] = make_model(motion.datasheet(), sheets)
    model["tau"] = np.inf  # the decay of errors is not in F
    state = np.zeros(1, FILTER)
    state["x"], state["y"], state["yaw"], state["vx"] = 1.0, 2.0, 0.7, 0.8
    state["vy"] = 0.3 if model["sideways"][0] else 0.0

    def step(row: Any, model_row: Any) -> None:
        if by == "imu":
            propagate_by_imu(row, model_row, (0.6, 0.4, -0.3), 0.01)
        else:
            model_row["next_angle"] = np.array([0.1, 0.14, 0.08, 0.12])
            propagate_by_wheels(row, model_row, 0.0, 0.01)

    found = numerical_jacobian(step, state[0], model[0])
    if not model["sideways"][0] and by == "imu":
        found[4], found[:, 4], found[6] = np.eye(8, len(found.T))[4], 0.0, 0.0
        found[4, 4], found[6, 6] = 1.0, 1.0  # a speed sideways that it cannot have
    step(state[0], model[0])
    claimed = model["transition"][0][: len(found), : found.shape[1]].copy()
    # To first order of a step: what is left out is of the order of its square.
    assert claimed == pytest.approx(found, abs=2e-4)


# Delayed measurements.

LATE = {"kind": "gnss", "rate": 2, "position_sd": 0.1, "drift_sd": 0.0, "x": 0.3}
ENCODERS = {"kind": "wheels", "rate": 50, "slip_density": 0.02, "radius_sd": 0.01}
INERTIAL = {"kind": "imu", "rate": 100, "gyro_density": 1e-3, "accel_density": 1e-2, "planar": True}


@pytest.mark.parametrize("sensors", [[ENCODERS], [INERTIAL, ENCODERS]], ids=["wheels", "imu"])
def test_late_fixes_count_as_if_they_had_come_in_time(sensors: list[Any]) -> None:
    prompt, late = (load([*sensors, {**LATE, "latency": lag}]) for lag in (0.0, 0.2))
    for sim in (prompt, late):
        sim.run(6.3)  # the last fix is of 6.0 s and has arrived
    a, b = (sim.robots["rover"].belief[0] for sim in (prompt, late))
    for column in ("stamp", "x", "y", "yaw", "vx"):
        assert float(a[column]) == pytest.approx(float(b[column]), abs=1e-9)
    assert a["cov"] == pytest.approx(b["cov"], abs=1e-12)
    queue = late.robots["rover"].estimator.arrays["ring"]
    assert queue.dtype == MEASUREMENT
    assert prompt.robots["rover"].estimator.arrays["ring"].shape[1] == 0 < queue.shape[1]


def test_without_a_history_late_fixes_mislead() -> None:
    blind = load([ENCODERS, {**LATE, "latency": 0.2}], history=0.0)
    prompt = load([ENCODERS, LATE])
    for sim in (blind, prompt):
        sim.run(6.3)
    a, b = (sim.robots["rover"].belief["x"][0] for sim in (blind, prompt))
    assert abs(a - b) > 1e-3


# Estimated errors.


def test_without_noise_the_belief_is_the_truth() -> None:
    for sensors in ([{"kind": "wheels", "ticks": 0}], [{"kind": "imu", "rate": 100}]):
        for motion in ("differential", "omni") if sensors[0]["kind"] == "wheels" else ("unicycle",):
            sim = load(sensors, motion=motion)
            sim.run(10.0)
            belief, truth = sim.robots["rover"].belief[0], sim.truth[0]
            for column in ("x", "y", "yaw"):
                assert float(belief[column]) == pytest.approx(float(truth[column]), abs=1e-6)


def test_without_corrections_it_reckons_as_odometry_does() -> None:
    wheels = {**ENCODERS, "baseline_sd": 0.01}
    sim = load([wheels])
    rival = astray.load(
        {
            "dt": 0.01,
            "seed": 9,
            "robots": [
                {
                    "name": "rover",
                    "sensors": [wheels],
                    "estimator": {"kind": "odometry"},
                    "autonomy": {**CURVE, "loop": True},
                }
            ],
        }
    )
    for each in (sim, rival):
        each.run(8.0)
    a, b = sim.robots["rover"].belief[0], rival.robots["rover"].belief[0]
    assert float(a["x"]) == pytest.approx(float(b["x"]), abs=1e-12)
    assert a["cov"] == pytest.approx(b["cov"], rel=1e-9)
    assert Odometry.kind == "odometry"


@pytest.mark.parametrize("ticks", [2048, 0])
def test_it_learns_the_errors_of_its_sensors(ticks: int) -> None:
    beacons = {"kind": "landmarks", "rate": 10, "beacons": [[3, 0], [0, 3], [-3, -1]]}
    precise = {"range_sd": 0.005, "bearing_sd": 0.002}
    imu_sensor = {**INERTIAL, "gyro_bias_sd": 0.05, "accel_bias_sd": 0.1}
    wheel_errors = {"radius_sd": 0.03, "baseline_sd": 0.05, "slip_density": 0.002, "ticks": ticks}
    wheel_sensor = {**ENCODERS, **wheel_errors}
    sim = load([imu_sensor, wheel_sensor, {**beacons, **precise}], worlds=50)
    sim.run(60.0)
    rover = sim.robots["rover"]
    model, filters = rover.estimator.model, rover.estimator.arrays["filters"][:, 0]
    imu, wheels = (rover.pipelines[name].sensor.memory for name in ("imu", "wheels"))
    for index, true, sd in (
        (int(model["gyro"]), imu["bias"][:, 2], 0.05),
        (int(model["accel"]), imu["bias"][:, 3], 0.1),
        (int(model["wheel"][0]), wheels["radius_error"][:, 0], 0.03),
        (int(model["arm_error"]), wheels["baseline_error"], 0.05),
    ):
        wrong = filters["error"][:, index] - true
        claimed = np.sqrt(filters["cov"][:, index, index])
        assert wrong.std() < 0.3 * sd
        assert 0.7 < np.sqrt(np.mean((wrong / claimed) ** 2)) < 1.4


def test_covariances_stay_symmetric_and_positive() -> None:
    sim = load([INERTIAL, ENCODERS, {**LATE, "rate": 10, "position_sd": 1e-3}], worlds=5)
    sim.run(30.0)
    rover = sim.robots["rover"]
    n = int(rover.estimator.model["states"])
    assert 3 < n <= MAX_STATES
    for cov in rover.estimator.arrays["filters"]["cov"][:, 0, :n, :n]:
        assert np.array_equal(cov, cov.T)
        scale = np.sqrt(np.maximum(cov.diagonal(), 1e-300))
        assert np.linalg.eigvalsh(cov / np.outer(scale, scale)).min() > -1e-9


# Settings, and what is refused.


def test_a_fix_that_claims_nothing_is_believed_as_the_parameter_says() -> None:
    loose, tight = (load([ENCODERS, {**LATE, "claim": 1e-200}], fix_sd=sd) for sd in (10.0, 0.1))
    for sim in (loose, tight):
        sim.run(20.0)
    cov = [sim.robots["rover"].belief["cov"][0, 0, 0] for sim in (loose, tight)]
    assert cov[0] > 5.0 * cov[1]


def test_a_belief_that_is_set_from_outside_is_where_it_goes_on() -> None:
    sim = load([ENCODERS, {**LATE, "latency": 0.2, "rate": 1}])
    sim.run(2.5)
    sim.robots["rover"].believe(x=50.0, y=-20.0, yaw=1.0)
    sim.run(0.1)
    belief = sim.robots["rover"].belief[0]
    assert np.hypot(belief["x"] - 50.0, belief["y"] + 20.0) < 0.2


@pytest.mark.parametrize(
    ("sensors", "ekf", "message"),
    [
        ([], {}, "needs an imu or wheels"),
        ([{"kind": "wheels"}], {"by": "imu"}, "cannot propagate by imu"),
    ],
)
def test_a_robot_without_imu_and_wheels_is_refused(sensors: Any, ekf: Any, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        load(sensors, **ekf)


@pytest.mark.parametrize(
    "sensor", [{"kind": "gnss"}, {"kind": "compass"}, {"kind": "landmarks", "beacons": [[2, 0]]}]
)
def test_sensors_that_it_would_leave_out_are_refused(sensor: dict[str, Any]) -> None:
    alike = [{**sensor, "name": f"s{k}"} for k in range(4)]
    load([{"kind": "wheels"}, *alike[:3]])
    with pytest.raises(ScenarioError, match=r"estimator: ekf takes 3 .*: s0, s1, s2, s3"):
        load([{"kind": "wheels"}, *alike])


def test_it_runs_alone() -> None:
    filter, belief = Ekf().alone(Differential(), Wheels(ticks=0))
    readings = {"wheels": astray.Reading(astray.tables.WHEELS, 1)}
    known = astray.Known(belief, readings)
    for k in range(11):
        readings["wheels"].table["fresh"] = True
        readings["wheels"].table["stamp"] = 0.1 * k
        readings["wheels"].table["angle"][0, :2] = 1.0 * k
        filter.estimate(np.arange(1), known, belief)
    assert float(belief["x"][0]) == pytest.approx(10 * 0.1)
    assert float(belief["vx"][0]) == pytest.approx(1.0)


# Real robots.


@pytest.mark.skipif(not (DATA / "mrclam7").is_dir(), reason="no MRCLAM data at ../shared/data")
def test_three_real_robots_are_located_among_landmarks_with_one_setting() -> None:
    from astray.datasets import read_logs, run_on_log, score

    found = [score(run_on_log(log, Ekf())) for log in read_logs(DATA / "mrclam7")]
    assert len(found) == 3
    assert np.mean([s.position_rmse for s in found]) < 0.13  # the goal is 0.17 m
    assert np.mean([s.nees for s in found]) < 6.0  # the goal is 9


@pytest.mark.skipif(not (DATA / "victoria").is_dir(), reason="no Victoria data at ../shared/data")
def test_a_real_truck_bridges_half_a_minute_without_gps() -> None:
    from astray.datasets import read_logs, run_on_log, score, withhold

    log = read_logs(DATA / "victoria")[0]
    assert score(run_on_log(log, Odometry())).position_rmse == pytest.approx(148.0, abs=3.0)
    outages = withhold(log, Ekf(), 30.0)
    assert len(outages.errors) >= 30
    assert outages.median < 3.4
