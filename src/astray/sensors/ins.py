"""A navigation system as a black box: the truth with drift and noise, and what it knows of both.

The error of the pose is a random walk plus white noise, in x, y and yaw alike:

    drift grows by walk · √dt between readings        noise is density / √dt per reading

so that after a time t the variance is walk² t + density² / dt, which is what the box reports.
Neither dt nor the rate of the readings changes how far it drifts.
"""

from __future__ import annotations

import math

import numpy as np

from astray.kernel import kernel
from astray.maths import wrap
from astray.noise import normal_pair
from astray.plugin import NonNegative, Scene, Sensor
from astray.reading import Reading
from astray.table import INS, Column, Row, Rows, Table, columns

MEMORY = columns(
    Column("started", "", "?"),
    "period s",
    "stamp s",
    Column("drift", "m, m, rad", "f8", (3,)),
    Column("variance", "m², m², rad²", "f8", (3,)),
)
"""How far the box has drifted, how far it may have, and when it last answered."""


@kernel
def sense(o: Row, m: Row, p: Row, s: Row, key: np.uint64) -> None:
    """Ask one box where it is."""
    elapsed = 0.0
    if m.started:
        elapsed = s.stamp - m.stamp
    m.started, m.stamp = True, s.stamp
    walk_x, walk_y = normal_pair(s, key, 0)
    walk_yaw, noise_yaw = normal_pair(s, key, 1)
    noise_x, noise_y = normal_pair(s, key, 2)
    noise_vx, noise_vy = normal_pair(s, key, 3)
    noise_wz = normal_pair(s, key, 4)[0]
    root, per = math.sqrt(elapsed), 1.0 / math.sqrt(m.period)
    m.drift[0] += p.position_walk * root * walk_x
    m.drift[1] += p.position_walk * root * walk_y
    m.drift[2] += p.yaw_walk * root * walk_yaw
    o.x = s.x + m.drift[0] + p.position_density * per * noise_x
    o.y = s.y + m.drift[1] + p.position_density * per * noise_y
    o.yaw = wrap(s.yaw + m.drift[2] + p.yaw_density * per * noise_yaw)
    o.vx = s.vx + p.velocity_density * per * noise_vx
    o.vy = s.vy + p.velocity_density * per * noise_vy
    o.wz = s.wz + p.rate_density * per * noise_wz
    for k in range(3):
        walk = p.position_walk if k < 2 else p.yaw_walk
        white = p.position_density if k < 2 else p.yaw_density
        m.variance[k] += walk * walk * elapsed
        o.cov[k, k] = m.variance[k] + white * white * per * per


@kernel
def sense_all(
    out: Table, memory: Table, params: Table, truth: Table, rows: Rows, key: np.uint64
) -> None:
    """Ask the boxes of these rows."""
    for i in rows:
        sense(out[i], memory[i], params[i], truth[i], key)


class Ins(Sensor, kind="ins"):
    """The true state with drift and noise, and an honest covariance: a noisy state."""

    measures = INS
    remembers = MEMORY
    position_walk: NonNegative = 0.05  # m/√s, drift of x and of y
    position_density: NonNegative = 0.01  # m/√Hz, white noise of x and of y
    yaw_walk: NonNegative = 0.001  # rad/√s, drift
    yaw_density: NonNegative = 0.0005  # rad/√Hz, white noise
    velocity_density: NonNegative = 0.005  # m/s/√Hz, white noise of vx and of vy
    rate_density: NonNegative = 0.001  # rad/s/√Hz, white noise of wz

    def reset(self, rows: Rows) -> None:
        """Nothing has drifted yet."""
        self.memory["period"][rows] = 1.0 / self.rate if self.rate else self.dt

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Ask the boxes of these rows."""
        sense_all(out.table, self.memory, self.params, scene.truth, rows, self.key)
