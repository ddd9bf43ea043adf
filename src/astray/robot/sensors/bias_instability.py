"""Bias instability: an error whose Allan deviation has a floor, over three decades of time.

Flicker noise, of a spectrum that goes as 1 / f, has no finite memory. A sum of Gauss-Markov errors
with time constants that grow by a ratio ρ, all of the same standard deviation s, has that spectrum
between them:

    Σ 2 s² τ / (1 + ω² τ²) ≈ π s² / (ω ln ρ)

With s = B √(ln ρ / π) it is that of the bias instability B of IEEE 952, whose Allan deviation is
√(2 ln 2 / π) B = 0.664 B at any averaging time. Six of them, from 1 s to 1024 s, hold that within
a tenth from 2 s to 1000 s.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import kernel, normal_pair
from astray.robot.sensors.error_models import gauss_markov
from astray.tables import Array, Row, Rows, Table

RATIO, PARTS = 4.0, 6
SHORTEST = 1.0  # s
SHARE = math.sqrt(math.log(RATIO) / math.pi)  # of B, the standard deviation of each part
DRAW = 64  # the first draw of it; those before it are the unit's other noise
AXES = 6


@kernel
def flicker(parts: Array, m: Row, p: Row, s: Row, key: np.uint64) -> None:
    """Let the bias of one unit go on; parts are (axes, parts), and the sum is in the bias."""
    elapsed = s.stamp - m.stamp if m.started else 0.0
    for j in range(AXES):
        sd = SHARE * (p.gyro_instability if j < 3 else p.accel_instability)
        if sd == 0.0 or (p.planar and (j < 2 or j == 5)):
            continue
        tau = SHORTEST
        for k in range(0, PARTS, 2):
            a, b = normal_pair(s, key, DRAW + j * PARTS + k)
            before = parts[j, k] + parts[j, k + 1]
            parts[j, k] = gauss_markov(parts[j, k], sd, tau, elapsed, a)
            parts[j, k + 1] = gauss_markov(parts[j, k + 1], sd, RATIO * tau, elapsed, b)
            m.bias[j] += parts[j, k] + parts[j, k + 1] - before
            tau *= RATIO * RATIO


@kernel
def flicker_all(
    parts: Array, memory: Table, params: Table, truth: Table, rows: Rows, key: np.uint64
) -> None:
    """Let the biases of these rows go on."""
    for i in rows:
        flicker(parts[i], memory[i], params[i], truth[i], key)
