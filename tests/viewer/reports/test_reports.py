"""Reports: their figures are right, their page needs nothing else, both sources agree."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import chi2

import astray
from astray.cli import astray as commands
from astray.cli.report import commands as commands_of
from astray.cli.report import write_report
from astray.errors import WrongInput
from astray.numerics.statistics import chi_square_cdf, chi_square_quantile, nees_band
from astray.viewer.reports.figures import draw_paths
from astray.viewer.reports.report_data import ReportData, compute_metrics, read_report_data

SCENARIO: dict[str, Any] = {
    "seed": 2,
    "dt": 0.01,
    "duration": 5,
    "world": {"map": {"walls": [[[-1, -2], [4, -2], [4, 3], [-1, 3], [-1, -2]]]}},
    "robots": [
        {
            "name": "rover",
            "count": 3,
            "start": {"spread": 0.2},
            "sensors": [
                {"kind": "wheels", "rate": 50, "slip_density": 0.01, "radius_sd": 0.002},
                {"kind": "imu", "rate": 100, "grade": "consumer"},
            ],
            "estimator": {"kind": "odometry"},
            "rivals": [{"kind": "inertial"}],
            "autonomy": {"kind": "waypoints", "points": [[2, 0], [2, 1], [0, 1]], "loop": True},
        }
    ],
    "metrics": [{"kind": "position_error"}, {"kind": "nees"}, {"kind": "heading_error"}],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run in it, and the same run recorded."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "this & that.yaml").write_text(json.dumps(SCENARIO), encoding="utf-8")
    arguments = ["run", str(folder / "this & that.yaml"), "--log", "0.02", "--quiet"]
    arguments += ["--out", str(folder / "run"), "--record", str(folder / "run.mcap")]
    done = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return folder


@pytest.mark.parametrize("source", ["run", "run.mcap"])
def test_the_figures_are_those_that_the_run_itself_measured(run: Path, source: str) -> None:
    measured = json.loads((run / "run" / "summary.json").read_text(encoding="utf-8"))
    metrics = measured["robots"]["rover"]["metrics"]
    rows = [
        row for row in compute_metrics(read_report_data(run / source)) if row.belief == "odometry"
    ]
    assert [row.robot for row in rows] == ["rover_0", "rover_1", "rover_2"]
    for row, error in zip(rows, metrics["position_error"]["belief"]["rows"], strict=True):
        assert row.rmse == pytest.approx(error["rms"], rel=0.01)
        assert row.final == pytest.approx(error["last"], abs=1e-6)
        assert row.largest == pytest.approx(error["most"], rel=0.02)
    mean = np.mean([row.nees for row in rows])
    assert mean == pytest.approx(metrics["nees"]["belief"]["mean"], rel=0.05)


def test_folder_and_recording_give_the_same_data(run: Path) -> None:
    logged, recorded = read_report_data(run / "run"), read_report_data(run / "run.mcap")
    assert (logged.name, logged.seed, logged.duration) == (
        recorded.name,
        recorded.seed,
        recorded.duration,
    )
    for one, other in zip(compute_metrics(logged), compute_metrics(recorded), strict=True):
        assert (one.robot, one.belief) == (other.robot, other.belief)
        assert one.rmse == pytest.approx(other.rmse, rel=1e-3)


def test_a_series_has_the_bounds_that_the_belief_gave(run: Path) -> None:
    series = next(s for s in read_report_data(run / "run.mcap").series if s.subject == "belief")
    late = series.time > 1.0
    np.testing.assert_allclose(
        series.sigmas[late] ** 2, series.belief["cov"][late][:, range(3), range(3)]
    )
    apart = np.hypot(series.errors[:, 0], series.errors[:, 1])
    np.testing.assert_allclose(apart, series.distance)


@pytest.fixture(scope="module")
def report(run: Path) -> Path:
    write_report(run / "run.mcap", out=run / "report", quiet=True)
    return run / "report"


def test_the_page_is_whole_by_itself(report: Path) -> None:
    page = (report / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    links = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"')\s>]+)""", page)
    assert links
    assert all(link.startswith("data:image/png;base64,") for link in links)
    assert "://" not in re.sub(r"data:[^\"]+", "", page)


def test_names_from_a_scenario_are_text_on_the_page(report: Path) -> None:
    page = (report / "report.html").read_text(encoding="utf-8")
    assert "<h1>this &amp; that: truth and belief</h1>" in page


def test_the_paths_of_many_robots_are_faint_and_their_legend_is_not(run: Path) -> None:
    data = read_report_data(run / "run")
    data.series *= 20  # 60 robots
    (axes,) = draw_paths(data).axes
    legend = axes.get_legend()
    assert legend is not None
    named = [line for line in axes.lines if str(line.get_label()).startswith("rover")]
    assert {line.get_alpha() for line in named} == {0.15}
    assert {line.get_alpha() for line in legend.get_lines()} == {1.0}


def test_figures_are_there_as_png_and_pdf(report: Path) -> None:
    for name in ("paths", "errors", "distance", "nees", "histogram"):
        assert (report / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (report / f"{name}.pdf").read_bytes().startswith(b"%PDF")


def test_the_table_is_there_in_full(report: Path, run: Path) -> None:
    rows = list(csv.DictReader((report / "metrics.csv").open(encoding="utf-8")))
    metrics = compute_metrics(read_report_data(run / "run.mcap"))
    assert [float(row["rmse"]) for row in rows] == [row.rmse for row in metrics]
    assert rows[1]["nees"] == ""  # the inertial rival has no covariance


def test_the_command_on_the_page_repeats_the_run(report: Path, run: Path, tmp_path: Path) -> None:
    page = (report / "report.html").read_text(encoding="utf-8")
    command = re.search(r"<pre>(astray run .+)", page)
    assert command is not None
    arguments = command[1].replace("scenario.yaml", str(report / "scenario.yaml")).split()[1:]
    arguments[arguments.index("--record") + 1] = str(tmp_path / "again.mcap")
    done = CliRunner().invoke(commands, [*arguments, "--quiet"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    first, again = (astray.read_recording(p) for p in (run / "run.mcap", tmp_path / "again.mcap"))
    assert first.robots["rover_2"].truth.tobytes() == again.robots["rover_2"].truth.tobytes()


@pytest.mark.parametrize("worlds", [[0], [2, 5]])
def test_a_run_is_repeated_to_the_last_digit_of_its_duration(worlds: list[int]) -> None:
    for duration, text in ((1234.5675, "1234.5675"), (20.0, "20"), (1e-7, "0.0000001")):
        data = ReportData("drift", 1, worlds, "0", duration, "", [], [])
        arguments = " ".join(commands_of(data))
        assert f"--duration {text} " in arguments or f"sim.run({text})" in arguments


def test_several_groups_and_worlds_and_robots_that_believe_the_truth(tmp_path: Path) -> None:
    robots = [SCENARIO["robots"][0] | {"count": 1}, {"name": "still"}]
    sim = astray.load({**SCENARIO, "robots": robots}, worlds=[2, 5])
    with astray.record(sim, tmp_path / "run.mcap"):
        sim.run(1.0)
    write_report(tmp_path / "run.mcap", quiet=True)
    folder = tmp_path / "run-report"
    assert (folder / "errors-rover.pdf").exists()
    assert "worlds=[2, 5]" in (folder / "report.html").read_text(encoding="utf-8")
    metrics = compute_metrics(read_report_data(tmp_path / "run.mcap"))
    assert {row.robot for row in metrics} >= {"world_5/rover", "world_2/still"}


def test_a_report_that_is_there_is_kept(report: Path, run: Path) -> None:
    with pytest.raises(WrongInput, match="earlier report"):
        write_report(run / "run.mcap", out=report)
    with pytest.raises(WrongInput, match="something else"):
        write_report(run / "run.mcap", out=run / "run")


def test_what_holds_no_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(WrongInput, match="holds no run"):
        write_report(tmp_path / "empty")
    with pytest.raises(WrongInput, match="no such file"):
        write_report(tmp_path / "none.mcap")


@pytest.mark.parametrize("freedom", [1, 3, 9, 60, 300, 3000])
def test_chi_square_is_that_of_scipy(freedom: int) -> None:
    for probability in (0.025, 0.5, 0.975, 0.999):
        point = chi2.ppf(probability, freedom)
        assert chi_square_cdf(point, freedom) == pytest.approx(probability, abs=1e-9)
        assert chi_square_quantile(probability, freedom) == pytest.approx(point, rel=1e-7)


def test_the_band_narrows_with_the_number_of_robots() -> None:
    low, high = nees_band(1)
    assert (low, high) == pytest.approx((0.2158, 9.3484), rel=1e-3)
    assert nees_band(20)[0] > 2.0
    assert nees_band(20)[1] < 4.5
