"""A navigation system that drifts, and says how far."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import astray


def load(dt: float, worlds: int = 100, **ins: Any) -> astray.Sim:
    robot = {
        "name": "rover",
        "sensors": [{"kind": "ins", **ins}],
        "estimator": {"kind": "trust"},
        "autonomy": {"kind": "scripted", "steps": [{"lasts": 99, "vx": 1.0, "wz": 0.2}]},
    }
    scenario = {"dt": dt, "seed": 4, "robots": [robot], "metrics": [{"kind": "nees"}]}
    return astray.load(scenario, worlds=worlds)


@pytest.mark.parametrize("dt", [0.1, 0.01])
def test_the_covariance_is_that_of_the_error_unlike_simpleins_where_dt_decides(dt: float) -> None:
    batches, worlds = 40, 100
    low, high = stats.chi2.ppf((0.025, 0.975), 3 * worlds) / worlds
    sim = load(dt, batches * worlds)
    sim.run(20.0)
    means = sim.robots["rover"].judges[0].values.reshape(batches, worlds).mean(axis=1)
    inside = np.count_nonzero((means > low) & (means < high))
    # Of 40 batches 38 are expected in a band of 95 %; fewer than 34 come once in a hundred times.
    assert inside >= 34


def test_it_drifts_alike_at_any_dt_and_rate() -> None:
    spread = []
    for dt, rate in ((0.1, 10), (0.01, 10), (0.01, 100)):
        sim = load(dt, 3000, rate=rate, position_density=0.0)
        sim.run(20.0)
        rover = sim.robots["rover"]
        spread.append(np.std(rover.belief["x"] - rover.truth["x"]))
    assert max(spread) / min(spread) < 1.06
    assert spread[0] == pytest.approx(0.05 * np.sqrt(20.0), rel=0.04)


def test_a_box_that_lies_about_its_noise_leaves_the_band() -> None:
    sim = load(0.1, 100, position_walk=0.05)
    sensor = sim.robots["rover"].channels["ins"].sensor
    sim.run(20.0)
    sensor.memory["variance"] /= 4.0  # as if it had claimed half the drift
    sim.step()
    high = stats.chi2.ppf(0.975, 300) / 100
    assert sim.robots["rover"].judges[0].values.mean() > high


def test_trust_believes_the_reading_word_for_word() -> None:
    sim = load(0.01, 3, rate=10, latency=0.2)
    sim.run(2.05)
    rover = sim.robots["rover"]
    reading = rover.readings["ins"].table
    for column in ("stamp", "x", "y", "yaw", "vx", "vy", "wz", "cov"):
        assert np.array_equal(rover.belief[column], reading[column])
    assert rover.belief["stamp"][0] == pytest.approx(1.8)


def test_without_an_ins_trust_says_what_it_needs() -> None:
    with pytest.raises(astray.ScenarioError, match="trust needs a sensor"):
        astray.load({"robots": [{"name": "a", "estimator": {"kind": "trust"}}]})
