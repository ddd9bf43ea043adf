"""A hand on a robot: for a while it does what it is told, whatever its autonomy wants.

The hold ends by itself after the time that came with the command, a dead-man's switch by the clock
of the robot's world. What autonomy decided meanwhile was kept, and holds again from then on.
"""

from __future__ import annotations

from collections.abc import Mapping

from astray.plugin import NEVER
from astray.tables import COMMAND, Array, Column, Rows, Table, clear, columns, table

HELD = columns(Column("until", "", "i8"), Column("held", "", "?"), COMMAND)
"""What a hand wants of a robot, up to which tick, and whether it has not let go yet."""


class Hands:
    """The hands on the robots of one group; made when the first one is laid on a robot."""

    def __init__(self, n: int) -> None:
        self.table = table(HELD, n)
        self._commands = table(COMMAND, n)

    def take(self, rows: Rows, command: Table, each: Mapping[str, Array], until: Array) -> None:
        """Hold these rows to a command, (1,), and what each is told apart, up to these ticks."""
        for column in COMMAND.names or ():
            self.table[column][rows] = each.get(column, command[column])
        self.table["until"][rows] = until
        self.table["held"][rows] = True

    def forget(self, rows: Rows) -> None:
        """No hand was ever on these rows."""
        clear(self.table, rows)

    @property
    def idle(self) -> bool:
        """Whether no hand was ever on a robot."""
        return not self.table["until"].any()

    def let_go(self, ticks: Array) -> bool:
        """Let go of those whose time is over, by the clock of each; whether there were any."""
        over = self.table["held"] & (self.table["until"] <= ticks)
        self.table["held"][over] = False
        return bool(over.any())

    def next_release(self, tick: int) -> int:
        """The first tick from this one on at which a hand lets go."""
        ends = self.table["until"][self.table["held"]]
        return max(tick, int(ends.min())) if len(ends) else NEVER

    def over(self, commands: Table) -> Table:
        """These commands of autonomy, and in their place those of the hands."""
        held = self.table["held"]
        self._commands[:] = commands
        for column in COMMAND.names or ():
            self._commands[column][held] = self.table[column][held]
        return self._commands
