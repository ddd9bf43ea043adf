"""A mailbox: commands come from outside, through `sim.post`.

The newest command holds until the next, or until the dead-man's time is over.
"""

from __future__ import annotations

import numpy as np

from astray.clock import ticks_in
from astray.plugin import NEVER, Autonomy, Known, Positive
from astray.table import COMMAND, STOP, Column, Rows, Table, columns


class Remote(Autonomy, kind="remote"):
    """Does what it is told from outside; stops when nothing is heard for too long."""

    remembers = columns(COMMAND, Column("heard", "", "i8"))
    timeout: Positive | None = None  # s without a command after which the robot stops
    lockstep: Positive | None = None  # s that time may run ahead of the newest command
    patience: Positive = 60.0  # s of real time to wait for a command in lockstep

    def reset(self, rows: Rows) -> None:
        """Nothing was heard yet: stand still."""
        self.receive(rows, STOP)

    def receive(self, rows: Rows, command: Table) -> None:
        """Take a new command for these rows: COMMAND, (len(rows),) or (1,)."""
        for column in COMMAND.names or ():
            self.memory[column][rows] = command[column]
        self.memory["stamp"][rows] = self.address["tick"][rows] * self.dt
        self.memory["heard"][rows] = self.address["tick"][rows]
        self.news = True

    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Pass on the newest command, or stop if it is too old."""
        for column in COMMAND.names or ():
            command[column][rows] = self.memory[column][rows]
        if self.timeout is not None:
            silent = rows[self.address["tick"][rows] >= self._deadline()[rows]]
            command[silent] = STOP
        self.news = False

    def next_due(self, tick: int) -> int:
        """Now if something was heard, else when the next dead-man's time is over."""
        if self.news:
            return tick
        if self.timeout is None:
            return NEVER
        ahead = self._deadline()
        ahead = ahead[ahead >= tick]
        return int(ahead.min()) if len(ahead) else NEVER

    def _deadline(self) -> Rows:
        assert self.timeout is not None
        return np.asarray(self.memory["heard"] + ticks_in(self.timeout, self.dt))
