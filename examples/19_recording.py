"""Recording: a run as one file, read back, repeated from it, and judged by another estimator.

The file is MCAP with ROS 2 messages: `ros2 bag play`, Foxglove and rosbags open it as it is.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import astray
from astray.datasets import read_logs, run_on_log, score
from astray.robot.estimators import Inertial

SCENARIO = {
    "seed": 5,
    "robots": [
        {
            "name": "rover",
            "sensors": [
                {"kind": "wheels", "rate": 50, "slip_density": 0.01},
                {"kind": "imu", "rate": 100, "accel_density": 0.002, "gyro_density": 0.0005},
            ],
            "estimator": {"kind": "odometry"},
        }
    ],
}

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
sim = astray.load(SCENARIO)
with astray.record(sim, folder / "run.mcap", overwrite=True):
    sim.robots["rover"].drive(0.5, 0.2)
    sim.run(20)
print(f"{(folder / 'run.mcap').stat().st_size / 1000:.0f} kB for {sim.time:g} s")

recording = astray.read_recording(folder / "run.mcap")
rover = recording.robots["rover"]
error = np.hypot(rover.belief["x"] - rover.truth["x"], rover.belief["y"] - rover.truth["y"])
print(f"{len(rover.truth)} poses; wheels were off by {error[-1]:.3f} m in the end")

again = astray.load(recording.scenario)
again.replay(recording.events)
again.run(20)
print(f"repeated from the file: {'the same' if again.digest() == sim.digest() else 'another'} run")

(log,) = read_logs(folder / "run.mcap")
other = score(run_on_log(log, Inertial()))
print(f"inertia alone, on the same readings: {other.final:.3f} m in the end")
