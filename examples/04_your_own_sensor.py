"""Your own sensor: a class is enough to be a kind, a YAML key and a column of the log."""

import numpy as np

import astray
from astray import NonNegative, Sensor, tables


class Gps(Sensor, kind="gps"):
    """Map position with white noise."""

    measures = tables.FIX
    sigma: NonNegative = 0.5  # m

    def sense(self, rows, scene, out):
        error = self.params["sigma"][rows, None] * self.normals(rows, 2)
        out["x"][rows] = scene.truth["x"][rows] + error[:, 0]
        out["y"][rows] = scene.truth["y"][rows] + error[:, 1]
        out["cov"][rows, 0, 0] = out["cov"][rows, 1, 1] = self.params["sigma"][rows] ** 2


astray.check_plugin(Gps)
print("check_plugin: the contract is kept")

sim = astray.load(
    {
        "robots": [
            {
                "name": "rover",
                "preset": "rover",
                "sensors": [{"kind": "gps", "rate": 5, "sigma": 0.3, "latency": 0.2}],
            }
        ]
    },
    worlds=20,
)
log = sim.run(60, log=0.2)

gps, truth = log["rover"].readings["gps"], log["rover"].truth
for k in (10, 11, 12):
    stamp, x = gps["stamp"][k, 0], gps["x"][k, 0]
    print(f"t = {log.time[k]:.1f} s: a fix of t = {stamp:.1f} s has arrived, x = {x:.2f} m")

# A fix is 0.2 s old when it arrives, which is one entry of this log.
error = gps["x"][1:] - truth["x"][:-1]
print(f"standard deviation of {error.size} fixes: {error.std():.3f} m, asked for 0.3 m")
print(f"their mean: {np.abs(error.mean()):.3f} m, expected 0")
