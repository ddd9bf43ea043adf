"""Events that change which robots are there: spawn, remove, ghost."""

from __future__ import annotations

import numpy as np

from astray.engine.event_queue import Event
from astray.engine.events.kinds import EventKind
from astray.engine.events.poses import PLACED
from astray.engine.events.selectors import check_rows, group_of, living_rows_of, rows_of
from astray.engine.events.values import check_columns, check_nothing, write_columns
from astray.engine.run import Run
from astray.errors import EventError


def check_spawn(run: Run, event: Event) -> list[Event]:
    """Finite values for columns of the pose."""
    group = group_of(run, event)
    check_rows(run, group, event)
    check_columns(group, event.values, PLACED, "spawn")
    return [event]


def apply_spawn(run: Run, event: Event) -> None:
    """Start the first sleeping robot of each world that is named."""
    group = group_of(run, event)
    rows = rows_of(run, group, event)
    asleep = rows[~group.truth["alive"][rows]]
    _, first = np.unique(group.world_of_row[asleep], return_index=True)
    woken = asleep[first]
    if not len(woken):
        return
    group.begin(woken, run.environment.spots_taken())
    run.environment.changed()
    for state in {id(t): t for t in (group.truth, *group.beliefs().values())}.values():
        write_columns(group, state, woken, event.values)
    for estimator, belief, _ in group.estimators:  # it started where the row was drawn
        estimator.believe(woken, belief)
    run.wake([woken if one is group else woken[:0] for one in run.robots.values()])


def check_remove(run: Run, event: Event) -> list[Event]:
    """It needs no values."""
    group = group_of(run, event)
    check_rows(run, group, event)
    check_nothing(event.values)
    return [event]


def apply_remove(run: Run, event: Event) -> None:
    """Put the robots to sleep."""
    group = group_of(run, event)
    rows = living_rows_of(run, group, event)
    if len(rows):
        group.end(rows)
    run.environment.changed()


def check_ghost(run: Run, event: Event) -> list[Event]:
    """`ghostly` is true or false."""
    group, values = group_of(run, event), event.values
    check_rows(run, group, event)
    wrong = [name for name in values if name != "ghostly"]
    if wrong or not isinstance(values.get("ghostly", True), bool):
        raise EventError(f"ghost: ghostly is true or false, and all that is needed, not {values}")
    return [event]


def apply_ghost(run: Run, event: Event) -> None:
    """Leave the robots out of what is around others, or put them back."""
    group = group_of(run, event)
    rows = living_rows_of(run, group, event)
    ghostly = bool(event.values.get("ghostly", True))
    run.environment.make_ghosts(group.scene.first + rows, ghostly)


KINDS = (
    EventKind("spawn", check_spawn, apply_spawn),
    EventKind("remove", check_remove, apply_remove),
    EventKind("ghost", check_ghost, apply_ghost),
)
