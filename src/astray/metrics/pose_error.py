"""Errors of the believed pose at one time: of its position and of its heading."""

from __future__ import annotations

import math

from astray.numerics import kernel, wrap
from astray.plugin import Metric
from astray.tables import Array, Rows, Table


@kernel
def position_error_all(out: Array, truth: Table, belief: Table, rows: Rows) -> None:
    """The distance of the believed from the true position of these rows, m."""
    for i in rows:
        dx, dy = belief[i].x - truth[i].x, belief[i].y - truth[i].y
        out[i] = math.sqrt(dx * dx + dy * dy)


@kernel
def heading_error_all(out: Array, truth: Table, belief: Table, rows: Rows) -> None:
    """The angle between the believed and the true heading of these rows, rad."""
    for i in rows:
        out[i] = abs(wrap(belief[i].yaw - truth[i].yaw))


class PositionError(Metric, kind="position_error"):
    """Distance between the true and the believed position."""

    unit = "m"

    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """Write the position error of these rows, m."""
        position_error_all(out, truth, belief, rows)


class HeadingError(Metric, kind="heading_error"):
    """Angle between the true and the believed heading."""

    unit = "rad"

    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """Write the heading error of these rows, rad."""
        heading_error_all(out, truth, belief, rows)
