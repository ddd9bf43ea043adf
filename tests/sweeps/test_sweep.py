"""Sweeps: the same worlds in every case, the same results for any cut into tasks."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import astray
from astray.cli import astray as commands
from astray.cli.sweep import short_names
from astray.errors import AstrayError, UnknownName, WrongInput
from astray.plugin import KINDS
from astray.scenario.plugin_files import SOURCES
from astray.sweeps import Activity, make_plan, run_plan

SLIP = "robots.rover.sensors.wheels.slip_density"
RAISES = """
import astray

class Failing(astray.Metric, kind="failing"):
    limit: float = 9.0  # m
    def measure(self, rows, truth, belief, out):
        worlds = belief["world"][rows]
        if self.limit < 1.0 and 2 in worlds:
            raise ValueError("not world 2")
        if self.limit < 0.0 and max(worlds) > 2:
            raise ValueError("no world from 2 on")
        out[rows] = 1.0
"""


@pytest.fixture
def small(scenario: dict[str, Any]) -> dict[str, Any]:
    """A scenario of two robots that takes no time."""
    return {**scenario, "duration": 0.5}


@pytest.fixture
def failing(tmp_path: Path) -> Iterator[Path]:
    """The file of a metric that fails in world 2."""
    (tmp_path / "failing.py").write_text(RAISES)
    yield tmp_path / "failing.py"
    KINDS["metric"].pop("failing", None)
    SOURCES.pop(tmp_path / "failing.py", None)


def sweep(source: Any, out: Path, **options: Any) -> astray.Sweep:
    """A sweep in this process."""
    given: dict[str, Any] = {"workers": 0, "worlds": 4, "out": out, **options}
    return astray.sweep(source, **given)


def test_figures_are_those_of_a_plain_run_of_that_world_to_the_bit(
    small: dict[str, Any], tmp_path: Path
) -> None:
    found = sweep(small, tmp_path / "s", vary={SLIP: [0.001, 0.02]}, batch=3, seed=5)
    assert len(found.table) == 2 * 4 * 2
    for row in found.table:
        sim = astray.load(small, set=[f"{SLIP}={row[SLIP]}"], seed=5, worlds=[int(row["world"])])
        sim.run()
        judged = sim.robots["rover"].evaluators[0].statistics[row["robot"]]
        assert row["rms"] == np.sqrt(judged["squares"] / judged["count"])
        assert row["mean"] == judged["total"] / judged["count"]
        assert (row["most"], row["last"]) == (judged["most"], judged["last"])
        assert (row["belief"], row["metric"]) == ("odometry", "position_error")


def test_another_cut_into_tasks_gives_the_same_files(small: dict[str, Any], tmp_path: Path) -> None:
    for batch in (1, 3, None):
        sweep(small, tmp_path / str(batch), vary={SLIP: [0.001, 0.02]}, batch=batch)
    for name in ("results.csv", "summary.json", "summary.png"):
        contents = {(tmp_path / b / name).read_bytes() for b in ("1", "3", "None")}
        assert len(contents) == 1


def test_means_and_intervals_are_those_of_student_over_worlds_and_pairs(
    small: dict[str, Any], tmp_path: Path
) -> None:
    found = sweep(small, tmp_path / "s", vary={SLIP: [0.001, 0.02]}, worlds=9)
    table, cases = found.table, found.summary()["cases"]
    values = [
        np.array(
            [table["rms"][(table[SLIP] == slip) & (table["world"] == w)].mean() for w in range(9)]
        )
        for slip in (0.001, 0.02)
    ]
    for case, value in zip(cases, values, strict=True):
        about = case["robots"]["rover"]["position_error"]["belief"]
        ends = stats.t.interval(0.95, 8, value.mean(), stats.sem(value))
        assert about["worlds"] == 9
        assert (about["mean"], about["low"], about["high"]) == pytest.approx((value.mean(), *ends))
    paired = values[1] - values[0]
    ends = stats.t.interval(0.95, 8, paired.mean(), stats.sem(paired))
    against = cases[1]["robots"]["rover"]["position_error"]["belief"]["against_first"]
    assert (against["mean"], against["low"], against["high"]) == pytest.approx(
        (paired.mean(), *ends)
    )


def test_an_estimator_that_is_varied_is_compared_with_the_first(
    small: dict[str, Any], tmp_path: Path
) -> None:
    found = sweep(small, tmp_path / "s", vary={"robots.rover.estimator.name": ["one", "two"]})
    about = found.summary()["cases"][1]["robots"]["rover"]["position_error"]["belief"]
    assert about["belief"] == "two"
    assert about["against_first"]["worlds"] == 4


def test_what_robots_run_into_is_counted_in_every_world(tmp_path: Path) -> None:
    ahead = {"kind": "scripted", "steps": [{"lasts": 9, "vx": 1.0}]}
    far = {"start": {"x": 3.0, "yaw": 3.14}, "autonomy": ahead}
    meeting = {
        "duration": 3,
        "robots": [{"name": "a", "autonomy": ahead}, {"name": "b", **far}],
        "interactions": [{"kind": "collisions"}],
    }
    table = sweep(meeting, tmp_path / "s", worlds=2).table
    sim = astray.load(meeting, worlds=2)
    sim.run()
    assert table["world"].tolist() == [0, 0, 1, 1]
    assert set(table["metric"]) == {"collisions"}
    assert table["last"].sum() == len(sim.collisions) > 0


def test_the_table_reads_back_from_csv_and_as_pandas(small: dict[str, Any], tmp_path: Path) -> None:
    found = sweep(small, tmp_path / "s", vary={"name": ["a", "b"], SLIP: [0.001, 1]}, worlds=2)
    with (tmp_path / "s" / "results.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "name", SLIP, "world", "group", "robot", "belief", "metric", "rms", "mean", "most", "last"
    ]  # fmt: skip
    assert [float(row["rms"]) for row in rows] == found.table["rms"].tolist()
    frame = found.to_pandas()
    assert frame.groupby(["name", SLIP]).size().tolist() == [4, 4, 4, 4]
    again = astray.read_sweep(tmp_path / "s")
    assert again.to_csv() == found.to_csv()
    assert again.summary() == found.summary()
    assert json.loads((tmp_path / "s" / "summary.json").read_text()) == found.summary()


def test_a_sweep_says_what_is_in_it_and_answers_a_wrong_column_with_the_right_ones(
    small: dict[str, Any], tmp_path: Path
) -> None:
    found = sweep(small, tmp_path / "s", vary={SLIP: [0.001, 0.02]})
    assert (found["rms"] == found.table["rms"]).all()
    assert f"over {SLIP}: 8 of 8 worlds of 2 cases; columns: {SLIP}, world, group" in repr(found)
    with pytest.raises(UnknownName, match=r"unknown column 'rmse'; did you mean 'rms'\?"):
        _ = found["rmse"]


@pytest.mark.parametrize(
    "vary", [{}, {SLIP: [0.001, 0.2, 1]}, {"name": ["a", "b"], SLIP: [0.001, 0.002]}]
)
def test_there_is_a_picture_of_numbers_words_and_nothing_varied(
    vary: dict[str, Any], small: dict[str, Any], tmp_path: Path
) -> None:
    figure = sweep(small, tmp_path / "s", vary=vary, worlds=2).plot()
    (axes,) = figure.axes
    assert axes.get_xscale() == ("log" if vary == {SLIP: [0.001, 0.2, 1]} else "linear")
    assert len(figure.legends[0].get_texts()) == (2 if "name" in vary else 1)


# Resuming.


def test_more_worlds_are_added_and_those_that_are_there_are_kept(
    small: dict[str, Any], tmp_path: Path
) -> None:
    reported: list[tuple[int, int]] = []
    sweep(small, tmp_path / "s", worlds=3)
    sweep(small, tmp_path / "s", worlds=5, progress=lambda *counts: reported.append(counts))
    assert reported[0] == (3, 5)
    assert reported[-1] == (5, 5)
    sweep(small, tmp_path / "at once", worlds=5)
    files = [(tmp_path / name / "results.csv").read_bytes() for name in ("s", "at once")]
    assert files[0] == files[1]


@pytest.mark.parametrize("workers", [0, 1])
def test_progress_moves_while_the_first_world_runs(
    small: dict[str, Any], tmp_path: Path, workers: int
) -> None:
    plan = make_plan({**small, "duration": 400.0 if workers else 40.0}, worlds=1)
    shares, phases, finished = [], [], [0]

    def look(activity: Activity) -> None:
        phases.append(activity.phase)
        if not finished[-1]:
            shares.append(activity.worlds)

    run_plan(
        plan,
        tmp_path / "s",
        workers=workers,
        progress=lambda done, total: finished.append(done),
        on_activity=look,
    )
    assert phases[0] == "starting"
    assert any(0.0 < share < 1.0 for share in shares), shares
    assert shares == sorted(shares)
    assert finished[-1] == 1


def test_another_plan_is_refused_with_what_differs_unless_it_is_to_be_overwritten(
    small: dict[str, Any], tmp_path: Path
) -> None:
    sweep(small, tmp_path / "s", vary={SLIP: [0.001]})
    with pytest.raises(WrongInput, match="seed: 11 there, 5 here"):
        sweep(small, tmp_path / "s", vary={SLIP: [0.001]}, seed=5)
    with pytest.raises(WrongInput, match=r"vary.*0\.001.* there, .*0\.002.* here"):
        sweep(small, tmp_path / "s", vary={SLIP: [0.002]})
    with pytest.raises(WrongInput, match="worlds: 4 there, 3 here"):
        sweep(small, tmp_path / "s", vary={SLIP: [0.001]}, worlds=3)
    with pytest.raises(WrongInput, match=r"robots\[0\].count: 2 there, 1 here"):
        sweep(small, tmp_path / "s", vary={SLIP: [0.001]}, set=["robots.rover.count=1"])
    again = sweep(small, tmp_path / "s", worlds=2, overwrite=True)
    assert len(again.table) == 4


def test_a_folder_of_something_else_is_refused_and_not_touched(
    small: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "thesis.tex").write_text("all of it")
    with pytest.raises(WrongInput, match="something else"):
        sweep(small, tmp_path, overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(WrongInput, match="no sweep"):
        astray.read_sweep(tmp_path)


@pytest.mark.parametrize("batch", [1, 3, 4])
def test_a_plugin_that_raises_in_one_world_leaves_the_others_alone(
    small: dict[str, Any], failing: Path, tmp_path: Path, batch: int
) -> None:
    small |= {"plugins": [str(failing)]}
    small["metrics"] = [{"kind": "failing"}]
    vary = {"metrics.failing.limit": [2.0, 0.5]}
    found = sweep(small, tmp_path / "s", vary=vary, batch=batch)
    assert found.done == {0: 4, 1: 3}
    ((task, why),) = found.failures
    assert (task.case, task.first, task.count) == (1, 2, 1)
    assert "'failing' failed in measure" in why
    assert "not world 2 (failing.py:9)" in why
    (reported,) = found.summary()["failures"]
    assert reported["worlds"] == [2, 2]
    assert sweep(small, tmp_path / "s", vary=vary).done == {0: 4, 1: 3}  # is tried again


def test_whichever_worlds_fail_all_others_are_kept(
    small: dict[str, Any], failing: Path, tmp_path: Path
) -> None:
    small |= {"plugins": [str(failing)], "metrics": [{"kind": "failing", "limit": -1.0}]}
    found = sweep(small, tmp_path / "s", worlds=20, batch=16)
    assert set(found.table["world"].tolist()) == {0, 1}
    assert [(task.first, task.count) for task, _ in found.failures] == [
        (w, 1) for w in range(2, 20)
    ]


# The command.


def test_the_command_prints_json_and_writes_the_files(tmp_path: Path) -> None:
    path = "robots.slippery.sensors.wheels.slip_density"
    line = f"sweep drift --vary {path}=0.001,0.01 --worlds 3 --duration 1 --workers 0 --out"
    done = CliRunner().invoke(commands, [*line.split(), str(tmp_path / "s"), "--json"])
    assert done.exit_code == 0, done.output
    reported = json.loads(done.stdout)
    assert [case["values"][path] for case in reported["cases"]] == [0.001, 0.01]
    assert reported == json.loads((tmp_path / "s" / "summary.json").read_text())
    written = {file.name for file in (tmp_path / "s").iterdir()}
    assert written >= {"results.sqlite", "results.csv", "summary.json", "summary.png"}
    shown = CliRunner().invoke(commands, [*line.split(), str(tmp_path / "s")])
    assert "against the first" in shown.stdout
    assert "the same" in shown.stdout


def test_the_command_fails_with_a_list_of_what_could_not_be_run(
    small: dict[str, Any], failing: Path, tmp_path: Path
) -> None:
    small |= {"plugins": [failing.name], "metrics": [{"kind": "failing", "limit": 0.1}]}
    (tmp_path / "s.yaml").write_text(json.dumps(small))
    arguments = [str(tmp_path / "s.yaml"), "--worlds", "3", "--workers", "0", "--quiet"]
    done = CliRunner().invoke(commands, ["sweep", *arguments, "--out", str(tmp_path / "out")])
    assert isinstance(done.exception, AstrayError)
    assert not isinstance(done.exception, WrongInput)
    assert "1 world could not be run" in str(done.exception)
    assert "world 2: " in str(done.exception)
    assert "not world 2" in str(done.exception)


def test_headings_are_as_short_as_tells_them_apart() -> None:
    assert short_names(["a.b.rate", "a.c.rate", "seed"]) == ["b.rate", "c.rate", "seed"]
