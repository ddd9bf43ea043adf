"""Readings on their way: what arrives is what was taken, by whomever and since when it is there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import astray

ROVER = {
    "name": "rover",
    "count": 1,
    "capacity": 2,
    "start": {"spread": 1.0},
}


@pytest.mark.parametrize(
    "late",
    [{"latency": 0.2}, {"latency": 0.05}, {"latency": 0.2, "jitter": 0.08}, {"loss": 0.3}],
    ids=["long", "short", "jitter", "loss"],
)
def test_a_robot_that_comes_late_waits_for_its_first_reading(late: dict[str, Any]) -> None:
    sensor = {"kind": "gnss", "rate": 10, **late}
    sim = astray.load({"dt": 0.01, "seed": 2, "robots": [{**ROVER, "sensors": [sensor]}]})
    fixes = sim.robots["rover"].readings["gnss"]
    for spell in (0.73, 1.31):  # a life, and another in the same row
        sim.run(spell)
        begun = float(sim.time)
        sim.robots["rover"].spawn(x=5.0)
        sim.step()
        first = None
        for _ in range(150):
            sim.step()
            if fixes.fresh[1]:
                assert np.isfinite(fixes.stamp[1])
                first = first if first is not None else float(fixes.stamp[1])
        assert first is not None
        assert begun <= first  # it was not there before
        assert first + late.get("latency", 0.0) <= float(sim.time) + 1e-9
        sim.robots["rover"].remove(robots=1)
        sim.step()


def test_a_filter_of_a_robot_that_comes_late_starts_where_it_is_put() -> None:
    sensors = [
        {"kind": "wheels", "rate": 50, "latency": 0.06, "slip_density": 0.01},
        {"kind": "gnss", "rate": 10, "latency": 0.2},
    ]
    robot = {**ROVER, "sensors": sensors, "estimator": {"kind": "ekf"}}
    sim = astray.load({"dt": 0.01, "seed": 2, "robots": [robot]})
    sim.run(0.73)
    sim.robots["rover"].spawn(x=5.0, y=1.0)
    sim.run(0.1)
    sim.robots["rover"].drive(0.5)
    sim.run(3.0)
    belief, truth = sim.robots["rover"].belief[1], sim.robots["rover"].truth[1]
    assert np.hypot(belief["x"] - truth["x"], belief["y"] - truth["y"]) < 1.0
    assert float(truth["x"]) > 6.0


def test_a_world_that_starts_over_leaves_what_is_fresh_in_others() -> None:
    robot = {"name": "r", "sensors": [{"kind": "imu"}, {"kind": "compass", "rate": 5}]}
    sim = astray.load({"dt": 0.1, "robots": [robot]}, worlds=3)
    sim.step(2)
    readings = sim.robots["r"].readings
    assert all(reading.fresh.all() for reading in readings.values())
    sim.reset(worlds=[1])
    assert all(reading.fresh.all() for reading in readings.values())
    sim.step()
    assert readings["imu"].fresh.all()
    assert not readings["compass"].fresh.any()


TIMINGS = [
    {"rate": rate, "latency": latency, "offset": offset, **rest}
    for rate in (50, 25, 10)
    for latency in (0.01, 0.05, 0.13, 0.3)
    for offset in (0.0, 0.07)
    for rest in ({}, {"jitter": 0.01}, {"loss": 0.4})
]


def test_what_is_fresh_has_a_stamp_whenever_a_robot_comes() -> None:
    """In every tick, of every sensor, for rows that come at any tick, again and again."""
    sensors = [{"kind": "compass", "name": f"c{k}", **own} for k, own in enumerate(TIMINGS)]
    robot = {"name": "r", "count": 1, "capacity": 4, "sensors": sensors}
    sim = astray.load({"dt": 0.01, "seed": 5, "robots": [robot]}, worlds=2)
    robots, readings = sim.robots["r"], list(sim.robots["r"].readings.values())
    started, arrivals = np.zeros(8), np.zeros((len(readings), 8), int)
    for tick in range(160):
        if tick in (3, 17, 50, 51, 90):
            robots.spawn(x=1.0, worlds=[tick % 2])
        if tick in (40, 77, 140):
            robots.remove(robots=1)
        was_alive = sim.robots["r"].truth["alive"].copy()
        sim.step()
        alive = sim.robots["r"].truth["alive"]
        started[alive & ~was_alive] = float(sim.time) - 0.01
        for k, reading in enumerate(readings):
            fresh = np.flatnonzero(reading.fresh)
            arrivals[k, fresh] += 1
            stamps = reading.stamp[fresh]
            assert alive[fresh].all(), TIMINGS[k]
            assert np.isfinite(stamps).all(), (tick, TIMINGS[k])
            assert (stamps >= started[fresh] - 1e-9).all(), (tick, TIMINGS[k])
            latest = float(sim.time) - TIMINGS[k]["latency"]
            assert (stamps <= latest + 1e-9).all(), (tick, TIMINGS[k])
    frequent = [own["rate"] > 10 for own in TIMINGS]
    assert (arrivals[frequent][:, [0, 1, 4, 5]] > 0).all()  # those that came late, too
