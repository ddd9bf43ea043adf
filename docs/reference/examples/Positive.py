import astray
from astray import tables


class Gps(astray.Sensor, kind="satellite_fix"):
    """Map position with white noise."""

    measures = tables.FIX
    sigma: astray.Positive = 0.5  # m

    def sense(self, rows, scene, out):
        error = self.params["sigma"][rows, None] * self.normals(rows, 2)
        out["x"][rows] = scene.truth["x"][rows] + error[:, 0]
        out["y"][rows] = scene.truth["y"][rows] + error[:, 1]


astray.check_plugin(Gps, sigma=0.1)
