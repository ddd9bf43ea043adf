"""A filter in another process, fed over a pipe tick by tick, is the same filter."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import astray

TWIN = """
import pickle, sys
import numpy as np
from astray.robot.estimators import Ekf
from astray.robot.motion import Differential
from astray.plugin import Known
from astray.plugin import Reading
from astray.robot.sensors import Gnss, Imu, Wheels

motion, *sheets = pickle.load(sys.stdin.buffer)
kinds = {"imu": Imu, "wheels": Wheels, "gnss": Gnss}
sensors = [kinds[sheet.pop("kind")](**sheet) for sheet in sheets]
filter, belief = Ekf().alone(Differential(**motion), *sensors, n=3)
readings = {s.name: Reading(s.measures, 3) for s in sensors}
belief[:] = pickle.load(sys.stdin.buffer)
filter.start(np.arange(3), belief)
while True:
    try:
        fresh = pickle.load(sys.stdin.buffer)
    except EOFError:
        break
    for reading in readings.values():
        reading.fresh[:] = False
    for name, table in fresh.items():
        readings[name].table[:] = table
    filter.estimate(np.arange(3), Known(belief, readings), belief)
    pickle.dump(belief, sys.stdout.buffer)
    sys.stdout.buffer.flush()
"""
SENSORS: list[dict[str, Any]] = [
    {"kind": "imu", "rate": 100, "gyro_density": 1e-3, "accel_density": 0.01, "gyro_bias_sd": 0.01},
    {"kind": "wheels", "rate": 50, "slip_density": 0.01, "radius_sd": 0.01},
    {"kind": "gnss", "rate": 5, "x": 0.2, "position_sd": 0.2, "latency": 0.2},
]
BELIEVED = ("x", "y", "yaw", "vx", "vy", "wz", "stamp", "cov")


def test_a_remote_filter_in_lockstep_equals_its_twin_in_the_simulator() -> None:
    robot = {
        "name": "rover",
        "count": 3,
        "sensors": SENSORS,
        "estimator": {"kind": "ekf"},
        "rivals": [{"kind": "remote"}],
        "autonomy": {"kind": "waypoints", "points": [[3, 0], [3, 2], [0, 0]], "loop": True},
    }
    sim = astray.load({"dt": 0.01, "seed": 6, "robots": [robot]})
    rover = sim.robots["rover"]
    motion = {"radius": rover.plan.motion.radius, "baseline": rover.plan.motion.baseline}
    twin = subprocess.Popen(
        [sys.executable, "-c", TWIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert twin.stdin is not None
    assert twin.stdout is not None
    with twin:
        pickle.dump([motion, *SENSORS], twin.stdin)
        start = rover.belief.copy()
        start["cov"] = 0.0
        pickle.dump(start, twin.stdin)
        for _ in range(500):
            fresh = {k: r.table for k, r in rover.readings.items() if r.fresh.any()}
            pickle.dump(fresh, twin.stdin)
            twin.stdin.flush()
            found = pickle.load(twin.stdout)
            rover.believe(estimator="remote", **{name: found[name] for name in BELIEVED})
            before = rover.belief.copy()
            sim.step()
            for name in BELIEVED:
                assert rover.rivals["remote"][name] == pytest.approx(before[name], abs=1e-9)
        twin.stdin.close()
        assert twin.wait(30) == 0
    moved = np.hypot(rover.truth["x"], rover.truth["y"])
    off = np.hypot(before["x"] - rover.truth["x"], before["y"] - rover.truth["y"])
    assert moved.min() > 0.5
    assert 1e-4 < off.mean() < 1.0  # both are wrong in the same way, as filters are
