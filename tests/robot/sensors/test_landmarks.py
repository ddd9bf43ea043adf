"""Beacons are seen where they can be, as well as is said, and by their names if they have any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import astray
from astray.errors import ScenarioError
from astray.tables import Array

RING = [(6 * np.cos(a), 6 * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 12, endpoint=False)]
PERFECT = {"range_sd": 0.0, "bearing_sd": 0.0}


def load_landmarks(
    beacons: Any, worlds: int = 1, world: Any = None, start: Any = None, **landmarks: Any
) -> Any:
    robot = {
        "name": "rover",
        "start": start or {"x": 0.5, "y": -0.4, "yaw": 0.7},
        "sensors": [
            {
                "kind": "landmarks",
                "beacons": [[float(x), float(y)] for x, y in beacons],
                **landmarks,
            }
        ],
    }
    scenario: dict[str, Any] = {"dt": 0.1, "seed": 2, "robots": [robot]}
    if world:
        scenario["world"] = world
    run = astray.load(scenario, worlds=worlds)
    run.step()
    return run


def reading(run: Any) -> Any:
    return run.robots["rover"].readings["landmarks"]


def seen(run: Any, row: int = 0) -> Array:
    """The names of the beacons that a row sees."""
    read = reading(run)
    return np.sort(read["identity"][row][read["seen"][row] > 0]).astype(int)


def test_ranges_and_bearings_are_those_from_the_mount() -> None:
    run = load_landmarks(RING, x=0.2, y=0.1, yaw=0.3, max_range=100, **PERFECT)
    read, s = reading(run), run.truth[0]
    eye_x = s["x"] + 0.2 * np.cos(0.7) - 0.1 * np.sin(0.7)
    eye_y = s["y"] + 0.2 * np.sin(0.7) + 0.1 * np.cos(0.7)
    away = np.array(RING) - [eye_x, eye_y]
    assert np.array_equal(read["identity"][0], np.arange(12))
    assert read["range"][0] == pytest.approx(np.hypot(*away.T))
    expected = np.arctan2(away[:, 1], away[:, 0]) - 0.7 - 0.3
    assert np.exp(1j * read["bearing"][0]) == pytest.approx(np.exp(1j * expected))


def test_only_what_is_in_range_and_in_view_is_seen() -> None:
    view, most, least = 2.0, 6.2, 5.7
    run = load_landmarks(RING, field_of_view=view, max_range=most, min_range=least, **PERFECT)
    away = np.array(RING) - [0.5, -0.4]
    far = np.hypot(*away.T)
    aside = np.angle(np.exp(1j * (np.arctan2(away[:, 1], away[:, 0]) - 0.7)))
    expected = np.flatnonzero((far <= most) & (far >= least) & (np.abs(aside) <= view / 2))
    assert len(expected) > 0
    assert np.array_equal(seen(run), expected)
    assert reading(run)["count"][0] == len(expected)


WALL = {"map": {"walls": [[[2.0, -3.0], [2.0, 3.0]]]}}


def test_walls_hide_beacons_but_not_those_that_hang_on_them() -> None:
    beacons = [(4.0, 0.0), (2.02, 1.0), (1.98, -1.0), (4.0, 9.0), (-4.0, 0.0)]
    start = {"x": 0.0, "y": 0.0}
    run = load_landmarks(beacons, world=WALL, start=start, **PERFECT)
    assert seen(run).tolist() == [1, 2, 3, 4]
    run = load_landmarks(beacons, world=WALL, start=start, walls=False, **PERFECT)
    assert seen(run).tolist() == [0, 1, 2, 3, 4]


def test_noise_is_as_said_and_independent_of_beacon_and_world() -> None:
    run = load_landmarks(RING[:2], worlds=4000, range_sd=0.1, range_sd_per_m=0.05, bearing_sd=0.02)
    read, exact = reading(run), reading(load_landmarks(RING[:2], **PERFECT))
    for k in range(2):
        far = exact["range"][0, k]
        assert (read["range"][:, k] - far).std() == pytest.approx(0.1 + 0.05 * far, rel=0.04)
        assert (read["bearing"][:, k] - exact["bearing"][0, k]).std() == pytest.approx(
            0.02, rel=0.04
        )
    assert abs(np.corrcoef(read["range"].T)[0, 1]) < 0.06


def test_beacons_are_missed_and_confused_as_often_as_is_said() -> None:
    run = load_landmarks(RING, worlds=2000, detection=0.7, confusion=0.1, max_range=100, **PERFECT)
    read = reading(run)
    there = read["seen"] > 0
    assert there.mean() == pytest.approx(0.7, abs=0.015)
    exact = reading(load_landmarks(RING, max_range=100, **PERFECT))["range"][0]
    # The range tells which beacon it is, since no two are as far away.
    true = np.argmin(np.abs(read["range"][..., None] - exact), axis=2)
    wrong = (read["identity"] != true)[there]
    assert wrong.mean() == pytest.approx(0.1, abs=0.01)
    taken_for = read["identity"][there][wrong].astype(int)
    assert np.bincount(taken_for, minlength=12).min() > 0.6 * len(taken_for) / 12


def test_without_identity_all_are_unknown() -> None:
    read = reading(load_landmarks(RING, identified=False, max_range=100))
    assert (read["identity"] == -1).all()
    assert (read["seen"] == 1).all()


def test_if_there_are_more_than_slots_the_nearest_are_kept() -> None:
    run = load_landmarks(RING, slots=4, max_range=100, **PERFECT)
    far = np.hypot(*(np.array(RING) - [0.5, -0.4]).T)
    assert np.array_equal(seen(run), np.sort(np.argsort(far)[:4]))
    assert reading(run)["range"].shape == (1, 4)


def test_free_slots_are_empty() -> None:
    read = reading(load_landmarks([(1, 0), (50, 0)], slots=5, **PERFECT))
    assert read["seen"][0].tolist() == [1, 0, 0, 0, 0]
    assert read["identity"][0].tolist() == [0, -1, -1, -1, -1]


def test_without_beacons_there_is_nothing_to_see() -> None:
    with pytest.raises(ScenarioError, match="need beacons"):
        load_landmarks([])
