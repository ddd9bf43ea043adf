"""Direct control: speeds are passed on as they are commanded."""

from __future__ import annotations

from astray.numerics import NAN, kernel
from astray.plugin import NEVER, Control, Known
from astray.tables import CURVATURE, TWIST, Row, Rows, Table


@kernel
def pass_on(d: Row, c: Row) -> None:
    """Copy the speeds of one command to the drive; a command of a pose means stop."""
    d.accel, d.decel = c.accel, c.decel
    d.turn_accel, d.turn_decel = c.turn_accel, c.turn_decel
    d.vx, d.vy, d.wz, d.curvature = 0.0, 0.0, 0.0, NAN
    if c.mode == TWIST:
        d.vx, d.vy, d.wz = c.vx, c.vy, c.wz
    elif c.mode == CURVATURE:
        d.vx, d.curvature = c.vx, c.curvature


@kernel
def steer_all(drive: Table, command: Table, rows: Rows) -> None:
    """Copy the speeds of the commands of these rows to the drives."""
    for i in rows:
        pass_on(drive[i], command[i])


class Direct(Control, kind="direct"):
    """Passes commanded speeds on to the motion; understands no poses."""

    modes = (TWIST, CURVATURE)

    def steer(self, rows: Rows, known: Known, command: Table, drive: Table) -> None:
        """Copy the speeds of the commands of these rows to the drives."""
        steer_all(drive, command, rows)

    def next_due(self, tick: int) -> int:
        """Never: it is called anyway when the command changes."""
        return NEVER
