"""A robot that wants nothing."""

from __future__ import annotations

from astray.plugin import NEVER, Autonomy, Known
from astray.tables import Rows, Table


class Idle(Autonomy, kind="idle"):
    """Stands still."""

    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Leave the command as it began: stop."""

    def next_due(self, tick: int) -> int:
        """Never: there is nothing to decide."""
        return NEVER
