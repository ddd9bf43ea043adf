"""Rivals: two estimators on the same truth and the same readings, compared pairwise.

The robot believes `odometry`, which follows arcs. Its rival is a class of our own that goes
straight and then turns. It is fed the same readings, is judged alike, and moves nothing.
"""

import numpy as np

import astray
from astray import Estimator, columns


class Euler(Estimator, kind="euler"):
    """Dead reckoning that keeps the old heading until the next reading."""

    remembers = columns("left rad", "right rad")

    def bind(self, n, sheets):
        self.radius, self.baseline = sheets["motion"]["radius"], sheets["motion"]["baseline"]

    def estimate(self, rows, known, belief):
        wheels = known.readings["wheels"]
        rows = rows[wheels.fresh[rows]]
        left = self.radius * (wheels["angle"][rows, 0] - self.memory["left"][rows])
        right = self.radius * (wheels["angle"][rows, 1] - self.memory["right"][rows])
        way, yaw = (left + right) / 2, belief["yaw"][rows]
        belief["x"][rows] += way * np.cos(yaw)
        belief["y"][rows] += way * np.sin(yaw)
        belief["yaw"][rows] = np.angle(np.exp(1j * (yaw + (right - left) / self.baseline)))
        belief["stamp"][rows] = wheels.stamp[rows]
        self.memory["left"][rows], self.memory["right"][rows] = wheels["angle"][rows, :2].T


wheels = {"kind": "wheels", "rate": 5, "slip_density": 0.001}
rover = {"name": "rover", "preset": "rover", "sensors": [wheels], "rivals": [{"kind": "euler"}]}
scenario = {"seed": 7, "robots": [rover], "metrics": [{"kind": "position_error"}]}
sim = astray.load(scenario, worlds=40)
log = sim.run(60, log=1.0)
error = log["rover"].metrics["position_error"]  # "belief" and "euler", each (times, worlds)
rms = {name: np.sqrt((values**2).mean(axis=0)) for name, values in error.items()}
for name, values in rms.items():
    print(f"{name:>8}: rms error {values.mean():.3f} m, in the worst world {values.max():.3f} m")
better = int((rms["belief"] < rms["euler"]).sum())
print(f"following arcs is better in {better} of {len(sim.worlds)} worlds")
