"""A manual override: for a while a robot does what it is told, whatever its autonomy decides.

It ends by itself after the time that came with the command, a dead-man's switch by the clock of
the robot's world. The decisions of the autonomy are kept meanwhile and hold again from then on.
"""

from __future__ import annotations

from collections.abc import Mapping

from astray.plugin import NEVER
from astray.tables import COMMAND, Array, Column, Rows, Table, clear, columns, table

OVERRIDE = columns(Column("until", "", "i8"), Column("held", "", "?"), COMMAND)
"""The command that overrides, the tick up to which it does, and whether it still does."""


class ManualOverride:
    """The overrides of one group; made when the first robot is overridden."""

    def __init__(self, n: int) -> None:
        self.table = table(OVERRIDE, n)
        self._commands = table(COMMAND, n)

    def take(self, rows: Rows, command: Table, each: Mapping[str, Array], until: Array) -> None:
        """Hold these rows to a command, (1,), with columns of their own, up to these ticks."""
        for column in COMMAND.names or ():
            self.table[column][rows] = each.get(column, command[column])
        self.table["until"][rows] = until
        self.table["held"][rows] = True

    def begin(self, rows: Rows) -> None:
        """Clear the overrides of these rows."""
        clear(self.table, rows)

    @property
    def is_unused(self) -> bool:
        """Whether no robot was overridden since it started."""
        return not self.table["until"].any()

    def release(self, ticks: Array) -> bool:
        """Release the rows whose time is over, by the clock of each; whether there were any."""
        over = self.table["held"] & (self.table["until"] <= ticks)
        self.table["held"][over] = False
        return bool(over.any())

    def next_release(self, tick: int) -> int:
        """The first tick from this one on at which a row is released."""
        ends = self.table["until"][self.table["held"]]
        return max(tick, int(ends.min())) if len(ends) else NEVER

    def applied_to(self, commands: Table) -> Table:
        """The commands of the autonomy, with those of the override in their place."""
        held = self.table["held"]
        self._commands[:] = commands
        for column in COMMAND.names or ():
            self._commands[column][held] = self.table[column][held]
        return self._commands
