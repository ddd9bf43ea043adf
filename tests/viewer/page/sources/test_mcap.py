"""A recording is shown as it was, also by a program that did not record it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import astray
from astray.errors import AstrayError
from astray.viewer.page.sources.mcap import read_recorded
from astray.viewer.page.sources.run_folder import read_folder

SCENARIO = """
duration: 4
seed: 3
world: {map: office}
robots:
  - name: rover
    count: 2
    capacity: 3
    start: {x: 8.0, y: 4.0, yaw: 1.57, spread: 0.2}
    footprint: {radius: 0.2}
    sensors:
      - {kind: lidar, name: scan, rate: 5, rays: 36, max_range: 8}
      - {kind: wheels, rate: 50, slip_density: 0.004}
      - {kind: bumper, name: bumper, rate: 10}
    estimator: {kind: odometry}
    autonomy: {kind: wander}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same run twice: written and recorded."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "x.yaml").write_text(SCENARIO)
    command = ["run", "x.yaml", "--out", "out", "--log", "0.02", "--record", "run.mcap", "--quiet"]
    subprocess.run([sys.executable, "-m", "astray", *command], cwd=folder, check=True, timeout=300)
    return folder


def test_a_recording_shows_the_same_as_the_folder_of_the_run(run: Path) -> None:
    written, recorded = read_folder(run / "out"), read_recorded(run / "run.mcap")
    assert recorded.scene["groups"][0]["name"] == "rover"
    assert recorded.scene["map"] == written.scene["map"]
    times, here, there = np.intersect1d(
        np.round(recorded.times, 6), np.round(written.times, 6), return_indices=True
    )
    assert len(times) == 201
    assert recorded.robots.shape[1:] == written.robots.shape[1:] == (3, 9)
    np.testing.assert_allclose(
        recorded.robots[here][:, :2, :6], written.robots[there][:, :2, :6], atol=1e-5
    )
    assert (recorded.robots[here][:, :, 6] == written.robots[there][:, :, 6]).all()
    np.testing.assert_allclose(
        recorded.beliefs[here][:, :2], written.beliefs[there][:, :2], atol=1e-5
    )


def test_scans_are_those_that_were_taken(run: Path) -> None:
    recorded = read_recorded(run / "run.mcap")
    first = next(shown for shown in recorded.readings if shown.robot == 0)
    assert first.numbers.shape == (len(recorded.times), 36)
    read = astray.read_recording(run / "run.mcap").robots["rover_0"].readings["scan"]
    last = np.nan_to_num(read.arrays["ranges"][-1], posinf=0.0, neginf=0.0)
    np.testing.assert_allclose(first.numbers[-1], last, rtol=1e-6)


@pytest.mark.parametrize("worlds", [None, [0]])
def test_the_episodes_of_a_world_are_shown_one_after_the_other(
    worlds: list[int] | None, tmp_path: Path
) -> None:
    robot = {
        "name": "rover",
        "footprint": {"radius": 0.2},
        "sensors": [{"kind": "wheels"}, {"kind": "lidar", "name": "scan", "rate": 10, "rays": 4}],
        "estimator": {"kind": "odometry"},
    }
    wall = {"map": {"walls": [[[3, -9], [3, 9]]]}}
    sim = astray.load({"dt": 0.01, "world": wall, "robots": [robot]})
    with astray.record(sim, tmp_path / "run.mcap"):
        sim.robots["rover"].drive(1.0)
        sim.run(4.0)
        sim.reset(worlds=worlds)
        sim.robots["rover"].drive(-1.0)
        sim.run(2.0)
    shown = read_recorded(tmp_path / "run.mcap")
    assert (shown.times[0], shown.times[-1]) == (0.0, 6.0)
    assert (shown.robots[:, 0, 6] > 0).all()
    at = np.searchsorted(shown.times, [2.0, 3.98, 4.5, 6.0])
    assert shown.robots[at, 0, 0] == pytest.approx([1.5, 2.8, -0.12, -1.5], abs=0.02)
    assert shown.beliefs[at, 0, 0] == pytest.approx([1.5, 2.8, -0.12, -1.5], abs=0.1)
    assert shown.beliefs[at, 0, 3] == pytest.approx(0.0, abs=0.02)
    assert shown.readings[0].numbers[at, 2] == pytest.approx([1.5, 0.2, 3.1, 4.5], abs=0.2)
    assert [hit[0] for hit in shown.collisions] == pytest.approx([3.3], abs=0.1)
    driven = [event["time"] for event in shown.events if event["kind"] == "command"]
    assert driven == pytest.approx([0.0, 4.0])


def test_a_program_that_did_not_record_it_makes_one_file_of_it(run: Path) -> None:
    command = ["replay", "run.mcap", "--html", "run.html"]
    done = subprocess.run(
        [sys.executable, "-m", "astray", *command],
        cwd=run,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    page = (run / "run.html").read_text(encoding="utf-8")
    assert "<canvas" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_file_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.mcap").write_bytes(b"nothing of the kind")
    with pytest.raises(AstrayError, match="not an MCAP file"):
        read_recorded(tmp_path / "x.mcap")
