"""Strapdown integration: each rule of its document, and how its errors grow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import astray
from astray import check_plugin
from astray.plugin import Known, Reading
from astray.robot.estimators import Inertial, inertial
from astray.robot.motion import Differential
from astray.robot.sensors import Imu, ScriptedImu
from astray.tables import IMU, Array
from support.kernels import without_jit


class LoneEstimator:
    """An inertial estimator that gets its readings by hand, as from a node of the document."""

    def __init__(self, **options: Any) -> None:
        options = {"integration": "euler", **options}
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


def course(dt: float, integration: str = "auto", **imu: Any) -> dict[str, Any]:
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
                "estimator": {"kind": "inertial", "integration": integration},
                "autonomy": {"kind": "remote"},
            }
        ],
    }


def end_error(dt: float, integration: str = "auto", **imu: Any) -> float:
    sim = astray.load(course(dt, integration, **imu))
    rover = sim.robots["rover"]
    rover.drive(2.0, 0.5)
    sim.run(10.0)
    return float(
        np.hypot(rover.belief["x"] - rover.truth["x"], rover.belief["y"] - rover.truth["y"])[0]
    )


def test_eulers_method_converges_to_the_truth_linearly_in_dt() -> None:
    errors = [end_error(dt, "euler", sampling="instant") for dt in (0.1, 0.01, 0.001)]
    assert errors[0] < 0.35
    assert errors[2] < 0.0035
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.25)
    assert errors[1] / errors[2] == pytest.approx(10.0, rel=0.25)
    means = [end_error(dt, "euler") for dt in (0.1, 0.01, 0.001)]
    assert means[0] / means[1] == pytest.approx(10.0, rel=0.25)
    assert means[1] / means[2] == pytest.approx(10.0, rel=0.25)
    assert means[2] < 0.004


def test_a_lever_arm_and_a_tilted_mount_of_the_datasheet_are_undone() -> None:
    mount = {"x": 0.3, "y": -0.2, "roll": 0.1, "pitch": -0.2, "yaw": 1.0}
    assert end_error(0.001, **mount) < 0.01


# Integration of second order.


def test_the_method_is_that_of_the_readings_by_their_datasheet() -> None:
    imu = {"mean": Imu(), "instant": Imu(sampling="instant")}
    for sampling, method in (("mean", "midpoint"), ("instant", "trapezoid")):
        estimator, _ = Inertial().alone(Differential(), imu[sampling])
        assert estimator.method == method
    signals = {"wz": {"type": "constant", "value": 0.5}}
    estimator, _ = Inertial().alone(Differential(), ScriptedImu(signals=signals))
    assert estimator.method == "trapezoid"


SECOND_ORDER = pytest.mark.parametrize(
    ("integration", "sampling"), [("trapezoid", "instant"), ("midpoint", "mean")]
)


def smooth_error(rate: float, integration: str, **imu: Any) -> float:
    return float(smooth_errors(rate, integration, **imu)[0])


def smooth_errors(
    rate: float, integration: str, dt: float = 0.0005, worlds: int = 1, **imu: Any
) -> Array:
    """Errors after 8 s of sines in speed and turn rate, which start without a jerk."""
    vx = {"type": "sine", "amplitude": 1.0, "frequency": 0.1, "phase": -1.5707963, "offset": 1.0}
    wz = {"type": "sine", "amplitude": 0.5, "frequency": 0.15, "phase": -1.5707963, "offset": 0.5}
    limits = {
        "accel": 100.0,
        "decel": 100.0,
        "turn_accel": 100.0,
        "max_speed": 9.0,
        "max_turn": 9.0,
    }
    robot = {
        "name": "rover",
        "motion": {"kind": "differential", **limits},
        "autonomy": {"kind": "scripted", "signals": {"vx": vx, "wz": wz}},
        "sensors": [{"kind": "imu", "rate": rate, **imu}],
        "estimator": {"kind": "inertial", "integration": integration},
    }
    sim = astray.load({"dt": dt, "robots": [robot]}, worlds=worlds)
    sim.run(8.0)
    rover = sim.robots["rover"]
    return np.hypot(rover.belief["x"] - rover.truth["x"], rover.belief["y"] - rover.truth["y"])


@SECOND_ORDER
def test_the_trapezoid_and_the_midpoint_are_of_second_order(
    integration: str, sampling: str
) -> None:
    slow, fast = (smooth_error(rate, integration, sampling=sampling) for rate in (5, 20))
    assert fast < 0.01
    assert slow / fast > 8.0  # 16, but for the ticks of the truth itself
    assert smooth_error(20, "euler", sampling=sampling) > 10.0 * fast


@pytest.mark.parametrize("rate", [5, 20, 500])
@pytest.mark.parametrize("mount", [{}, {"x": 0.3, "y": -0.2, "yaw": 1.0}])
def test_a_steady_circle_is_followed_exactly_at_any_rate(rate: float, mount: Any) -> None:
    """Once the robot has its speed, the error of the start stays as it is."""
    robot = {
        "name": "rover",
        "motion": {"kind": "differential", "accel": 1.5, "turn_accel": 1e9, "max_speed": 5.0},
        "autonomy": {"kind": "scripted", "signals": {"vx": 1.5, "wz": 0.7}},
        "sensors": [{"kind": "imu", "rate": rate, **mount}],
        "estimator": {"kind": "inertial"},
    }
    sim = astray.load({"dt": 0.002, "robots": [robot]})
    errors = []
    for seconds in (2.0, 3.0, 5.0, 10.0):
        sim.run(seconds)
        truth, belief = sim.robots["rover"].truth, sim.robots["rover"].belief
        errors.append([float(belief[name][0] - truth[name][0]) for name in ("x", "y", "vx", "vy")])
    np.testing.assert_allclose(errors, errors[:1] * 4, atol=1e-9)


def test_errors_by_noise_are_the_same_at_any_rate_on_a_smooth_course() -> None:
    def spread(rate: float) -> float:
        noise = {"gyro_density": 0.003, "accel_density": 0.02, "planar": True}
        errors = smooth_errors(rate, "auto", dt=0.01, worlds=8000, **noise)
        return float(np.sqrt((errors**2).mean()))

    spreads = [spread(rate) for rate in (5, 20, 100)]
    assert max(spreads) / min(spreads) < 1.03


@pytest.mark.parametrize("rate", [5, 20, 100])
def test_a_step_of_speed_displaces_by_half_of_it_over_a_period_at_most(rate: float) -> None:
    robot = {
        "name": "rover",
        "motion": {"kind": "differential", "accel": 1e9, "max_speed": 5.0},
        "autonomy": {"kind": "scripted", "signals": {"vx": 1.5}},
        "sensors": [{"kind": "imu", "rate": rate}],
        "estimator": {"kind": "inertial"},
    }
    sim = astray.load({"dt": 0.002, "robots": [robot]})
    sim.run(5.0)
    rover = sim.robots["rover"]
    error = float(abs(rover.belief["x"] - rover.truth["x"])[0])
    assert 0.0 < error <= 0.5 * 1.5 / rate + 1e-9


@SECOND_ORDER
def test_second_order_holds_with_a_lever_arm_and_a_tilted_mount(
    integration: str, sampling: str
) -> None:
    mount = {"x": 0.3, "y": -0.2, "roll": 0.1, "pitch": -0.2, "yaw": 1.0}
    assert smooth_error(50, integration, sampling=sampling, **mount) < 0.01


@pytest.mark.parametrize("integration", ["trapezoid", "midpoint"])
@pytest.mark.parametrize("centripetal", ["measured", "synthesize"])
def test_constant_readings_are_integrated_by_the_closed_form(
    integration: str, centripetal: str
) -> None:
    """Along an arc; with the term measured, a reading points to its centre."""
    node = LoneEstimator(integration=integration, centripetal=centripetal, initial_theta=3.0)
    w, a, steps, dt = 0.7, 0.5, 40, 0.05
    node.take(0.0, wz=w, ax=a, az=10.0)
    t = steps * dt
    for k in range(1, steps + 1):
        across = w * a * k * dt if centripetal == "measured" else 0.0
        node.take(k * dt, wz=w, ax=a, ay=across, az=10.0)
    assert node.yaw == pytest.approx(np.angle(np.exp(1j * (3.0 + w * t))))
    # ∫ a t exp(i (yaw0 + w t)) dt
    end = np.exp(3.0j) * a * (np.exp(1j * w * t) * (1 - 1j * w * t) - 1) / w**2
    half = 0.5 * dt * a * w * t * t if integration == "midpoint" and across else 0.0
    assert abs(node.x + 1j * node.y - end) < 1e-6 + half
    assert (node.vx, node.vz) == pytest.approx((a * t, (10.0 - 9.81) * t), abs=1e-3 + half)
    assert node.z == pytest.approx(0.5 * (10.0 - 9.81) * t * t)


@pytest.mark.parametrize("integration", ["trapezoid", "midpoint"])
def test_gaps_late_readings_and_restarts_are_as_with_euler(integration: str) -> None:
    node = LoneEstimator(integration=integration)
    node.take(5.0, ax=1.0)
    assert (node.x, node.vx, node.stamp) == (0.0, 0.0, 5.0)
    node.take(6.5, ax=1.0)  # after a gap
    node.take(6.5, ax=7.0)
    node.take(6.4, ax=7.0)  # late
    assert (node.vx, node.stamp) == (0.0, 6.5)
    node.take(7.5, ax=1.0)
    assert (node.vx, node.x) == pytest.approx((1.0, 0.5))
    node.take(1.0, ax=1.0)  # the source has started over
    node.take(1.1, ax=1.0)
    assert node.vx == pytest.approx(1.1)


@pytest.mark.parametrize("integration", ["trapezoid", "midpoint"])
def test_integration_of_second_order_keeps_the_contract(integration: str) -> None:
    check_plugin(Inertial, {"sensors": [{"kind": "imu", "rate": 50}]}, integration=integration)


@pytest.mark.parametrize("integration", ["trapezoid", "midpoint"])
def test_compiled_and_plain_kernels_give_the_same_bytes(integration: str) -> None:
    def belief() -> bytes:
        node = LoneEstimator(integration=integration, centripetal="synthesize")
        for k in range(20):
            node.take(0.1 * k, wz=0.3 * k, ax=np.sin(k), ay=0.1 * k, az=9.5)
        return node.belief.tobytes()

    compiled = belief()
    with without_jit(inertial):
        assert belief() == compiled


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
