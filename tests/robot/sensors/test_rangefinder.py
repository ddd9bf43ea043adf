"""A rangefinder reads one range, along a beam or within a cone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import astray
from astray.tables import Array

ROOM: dict[str, Any] = {"walls": [[[-3, -3], [3, -3], [3, 3], [-3, 3], [-3, -3]]]}
POST = {**ROOM, "boxes": [{"x": 2.0, "y": 0.5, "length": 0.2, "width": 0.2}]}


def read(world: Any = ROOM, start: Any = None, others: Any = (), **sensor: Any) -> Array:
    worlds = sensor.pop("worlds", 1)
    robot = {
        "name": "a",
        "start": start or {},
        "footprint": {"radius": 0.2},
        "sensors": [{"kind": "rangefinder", "max_range": 10.0, **sensor}],
    }
    scenario = {"dt": 0.1, "world": {"map": world}, "robots": [robot, *others]}
    sim = astray.load(scenario, worlds=worlds)
    return np.asarray(sim.robots["a"].readings["rangefinder"]["range"])


def test_a_beam_has_its_closed_form_at_any_mount() -> None:
    start = {"x": 0.5, "y": -0.2, "yaw": 0.3}
    assert read(start=start)[0] == pytest.approx(2.5 / math.cos(0.3))
    mount = {"x": 0.1, "y": 0.2, "yaw": 0.5}
    x = 0.5 + 0.1 * math.cos(0.3) - 0.2 * math.sin(0.3)
    assert read(start=start, **mount)[0] == pytest.approx((3.0 - x) / math.cos(0.8))


def test_a_mount_may_lie_outside_of_the_body() -> None:
    assert read(x=-0.8, yaw=math.pi)[0] == pytest.approx(2.2)
    assert read(x=-0.8, yaw=math.pi, cone=0.1)[0] == pytest.approx(2.2)


def test_a_cone_reads_the_nearest_of_what_is_in_it() -> None:
    assert read(POST)[0] == pytest.approx(3.0)  # a beam passes by
    corner = math.atan2(0.4, 1.9)
    near = 1.9 / math.cos(0.24)  # the sixth ray of seven meets the front of the post
    assert corner < 0.24
    assert read(POST, cone=0.36)[0] == pytest.approx(near)
    assert read(ROOM, cone=0.36, yaw=0.18)[0] == pytest.approx(3.0 / math.cos(0.06))


def test_what_is_too_near_or_too_far_reads_as_rep_117_has_it() -> None:
    assert read(max_range=2.9)[0] == math.inf
    assert read(min_range=3.1)[0] == -math.inf
    assert read(min_range=2.9, max_range=3.1)[0] == pytest.approx(3.0)


def test_noise_dropouts_and_resolution_are_as_asked_for() -> None:
    noisy = read(sigma=0.01, sigma_per_m=0.02, worlds=4000)
    assert np.std(noisy) == pytest.approx(0.07, rel=0.05)  # 1.1 % is one sigma
    assert np.mean(noisy) == pytest.approx(3.0, abs=0.005)
    lost = read(dropout=0.3, worlds=4000)
    assert np.isposinf(lost).mean() == pytest.approx(0.3, abs=0.03)
    assert set(read(resolution=0.25, sigma=0.2, worlds=50) / 0.25 % 1.0) == {0.0}


def test_every_robot_may_have_its_own_ranges() -> None:
    drawn = read(max_range={"choice": [2.0, 5.0]}, worlds=200)
    assert set(drawn) == {3.0, math.inf}
    assert 50 < np.isposinf(drawn).sum() < 150


def test_other_robots_are_seen_unless_they_are_overlooked() -> None:
    others = [{"name": "b", "footprint": {"radius": 0.5}, "start": {"x": 2.0}}]
    assert read(others=others)[0] == pytest.approx(1.5)
    assert read(others=others, robots=False)[0] == pytest.approx(3.0)


def test_a_robot_reads_the_same_in_a_batch_and_alone() -> None:
    sensor = {"sigma": 0.1, "dropout": 0.2, "cone": {"uniform": [0.1, 0.2]}}
    batch = read(start={"spread": 1.0}, worlds=5, **sensor)
    alone = read(start={"spread": 1.0}, worlds=[3], **sensor)
    assert batch[3:4].tobytes() == alone.tobytes()
    assert len(set(batch)) > 2
