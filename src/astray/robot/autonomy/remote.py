"""Autonomies that decide nothing themselves: commands come from outside, or there are none.

Of the commands that `sim.post` brings the newest holds until the next one, or until its timeout.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from astray.numerics import kernel, ticks_in
from astray.plugin import NEVER, Autonomy, Known, Positive
from astray.tables import COMMAND, LIMITS, STOP, Array, Column, Row, Rows, Table, columns, set_rows

_STOP = STOP.copy()  # writable, like all commands, so that the kernel is compiled once


@kernel
def copy_command(to: Row, source: Row) -> None:
    """Copy one command."""
    s = source
    to.mode, to.stamp = s.mode, s.stamp
    to.vx, to.vy, to.wz, to.curvature = s.vx, s.vy, s.wz, s.curvature
    to.distance, to.heading = s.distance, s.heading
    to.speed, to.accel, to.decel, to.turn = s.speed, s.accel, s.decel, s.turn
    to.turn_accel, to.turn_decel, to.serial = s.turn_accel, s.turn_decel, s.serial


@kernel
def copy_commands_all(command: Table, memory: Table, rows: Rows) -> None:
    """Copy the newest commands of these rows."""
    for i in rows:
        copy_command(command[i], memory[i])


@kernel
def store_command_all(memory: Table, command: Table, address: Table, rows: Rows, dt: float) -> None:
    """Store a command, COMMAND (1,), as the newest of these rows."""
    for i in rows:
        m = memory[i]
        copy_command(m, command[0])
        m.heard = address[i].tick
        m.stamp = m.heard * dt


class Idle(Autonomy, kind="idle"):
    """Stands still."""

    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Leave the initial command: stop."""

    def next_due(self, tick: int) -> int:
        """Never."""
        return NEVER


class RemoteAutonomy(Autonomy, kind="remote"):
    """Follows commands from outside; stops if none comes for too long."""

    remembers = columns(Column("heard", "", "i8"), COMMAND)  # COMMAND must be no prefix of it
    fixed = ("timeout", "lockstep", "patience")
    timeout: Positive | None = None  # s without a command after which the robot stops
    lockstep: Positive | None = None  # s that time may run ahead of the newest command
    patience: Positive = 60.0  # s of real time that lockstep waits for a command

    def reset(self, rows: Rows) -> None:
        """Stop until the first command."""
        self.receive(rows, _STOP, {})

    def receive(self, rows: Rows, command: Table, each: Mapping[str, Array]) -> None:
        """Store a new command.

        Args:
            rows: Indices, (k,).
            command: COMMAND, (1,), for all of these rows.
            each: Columns whose values differ between the rows, (k,), by name.
        """
        store_command_all(self.memory, command, self.address, rows, self.dt)
        for name, values in each.items():
            set_rows(self.memory[name], rows, values)
        self.has_new_command = True

    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Copy the newest command, or stop if it is too old."""
        copy_commands_all(command, self.memory, rows)
        if self.timeout is not None:
            expired = rows[self.address["tick"][rows] >= self._deadline()[rows]]
            command[expired] = STOP
            for limit in LIMITS:  # by the deceleration of the last command
                command[limit][expired] = self.memory[limit][expired]
        self.has_new_command = False

    def next_due(self, tick: int) -> int:
        """Now if there is a new command, else at the next deadline."""
        if self.has_new_command:
            return tick
        if self.timeout is None:
            return NEVER
        deadlines = self._deadline()
        deadlines = deadlines[deadlines >= tick]
        return int(deadlines.min()) if len(deadlines) else NEVER

    def _deadline(self) -> Rows:
        """The tick at which the command of each row is too old, (n,)."""
        assert self.timeout is not None
        return np.asarray(self.memory["heard"] + ticks_in(self.timeout, self.dt))
