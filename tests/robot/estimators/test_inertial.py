"""Strapdown integration: each rule of its document, and how its errors grow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import astray
from astray.plugin import Known, Reading
from astray.robot.estimators import Inertial
from astray.robot.motion import Differential
from astray.robot.sensors import Imu
from astray.tables import IMU


class LoneEstimator:
    """An inertial estimator that gets its readings by hand, as from a node."""

    def __init__(self, **options: Any) -> None:
        self.estimator, self.belief = Inertial(**options).alone(Differential(), Imu())
        self.reading = Reading(IMU, 1)
        self.known = Known(self.belief, {"imu": self.reading})

    def take(
        self, stamp: float, wz: float = 0.0, ax: float = 0.0, ay: float = 0.0, az: float = 9.81
    ) -> None:
        self.reading.stamp[:] = stamp
        self.reading.fresh[:] = True
        for name, value in {"wz": wz, "ax": ax, "ay": ay, "az": az}.items():
            self.reading[name][:] = value
        self.estimator.estimate(np.arange(1), self.known, self.belief)

    def __getattr__(self, column: str) -> float:
        return float(self.belief[column][0])


def test_the_first_reading_only_stores_its_stamp() -> None:
    node = LoneEstimator()
    node.take(5.0, wz=1.0, ax=1.0)
    assert (node.x, node.yaw, node.vx, node.stamp) == (0.0, 0.0, 0.0, 5.0)


def test_heading_turns_first_then_velocity_then_position() -> None:
    node = LoneEstimator()
    node.take(0.0)
    node.take(0.1, wz=1.0, ax=2.0, az=9.81 + 1.0)
    assert node.yaw == pytest.approx(0.1)
    speed = 0.2
    assert node.vx == pytest.approx(speed)  # along the new heading
    assert (node.x, node.y) == pytest.approx((speed * 0.1 * np.cos(0.1), speed * 0.1 * np.sin(0.1)))
    assert (node.vz, node.z) == pytest.approx((0.1, 0.01))


def test_gravity_is_exactly_9_81() -> None:
    node = LoneEstimator()
    for k in range(101):
        node.take(0.01 * k, az=9.81)
    assert abs(node.vz) < 1e-12
    other = LoneEstimator()
    for k in range(101):
        other.take(0.01 * k, az=9.80665)
    assert other.vz == pytest.approx(-0.00335, rel=1e-6)


@pytest.mark.parametrize("gap", [0.0, -0.5, 1.0001, 40.0])
def test_a_time_of_zero_or_less_or_over_a_second_is_skipped(gap: float) -> None:
    node = LoneEstimator()
    node.take(10.0)
    node.take(10.1, ax=1.0)
    before = (node.x, node.vx)
    node.take(10.1 + gap, ax=100.0)
    assert (node.x, node.vx) == before


def test_exactly_one_second_still_counts() -> None:
    node = LoneEstimator()
    node.take(0.0)
    node.take(1.0, ax=1.0)
    assert node.vx == 1.0


def test_after_a_gap_the_next_reading_counts_again() -> None:
    node = LoneEstimator()
    node.take(0.0)
    node.take(5.0, ax=1.0)
    node.take(5.1, ax=1.0)
    assert node.vx == pytest.approx(0.1)


def test_one_late_reading_does_not_set_the_stamp_back_but_a_restart_does() -> None:
    node = LoneEstimator()
    node.take(10.0)
    node.take(9.9, ax=1.0)
    node.take(10.1, ax=1.0)
    assert node.vx == pytest.approx(0.1)  # 0.1 s since 10.0, not 0.2 since 9.9
    node.take(1.0, ax=1.0)  # the source has started over
    node.take(1.1, ax=1.0)
    assert node.vx == pytest.approx(0.2)


def test_heading_is_wrapped() -> None:
    node = LoneEstimator(initial_theta=3.1)
    node.take(0.0)
    node.take(0.5, wz=1.0)
    assert node.yaw == pytest.approx(3.6 - 2 * np.pi)


def test_the_initial_pose_is_that_of_the_document() -> None:
    sim = astray.load(
        {
            "robots": [
                {
                    "name": "a",
                    "sensors": [{"kind": "imu"}],
                    "estimator": {
                        "kind": "inertial",
                        "initial_x": 1.0,
                        "initial_y": 2.0,
                        "initial_z": 3.0,
                        "initial_theta": 0.5,
                    },
                }
            ]
        }
    )
    belief = sim.robots["a"].belief
    assert [float(belief[c][0]) for c in ("x", "y", "z", "yaw")] == [1.0, 2.0, 3.0, 0.5]


def test_a_reset_sets_the_pose_and_stops() -> None:
    sim = astray.load(course(0.01))
    rover = sim.robots["rover"]
    rover.drive(2.0)
    sim.run(3.0)
    assert float(rover.belief["vx"][0]) > 0.1
    rover.believe(x=1.0, y=2.0, yaw=0.5)
    sim.step()
    assert float(rover.belief["vx"][0]) == pytest.approx(0.0, abs=0.01)
    assert float(rover.belief["x"][0]) == pytest.approx(1.0, abs=1e-3)
    assert np.isnan(rover.belief["cov"][0]).all()  # it its covariance is unknown


def course(dt: float, **imu: Any) -> dict[str, Any]:
    """Tangential acceleration 0.2 m/s², turning at 0.5 rad/s: 10 m in 10 s."""
    return {
        "dt": dt,
        "robots": [
            {
                "name": "rover",
                "motion": {
                    "kind": "differential",
                    "accel": 0.2,
                    "max_speed": 5.0,
                    "turn_accel": 1e9,
                    "max_turn": 3.0,
                },
                "sensors": [{"kind": "imu", **imu}],
                "estimator": {"kind": "inertial"},
                "autonomy": {"kind": "remote"},
            }
        ],
    }


def end_error(dt: float, **imu: Any) -> float:
    sim = astray.load(course(dt, **imu))
    rover = sim.robots["rover"]
    rover.drive(2.0, 0.5)
    sim.run(10.0)
    return float(
        np.hypot(rover.belief["x"] - rover.truth["x"], rover.belief["y"] - rover.truth["y"])[0]
    )


def test_without_noise_it_converges_to_the_truth_linearly_in_dt() -> None:
    errors = [end_error(dt, sampling="instant") for dt in (0.1, 0.01, 0.001)]
    assert errors[0] < 0.35
    assert errors[2] < 0.0035
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.25)
    assert errors[1] / errors[2] == pytest.approx(10.0, rel=0.25)
    means = [end_error(dt) for dt in (0.1, 0.01, 0.001)]
    assert means[0] / means[1] == pytest.approx(10.0, rel=0.25)
    assert means[1] / means[2] == pytest.approx(10.0, rel=0.25)
    assert means[2] < 0.004


def test_a_lever_arm_and_a_tilted_mount_of_the_datasheet_are_undone() -> None:
    mount = {"x": 0.3, "y": -0.2, "roll": 0.1, "pitch": -0.2, "yaw": 1.0}
    assert end_error(0.001, **mount) < 0.01


def spread_at_rest(seconds: float, rate: float, worlds: int = 1500, **imu: Any) -> dict[str, float]:
    scenario = {
        "dt": 1 / 400 if rate > 100 else 1 / rate,
        "robots": [
            {
                "name": "rover",
                "motion": {"kind": "differential"},
                "sensors": [{"kind": "imu", "rate": rate, "planar": True, **imu}],
                "estimator": {"kind": "inertial"},
                "autonomy": {"kind": "idle"},
            }
        ],
    }
    sim = astray.load(scenario, worlds=worlds)
    sim.run(seconds)
    belief = sim.robots["rover"].belief
    return {column: float(np.sqrt((belief[column] ** 2).mean())) for column in ("x", "yaw", "vx")}


WORLDS = 1500
THREE_SIGMA = 3 / np.sqrt(2 * WORLDS)  # of a standard deviation from that many worlds


def test_errors_by_white_noise_grow_as_powers_of_time() -> None:
    t, n = 20.0, 0.01
    assert spread_at_rest(t, 100, gyro_density=n)["yaw"] == pytest.approx(
        n * t**0.5, rel=THREE_SIGMA
    )
    forces = spread_at_rest(t, 100, accel_density=n)
    assert forces["vx"] == pytest.approx(n * t**0.5, rel=THREE_SIGMA)
    assert forces["x"] == pytest.approx(n * t**1.5 / 3**0.5, rel=THREE_SIGMA)


def test_errors_by_walking_biases_grow_as_powers_of_time() -> None:
    t, k = 20.0, 0.001
    yaw = spread_at_rest(t, 100, gyro_walk=k)["yaw"]
    assert yaw == pytest.approx(k * t**1.5 / 3**0.5, rel=THREE_SIGMA)
    x = spread_at_rest(t, 100, accel_walk=k)["x"]
    assert x == pytest.approx(k * t**2.5 / 20**0.5, rel=THREE_SIGMA)


def test_errors_by_constant_biases_grow_as_powers_of_time() -> None:
    t, b = 20.0, 0.001
    found = spread_at_rest(t, 100, accel_bias_sd=b)
    assert found["x"] == pytest.approx(b * t**2 / 2, rel=THREE_SIGMA)
    assert spread_at_rest(t, 100, gyro_bias_sd=b)["yaw"] == pytest.approx(b * t, rel=THREE_SIGMA)


def test_the_rate_of_the_imu_changes_no_statistics() -> None:
    noise = {"accel_density": 0.01, "gyro_density": 0.001, "accel_walk": 0.001}
    found = [spread_at_rest(4.0, rate, worlds=10_000, **noise) for rate in (50, 100, 400)]
    for column in ("x", "yaw", "vx"):
        values = [each[column] for each in found]
        assert max(values) / min(values) < 1.03
