"""What an event is about: worlds, a group, rows of its tables, a parameter of a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from astray.engine.event_queue import Event
from astray.engine.robots import Robots
from astray.engine.run import Run
from astray.errors import EventError, suggest
from astray.plugin import Plugin, parameters_of
from astray.tables import Array, Rows


def worlds_of(run: Run, event: Event) -> Array:
    """The places in the batch of the worlds that an event names, in order."""
    if event.worlds is None:
        return np.arange(len(run.worlds))
    try:
        return run.world_index.of(event.worlds)
    except KeyError as unknown:
        raise EventError(f"{event.kind}: no world {unknown.args[0]}") from None


def group_of(run: Run, event: Event) -> Robots:
    """The group that an event names."""
    if event.group in run.robots:
        return run.robots[event.group]
    hint = suggest(str(event.group), run.robots)
    raise EventError(f"{event.kind}: no robot {event.group!r}{hint} ({', '.join(run.robots)})")


def rows_of(run: Run, group: Robots, event: Event) -> Rows:
    """The rows that an event names, asleep or not."""
    if event.worlds is None and event.robots is None:
        return np.arange(len(group.truth))
    worlds = worlds_of(run, event)
    if event.robots is None:
        return group.rows_of(worlds)
    if not all(0 <= k < group.plan.capacity for k in event.robots):
        raise EventError(f"{event.kind}: {group.name!r} has robots 0 to {group.plan.capacity - 1}")
    robots = np.array(sorted(set(event.robots)), np.int64)
    return np.asarray((worlds[:, None] * group.plan.capacity + robots).ravel())


def check_rows(run: Run, group: Robots, event: Event) -> None:
    """Refuse worlds and robots that there are not."""
    if event.worlds is not None or event.robots is not None:
        rows_of(run, group, event)


def living_rows_of(run: Run, group: Robots, event: Event) -> Rows:
    """The rows that an event names of the robots that are there."""
    if event.worlds is None and event.robots is None:
        return group.rows
    rows: Rows = rows_of(run, group, event)
    living: Rows = rows[group.truth["alive"][rows]]
    return living


def each_of(rows: Rows, group: Robots, value: Any) -> Array:
    """A value for each of these rows: one for all, or one per row of the group."""
    array = np.asarray(value, float)
    if array.ndim and len(rows) < len(array) == len(group.truth):
        return array[rows]
    return array


def parameter_of(group: Robots, values: Mapping[str, Any]) -> tuple[Plugin, str]:
    """The plugin and the name of the parameter that an event sets."""
    path = str(values.get("parameter", ""))
    who, _, name = path.rpartition(".")
    for plugin in group.plugins:
        if who in (plugin.name, f"{plugin.family}.{plugin.name}", plugin.family):
            numbers = [p.name for p in parameters_of(type(plugin)) if p.number]
            if name in numbers:
                return plugin, name
            raise EventError(f"set: {who!r} has no number {name!r} ({', '.join(numbers)})")
    names = ", ".join(sorted({p.name for p in group.plugins}))
    raise EventError(f"set: no plugin {who!r} in {group.name!r} ({names})")
