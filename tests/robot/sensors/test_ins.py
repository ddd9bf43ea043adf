"""A navigation system drifts, and reports the covariance of its drift."""

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
    means = sim.robots["rover"].evaluators[0].values.reshape(batches, worlds).mean(axis=1)
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
    sensor = sim.robots["rover"].pipelines["ins"].sensor
    sim.run(20.0)
    sensor.memory["variance"] /= 4.0  # as if it had claimed half the drift
    sim.step()
    high = stats.chi2.ppf(0.975, 300) / 100
    assert sim.robots["rover"].evaluators[0].values.mean() > high


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


WEST = [[[-1e3, -1e3], [5.0, -1e3], [5.0, 1e3], [-1e3, 1e3]]]  # all that is west of x = 5


def straight(worlds: int, **ins: Any) -> astray.Sim:
    """Boxes that go east at 1 m/s and start at the origin; no white noise."""
    robot = {
        "name": "rover",
        "motion": {"kind": "integrator", "max_speed": 2.0},
        "sensors": [{"kind": "ins", "rate": 10, "position_density": 0.0, **ins}],
        "estimator": {"kind": "trust"},
        "autonomy": {"kind": "scripted", "steps": [{"lasts": 999, "vx": 1.0}]},
    }
    scenario = {"dt": 0.1, "seed": 4, "robots": [robot], "metrics": [{"kind": "nees"}]}
    return astray.load(scenario, worlds=worlds)


def errors(sim: astray.Sim) -> Any:
    rover = sim.robots["rover"]
    return np.stack([rover.belief[c] - rover.truth[c] for c in ("x", "y")])


def test_half_of_all_positions_are_within_the_circular_error_probable() -> None:
    sim = straight(4000, cep=2.0, hold_tau=3.0)
    for seconds in (0.1, 10.0):
        sim.run(seconds)
        inside = np.mean(np.hypot(*errors(sim)) < 2.0)
        assert inside == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(4000))


def test_what_satellites_hold_is_correlated_over_time_as_it_says() -> None:
    sim = straight(4000, cep=2.0, hold_tau=3.0)
    sim.run(1.0)
    before = errors(sim)
    sim.run(3.0)
    found = np.mean(before * errors(sim)) / np.mean(before**2)
    assert found == pytest.approx(np.exp(-1.0), abs=4 / np.sqrt(8000))


def test_where_satellites_are_denied_it_drifts_by_the_law_and_comes_back() -> None:
    """Denied for 5 s, then 2 s until they are found again, then forgetting within 1 s."""
    sd, walk, tau = 0.5 / 1.17741, 0.3, 1.0
    sim = straight(4000, cep=0.5, position_walk=walk, hold_tau=tau, reacquire=2.0, denied=WEST)
    band = 4 / np.sqrt(2 * 8000)
    for until, variance in (
        (5.0, sd**2 + walk**2 * 5.0),
        (6.9, sd**2 + walk**2 * 6.9),
        (8.0, None),
        (15.0, sd**2),
    ):
        sim.run(until - sim.time)
        spread = np.sqrt(np.mean(errors(sim) ** 2))
        claimed = np.sqrt(sim.robots["rover"].belief["cov"][:, 0, 0].mean())
        assert spread == pytest.approx(claimed, rel=band)
        if variance is not None:
            assert claimed == pytest.approx(np.sqrt(variance), rel=0.01)
    assert (np.mean(sim.robots["rover"].evaluators[0].values)) == pytest.approx(3.0, abs=0.2)


def test_without_a_time_to_forget_it_snaps_back() -> None:
    sim = straight(500, cep=0.1, position_walk=1.0, hold_tau=0.0, denied=WEST)
    sim.run(4.9)
    assert np.sqrt(np.mean(errors(sim) ** 2)) > 1.5
    sim.run(0.3)
    assert np.sqrt(np.mean(errors(sim) ** 2)) < 0.12
