"""Monte Carlo localisation in the bundled office: tracking, global, and after a kidnapping."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import astray
from astray.errors import PluginError, ScenarioError
from astray.robot.estimators import Particle
from astray.robot.motion import Differential, Unicycle
from astray.robot.sensors import Lidar, Wheels
from support.logs import carmen_text, course
from support.tables import same

WHEELS = {"kind": "wheels", "rate": 50, "slip_density": 0.01, "radius_sd": 0.01}
SCAN = {"kind": "lidar", "name": "scan", "rate": 5, "rays": 180, "max_range": 10.0, "sigma": 0.02}


def scenario(**changes: Any) -> dict[str, Any]:
    """A robot in the office; `estimator` and `scan` add to what these say, others replace."""
    robot = {
        "name": "rover",
        "footprint": {"radius": 0.17},
        "start": {"x": 2.0, "y": 2.0, "spread": 0.3, "yaw_spread": 3.0},
        "sensors": [WHEELS, {**SCAN, **changes.pop("scan", {})}],
        "estimator": {"kind": "particle", **changes.pop("estimator", {})},
        "rivals": [{"kind": "odometry"}],
        "autonomy": {
            "kind": "navigate",
            "rate": 10,
            "goals": ["lab", "office 1", "home"],
            "loop": True,
            "speed": 0.4,
        },
        **changes,
    }
    metrics = [{"kind": "position_error"}, {"kind": "heading_error"}, {"kind": "nees"}]
    world = {"map": "office"}
    return {"dt": 0.02, "seed": 4, "world": world, "robots": [robot], "metrics": metrics}


def metrics_of(sim: Any, subject: str = "belief") -> dict[str, Any]:
    found = astray.summary(sim)["robots"]["rover"]["metrics"]
    return {metric: subjects[subject] for metric, subjects in found.items()}


def position_error(sim: Any) -> Any:
    """The distance of belief and truth now, (rows,) m."""
    rover = sim.robots["rover"]
    return np.hypot(rover.belief["x"] - rover.truth["x"], rover.belief["y"] - rover.truth["y"])


# Tracking.


def test_scans_keep_the_belief_within_centimetres_where_odometry_diverges() -> None:
    sim = astray.load(scenario(), worlds=8)
    sim.run(60)
    found, odometry = metrics_of(sim), metrics_of(sim, "odometry")
    assert odometry["position_error"]["rms"] > 0.5
    assert found["position_error"]["rms"] < 0.02
    assert found["position_error"]["most"] < 0.1
    assert found["heading_error"]["rms"] < 0.03


def test_the_covariance_is_underconfident_within_bounds() -> None:
    sim = astray.load(scenario(), worlds=8)
    sim.run(60)
    assert 0.05 < metrics_of(sim)["nees"]["mean"] < 3.0


def test_a_filter_that_takes_its_wheels_for_perfect_is_overconfident() -> None:
    densities = ("slip_density", "shift_density", "veer_density", "turn_density")
    sim = astray.load(scenario(estimator=dict.fromkeys(densities, 0.0)), worlds=8)
    sim.run(60)
    assert metrics_of(sim)["nees"]["mean"] > 6.0


@pytest.mark.parametrize("scan", [{"latency": 0.2}, {"sweep": 0.2}], ids=["late", "swept"])
def test_late_and_rotating_scans_are_compensated(scan: dict[str, Any]) -> None:
    sim = astray.load(scenario(scan=scan), worlds=8)
    sim.run(60)
    assert metrics_of(sim)["position_error"]["rms"] < 0.03


def test_further_scans_at_rest_change_nothing() -> None:
    sim = astray.load(scenario(autonomy={"kind": "idle"}), worlds=4)
    sim.run(2)
    before = sim.robots["rover"].belief["cov"].copy()
    sim.run(4)
    assert same(sim.robots["rover"].belief["cov"], before)


# Global localisation and kidnapping.


def test_without_a_start_it_localises_itself_on_the_map() -> None:
    sim = astray.load(
        scenario(
            estimator={"initial": "global"},
            start={"clearance": 0.3, "yaw_spread": 3.0},
            autonomy={"kind": "wander"},
        ),
        worlds=10,
    )
    rover = sim.robots["rover"]
    assert (rover.belief["cov"][:, 0, 0] > 0.0).all()
    sim.run(30)
    assert (position_error(sim) < 0.1).sum() >= 9


def test_before_its_first_scan_the_covariance_is_that_of_an_unknown_pose() -> None:
    late = {"estimator": {"initial": "global"}, "scan": {"offset": 0.4}}
    sim = astray.load(scenario(**late), worlds=2)
    sim.run(0.2)
    belief = sim.robots["rover"].belief
    assert (belief["x"] != sim.robots["rover"].truth["x"]).all()
    assert (belief["cov"][:, 0, 0] >= 100.0**2).all()
    sim.run(1.0)
    assert (belief["cov"][:, 0, 0] < 100.0).all()


def test_a_kidnapped_robot_localises_itself_again() -> None:
    sim = astray.load(scenario(autonomy={"kind": "wander"}), worlds=10)
    sim.run(20)
    sim.robots["rover"].place(x=16.7, y=5.6, yaw=1.0)
    sim.run(0.2)
    assert (position_error(sim) > 2.0).all()
    sim.run(60)
    assert (position_error(sim) < 0.1).sum() >= 9


def test_without_injected_particles_it_would_stay_lost() -> None:
    sim = astray.load(scenario(estimator={"doubt": 1e-6}, autonomy={"kind": "wander"}), worlds=10)
    sim.run(20)
    sim.robots["rover"].place(x=16.7, y=5.6, yaw=1.0)
    sim.run(60)
    assert (position_error(sim) > 1.0).sum() >= 8


def test_particles_are_drawn_around_a_belief_that_is_set_from_outside() -> None:
    sim = astray.load(scenario(), worlds=3)
    sim.run(5)
    rover = sim.robots["rover"]
    rover.believe(x=12.0, y=9.0, yaw=0.5)
    sim.step()
    particles = rover.estimator.arrays["cloud"]
    assert particles[..., 0].mean(axis=1) == pytest.approx(12.0, abs=0.1)
    assert np.abs(particles[..., 1] - 9.0).max() < 1.0


# The same in any batch, after a save, on a map that is shifted.


def test_injection_does_the_same_alone_as_in_a_batch() -> None:
    lost = scenario(estimator={"initial": "global"}, autonomy={"kind": "wander"})
    batch, alone = astray.load(lost, worlds=3), astray.load(lost, worlds=[2])
    for sim in (batch, alone):
        sim.run(4)
        sim.robots["rover"].place(x=16.7, y=5.6, yaw=1.0)
        sim.run(6)
    row = batch.robots["rover"].address["world"] == 2
    assert same(batch.robots["rover"].belief[row], alone.robots["rover"].belief)
    particles = [sim.robots["rover"].estimator.arrays["cloud"] for sim in (batch, alone)]
    assert particles[0][row].tobytes() == particles[1].tobytes()


def test_threads_change_nothing() -> None:
    one, four = (astray.load(scenario(), worlds=32, threads=t) for t in (1, 4))
    for sim in (one, four):
        sim.run(3)
    assert same(one.robots["rover"].belief, four.robots["rover"].belief)


def test_a_saved_run_continues_with_the_same_bytes(tmp_path: Path) -> None:
    sim = astray.load(scenario(autonomy={"kind": "wander"}), worlds=2)
    sim.run(5)
    sim.save(tmp_path / "saved.npz")
    resumed = astray.resume(tmp_path / "saved.npz")
    for each in (sim, resumed):
        each.robots["rover"].place(x=16.7, y=5.6, yaw=1.0)
        each.run(6)
    assert same(sim.robots["rover"].belief, resumed.robots["rover"].belief)


def test_the_belief_follows_the_map_that_is_known_even_if_it_is_shifted() -> None:
    shifted = scenario(map={"file": "office", "shift": [0.5, 0.0, 0.0]})
    sim = astray.load(shifted, worlds=4)
    sim.run(20)
    rover = sim.robots["rover"]
    assert rover.belief["x"] - rover.truth["x"] == pytest.approx(0.5, abs=0.05)
    assert rover.belief["y"] == pytest.approx(rover.truth["y"], abs=0.05)


# What is refused.


def test_a_robot_without_a_scanner_or_wheels_is_refused() -> None:
    with pytest.raises(PluginError, match="particle needs a sensor that measures start"):
        Particle().alone(Differential(), Wheels())
    with pytest.raises(PluginError, match="particle needs a sensor that measures count"):
        Particle().alone(Differential(), Lidar())
    with pytest.raises(PluginError, match="has no wheel kinematics for motion 'unicycle'"):
        Particle().alone(Unicycle(), Wheels(), Lidar())


@pytest.mark.parametrize("wrong", [{"particles": 1}, {"beams": 2}, {"temper": 0}, {"initial": "x"}])
def test_impossible_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match=next(iter(wrong))):
        astray.load(scenario(estimator=wrong))


# The same bytes without the compiler.

DIGEST = """
import hashlib, sys
from pathlib import Path
from astray.robot.estimators import Particle
from astray.datasets import read_logs, run_on_log
log = read_logs(Path(sys.argv[1]))[0]
for start in ("told", "global"):
    lone = Particle(particles=40, tries=20, initial=start)
    made = run_on_log(log, lone, start_known=start == "told").beliefs
    print(hashlib.blake2b(made.tobytes()).hexdigest())
"""


def test_compiled_and_plain_kernels_give_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "room.log").write_text(carmen_text(course(12), walls=2.5, rays=24))
    digests = [
        subprocess.run(
            [sys.executable, "-c", DIGEST, str(tmp_path / "room.log")],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "ASTRAY_JIT": jit},
        ).stdout
        for jit in ("1", "0")
    ]
    assert digests[0] == digests[1]
    assert len(set(digests[0].split())) == 2
