"""Signals: values over time that drive a robot, make up readings, and go through ROS 2 files."""

import sys
import tempfile
from pathlib import Path

import numpy as np

import astray
from astray.signals import IntervalConfig, Signal, Signals, SimType

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())

# From Python, or as a scenario spells them.
speed = Signal(
    [
        IntervalConfig(SimType.LINEAR, t_start=0, t_end=2, y_start=0, y_end=0.6),
        IntervalConfig(SimType.LINEAR, t_start=8, t_end=10, y_start=0.6, y_end=0),
    ]
)
turn = {"type": "quadratic", "t_start": 2, "t_end": 8, "y_start": 0, "y_end": 0, "y_mid": 0.5}
course = Signals({"vx": speed, **Signals.read({"wz": turn})})
print(f"vx at 1, 5 and 20 s: {speed(1.0)}, {speed(5.0)}, {speed(20.0)} m/s; between, it is held")
print(f"a million values: mean {course['wz'](np.linspace(0, 10, 1_000_000)).mean():.4f} rad/s")
print(f"way by the integral of vx: {speed.integral(10.0):.3f} m")

# Through a parameter file of ROS 2, and into two robots: one that drives the course, and one that
# stands still and whose encoders are made up.
file = folder / "course.yaml"
astray.scenario.importers.write_ros_parameters(course, file, node="driver")
assert dict(astray.scenario.importers.read_ros_parameters(file)) == dict(course)
wheels = {
    "wheel_fl": 3.0,
    "wheel_fr": {"type": "sine", "amplitude": 1, "frequency": 0.1, "offset": 3},
}
driver = {"name": "driver", "autonomy": {"kind": "scripted", "file": str(file)}}
dreamer = {
    "name": "dreamer",
    "autonomy": {"kind": "idle"},
    "sensors": [{"kind": "scripted_wheels", "rate": 50, "signals": wheels}],
    "estimator": {"kind": "odometry"},
}
sim = astray.load({"dt": 0.01, "robots": [driver, dreamer]})
sim.run(10)
for name, robot in sim.robots.items():
    truth, belief = robot.truth[0], robot.belief[0]
    print(f"{name}: is at x = {truth.x:.2f} m, believes x = {belief.x:.2f} m")
