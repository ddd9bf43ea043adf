"""`astray score`, and the figures that the estimators reach on real logs, where those are."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from astray.cli import astray as commands
from astray.cli import main
from astray.cli.score import is_localised
from astray.datasets import compare, read_logs, run_on_log, score, withhold
from astray.errors import WrongInput
from astray.robot.estimators import Ekf, Odometry, Particle
from support.logs import carmen_text, course, real

CARMEN = ("intel", "aces", "freiburg-101")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(commands, ["score", *arguments], catch_exceptions=False)


def scored(*arguments: str) -> Any:
    found = run(*arguments, "--json", "--quiet")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


# The command.


def test_every_robot_has_a_line(mrclam: Path) -> None:
    for part in ("Odometry", "Measurement", "Groundtruth"):
        copy = (mrclam / f"Robot4_{part}.dat").read_bytes()
        (mrclam / f"Robot5_{part}.dat").write_bytes(copy)
    told = scored(str(mrclam), "--estimator", "odometry")
    assert [log["log"] for log in told["logs"]] == ["robot 4", "robot 5"]
    first = told["logs"][0]["mean"]["position_rmse"]
    assert told["mean"]["position_rmse"] == pytest.approx(first)
    shown = run(str(mrclam), "--estimator", "odometry").output
    assert "robot 5" in shown
    assert "mean" in shown
    assert f"{first:.3f}" in shown


def test_what_a_reference_cannot_tell_is_left_open(victoria: Path) -> None:
    told = scored(str(victoria), "--estimator", "odometry")["logs"][0]
    assert told["mean"]["heading_rmse"] is None
    assert told["mean"]["nees"] is None
    assert told["withheld"]["windows"] > 3
    assert told["withheld"]["median"] < 0.1  # odometry is perfect here
    assert "without GPS for 30 s" in run(str(victoria), "--estimator", "odometry").output


def test_made_up_odometry_is_made_up_for_ten_seeds(tmp_path: Path) -> None:
    (tmp_path / "room.log").write_text(carmen_text(course(), rays=90))
    told = scored(str(tmp_path / "room.log"), "--estimator", "odometry", "--seed", "3")
    errors = [one["position_rmse"] for one in told["logs"][0]["runs"]]
    assert len(set(errors)) == 10
    assert told["logs"][0]["worst"] == max(errors)
    assert "global_start" not in told["logs"][0]
    again = scored(str(tmp_path / "room.log"), "--estimator", "odometry", "--seed", "4")
    assert [one["position_rmse"] for one in again["logs"][0]["runs"]][:9] == errors[1:]


def test_a_picture_shows_truth_and_belief(mrclam: Path, tmp_path: Path) -> None:
    goal = tmp_path / "new" / "picture.png"
    assert run(str(mrclam), "--estimator", "odometry", "--plot", str(goal)).exit_code == 0
    assert goal.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--estimator", "odometri"], "unknown estimator 'odometri'; did you mean 'odometry'?"),
        (["--estimator", "remote"], "'remote' runs in another process and cannot be run on a log"),
        (["--estimator", "particle"], "particle needs a sensor that measures start"),
        (["--estimator", "odometry", "--plot", "x.txt"], "x.txt: a picture is one of .png"),
    ],
)
def test_a_wrong_wish_is_refused_without_a_traceback(
    mrclam: Path,
    arguments: list[str],
    says: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.argv", ["astray", "score", str(mrclam), *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert says in capsys.readouterr().err


def test_an_estimator_of_ones_own_is_scored(mrclam: Path) -> None:
    own = "from astray.robot.estimators import Odometry\nclass Mine(Odometry, kind='mine'): pass\n"
    (mrclam / "mine.py").write_text(own)
    command = [sys.executable, "-m", "astray", "score", ".", "--estimator", "mine"]
    found = subprocess.run(  # elsewhere: no other test is to know this kind
        [*command, "--plugins", "mine.py", "--json", "--quiet"],
        cwd=mrclam,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    built_in = scored(str(mrclam), "--estimator", "odometry")["logs"]
    error = json.loads(found.stdout)["logs"][0]["mean"]["position_rmse"]
    assert error == built_in[0]["mean"]["position_rmse"]


def test_an_estimator_that_lives_elsewhere_is_not_offered() -> None:
    with pytest.raises(WrongInput) as refused:
        run("nowhere", "--estimator", "remotes")
    assert "odometry" in str(refused.value)
    assert "remote" not in str(refused.value).replace("'remotes'", "")


def test_the_score_is_that_of_the_definitions(mrclam: Path) -> None:
    result = run_on_log(read_logs(mrclam)[0], Odometry())
    found, told = compare(result), score(result)
    apart = np.hypot(found.belief["x"] - found.truth["x"], found.belief["y"] - found.truth["y"])
    assert told.position_rmse == pytest.approx(math.sqrt((apart**2).mean()))
    assert told.final == pytest.approx(apart[-1])
    assert told.most == pytest.approx(apart.max())
    errors = np.stack([found.belief[k] - found.truth[k] for k in ("x", "y", "yaw")], axis=1)
    errors[:, 2] = np.arctan2(np.sin(errors[:, 2]), np.cos(errors[:, 2]))
    squares = np.einsum("ni,nij,nj->n", errors, np.linalg.inv(found.belief["cov"]), errors)
    assert told.nees == pytest.approx(squares.mean(), rel=1e-6)


# Real logs: the figures of docs/howto/logs.md.


def test_odometry_alone_goes_astray_in_victoria_park_as_it_is_known_to() -> None:
    log = read_logs(real("victoria"))[0]
    found = score(run_on_log(log, Odometry()))
    assert found.position_rmse == pytest.approx(148.0, abs=3.0)
    assert found.ate == pytest.approx(93.0, abs=3.0)


def test_half_a_minute_without_gps_in_victoria_park() -> None:
    found = withhold(read_logs(real("victoria"))[0], Ekf())
    assert len(found.errors) >= 30
    assert found.median <= 3.4


def test_beacons_keep_the_robots_of_mrclam_within_decimetres() -> None:
    scores = [score(run_on_log(log, Ekf())) for log in read_logs(real("mrclam7"))]
    assert np.mean([one.position_rmse for one in scores]) <= 0.17
    assert np.mean([one.nees for one in scores]) < 9.0


@pytest.mark.parametrize("name", CARMEN)
def test_scans_keep_the_robots_of_carmen_within_centimetres_for_every_seed(name: str) -> None:
    log = read_logs(real(f"carmen/{name}-corrected.log.gz"))[0]
    scores = [score(run_on_log(log.with_seed(s), Particle(), seed=s)) for s in range(10)]
    assert max(one.position_rmse for one in scores) <= 0.06
    assert max(one.most for one in scores) < 1.0  # none diverges, not even for a while
    assert 0.3 < np.mean([one.nees for one in scores]) < 3.0


@pytest.mark.parametrize("name", CARMEN)
def test_robots_of_carmen_that_are_told_nothing_find_themselves(name: str) -> None:
    log = read_logs(real(f"carmen/{name}-corrected.log.gz"))[0]
    lost = Particle(initial="global")
    runs = [run_on_log(log.with_seed(s), lost, seed=s, start_known=False) for s in range(10)]
    assert sum(is_localised(one) for one in runs) >= 9
