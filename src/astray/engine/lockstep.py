"""Lockstep: time waits for whoever commands the robots from outside."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from astray.engine.robots import Group
from astray.errors import LockstepTimeout

if TYPE_CHECKING:
    from astray.sim import Sim

LOOK = 0.1  # s after which a waiting run looks whether it was stopped


def await_commands(sim: Sim, group: Group) -> None:
    """Wait while a group has run as far ahead of its newest commands as it may."""
    patience = group.autonomy.patience
    deadline = time.monotonic() + patience
    while (ahead := group.ahead_of_commands()) is not None and not sim.pace.stopped:
        if ahead < group.lockstep:
            return
        with sim.agenda.arrived:
            if not sim.agenda.is_due(sim.steps):
                sim.agenda.arrived.wait(LOOK)
        sim.admit()
        sim.pace.answer()
        if time.monotonic() > deadline:
            raise LockstepTimeout(
                f"{group.name!r} is in lockstep and no command came for {patience:g} s"
            )
