"""A compass: the heading in the map, with magnetic deviation.

    z = yaw + bias + a sin(yaw) + b cos(yaw) + c sin(2 yaw) + d cos(2 yaw) + drift + white

The bias (declination or mounting) and the amplitudes of hard iron (a, b) and soft iron (c, d) are
drawn once per episode; drift is a Gauss-Markov error. The heading is rounded to the resolution. The
device reports the standard deviation of all these errors together.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import kernel, normal_pair, sincos, wrap
from astray.plugin import NonNegative, Positive, Reading, Scene, Sensor
from astray.robot.sensors.error_models import gauss_markov, quantise
from astray.tables import COMPASS, Column, Row, Rows, Table, columns

MEMORY = columns(
    Column("started", "", "?"),
    "stamp s",
    "bias rad",
    "drift rad",
    Column("iron", "rad", "f8", (4,)),
)
"""The true errors: bias, drift, and the amplitudes of hard and soft iron."""


@kernel
def sense(o: Row, m: Row, p: Row, s: Row, key: np.uint64) -> None:
    """Read one compass."""
    elapsed = s.stamp - m.stamp if m.started else 0.0
    m.started, m.stamp = True, s.stamp
    a, b = normal_pair(s, key, 0)
    m.drift = gauss_markov(m.drift, p.drift_sd, p.drift_tau, elapsed, b)
    sine, cosine = sincos(s.yaw)
    iron = m.iron[0] * sine + m.iron[1] * cosine
    iron += m.iron[2] * (2.0 * sine * cosine) + m.iron[3] * (cosine * cosine - sine * sine)
    yaw = s.yaw + m.bias + iron + m.drift + p.white_sd * a
    o.yaw = wrap(quantise(yaw, p.resolution))
    # Each kind has two amplitudes, times a sine and a cosine, whose squares add up to one.
    variance = p.white_sd * p.white_sd + p.bias_sd * p.bias_sd + p.drift_sd * p.drift_sd
    variance += p.hard_iron_sd * p.hard_iron_sd + p.soft_iron_sd * p.soft_iron_sd
    o.sd = p.claim * math.sqrt(variance + p.resolution * p.resolution / 12.0)


@kernel
def sense_all(
    out: Table, memory: Table, params: Table, truth: Table, rows: Rows, key: np.uint64
) -> None:
    """Read the compasses of these rows."""
    for i in rows:
        sense(out[i], memory[i], params[i], truth[i], key)


class Compass(Sensor, kind="compass"):
    """A heading with bias, hard and soft iron, drift, white noise and rounding."""

    measures = COMPASS
    remembers = MEMORY
    white_sd: NonNegative = 0.02  # rad, white noise of each reading
    bias_sd: NonNegative = 0.0  # rad, drawn once per episode
    drift_sd: NonNegative = 0.0  # rad, stationary, of the Gauss-Markov drift
    drift_tau: Positive = 60.0  # s, time constant of that drift
    hard_iron_sd: NonNegative = 0.0  # rad, of both amplitudes of hard iron, drawn once per episode
    soft_iron_sd: NonNegative = 0.0  # rad, of both amplitudes of soft iron, drawn once per episode
    resolution: NonNegative = 0.0  # rad, that headings are rounded to
    claim: Positive = 1.0  # reported over true standard deviation; below 1 it is overconfident

    def reset(self, rows: Rows) -> None:
        """Draw the errors of these compasses for the episode."""
        p, n = self.params, self.episode_normals(rows, 6)
        self.memory["bias"][rows] = p["bias_sd"][rows] * n[:, 0]
        self.memory["drift"][rows] = p["drift_sd"][rows] * n[:, 1]
        for k, name in enumerate(("hard_iron_sd", "hard_iron_sd", "soft_iron_sd", "soft_iron_sd")):
            self.memory["iron"][rows, k] = p[name][rows] * n[:, 2 + k]

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the compasses of these rows."""
        sense_all(out.table, self.memory, self.params, scene.truth, rows, self.key)
