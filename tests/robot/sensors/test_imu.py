"""An IMU measures the motion of its mount."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import astray

FINE = 1e-4  # s


def drive(steps: list[dict[str, float]], imu: dict[str, Any], **motion: Any) -> dict[str, Any]:
    return {
        "dt": FINE,
        "robots": [
            {
                "name": "rover",
                "motion": {"kind": "differential", **motion},
                "sensors": [{"kind": "imu", **imu}],
                "autonomy": {"kind": "scripted", "steps": steps},
            }
        ],
    }


def measured_acceleration(truth: Any, x: float, y: float) -> np.ndarray[Any, Any]:
    """Finite differences of the velocity of a point of the body, at the middle heading."""
    yaw, wz = np.unwrap(truth["yaw"]), truth["wz"]
    along, across = truth["vx"] - wz * y, truth["vy"] + wz * x
    velocity = np.exp(1j * yaw) * (along + 1j * across)
    elapsed = np.diff(truth["stamp"])
    return np.diff(velocity) / elapsed * np.exp(-1j * (yaw[1:] + yaw[:-1]) / 2)


speeds = st.floats(-1.0, 1.0)
manoeuvres = st.lists(st.tuples(speeds, speeds), min_size=1, max_size=4)


@pytest.mark.parametrize("kind", ["differential", "ackermann", "omni", "unicycle", "integrator"])
@settings(max_examples=6)
@given(manoeuvres, st.floats(-0.5, 0.5), st.floats(-0.5, 0.5))
def test_readings_are_finite_differences_of_the_motion_of_the_mount(
    kind: str, speeds: list[tuple[float, float]], x: float, y: float
) -> None:
    steps = [{"lasts": 0.05, "vx": vx, "vy": wz, "wz": 2 * wz} for vx, wz in speeds]
    sim = astray.load(drive(steps, {"x": x, "y": y}, kind=kind))
    log = sim.run(0.05 * len(steps), log=FINE)
    truth, imu = log["rover"].truth[:, 0], log["rover"].readings["imu"][1:, 0]
    acceleration = measured_acceleration(truth, x, y)
    assert np.abs(imu["ax"] - acceleration.real).max() < 1e-6
    assert np.abs(imu["ay"] - acceleration.imag).max() < 1e-6
    assert np.abs(imu["wz"] - np.diff(np.unwrap(truth["yaw"])) / FINE).max() < 1e-6
    assert np.abs(imu["az"] - 9.81).max() == 0.0


def test_readings_add_up_to_the_change_of_velocity_at_any_rate() -> None:
    steps = [{"lasts": 1.0, "vx": 0.8, "wz": 1.0}, {"lasts": 1.0, "vx": -0.2, "wz": -1.5}]
    scenario = drive(steps, {"rate": 50, "x": 0.2})
    log = astray.load(scenario).run(2.0, log=0.02)
    truth, imu = log["rover"].truth[:, 0], log["rover"].readings["imu"][1:, 0]
    acceleration = measured_acceleration(truth, 0.2, 0.0)
    assert np.abs(imu["ax"] - acceleration.real).max() < 1e-9
    assert np.sum(imu["wz"]) * 0.02 == pytest.approx(float(np.unwrap(truth["yaw"])[-1]), abs=1e-9)


@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_the_centripetal_term_points_to_the_centre_in_both_turns(turn: float) -> None:
    steps = [{"lasts": 9.0, "vx": 0.5, "wz": turn}]
    sim = astray.load(drive(steps, {"sampling": "instant", "x": 0.3, "y": 0.1}))
    sim.run(2.0)
    imu = sim.robots["rover"].readings["imu"].table[0]
    assert float(imu.ax) == pytest.approx(-0.3, abs=1e-9)  # − w² x
    assert float(imu.ay) == pytest.approx(0.5 * turn - 0.1, abs=1e-9)  # v w − w² y
    assert float(imu.wz) == pytest.approx(turn, abs=1e-9)


def test_spinning_up_is_felt_by_a_lever_arm() -> None:
    steps = [{"lasts": 9.0, "wz": 1.9}]
    sim = astray.load(drive(steps, {"sampling": "instant", "x": 0.3, "y": 0.1}, turn_accel=2.0))
    sim.run(0.5)
    imu = sim.robots["rover"].readings["imu"].table[0]
    assert float(imu.ax) == pytest.approx(-2.0 * 0.1 - 1.0 * 0.3, abs=1e-9)
    assert float(imu.ay) == pytest.approx(2.0 * 0.3 - 1.0 * 0.1, abs=1e-9)


def test_a_unit_at_rest_measures_gravity_alone_and_a_tilted_one_part_of_it_sideways() -> None:
    sim = astray.load(drive([], {"roll": 0.1, "pitch": 0.2, "yaw": 0.3}))
    sim.run(0.01)
    imu = sim.robots["rover"].readings["imu"].table[0]
    force = np.array([imu.ax, imu.ay, imu.az])
    expected = 9.81 * np.array([-np.sin(0.2), np.cos(0.2) * np.sin(0.1), np.cos(0.2) * np.cos(0.1)])
    assert force == pytest.approx(expected, abs=1e-12)
    assert np.isfinite(force).all()


def test_being_moved_by_hand_is_not_felt() -> None:
    sim = astray.load(drive([{"lasts": 9.0, "vx": 0.5}], {}))
    sim.run(1.0)
    sim.robots["rover"].place(x=7.0, yaw=2.0)
    sim.step()
    imu = sim.robots["rover"].readings["imu"].table[0]
    assert abs(float(imu.wz)) < 1e-9
    assert abs(float(imu.ax)) < 1e-6


def noise(rate: float, **imu: Any) -> np.ndarray[Any, Any]:
    """Readings of 400 units at rest over 4 s, (times, units, 6)."""
    scenario = drive([], {"rate": rate, **imu})
    log = astray.load({**scenario, "dt": 1 / 400}, worlds=400).run(4.0, log=1 / rate)
    table = log["rover"].readings["imu"]
    return np.stack([table[c] for c in ("wx", "wy", "wz", "ax", "ay", "az")], axis=-1)


@pytest.mark.parametrize("rate", [50, 100, 400])
def test_white_noise_is_a_density(rate: float) -> None:
    series = noise(rate, gyro_density=0.01, accel_density=0.1)
    assert series[1:, :, :3].std() == pytest.approx(0.01 * np.sqrt(rate), rel=0.01)
    still = series[1:, :, 3:] - [0, 0, 9.81]
    assert still.std() == pytest.approx(0.1 * np.sqrt(rate), rel=0.01)
    flat = series[1:].reshape(-1, 6)
    apart = np.corrcoef(flat.T) - np.eye(6)
    assert np.abs(apart).max() < 0.02


@pytest.mark.parametrize("rate", [50, 400])
def test_a_walking_bias_grows_with_the_root_of_time(rate: float) -> None:
    series = noise(rate, gyro_walk=0.02, accel_walk=0.2)
    last = series[-1] - series[0]
    assert last[:, :3].std() == pytest.approx(0.02 * 2.0, rel=0.06)
    assert last[:, 3:].std() == pytest.approx(0.2 * 2.0, rel=0.06)


def test_turn_on_biases_last_a_life_and_are_kept_from_the_robot() -> None:
    series = noise(100, gyro_bias_sd=0.05, accel_bias_sd=0.5)
    assert series[..., :3].std() == pytest.approx(0.05, rel=0.1)
    assert np.ptp(series, axis=0).max() < 1e-12
    sim = astray.load(drive([], {"gyro_bias_sd": 0.05}))
    rover = sim.robots["rover"]
    assert float(rover.pipelines["imu"].sensor.memory["bias"][0, 2]) != 0.0
    assert not hasattr(rover.known, "bias")


def test_a_planar_unit_leaves_the_other_axes_clean() -> None:
    series = noise(100, gyro_density=0.01, gyro_walk=0.01, accel_density=0.1, planar=True)
    assert np.ptp(series[..., :2]) == 0.0
    assert np.ptp(series[..., 5]) == 0.0
    assert series[1:, :, 4].std() == pytest.approx(1.0, rel=0.02)
