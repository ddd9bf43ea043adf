"""A compass is drawn aside as its parameters say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import astray
from astray.tables import Array


def off(worlds: int, yaw: float = 0.0, steps: int = 1, **compass: Any) -> Array:
    """The error of the readings of robots at rest, (steps, worlds)."""
    robot = {
        "name": "rover",
        "start": {"yaw": yaw},
        "sensors": [{"kind": "compass", "rate": 10, **compass}],
    }
    run = astray.load({"dt": 0.1, "seed": 8, "robots": [robot]}, worlds=worlds)
    found = []
    for _ in range(steps):
        run.run(0.1)
        read = run.robots["rover"].readings["compass"]["yaw"] - yaw
        found.append(np.arctan2(np.sin(read), np.cos(read)))
    return np.array(found)


def test_white_noise_is_new_every_time_and_a_bias_is_not() -> None:
    found = off(2000, steps=5, white_sd=0.1)
    assert found.std() == pytest.approx(0.1, rel=0.03)
    assert abs(np.corrcoef(found[0], found[1])[0, 1]) < 0.08
    kept = off(2000, steps=5, white_sd=0.0, bias_sd=0.1)
    assert np.array_equal(kept[0], kept[4])
    assert kept[0].std() == pytest.approx(0.1, rel=0.06)


def test_readings_are_wrapped() -> None:
    robot = {
        "name": "rover",
        "start": {"yaw": np.pi},
        "sensors": [{"kind": "compass", "rate": 10, "white_sd": 0.3}],
    }
    run = astray.load({"dt": 0.1, "robots": [robot]}, worlds=500)
    run.run(0.1)
    yaw = run.robots["rover"].readings["compass"]["yaw"]
    assert (np.abs(yaw) <= np.pi).all()
    assert (yaw < 0.0).any()
    assert (yaw > 0.0).any()


def test_hard_iron_comes_once_and_soft_iron_twice_in_a_turn() -> None:
    around = np.linspace(-np.pi, np.pi, 16, endpoint=False)
    for name, harmonic in (("hard_iron_sd", 1), ("soft_iron_sd", 2)):
        found = np.array([off(1, yaw=float(y), white_sd=0.0, **{name: 0.1})[0, 0] for y in around])
        power = np.abs(np.fft.rfft(found)) / len(found)
        assert power[harmonic] > 0.01
        assert np.delete(power, harmonic).max() < 1e-12


def test_the_claim_is_the_standard_deviation_of_the_whole_error() -> None:
    errors = {
        "white_sd": 0.05,
        "bias_sd": 0.1,
        "drift_sd": 0.07,
        "hard_iron_sd": 0.06,
        "soft_iron_sd": 0.04,
        "resolution": 0.02,
    }
    found = off(5000, yaw=0.7, **errors)
    parts = [errors[name] for name in errors if name != "resolution"]
    expected = np.sqrt(np.sum(np.square(parts)) + 0.02**2 / 12.0)
    assert found.std() == pytest.approx(expected, rel=0.03)
    robot = {"name": "rover", "sensors": [{"kind": "compass", "claim": 0.5, **errors}]}
    run = astray.load({"robots": [robot]})
    run.step()
    assert run.robots["rover"].readings["compass"]["sd"][0] == pytest.approx(0.5 * expected)


def test_headings_come_in_whole_steps() -> None:
    found = off(200, white_sd=0.3, resolution=0.1)
    assert np.allclose(found / 0.1, np.round(found / 0.1))
