"""Starting over: the whole run as loaded, or the next life of some of its worlds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.engine.events import Event
from astray.engine.observer import Chronicle
from astray.engine.robot_commands import indices
from astray.errors import WrongInput
from astray.tables import Array, Rows

if TYPE_CHECKING:
    from astray.sim import Sim


def reset(sim: Sim, worlds: Any, life: int | None, seed: int | None) -> None:
    """Start everything over, with another seed if one is given, or some worlds (ids, or a mask)."""
    if seed is not None:
        if worlds is not None or life is not None:
            raise WrongInput("a new seed is for the whole run, not for single worlds or lives")
        sim.build(seed)
    if worlds is None and life is None:
        sim.agenda.clear()
        sim.steps = 0
        sim.scenery.restore_maps()
        restart(sim, np.arange(len(sim.worlds)), 0)
        for observer in sim.observers:
            if isinstance(observer, Chronicle):
                observer.forget()
                observer.observe(sim)
        return
    chosen = None
    if worlds is not None:
        which = np.asarray(worlds)
        if which.dtype == bool and which.shape != sim.worlds.shape:
            raise WrongInput(f"a mask of worlds has {len(sim.worlds)} values, not {which.size}")
        chosen = indices(sim.worlds[which] if which.dtype == bool else which, "worlds")
    sim.post(Event("reset", worlds=chosen, values={} if life is None else {"life": life}))
    sim.admit()


def restart(sim: Sim, worlds: Array, life: int | None) -> None:
    """Begin a life of the worlds at these places: the next one, or the one that is named."""
    sim.lives[worlds] = sim.lives[worlds] + 1 if life is None else life
    sim.clock[worlds] = 0
    sim.read_clocks()
    begun: list[Rows] = []
    others = False  # whether others are there than before
    for group in sim.robots.values():
        group.tick = sim.tick
        first = rows = group.rows_of(worlds)
        if group.plan.count < group.plan.capacity:
            begins = group.address["robot"][rows] < group.plan.count
            group.end(rows[~begins])
            first, others = rows[begins], True
        group.starts[rows] = 0
        others |= group.begin(first, sim.lives, sim.clock)
        begun.append(first)
    if others:
        sim.scenery.changed()
    awake(sim, begun)


def awake(sim: Sim, begun: Sequence[Rows]) -> None:
    """Let the rows of each group that have just begun feel and sense where they are."""
    groups = sim.robots.values()
    starts = [group.scene.first + rows for group, rows in zip(groups, begun, strict=True)]
    sim.scenery.begin(np.concatenate(starts))
    for group, rows in zip(groups, begun, strict=True):
        if len(rows):
            group.wake(rows)
