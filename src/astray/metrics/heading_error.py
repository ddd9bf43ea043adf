"""How far a robot's heading is from what it believes."""

from __future__ import annotations

from astray.numerics import kernel, wrap
from astray.plugin import Metric
from astray.tables import Array, Rows, Table


@kernel
def measure_all(out: Array, truth: Table, belief: Table, rows: Rows) -> None:
    """The angle between the true and the believed heading of these rows, rad."""
    for i in rows:
        out[i] = abs(wrap(belief[i].yaw - truth[i].yaw))


class HeadingError(Metric, kind="heading_error"):
    """Angle between the true and the believed heading."""

    unit = "rad"

    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """The angle between the headings of these rows."""
        measure_all(out, truth, belief, rows)
