"""Detections of other robots: visibility, errors, confusions and false alarms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import astray
from astray.tables import Array

PERFECT = {"kind": "contacts", "range_sd": 0.0, "bearing_sd": 0.0}


def robots(name: str, count: int, **rest: Any) -> dict[str, Any]:
    return {"name": name, "count": count, "start": {"spread": 4.0, "yaw_spread": 2.0}, **rest}


def load(*groups: dict[str, Any], worlds: Any = 1, **rest: Any) -> astray.Sim:
    return astray.load({"dt": 0.1, "seed": 3, "robots": list(groups), **rest}, worlds=worlds)


def apart(sim: astray.Sim) -> tuple[Array, Array]:
    """True distance and bearing from every row to every other, (n, n)."""
    t = sim.truth
    dx, dy = t["x"][None] - t["x"][:, None], t["y"][None] - t["y"][:, None]
    bearing = np.arctan2(dy, dx) - t["yaw"][:, None]
    return np.hypot(dx, dy), np.arctan2(np.sin(bearing), np.cos(bearing))


def found(sim: astray.Sim, group: str, row: int = 0) -> dict[int, tuple[float, float]]:
    """Range and bearing of what a robot detects, by identity."""
    reading = sim.robots[group].readings["contacts"]
    count = int(reading["count"][row])
    assert reading["seen"][row].tolist() == [1.0] * count + [0.0] * (16 - count)
    columns = (reading[name][row, :count] for name in ("identity", "range", "bearing"))
    return {int(i): (r, b) for i, r, b in zip(*columns, strict=True)}


def test_a_perfect_sensor_finds_exactly_those_in_range_and_in_its_field() -> None:
    sensor = {**PERFECT, "max_range": 5.0, "min_range": 1.0, "field_of_view": 2.0}
    sim = load(robots("a", 9, sensors=[sensor]), robots("b", 6), worlds=2)
    world, number = sim.truth["world"], [*range(9), *range(9), *range(9, 15), *range(9, 15)]
    far, aside = apart(sim)
    seen = 0
    for row in range(18):
        others = [
            k
            for k in range(30)
            if k != row
            and world[k] == world[row]
            and 1.0 <= far[row, k] <= 5.0
            and abs(aside[row, k]) <= 1.0
        ]
        detections = found(sim, "a", row)
        assert sorted(detections) == sorted(number[k] for k in others)
        for k in others:
            assert detections[number[k]] == pytest.approx((far[row, k], aside[row, k]), abs=1e-9)
        seen += len(others)
    assert seen > 10


def test_detections_are_told_nearest_first_and_the_farthest_are_left_out() -> None:
    sim = load(robots("a", 12, sensors=[{**PERFECT, "slots": 4, "max_range": 50.0}]))
    ranges = sim.robots["a"].readings["contacts"]["range"]
    far, _ = apart(sim)
    np.fill_diagonal(far, np.inf)
    np.testing.assert_allclose(ranges, np.sort(far, axis=1)[:, :4], atol=1e-9)


def three_in_a_row(**sensor: Any) -> astray.Sim:
    """One at the origin that looks along x, one at 2 m and one at 4 m behind it."""
    places = [("a", 0.0), ("b", 2.0), ("c", 4.0)]
    groups = [{"name": name, "start": {"x": x}} for name, x in places]
    groups[0]["sensors"] = [{**PERFECT, **sensor}]
    return load(*groups, world={"map": {"walls": [[[3, 1], [3, 2]]]}}, interactions=[])


def test_a_wall_hides_who_is_behind_it() -> None:
    sim = three_in_a_row()
    assert sorted(found(sim, "a")) == [1, 2]
    sim.robots["c"].place(x=4.0, y=2.0)
    sim.step()
    assert sorted(found(sim, "a")) == [1]
    sim.clear_map()
    sim.step()
    assert sorted(found(sim, "a")) == [1, 2]


def test_robots_hide_those_behind_them_if_asked_to() -> None:
    sim = three_in_a_row(robots=True)
    assert sorted(found(sim, "a")) == [1]
    sim.robots["b"].place(y=0.3)  # its radius is 0.2 m
    sim.step()
    assert sorted(found(sim, "a")) == [1, 2]


def test_ghosts_and_those_that_are_gone_are_not_detected() -> None:
    sim = three_in_a_row()
    sim.robots["b"].set_ghost()
    sim.robots["c"].remove()
    sim.step()
    assert found(sim, "a") == {}
    sim.robots["b"].set_ghost(False)
    sim.step()
    assert sorted(found(sim, "a")) == [1]


def test_a_mount_is_where_it_looks_from() -> None:
    sim = three_in_a_row(x=0.5, y=0.5, yaw=math.pi / 2)
    assert found(sim, "a")[1] == pytest.approx(
        (math.hypot(1.5, 0.5), math.atan2(-0.5, 1.5) - math.pi / 2), abs=1e-9
    )


MANY = 4000


def pair(**sensor: Any) -> tuple[Array, Array, Array, Array]:
    """Readings of one robot that is 3 m away, 0.5 rad to the left, in many worlds."""
    a = {"name": "a", "sensors": [{"kind": "contacts", **sensor}]}
    b = {"name": "b", "start": {"x": 3 * math.cos(0.5), "y": 3 * math.sin(0.5)}}
    c = {"name": "c", "count": 4, "start": {"x": 100.0}}
    sim = load(a, b, c, worlds=MANY)
    reading = sim.robots["a"].readings["contacts"]
    return reading["count"], reading["range"], reading["bearing"], reading["identity"]


def test_noise_of_range_and_bearing_is_as_wide_as_it_says() -> None:
    _, far, aside, _ = pair(range_sd=0.1, range_sd_per_m=0.05, bearing_sd=0.04)
    errors = np.stack([(far[:, 0] - 3.0) / 0.25, (aside[:, 0] - 0.5) / 0.04])
    assert np.abs(errors.mean(axis=1)).max() < 4 / math.sqrt(MANY)
    assert errors.std(axis=1) == pytest.approx(1.0, abs=4 / math.sqrt(2 * MANY))
    assert abs(np.corrcoef(errors)[0, 1]) < 4 / math.sqrt(MANY)


def test_so_many_are_detected_as_the_probability_says() -> None:
    count = pair(detection=0.7)[0]
    assert count.mean() == pytest.approx(0.7, abs=4 * math.sqrt(0.7 * 0.3 / MANY))


def test_who_is_confused_is_taken_for_any_of_the_others() -> None:
    identity = pair(confusion=0.4)[3][:, 0]
    assert np.mean(identity == 1) == pytest.approx(0.6, abs=4 * math.sqrt(0.24 / MANY))
    for other in (0, 2, 3, 4, 5):
        assert np.mean(identity == other) == pytest.approx(0.08, abs=4 * math.sqrt(0.07 / MANY))
    assert set(pair(identified=False)[3][:, 0]) == {-1.0}


def test_false_alarms_are_poisson_and_uniform_over_the_field() -> None:
    count, far, aside, identity = pair(
        detection=0.0, false_alarms=2.0, max_range=6.0, min_range=2.0, field_of_view=3.0
    )
    assert count.mean() == pytest.approx(2.0, abs=4 * math.sqrt(2.0 / MANY))
    assert count.var() == pytest.approx(2.0, rel=0.12)  # sd of it: √(10 / 4000) / 2
    there = np.arange(16) < count[:, None]
    area = (far[there] ** 2 - 4.0) / 32.0  # uniform in [0, 1] if places are
    around = aside[there] / 3.0 + 0.5
    identity_uniform = (identity[there] + 0.5) / 6.0
    bound = 1.63 / math.sqrt(there.sum())  # Kolmogorov's at 1 %
    for values in (area, around):
        steps = np.arange(1, len(values) + 1) / len(values)
        assert np.abs(np.sort(values) - steps).max() < bound
    assert identity_uniform.mean() == pytest.approx(0.5, abs=4 * 0.29 / math.sqrt(there.sum()))


def test_what_a_pair_is_dealt_depends_on_no_third_robot() -> None:
    a = {"name": "a", "sensors": [{"kind": "contacts", "detection": 0.6}]}
    b = {"name": "b", "start": {"x": 2.0}}
    c = {"name": "c", "start": {"x": -2.0}}
    alone, joined, turned = load(a, b), load(a, b, c), load(c, b, a)
    for _ in range(20):
        for sim in (alone, joined, turned):
            sim.step()
        with_c = found(joined, "a")
        assert found(turned, "a") == with_c
        assert found(alone, "a") == {k: v for k, v in with_c.items() if k != 2}


def test_detections_arrive_late_and_are_stamped_with_when_they_were_made() -> None:
    sim = load(robots("a", 3, sensors=[{**PERFECT, "latency": 0.3, "rate": 10}]))
    before = sim.robots["a"].look("contacts")["range"].copy()
    sim.robots["a"].place(x=0.0, robots=[1])
    sim.step(2)
    reading = sim.robots["a"].readings["contacts"]
    assert np.isnan(reading.stamp).all()
    sim.step()
    assert reading.stamp.tolist() == [0.0] * 3
    np.testing.assert_array_equal(reading["range"], before)
