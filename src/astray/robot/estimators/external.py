"""Beliefs from outside: of a navigation system, or of a filter in another process."""

from __future__ import annotations

from astray.numerics import kernel
from astray.plugin import Datasheets, Estimator, Known, find_sensor
from astray.tables import INS, Rows, Table


@kernel
def copy_solution_all(belief: Table, ins: Table, rows: Rows) -> None:
    """Copy the fresh navigation solutions of these rows to the beliefs."""
    for row in rows:
        if ins[row].fresh:
            b, solution = belief[row], ins[row]
            b.stamp, b.x, b.y, b.yaw = solution.stamp, solution.x, solution.y, solution.yaw
            b.vx, b.vy, b.wz = solution.vx, solution.vy, solution.wz
            for i in range(3):
                for j in range(3):
                    b.cov[i, j] = solution.cov[i, j]


class Trust(Estimator, kind="trust"):
    """Adopts the solution of a navigation system: pose, velocity and covariance."""

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Find the navigation system.

        Raises:
            PluginError: The robot has none.
        """
        self.ins = find_sensor(INS, sheets, "trust")

    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Copy the fresh navigation solutions of these rows."""
        copy_solution_all(belief, known.readings[self.ins].table, rows)


class RemoteEstimator(Estimator, kind="remote"):
    """A filter in another process: its beliefs arrive as stamped `believe` events."""

    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Leave the belief as the last event set it."""
