"""Events that add and remove robots: spawn, remove, ghost."""

from __future__ import annotations

import numpy as np

from astray.engine.event_queue import Event
from astray.engine.events.base import (
    EventKind,
    active_rows_of,
    check_columns,
    check_no_values,
    check_selection,
    group_of,
    rows_of,
    write_columns,
)
from astray.engine.events.poses import PLACE_VALUES
from astray.engine.run import Run
from astray.errors import EventError


def check_spawn(run: Run, event: Event) -> list[Event]:
    """Finite values for columns of the pose."""
    group = check_selection(run, event)
    check_columns(group, event.values, PLACE_VALUES, "spawn")
    return [event]


def apply_spawn(run: Run, event: Event) -> None:
    """Start the first inactive robot of each world of the event."""
    group = group_of(run, event)
    rows = rows_of(run, group, event)
    inactive = rows[~group.truth["alive"][rows]]
    _, first = np.unique(group.world_of_row[inactive], return_index=True)
    spawned = inactive[first]
    if not len(spawned):
        return
    group.start_rows(spawned, run.environment.spots_taken())
    run.environment.robots_changed()
    for state in {id(t): t for t in (group.truth, *group.beliefs().values())}.values():
        write_columns(group, state, spawned, event.values)
    for estimator, belief, _ in group.estimators:  # it started at the drawn start pose
        estimator.believe(spawned, belief)
    run.sense_first([spawned if one is group else spawned[:0] for one in run.robots.values()])


def check_remove(run: Run, event: Event) -> list[Event]:
    """No values."""
    check_selection(run, event)
    check_no_values(event.values)
    return [event]


def apply_remove(run: Run, event: Event) -> None:
    """Deactivate the robots."""
    group = group_of(run, event)
    rows = active_rows_of(run, group, event)
    if len(rows):
        group.remove_rows(rows)
    run.environment.robots_changed()


def check_ghost(run: Run, event: Event) -> list[Event]:
    """`ghostly` is true or false."""
    check_selection(run, event)
    values = event.values
    unknown = [name for name in values if name != "ghostly"]
    if unknown or not isinstance(values.get("ghostly", True), bool):
        raise EventError(f"ghost: ghostly is true or false, and all that is needed, not {values}")
    return [event]


def apply_ghost(run: Run, event: Event) -> None:
    """Exclude the robots from interactions and detection, or include them again."""
    group = group_of(run, event)
    rows = active_rows_of(run, group, event)
    ghostly = bool(event.values.get("ghostly", True))
    run.environment.make_ghosts(group.scene.first_row + rows, ghostly)


KINDS = (
    EventKind("spawn", check_spawn, apply_spawn),
    EventKind("remove", check_remove, apply_remove),
    EventKind("ghost", check_ghost, apply_ghost),
)
