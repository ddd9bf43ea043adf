"""Absolute trajectory error: the root mean square distance of two paths so far.

With `align: se2` the believed path is first moved and turned onto the true one as well as it can
be, as is customary where no common frame exists. Everything needed is in a few running sums: with
the centred moments of believed points p and true points q,

    S = Σ p qᵀ        best turn: its cosine and sine go as (S_xx + S_yy, S_xy − S_yx)
    Σ |q − R p|² = Σ |p|² + Σ |q|² − 2 √((S_xx + S_yy)² + (S_xy − S_yx)²)
"""

from __future__ import annotations

import math
from typing import Literal

from astray.numerics import kernel
from astray.plugin import Metric
from astray.tables import Array, Column, Row, Rows, Table, columns

MEMORY = columns(
    "n",
    Column("aligned", "", "?"),
    Column("at", "m", "f8", (4,)),
    Column("moment", "m²", "f8", (5,)),
    "squares m²",
)
"""How many points, their means (p, q), their centred moments, and the squared distances."""


@kernel
def add(m: Row, px: float, py: float, qx: float, qy: float) -> None:
    """Take one pair of points into the sums; Welford's way keeps their digits."""
    m.n += 1.0
    m.squares += (px - qx) * (px - qx) + (py - qy) * (py - qy)
    px, py, qx, qy = px - m.at[0], py - m.at[1], qx - m.at[2], qy - m.at[3]
    weight = (m.n - 1.0) / m.n
    m.moment[0] += weight * (px * px + py * py)
    m.moment[1] += weight * (qx * qx + qy * qy)
    m.moment[2] += weight * (px * qx + py * qy)
    m.moment[3] += weight * (px * qy - py * qx)
    m.at[0] += px / m.n
    m.at[1] += py / m.n
    m.at[2] += qx / m.n
    m.at[3] += qy / m.n


@kernel
def measure_all(out: Array, memory: Table, truth: Table, belief: Table, rows: Rows) -> None:
    """The trajectory error of these rows so far, m."""
    for i in rows:
        m, s, b = memory[i], truth[i], belief[i]
        add(m, b.x, b.y, s.x, s.y)
        square = m.squares
        if m.aligned:
            turned = math.sqrt(m.moment[2] * m.moment[2] + m.moment[3] * m.moment[3])
            square = max(0.0, m.moment[0] + m.moment[1] - 2.0 * turned)
        out[i] = math.sqrt(square / m.n)


class Ate(Metric, kind="ate"):
    """Root mean square distance between the believed and the true path so far."""

    unit = "m"
    remembers = MEMORY
    align: Literal["none", "se2"] = "none"  # move and turn the believed path onto the true one

    def reset(self, rows: Rows) -> None:
        """Begin with no points."""
        self.memory["aligned"][rows] = self.align == "se2"

    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """The trajectory error of these rows so far."""
        measure_all(out, self.memory, truth, belief, rows)
