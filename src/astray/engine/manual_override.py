"""Manual override: a command that a robot follows for a while in place of its autonomy.

It ends after the time that came with the command, like a dead-man's switch, by the clock of the
robot's world. The decisions of the autonomy are kept meanwhile and apply again afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping

from astray.plugin import NEVER
from astray.tables import COMMAND, Array, Column, Rows, Table, clear_rows, columns, table

OVERRIDE = columns(Column("until", "", "i8"), Column("held", "", "?"), COMMAND)
"""The overriding command, the tick at which it ends, and whether it is in force."""


class ManualOverride:
    """The overrides of one group; made at the first override."""

    def __init__(self, n: int) -> None:
        self.table = table(OVERRIDE, n)
        self._commands = table(COMMAND, n)

    def take(self, rows: Rows, command: Table, each: Mapping[str, Array], until: Array) -> None:
        """Override these rows by a command, (1,), with some columns per row, until these ticks."""
        for column in COMMAND.names or ():
            self.table[column][rows] = each.get(column, command[column])
        self.table["until"][rows] = until
        self.table["held"][rows] = True

    def clear(self, rows: Rows) -> None:
        """Clear the overrides of these rows."""
        clear_rows(self.table, rows)

    @property
    def is_unused(self) -> bool:
        """Whether no robot was overridden since it started."""
        return not self.table["until"].any()

    def release(self, ticks: Array) -> bool:
        """End the overrides whose time is over, by the clock of each row; whether any ended."""
        ended = self.table["held"] & (self.table["until"] <= ticks)
        self.table["held"][ended] = False
        return bool(ended.any())

    def next_release(self, tick: int) -> int:
        """The first tick from this one on at which an override ends."""
        ends = self.table["until"][self.table["held"]]
        return max(tick, int(ends.min())) if len(ends) else NEVER

    def applied_to(self, commands: Table) -> Table:
        """The commands of the autonomy, replaced by the overrides in force."""
        held = self.table["held"]
        self._commands[:] = commands
        for column in COMMAND.names or ():
            self._commands[column][held] = self.table[column][held]
        return self._commands
