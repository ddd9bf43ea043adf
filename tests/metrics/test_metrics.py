"""Metrics against their definitions and against evo."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import astray
from astray.cli.run import print_summary
from astray.engine.evaluation.belief_evaluator import STATISTICS, accumulate_all
from astray.engine.run_summary import summary
from astray.numerics.statistics import student_t_95
from astray.plugin import KINDS
from astray.tables import table

METRICS = [
    {"kind": "position_error"},
    {"kind": "heading_error"},
    {"kind": "nees"},
    {"kind": "ate"},
    {"kind": "ate", "name": "aligned", "align": "se2"},
]


@pytest.fixture
def sim(rover: dict[str, Any]) -> astray.Sim:
    robot = {**rover, "rivals": [{"kind": "remote", "name": "frozen"}]}
    return astray.load({"dt": 0.02, "seed": 2, "robots": [robot], "metrics": METRICS}, worlds=4)


def test_they_agree_with_their_definitions(sim: astray.Sim) -> None:
    log = sim.run(20.0, log=0.02)
    group = log["rover"]
    truth, belief = group.truth, group.belief
    dx, dy = belief["x"] - truth["x"], belief["y"] - truth["y"]
    dyaw = (belief["yaw"] - truth["yaw"] + np.pi) % (2 * np.pi) - np.pi
    distance = np.hypot(dx, dy)
    assert np.allclose(group.metrics["position_error"]["belief"], distance, atol=1e-12)
    assert np.allclose(group.metrics["heading_error"]["belief"], np.abs(dyaw), atol=1e-12)
    running = np.sqrt(np.cumsum(distance**2, axis=0) / np.arange(1, len(distance) + 1)[:, None])
    assert np.allclose(group.metrics["ate"]["belief"], running, atol=1e-9)
    error = np.stack([dx, dy, dyaw], axis=-1)[-1]
    expected = np.einsum("ni,nij,nj->n", error, np.linalg.inv(belief["cov"][-1]), error)
    assert np.allclose(group.metrics["nees"]["belief"][-1], expected, rtol=1e-6)


def test_the_aligned_trajectory_error_is_the_best_over_all_turns_and_shifts(
    sim: astray.Sim,
) -> None:
    log = sim.run(20.0, log=0.02)
    group = log["rover"]
    p = group.belief["x"][:, 1] + 1j * group.belief["y"][:, 1]
    q = group.truth["x"][:, 1] + 1j * group.truth["y"][:, 1]
    turns = np.exp(1j * np.linspace(-0.5, 0.5, 20001))
    p0, q0 = p - p.mean(), q - q.mean()
    square = (np.abs(p0) ** 2).mean() + (np.abs(q0) ** 2).mean()
    best = np.sqrt((square - 2 * (turns * (p0 * q0.conj()).mean()).real).min())
    assert group.metrics["aligned"]["belief"][-1, 1] == pytest.approx(best, rel=1e-4)


def test_a_belief_without_covariance_has_no_nees(sim: astray.Sim) -> None:
    sim.run(1.0)
    evaluators = {(e.metric.name, e.subject): e for e in sim.robots["rover"].evaluators}
    assert evaluators["nees", "frozen"].statistics["count"].sum() == 0
    assert np.isnan(evaluators["nees", "frozen"].values).all()
    assert evaluators["nees", "belief"].statistics["count"].sum() > 0


def test_the_largest_of_values_below_zero_is_one_of_them() -> None:
    statistics = table(STATISTICS, 3)
    rows = np.arange(3)
    for values in ([-3.0, 2.0, np.nan], [-1.0, 5.0, np.nan], [-2.0, np.nan, np.nan]):
        accumulate_all(statistics, np.array(values), rows)
    assert statistics["most"].tolist() == [-1.0, 5.0, 0.0]
    assert statistics["count"].tolist() == [3, 2, 0]


@pytest.mark.parametrize(("metric", "flags"), [("ate", []), ("aligned", ["-a"])])
def test_trajectory_errors_agree_with_evo(
    metric: str, flags: list[str], sim: astray.Sim, tmp_path: Path
) -> None:
    pytest.importorskip("evo", reason="evo is a program of its own; the dev extra installs it")
    log = sim.run(20.0, log=0.02)
    sim.write(log, tmp_path / "run")
    files = [
        str(tmp_path / f"run/trajectories/rover-0.world1.{subject}.tum")
        for subject in ("truth", "belief")
    ]
    done = subprocess.run(
        [Path(sys.executable).with_name("evo_ape"), "tum", *files, *flags],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    rms = float(next(line.split()[1] for line in done.stdout.splitlines() if "rmse" in line))
    assert log["rover"].metrics[metric]["belief"][-1, 1] == pytest.approx(rms, abs=2e-6)


def test_rivals_are_compared_pairwise_with_an_interval(sim: astray.Sim) -> None:
    sim.run(20.0)
    found = summary(sim)["robots"]["rover"]["metrics"]["position_error"]
    versus = found["frozen"]["against_belief"]
    evaluators = {
        e.subject: e for e in sim.robots["rover"].evaluators if e.metric.name == "position_error"
    }
    rms = {
        subject: np.sqrt(e.statistics["squares"] / e.statistics["count"])
        for subject, e in evaluators.items()
    }
    difference = rms["frozen"] - rms["belief"]
    assert versus["rms_difference"] == pytest.approx(difference.mean())
    assert versus["low"] < difference.mean() < versus["high"]
    half = 3.1824 * difference.std(ddof=1) / 2.0  # Student's t for 3 degrees of freedom, 4 worlds
    assert versus["high"] - versus["rms_difference"] == pytest.approx(half, rel=1e-3)


def test_metrics_with_an_expected_mean_are_averaged_by_their_mean(
    sim: astray.Sim, capsys: pytest.CaptureFixture[str]
) -> None:
    means = {name for name, cls in KINDS["metric"].items() if cls.average == "mean"}  # type: ignore[attr-defined]
    assert means == {"nees", "nis", "contacts_nees"}
    sim.robots["rover"].believe(estimator="frozen", x=1.0, cov=np.eye(3))
    sim.run(20.0)
    found = summary(sim)["robots"]["rover"]["metrics"]["nees"]
    assert found["belief"]["average"] == "mean"
    evaluators = {e.subject: e for e in sim.robots["rover"].evaluators if e.metric.name == "nees"}
    mean = {k: e.statistics["total"] / e.statistics["count"] for k, e in evaluators.items()}
    versus = found["frozen"]["against_belief"]
    assert versus["mean_difference"] == pytest.approx((mean["frozen"] - mean["belief"]).mean())
    print_summary(sim, 1.0)
    (said,) = (line for line in capsys.readouterr().out.splitlines() if "odometry │ nees" in line)
    assert f"mean {found['belief']['mean']:.4g}" in said


@pytest.mark.parametrize("freedom", [1, 2, 3, 9, 99, 9999])
def test_the_interval_is_students(freedom: int) -> None:
    assert student_t_95(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-6)


def test_per_row_values_and_their_spread_are_in_the_summary(sim: astray.Sim) -> None:
    sim.run(5.0)
    found = summary(sim)["robots"]["rover"]["metrics"]["ate"]["belief"]
    assert [row["world"] for row in found["rows"]] == [0, 1, 2, 3]
    values = [row["rms"] for row in found["rows"]]
    assert found["rms_sd"] == pytest.approx(np.std(values, ddof=1))


def mean_error(sensors: list[dict[str, Any]], metric: dict[str, Any] | None = None) -> float:
    """The position error of a perfect fix that is a little late, of a robot at 1 m/s, m."""
    fix = {"kind": "ins", "rate": 2, "latency": 0.4, "position_walk": 0, "yaw_walk": 0}
    sure = dict.fromkeys(
        ("position_density", "yaw_density", "velocity_density", "rate_density"), 0.0
    )
    robot = {
        "name": "r",
        "autonomy": {"kind": "scripted", "steps": [{"lasts": 100, "vx": 1.0}]},
        "sensors": [{**fix, **sure}, *sensors],
        "estimator": {"kind": "trust"},
    }
    metric = {"kind": "position_error", **(metric or {})}
    sim = astray.load({"dt": 0.01, "robots": [robot], "metrics": [metric]})
    sim.run(4)
    found: float = astray.summary(sim)["robots"]["r"]["metrics"]["position_error"]["belief"]["rms"]
    return found


@pytest.mark.parametrize(
    "sensors",
    [
        [],
        [{"kind": "imu", "rate": 100}],
        [{"kind": "wheels", "rate": 10}, {"kind": "compass", "rate": 20, "latency": 0.7}],
    ],
)
def test_a_late_belief_is_compared_with_the_truth_of_its_stamp(
    sensors: list[dict[str, Any]],
) -> None:
    assert mean_error(sensors) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("rate", [1, 4, 50])
def test_a_late_belief_is_so_compared_by_a_metric_at_other_times(rate: float) -> None:
    # A reading of 0.5 s arrives at 0.9; before the first there is nothing but the start.
    metric = {"rate": rate, "offset": 1.0}
    assert mean_error([{"kind": "imu", "rate": 100}], metric) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("sensors", [[], [{"kind": "imu", "rate": 20}]])
@pytest.mark.parametrize("rate", [None, 5])
def test_a_late_belief_from_a_remote_estimator_is_so_compared(
    sensors: list[dict[str, Any]], rate: float | None
) -> None:
    robot = {
        "name": "r",
        "motion": {"kind": "integrator"},
        "autonomy": {"kind": "scripted", "steps": [{"lasts": 100, "vx": 1.0}]},
        "sensors": sensors,
        "estimator": {"kind": "remote"},
    }
    metric = {"kind": "position_error", "rate": rate, "offset": 1.0 if rate else 0.0}
    sim = astray.load({"dt": 0.05, "robots": [robot], "metrics": [metric]})
    r, positions = sim.robots["r"], [0.0]
    for time in sim.ticks(4):
        positions.append(float(r.truth["x"][0]))
        if len(positions) > 10:
            r.believe(x=positions[-11], y=0.0, yaw=0.0, stamp=time - 0.5)
    error = astray.summary(sim)["robots"]["r"]["metrics"]["position_error"]["belief"]
    assert error["rms"] == pytest.approx(0.0, abs=1e-9)
