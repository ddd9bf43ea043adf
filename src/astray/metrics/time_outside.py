"""How much of the time a belief is further from the truth than it thinks possible.

A belief is outside if its error in any of x, y and yaw exceeds `sigmas` of its own standard
deviations. Of an honest, Gaussian belief it is 0.27 % of the time for each of the three at 3
sigmas. A belief without a covariance, or with one of zero, is not judged.
"""

from __future__ import annotations

import math

from astray.numerics import NAN, kernel, wrap
from astray.plugin import Metric, Positive
from astray.tables import Array, Column, Row, Rows, Table, columns

MEMORY = columns(Column("judged", "", "i8"), Column("outside", "", "i8"))
"""How many beliefs were judged, and how many of them were outside."""


@kernel
def excess(b: Row, s: Row) -> float:
    """The largest error of one belief in its own standard deviations; nan if it claims none."""
    most = 0.0
    for k in range(3):
        if not b.cov[k, k] > 0.0:
            return NAN
        error = b.x - s.x if k == 0 else (b.y - s.y if k == 1 else wrap(b.yaw - s.yaw))
        most = max(most, abs(error) / math.sqrt(b.cov[k, k]))
    return most


@kernel
def measure_all(
    out: Array, memory: Table, tables: tuple[Table, Table], sigmas: Table, rows: Rows
) -> None:
    """The share of time outside so far, of these rows of truth and belief."""
    truth, belief = tables
    for i in rows:
        m, far = memory[i], excess(belief[i], truth[i])
        if not math.isnan(far):
            m.judged += 1
            if far > sigmas[i].sigmas:
                m.outside += 1
        out[i] = m.outside / m.judged if m.judged > 0 else NAN


class TimeOutside(Metric, kind="time_outside"):
    """Share of the time so far in which an error exceeded three of its own standard deviations."""

    remembers = MEMORY
    sigmas: Positive = 3.0  # standard deviations that an error may have

    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """The share of time outside so far of these rows."""
        measure_all(out, self.memory, (truth, belief), self.params, rows)
