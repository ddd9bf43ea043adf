"""GOSPA of tracks: against brute force, and in cases computed by hand."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import astray
from astray.metrics.track_assignment import ASSIGNMENT_ROWS, ROW, assign_rows
from astray.tables import TRACK, Array, table

COSTS = st.tuples(st.integers(1, 5), st.integers(0, 2)).flatmap(
    lambda n: arrays(float, (n[0], n[0] + n[1]), elements=st.floats(0, 100, width=32))
)


@settings(max_examples=200)
@given(COSTS)
def test_an_assignment_has_the_least_cost_of_all(costs: Array) -> None:
    rows, columns = costs.shape
    w = np.zeros((ASSIGNMENT_ROWS, columns + 1))
    assign_rows(w, costs, rows, columns)
    of_row = {int(w[ROW, j + 1]) - 1: j for j in range(columns) if w[ROW, j + 1] > 0}
    assert sorted(of_row) == list(range(rows))
    cheapest = min(
        sum(costs[i, j] for i, j in enumerate(chosen))
        for chosen in itertools.permutations(range(columns), rows)
    )
    assert sum(costs[i, j] for i, j in of_row.items()) == pytest.approx(cheapest, abs=1e-9)


def gospa_parts(tracks: Array, **params: Any) -> dict[str, float]:
    """All parts of GOSPA of one robot with these tracks, among robots at (3, 0), (0, 3), (−3, 0)."""
    parts = ("all", "distance", "missed", "nobody")
    watcher = {
        "name": "a",
        "sensors": [{"kind": "contacts"}],
        "contacts": {"kind": "tracker"},
    }
    others = [
        {"name": f"b{k}", "start": {"x": x, "y": y}}
        for k, (x, y) in enumerate([(3.0, 0.0), (0.0, 3.0), (-3.0, 0.0)])
    ]
    metrics = [{"kind": "gospa", "name": part, "part": part, **params} for part in parts]
    sim = astray.load({"dt": 0.1, "robots": [watcher, *others], "metrics": metrics})
    group = sim.robots["a"]
    group.contacts.tracks[0, : len(tracks)] = tracks
    values = {}
    for evaluator in group.evaluators:
        evaluator.measure(np.array([0]))
        values[evaluator.metric.name] = float(evaluator.values[0])
    return values


def tracks_at(*positions: tuple[float, float]) -> Array:
    made = table(TRACK, len(positions))
    made["confirmed"] = True
    made["x"], made["y"] = np.array(positions).T if positions else ([], [])
    return made


def test_exact_tracks_of_all_robots_cost_nothing() -> None:
    values = gospa_parts(tracks_at((0, 3), (-3, 0), (3, 0)))
    assert values == {"all": 0.0, "distance": 0.0, "missed": 0.0, "nobody": 0.0}


def test_each_missed_robot_and_each_false_track_costs_half_the_square_of_the_cutoff() -> None:
    values = gospa_parts(tracks_at((3.3, 0.4), (5, 5)), cutoff=2.0)
    assert values["distance"] == pytest.approx(0.5)
    assert values["missed"] == pytest.approx(2.0)  # two of them, 2²/2 each
    assert values["nobody"] == pytest.approx(math.sqrt(2.0))
    assert values["all"] == pytest.approx(math.sqrt(0.25 + 4.0 + 2.0))


def test_a_track_beyond_the_cutoff_is_false() -> None:
    values = gospa_parts(tracks_at((3, 0), (0, 3), (-3, 1.1)), cutoff=1.0)
    assert values["missed"] == values["nobody"] == pytest.approx(math.sqrt(0.5))
    assert values["distance"] == 0.0


def test_robots_farther_away_and_unconfirmed_tracks_do_not_count() -> None:
    assert gospa_parts(tracks_at(), within=2.9)["all"] == 0.0
    assert gospa_parts(tracks_at((9, 9)), within=3.5)["nobody"] == 0.0
    unsure = tracks_at((3, 0), (0, 3), (-3, 0))
    unsure["confirmed"] = False
    assert (
        gospa_parts(unsure)["all"]
        == gospa_parts(tracks_at())["all"]
        == pytest.approx(math.sqrt(1.5))
    )


@settings(max_examples=25)
@given(st.lists(st.tuples(st.floats(-4, 4), st.floats(-4, 4)), max_size=5))
def test_gospa_is_that_of_brute_force(positions: list[tuple[float, float]]) -> None:
    truth = [(3.0, 0.0), (0.0, 3.0), (-3.0, 0.0)]
    near = [p for p in positions if math.hypot(*p) <= 5.0]
    best = math.inf
    for size in range(min(len(near), 3) + 1):
        for chosen in itertools.permutations(range(len(near)), size):
            for robots in itertools.combinations(range(3), size):
                square = sum(
                    math.dist(near[k], truth[j]) ** 2 for k, j in zip(chosen, robots, strict=True)
                )
                best = min(best, square + 0.5 * 1.5**2 * (3 + len(near) - 2 * size))
    found = gospa_parts(tracks_at(*positions), within=5.0, cutoff=1.5)
    assert found["all"] == pytest.approx(math.sqrt(best), abs=1e-9)
    parts = [found[part] ** 2 for part in ("distance", "missed", "nobody")]
    assert found["all"] ** 2 == pytest.approx(sum(parts), abs=1e-9)
