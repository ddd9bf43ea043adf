"""Believes its navigation system, word for word."""

from __future__ import annotations

from astray.numerics import kernel
from astray.plugin import Datasheets, Estimator, Known, sensor_that_measures
from astray.tables import INS, Row, Rows, Table


@kernel
def adopt(b: Row, o: Row) -> None:
    """Take over one reading as the belief."""
    b.stamp, b.x, b.y, b.yaw = o.stamp, o.x, o.y, o.yaw
    b.vx, b.vy, b.wz = o.vx, o.vy, o.wz
    for i in range(3):
        for j in range(3):
            b.cov[i, j] = o.cov[i, j]


@kernel
def adopt_all(belief: Table, ins: Table, rows: Rows) -> None:
    """Take over the fresh readings of these rows."""
    for i in rows:
        if ins[i].fresh:
            adopt(belief[i], ins[i])


class Trust(Estimator, kind="trust"):
    """Adopts what a navigation system says: pose, velocity and covariance."""

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Find the navigation system."""
        self.ins = sensor_that_measures(INS, sheets, "trust")

    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Take over the fresh readings of these rows."""
        adopt_all(belief, known.readings[self.ins].table, rows)
