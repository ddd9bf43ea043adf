"""How far a robot is from where it believes to be."""

from __future__ import annotations

import math

from astray.numerics import kernel
from astray.plugin import Metric
from astray.tables import Array, Rows, Table


@kernel
def measure_all(out: Array, truth: Table, belief: Table, rows: Rows) -> None:
    """The distance between truth and belief of these rows, m."""
    for i in rows:
        dx, dy = belief[i].x - truth[i].x, belief[i].y - truth[i].y
        out[i] = math.sqrt(dx * dx + dy * dy)


class PositionError(Metric, kind="position_error"):
    """Distance between the true and the believed position."""

    unit = "m"

    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """The distance between truth and belief of these rows."""
        measure_all(out, truth, belief, rows)
