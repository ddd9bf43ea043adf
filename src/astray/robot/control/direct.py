"""Passes speeds on as they are."""

from __future__ import annotations

from astray.numerics import NAN, kernel
from astray.plugin import NEVER, Control, Known
from astray.tables import CURVATURE, TWIST, Row, Rows, Table


@kernel
def steer(d: Row, c: Row) -> None:
    """Ask one robot's motion for the speeds of its command; a pose command means stop."""
    d.accel, d.decel = c.accel, c.decel
    d.turn_accel, d.turn_decel = c.turn_accel, c.turn_decel
    d.vx, d.vy, d.wz, d.curvature = 0.0, 0.0, 0.0, NAN
    if c.mode == TWIST:
        d.vx, d.vy, d.wz = c.vx, c.vy, c.wz
    elif c.mode == CURVATURE:
        d.vx, d.curvature = c.vx, c.curvature


@kernel
def steer_all(drive: Table, command: Table, rows: Rows) -> None:
    """Ask the motion of these rows for the speeds of their commands."""
    for i in rows:
        steer(drive[i], command[i])


class Direct(Control, kind="direct"):
    """Passes commanded speeds on to the motion; knows no poses."""

    modes = (TWIST, CURVATURE)

    def steer(self, rows: Rows, known: Known, command: Table, drive: Table) -> None:
        """Ask the motion of these rows for the speeds of their commands."""
        steer_all(drive, command, rows)

    def next_due(self, tick: int) -> int:
        """Only when the command changes, and then it is called anyway."""
        return NEVER
