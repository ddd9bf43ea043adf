"""Relative pose error: of segments, whatever the pose at their start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astray
from astray.metrics import Rpe
from astray.tables import ADDRESS, STATE, Array, table


def rpe(truth: Array, belief: Array, over: float) -> float:
    """The metric along a path of poses (n, 3)."""
    metric: Any = Rpe(over=over).attach(table(ADDRESS, 1), {}, 0.0, 0, "")
    rows, out = np.arange(1), np.zeros(1)
    metric.begin(rows)
    states = [table(STATE, 1), table(STATE, 1)]
    for poses in zip(truth, belief, strict=True):
        for state, pose in zip(states, poses, strict=True):
            state["x"], state["y"], state["yaw"] = pose
        metric.measure(rows, states[0], states[1], out)
    return float(out[0])


def matrix(pose: Array) -> Array:
    s, c = np.sin(pose[2]), np.cos(pose[2])
    return np.array([[c, -s, pose[0]], [s, c, pose[1]], [0.0, 0.0, 1.0]])


def path(seed: int, n: int = 400) -> Array:
    rng = np.random.default_rng(seed)
    yaw = np.cumsum(rng.normal(0.0, 0.05, n))
    return np.stack([np.cumsum(0.1 * np.cos(yaw)), np.cumsum(0.1 * np.sin(yaw)), yaw], axis=1)


def brute_force(truth: Array, belief: Array, over: float) -> float:
    squares, first, length = [], 0, 0.0
    for k in range(1, len(truth)):
        length += np.hypot(*(truth[k, :2] - truth[k - 1, :2]))
        if length >= over:
            true = np.linalg.solve(matrix(truth[first]), matrix(truth[k]))
            believed = np.linalg.solve(matrix(belief[first]), matrix(belief[k]))
            error = np.linalg.solve(true, believed)
            squares.append(error[0, 2] ** 2 + error[1, 2] ** 2)
            first, length = k, 0.0
    return float(np.sqrt(np.mean(squares)))


@pytest.mark.parametrize("over", [1.05, 7.55])
def test_it_is_that_of_brute_force_with_matrices(over: float) -> None:
    truth = path(1)
    belief = truth + np.cumsum(np.random.default_rng(2).normal(0.0, 0.01, truth.shape), axis=0)
    assert rpe(truth, belief, over) == pytest.approx(brute_force(truth, belief, over), rel=1e-9)


def test_a_belief_that_is_shifted_and_rotated_as_a_whole_has_none() -> None:
    truth = path(3)
    transform = matrix(np.array([5.0, -2.0, 1.1]))
    belief = np.array([[*(transform @ matrix(p))[:2, 2], p[2] + 1.1] for p in truth])
    assert rpe(truth, belief, 2.05) == pytest.approx(0.0, abs=1e-9)


def test_before_the_first_segment_has_ended_there_is_none() -> None:
    truth = path(4, 20)
    assert np.isnan(rpe(truth, truth, 100.0))


def test_relative_pose_errors_agree_with_evo(tmp_path: Path) -> None:
    pytest.importorskip("evo", reason="evo is a program of its own; the dev extra installs it")
    robot = {
        "name": "rover",
        "sensors": [{"kind": "wheels", "slip_density": 0.02}],
        "estimator": {"kind": "odometry"},
        "autonomy": {"kind": "scripted", "steps": [{"lasts": 99, "vx": 0.5, "wz": 0.2}]},
    }
    metrics = [{"kind": "rpe", "name": name, "over": over} for name, over in (("a", 1), ("b", 3))]
    sim = astray.load({"dt": 0.02, "seed": 4, "robots": [robot], "metrics": metrics})
    log = sim.run(30.0, log=0.02)
    sim.write(log, tmp_path / "run")
    files = [
        str(tmp_path / f"run/trajectories/rover-0.world0.{subject}.tum")
        for subject in ("truth", "belief")
    ]
    flags = ["--delta_unit", "m", "--pairs_from_reference", "--pose_relation", "trans_part"]
    for name, over in (("a", "1"), ("b", "3")):
        done = subprocess.run(
            [Path(sys.executable).with_name("evo_rpe"), "tum", *files, "--delta", over, *flags],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        rms = float(next(line.split()[1] for line in done.stdout.splitlines() if "rmse" in line))
        assert log["rover"].metrics[name]["belief"][-1, 0] == pytest.approx(rms, abs=2e-6)
        assert rms > 0.01
