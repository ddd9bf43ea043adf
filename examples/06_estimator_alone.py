"""An estimator alone: odometry over an encoder log, without a simulator.

The log is made up: a robot drives a square of 1 m, turning left at each corner. Replace it by
yours. The estimator is the one that scenarios use; it knows stamps and datasheets, nothing else.
"""

import math

import numpy as np

from astray import Known, Reading
from astray.robot.estimators import Odometry
from astray.robot.motion import Differential
from astray.robot.sensors import Wheels
from astray.tables import WHEELS

TICKS = 2048  # per turn of a wheel
LOG = (  # s, and the counts of the left and the right wheel so far
    (0.0, 0, 0),
    (2.0, 3259, 3259),
    (3.0, 2235, 4283),
    (5.0, 5495, 7543),
    (6.0, 4471, 8567),
    (8.0, 7730, 11826),
    (9.0, 6706, 12850),
    (11.0, 9966, 16110),
    (12.0, 8942, 17134),
)

odometry, belief = Odometry().alone(
    Differential(radius=0.1, baseline=0.4), Wheels(ticks=TICKS, slip_density=0.01)
)
wheels = Reading(WHEELS, 1, {})
known = Known(belief, {"wheels": wheels})
for stamp, *counts in LOG:
    wheels["angle"][0, :2] = np.array(counts) * 2 * math.pi / TICKS
    wheels.stamp[:], wheels.fresh[:] = stamp, True
    odometry.estimate(np.arange(1), known, belief)
    b, sd = belief[0], np.sqrt(np.diag(belief[0].cov))
    print(
        f"t = {b.stamp:4.1f} s   x = {b.x:6.3f} ± {sd[0]:.3f} m   y = {b.y:6.3f} ± {sd[1]:.3f} m"
        f"   yaw = {math.degrees(b.yaw):6.1f} ± {math.degrees(sd[2]):.1f}°"
    )
