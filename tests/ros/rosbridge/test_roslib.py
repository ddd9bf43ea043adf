"""A run served to roslib, the client of web pages, in Node; skipped where it is not installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from astray.ros.rosbridge import serving
from support.paths import PEERS
from support.rosbridge import load, tick_of, twin_log

PEER = PEERS / "roslib"
FOLDERS = (os.environ.get("ASTRAY_ROSLIB"), PEER)
"""Folders in which `npm install` may have been done for peers/roslib/package.json."""


def roslib() -> Path:
    """The module of the package."""
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    for folder in FOLDERS:
        found = folder and Path(folder) / "node_modules" / "roslib" / "dist" / "RosLib.js"
        if found and found.exists():
            return found
    pytest.skip("roslib is not installed: npm install in tests/peers/roslib, or set ASTRAY_ROSLIB")


def test_roslib_receives_topics_drives_the_run_and_calls_services() -> None:
    module, sim = roslib(), load()
    with serving(sim) as bridge:
        done = subprocess.run(
            ["node", str(PEER / "peer.mjs"), str(bridge.port)],
            env={**os.environ, "ROSLIB": str(module)},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        steps = sim.steps
    found: dict[str, Any] = json.loads(done.stdout)
    rover = twin_log(sim, steps)["rover"]
    for message in found["truth"]:
        state, pose = rover.truth[tick_of(message["header"]), 0], message["pose"]["pose"]
        assert (pose["position"]["x"], pose["position"]["y"]) == (state["x"], state["y"])
    for message in found["imu"]:
        reading = rover.readings["imu"][tick_of(message["header"]), 0]
        assert message["angular_velocity"]["z"] == reading["wz"]
    for message in found["belief"]:
        state, pose = rover.belief[tick_of(message["header"]), 0], message["pose"]["pose"]
        assert (pose["position"]["x"], pose["position"]["y"]) == (state["x"], state["y"])
        cov = np.reshape(message["pose"]["covariance"], (6, 6))[np.ix_((0, 1, 5), (0, 1, 5))]
        assert np.array_equal(cov, state["cov"])
    assert found["typed"]
    for message in found["scan"]:
        ranges = rover.bulk["scan"]["ranges"][tick_of(message["header"]), 0]
        got = [5.0 if r is None else r for r in message["ranges"]]
        assert got == pytest.approx(ranges.clip(0.0, 5.0), rel=1e-6)
    frames = {t["child_frame_id"] for message in found["tf"] for t in message["transforms"]}
    assert frames == {"base_link", "base_link_truth", "odom"}
    assert all(message["clock"]["nanosec"] % 10_000_000 == 0 for message in found["clock"])
    assert "/scan" in found["topics"]["topics"]
    assert "/spawn_entity" in found["services"]
    assert found["nodes"] == ["/astray"]
    assert found["paused"]["result"]["result"] == found["stepped"]["result"]["result"] == 1
    assert tick_of(found["after"]["state"]["header"]) == steps
    assert tick_of(found["before"]["state"]["header"]) == steps - 10
    assert found["after"]["state"]["twist"]["angular"]["z"] == pytest.approx(0.25)
    assert "no service /nothing" in found["failed"]
