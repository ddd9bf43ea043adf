"""Noise is a density: its Allan deviation, how errors grow, and that no rate changes either."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from astray.plugin import Reading, Scene
from astray.robot.sensors import Compass, Gnss, Imu
from astray.robot.sensors.error_models import (
    FLICKER_SD,
    FLICKER_TAU,
    gauss_markov,
    quantise,
    random_switch,
    saturate,
)
from astray.robot.sensors.imu_grades import GRADES
from astray.tables import ADDRESS, STATE, Array, table

RUNS, TIME, SPEED = 1000, 30.0, 2.0
TOLERANCE = 3.0 / np.sqrt(2.0 * RUNS)  # three standard deviations of a standard deviation


def readings(sensor: Any, n: int, seconds: float, rate: float, seed: int = 2) -> Any:
    """Readings of n sensors at rest, one after the other."""
    address, truth, rows = table(ADDRESS, n), table(STATE, n), np.arange(n)
    address["world"] = truth["world"] = rows
    bound = sensor.attach(address, {}, 1.0 / rate, seed, "rig")
    bound.begin(rows)
    out, scene = Reading(sensor.measures, n), Scene(truth, truth, truth)
    for k in range(round(seconds * rate) + 1):
        address["tick"] = truth["tick"] = k
        truth["stamp"] = k / rate
        bound.sense(rows, scene, out)
        yield out


def allan(values: Array, rate: float, tau: float) -> float:
    """Overlapping Allan deviation of a rate at one averaging time."""
    m = round(tau * rate)
    angle = np.concatenate([[0.0], np.cumsum(values)]) / rate
    second = angle[2 * m :] - 2.0 * angle[m:-m] + angle[: -2 * m]
    return float(np.sqrt(np.mean(second**2) / 2.0) / (m / rate))


def stream(sensor: Any, column: str, seconds: float, rate: float) -> Array:
    return np.array([out[column][0] for out in readings(sensor, 1, seconds, rate)])


def test_allan_deviation_at_one_second_is_the_density() -> None:
    unit = Imu(rate=100, gyro_density=2e-4, accel_density=3e-3)
    found = np.array([(o["wz"][0], o["ax"][0]) for o in readings(unit, 1, 3600.0, 100.0)])
    assert allan(found[:, 0], 100.0, 1.0) == pytest.approx(2e-4, rel=0.03)
    assert allan(found[:, 1], 100.0, 1.0) == pytest.approx(3e-3, rel=0.03)


def test_gauss_markov_drift_peaks_where_and_as_high_as_it_should() -> None:
    sd, tau = 1e-3, 100.0
    unit = Imu(rate=10, gyro_drift_sd=sd, gyro_drift_tau=tau)
    found = stream(unit, "wz", 4 * 3600.0, 10.0)
    taus = np.geomspace(20.0, 1000.0, 25)
    curve = np.array([allan(found, 10.0, t) for t in taus])
    assert curve.max() == pytest.approx(0.617 * sd, rel=0.2)
    assert allan(found, 10.0, 1.89 * tau) == pytest.approx(0.617 * sd, rel=0.2)
    assert curve[0] < 0.75 * curve.max()
    assert curve[-1] < 0.95 * curve.max()


def test_increments_of_a_walking_bias_are_exact() -> None:
    unit = Imu(rate=50, gyro_walk=1e-4)
    found = np.array([o["wz"].copy() for o in readings(unit, 400, 20.0, 50.0)])
    steps = found[50:] - found[:-50]  # over one second
    assert steps.std() == pytest.approx(1e-4, rel=0.03)


LAWS = {
    "white": (
        {"gyro_density": 1e-3},
        1e-3 * TIME**0.5,
        SPEED * 1e-3 * TIME**1.5 / np.sqrt(3.0),
    ),
    "walk": (
        {"gyro_walk": 1e-4},
        1e-4 * TIME**1.5 / np.sqrt(3.0),
        SPEED * 1e-4 * TIME**2.5 / np.sqrt(20.0),
    ),
    "drift": (
        {"gyro_drift_sd": 1e-3, "gyro_drift_tau": 6.0},
        1e-3 * 6.0 * np.sqrt(2.0 * (5.0 - 1.0 + np.exp(-5.0))),
        SPEED * 1e-3 * 36.0 * np.sqrt(2.0 * (125.0 / 3.0 - 12.5 + 1.0 - 6.0 * np.exp(-5.0))),
    ),
    "turn-on": ({"gyro_bias_sd": 1e-3}, 1e-3 * TIME, SPEED * 1e-3 * TIME**2 / 2.0),
}


@pytest.mark.parametrize("rate", [50, 100, 400])
@pytest.mark.parametrize("law", LAWS)
def test_dead_reckoning_errors_grow_by_the_exact_laws_at_any_rate(law: str, rate: int) -> None:
    params, heading_sd, aside_sd = LAWS[law]
    dt = 1.0 / rate
    heading, aside = np.zeros(RUNS), np.zeros(RUNS)
    for k, out in enumerate(readings(Imu(rate=rate, planar=True, **params), RUNS, TIME, rate)):
        if k:  # the first reading has no time before it
            aside += SPEED * dt * (heading + 0.5 * out["wz"] * dt)
            heading += out["wz"] * dt
    assert heading.std() == pytest.approx(heading_sd, rel=TOLERANCE)
    assert aside.std() == pytest.approx(aside_sd, rel=TOLERANCE)


@pytest.mark.parametrize(
    ("sensor", "column"),
    [
        (Gnss(position_sd=0.0, drift_sd=0.5, drift_tau=10.0), "x"),
        (Compass(white_sd=0.0, drift_sd=0.5, drift_tau=10.0), "yaw"),
        (Imu(gyro_drift_sd=0.5, gyro_drift_tau=10.0), "wz"),
    ],
    ids=["gnss", "compass", "imu"],
)
def test_drift_is_stationary_from_the_start_and_forgets_itself(sensor: Any, column: str) -> None:
    found = np.array([o[column].copy() for o in readings(sensor, 4000, 20.0, 10.0)])
    for k in (0, 1, 50, 200):
        assert found[k].std() == pytest.approx(0.5, rel=0.05)
    for k in (10, 100):  # 1 s and 10 s later
        kept = np.corrcoef(found[0], found[k])[0, 1]
        assert kept == pytest.approx(np.exp(-k / 100.0), abs=0.05)


def test_readings_saturate_and_come_in_whole_digits() -> None:
    unit = Imu(gyro_density=0.5, gyro_range=1.0, gyro_resolution=0.25)
    found = stream(unit, "wz", 20.0, 100.0)
    assert set(np.unique(found)) == {-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0}


def test_scale_and_misalignment_are_the_same_all_life_and_differ_between_units() -> None:
    n, unit = 3000, Imu(accel_scale_sd=0.01, misalignment_sd=0.02)
    first, *_, last = (np.stack([o["ax"], o["ay"], o["az"]]) for o in readings(unit, n, 0.1, 100.0))
    assert np.array_equal(first, last)
    assert (first[2] / 9.81).std() == pytest.approx(0.01, rel=0.06)
    for across in first[:2]:  # of an axis that should measure no gravity
        assert (across / 9.81).std() == pytest.approx(0.02, rel=0.06)


@pytest.mark.parametrize("grade", sorted(GRADES))
def test_a_grade_gives_what_was_not_given(grade: Any) -> None:
    unit = Imu(grade=grade, gyro_density=0.5)
    assert unit.gyro_density == 0.5
    assert unit.accel_density == GRADES[grade]["accel_density"]
    assert Imu().accel_density == 0.0


def test_grades_are_ordered() -> None:
    for name in ("gyro_density", "gyro_bias_sd", "accel_density", "accel_bias_sd"):
        values = [GRADES[grade][name] for grade in ("consumer", "industrial", "tactical")]
        assert values == sorted(values, reverse=True)
        assert len(set(values)) == 3


def test_gauss_markov_in_two_steps_is_as_in_one() -> None:
    # The mean is forgotten by e^(−t/τ) whatever the steps, and variances add up to the same.
    half = gauss_markov(gauss_markov(3.0, 1.0, 5.0, 1.0, 0.0), 1.0, 5.0, 1.0, 0.0)
    assert half == pytest.approx(gauss_markov(3.0, 1.0, 5.0, 2.0, 0.0), rel=1e-14)
    once = gauss_markov(0.0, 1.0, 5.0, 2.0, 1.0) ** 2
    keep = np.exp(-1.0 / 5.0)
    twice = (keep * gauss_markov(0.0, 1.0, 5.0, 1.0, 1.0)) ** 2
    twice += gauss_markov(0.0, 1.0, 5.0, 1.0, 1.0) ** 2
    assert twice == pytest.approx(once, rel=1e-12)


def test_a_switch_obeys_chapman_and_kolmogorov() -> None:
    def holds(there: bool, elapsed: float) -> float:
        uniforms = (np.arange(20000) + 0.5) / 20000
        return float(
            np.mean([random_switch(there, 3.0, 5.0, elapsed, uniform) for uniform in uniforms])
        )

    stay, come = holds(True, 1.0), holds(False, 1.0)
    assert holds(True, 2.0) == pytest.approx(stay * stay + (1.0 - stay) * come, abs=2e-4)
    assert holds(True, 1e3) == pytest.approx(3.0 / 8.0, abs=1e-4)


def test_saturate_and_quantise_leave_alone_what_has_no_limit() -> None:
    assert saturate(7.3, 0.0) == 7.3
    assert saturate(-7.3, 5.0) == -5.0
    assert quantise(0.37, 0.0) == 0.37
    assert quantise(-0.37, 0.1) == pytest.approx(-0.4)


def test_an_unstable_bias_has_the_floor_that_it_says() -> None:
    b, hours = 1e-3, 6.0
    unit = Imu(rate=4, gyro_instability=b, accel_instability=2 * b, planar=True)
    found = np.array(
        [(o["wz"].copy(), o["ax"].copy()) for o in readings(unit, 16, hours * 3600.0, 4.0)]
    )
    for column, scale in ((0, b), (1, 2 * b)):
        for tau, rel in ((2.0, 0.03), (5.0, 0.03), (16.0, 0.03), (64.0, 0.06), (512.0, 0.12)):
            squares = [allan(found[:, column, k], 4.0, tau) ** 2 for k in range(16)]
            assert np.sqrt(np.mean(squares)) == pytest.approx(0.664 * scale, rel=rel)


def test_the_terms_of_a_bias_instability_hold_its_floor_within_a_hundredth() -> None:
    """By the Allan variance of a Gauss-Markov process in closed form, with r = T / tau."""
    averaging = np.geomspace(2.0, 1000.0, 400)
    variance = np.zeros(len(averaging))
    for sd, tau in zip(FLICKER_SD, FLICKER_TAU, strict=True):
        r = averaging / tau
        variance += sd**2 * (2.0 * r - 3.0 + 4.0 * np.exp(-r) - np.exp(-2.0 * r)) / r**2
    floor = np.sqrt(2.0 * np.log(2.0) / np.pi)
    np.testing.assert_allclose(np.sqrt(variance), floor, rtol=0.01)


def test_an_unstable_bias_is_as_wrong_at_the_start_as_later_and_known_to_the_truth() -> None:
    b = 1e-3
    unit = Imu(rate=10, gyro_instability=b, planar=True)
    address, truth, rows = table(ADDRESS, 2000), table(STATE, 2000), np.arange(2000)
    address["world"] = truth["world"] = rows
    bound = unit.attach(address, {}, 0.1, 2, "rig")
    bound.begin(rows)
    out, scene = Reading(unit.measures, 2000), Scene(truth, truth, truth)
    expected = b * np.sqrt(6.72 * np.log(5.0) / np.pi)  # of six parts, two of 1.36 the variance
    for k in range(3):
        truth["tick"] = address["tick"] = 1000 * k
        truth["stamp"] = 100.0 * k
        bound.sense(rows, scene, out)
        assert out["wz"].std() == pytest.approx(expected, rel=4 / np.sqrt(4000))
        np.testing.assert_allclose(out["wz"], bound.memory["bias"][:, 2], atol=1e-15)
        assert np.all(out["wx"] == 0.0)
