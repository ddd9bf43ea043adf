import numpy as np

import astray


class LateralError(astray.Metric, kind="lateral_error"):
    """Distance between truth and belief across the true heading, m."""

    def measure(self, rows, truth, belief, out):
        dx, dy = belief["x"][rows] - truth["x"][rows], belief["y"][rows] - truth["y"][rows]
        yaw = truth["yaw"][rows]
        out[rows] = np.abs(dy * np.cos(yaw) - dx * np.sin(yaw))


astray.check_plugin(LateralError)
