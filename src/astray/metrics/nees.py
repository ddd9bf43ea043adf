"""Whether a belief knows how wrong it is: normalised estimation error squared.

NEES = eᵀ P⁻¹ e with the error e of (x, y, yaw) and the covariance P that the belief reports. If
the covariance is that of the error, NEES is chi-square with 3 degrees of freedom: 3 on average.
Above it the belief is too sure of itself, below too modest. It is solved by Cholesky's
factorisation; where P is none, or not positive definite, NEES is nan and not counted.
"""

from __future__ import annotations

import math

from astray.numerics import NAN, kernel, wrap
from astray.plugin import Metric
from astray.tables import Array, Row, Rows, Table


@kernel
def nees(b: Row, s: Row) -> float:
    """NEES of one belief."""
    e0, e1, e2 = b.x - s.x, b.y - s.y, wrap(b.yaw - s.yaw)
    if not b.cov[0, 0] > 0.0:
        return NAN
    l00 = math.sqrt(b.cov[0, 0])
    l10, l20 = b.cov[1, 0] / l00, b.cov[2, 0] / l00
    rest = b.cov[1, 1] - l10 * l10
    if not rest > 0.0:
        return NAN
    l11 = math.sqrt(rest)
    l21 = (b.cov[2, 1] - l20 * l10) / l11
    rest = b.cov[2, 2] - l20 * l20 - l21 * l21
    if not rest > 0.0:
        return NAN
    z0 = e0 / l00
    z1 = (e1 - l10 * z0) / l11
    z2 = (e2 - l20 * z0 - l21 * z1) / math.sqrt(rest)
    square: float = z0 * z0 + z1 * z1 + z2 * z2
    return square


@kernel
def measure_all(out: Array, truth: Table, belief: Table, rows: Rows) -> None:
    """NEES of these rows."""
    for i in rows:
        out[i] = nees(belief[i], truth[i])


class Nees(Metric, kind="nees"):
    """Normalised estimation error squared of the pose: 3 on average for an honest belief."""

    average = "mean"

    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """NEES of these rows."""
        measure_all(out, truth, belief, rows)
