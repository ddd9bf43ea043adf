"""The cases of a sweep: their faults, and how they are cut into tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from astray.errors import ScenarioError, WrongInput
from astray.sweeps.cases import make_plan, parse_vary, yaml_text
from astray.sweeps.workers import TaskScheduler

SLIP = "robots.rover.sensors.wheels.slip_density"
RADIUS = "robots.rover.sensors.wheels.radius_sd"


@pytest.fixture
def small(scenario: dict[str, Any]) -> dict[str, Any]:
    """A scenario of two robots that takes no time."""
    return {**scenario, "duration": 0.5}


def test_cases_are_all_combinations_and_the_last_path_changes_fastest(
    small: dict[str, Any],
) -> None:
    plan = make_plan(small, {SLIP: [0.001, 0.01], RADIUS: [0.0, 0.1, 0.2]})
    assert [tuple(values.values()) for values in plan.case_values()] == [
        (0.001, 0.0), (0.001, 0.1), (0.001, 0.2), (0.01, 0.0), (0.01, 0.1), (0.01, 0.2)
    ]  # fmt: skip
    wheels = [case["robots"][0]["sensors"][0] for case in plan.cases]
    assert [(w["slip_density"], w["radius_sd"]) for w in wheels] == [
        tuple(values.values()) for values in plan.case_values()
    ]


def test_without_vary_there_is_one_case(small: dict[str, Any]) -> None:
    assert make_plan(small).case_values() == [{}]


def test_values_are_yaml_and_brackets_braces_and_quotes_hold_one_together() -> None:
    vary = parse_vary(["a.b=1e-3,two,[3, 4],{x: [5, 6]},'7,8',true,.inf"])
    assert vary == {"a.b": [0.001, "two", [3, 4], {"x": [5, 6]}, "7,8", True, float("inf")]}


@pytest.mark.parametrize("option", ["a", "=1", "a=", "a=[1", "a=1]", "a=1,,2"])
def test_what_is_no_list_of_values_is_refused(option: str) -> None:
    with pytest.raises(WrongInput, match="--vary"):
        parse_vary([option])


@pytest.mark.parametrize("value", [1, 0.1, "word", "1e-3", "a, b", "", "it's", [1, ["a, b"]], True])
def test_a_value_as_text_reads_as_itself(value: Any) -> None:
    assert parse_vary([f"a=[{yaml_text([value])}]"]) == {"a": [[[value]]]}
    assert yaml_text("word") == "word"


def test_paths_of_numpy_are_taken_and_a_value_that_stands_twice_is_not(
    small: dict[str, Any],
) -> None:
    assert make_plan(small, {SLIP: np.array([0.5, 0.25])}).vary == {SLIP: [0.5, 0.25]}
    with pytest.raises(WrongInput, match=r"0\.5 stands twice"):
        make_plan(small, {SLIP: [0.5, 0.5]})
    with pytest.raises(WrongInput, match="seed is varied"):
        make_plan(small, {"seed": [1, 2]}, seed=3)


def test_the_faults_of_all_cases_are_reported_at_once_with_their_case(
    small: dict[str, Any],
) -> None:
    small["robots"][0]["cuont"] = 2  # in all cases: reported once
    with pytest.raises(ScenarioError) as problem:
        make_plan(small, {SLIP: [-1, 0.1, -2]})
    lines = str(problem.value).splitlines()
    assert len(lines) == 3
    assert sum("cuont" in line for line in lines) == 1
    for value in (-1, -2):
        assert sum(f"(in the case {SLIP}={value})" in line for line in lines) == 1
        assert any(line.startswith("--vary:1:") for line in lines)


def test_a_scenario_with_nothing_to_measure_is_refused(small: dict[str, Any]) -> None:
    with pytest.raises(WrongInput, match="no metrics"):
        make_plan({**small, "metrics": []})


def test_tasks_grow_while_larger_ones_hardly_take_longer(small: dict[str, Any]) -> None:
    plan = make_plan(small, worlds=100_000)
    scheduler, sizes = TaskScheduler(plan, {0: [range(100_000)]}, 1), []
    assert scheduler.compiles_next
    for _ in range(20):
        task = scheduler.next_task(None)
        assert task is not None
        sizes.append(task.count)
        scheduler.adapt(task, 1.5 + 0.01 * task.count)  # a second for the ticks, the rest for rows
    assert sizes[0] == 1
    assert sizes == sorted(sizes)
    assert sizes[-1] == 256
