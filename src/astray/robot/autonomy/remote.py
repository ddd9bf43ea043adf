"""A mailbox: commands come from outside, through `sim.post`.

The newest command holds until the next, or until the dead-man's time is over.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from astray.numerics import kernel, ticks_in
from astray.plugin import NEVER, Autonomy, Known, Positive
from astray.tables import COMMAND, LIMITS, STOP, Array, Column, Row, Rows, Table, columns, set_rows

_STILL = STOP.copy()  # which may be written to, as all commands may: kernels are compiled once


@kernel
def copy_command(to: Row, of: Row) -> None:
    """Copy one command."""
    to.mode, to.stamp = of.mode, of.stamp
    to.vx, to.vy, to.wz, to.curvature = of.vx, of.vy, of.wz, of.curvature
    to.distance, to.heading = of.distance, of.heading
    to.speed, to.accel, to.decel, to.turn = of.speed, of.accel, of.decel, of.turn
    to.turn_accel, to.turn_decel, to.serial = of.turn_accel, of.turn_decel, of.serial


@kernel
def pass_on_all(command: Table, memory: Table, rows: Rows) -> None:
    """Hand these rows what they were told."""
    for i in rows:
        copy_command(command[i], memory[i])


@kernel
def hear_all(memory: Table, command: Table, address: Table, rows: Rows, dt: float) -> None:
    """Note a command, one for all, for these rows."""
    for i in rows:
        m = memory[i]
        copy_command(m, command[0])
        m.heard = address[i].tick
        m.stamp = m.heard * dt


class RemoteAutonomy(Autonomy, kind="remote"):
    """Does what it is told from outside; stops when nothing is heard for too long."""

    remembers = columns(Column("heard", "", "i8"), COMMAND)  # COMMAND must be no prefix of it
    fixed = ("timeout", "lockstep", "patience")
    timeout: Positive | None = None  # s without a command after which the robot stops
    lockstep: Positive | None = None  # s that time may run ahead of the newest command
    patience: Positive = 60.0  # s of real time to wait for a command in lockstep

    def reset(self, rows: Rows) -> None:
        """Nothing was heard yet: stand still."""
        self.receive(rows, _STILL, {})

    def receive(self, rows: Rows, command: Table, each: Mapping[str, Array]) -> None:
        """Take a new command, COMMAND (1,), for these rows, and what of it each is told apart."""
        hear_all(self.memory, command, self.address, rows, self.dt)
        for name, values in each.items():
            set_rows(self.memory[name], rows, values)
        self.news = True

    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Pass on the newest command, or stop if it is too old."""
        pass_on_all(command, self.memory, rows)
        if self.timeout is not None:
            silent = rows[self.address["tick"][rows] >= self._deadline()[rows]]
            command[silent] = STOP
            for limit in LIMITS:  # as gently as it was told to
                command[limit][silent] = self.memory[limit][silent]
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
