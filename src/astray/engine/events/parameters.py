"""The event that changes a parameter of a plugin: set."""

from __future__ import annotations

import numpy as np

from astray.engine.event_queue import Event
from astray.engine.events.kinds import EventKind
from astray.engine.events.selectors import (
    check_rows,
    each_of,
    group_of,
    living_rows_of,
    parameter_of,
)
from astray.engine.events.values import numbers
from astray.engine.run import Run
from astray.errors import EventError
from astray.plugin import out_of_bounds, parameters_of


def check_set(run: Run, event: Event) -> list[Event]:
    """A number within the bounds of a parameter that may change in a run."""
    group, values = group_of(run, event), event.values
    check_rows(run, group, event)
    plugin, name = parameter_of(group, values)
    if name in plugin.fixed:
        raise EventError(
            f"set: {values['parameter']} cannot be changed in a run, only in its scenario"
        )
    value = numbers(group, values.get("value", np.nan), "set", str(values["parameter"]))
    hint = next(p.type for p in parameters_of(type(plugin)) if p.name == name)
    wrong = out_of_bounds(hint, float(value.min()), float(value.max()))
    if wrong or not np.all(np.isfinite(value)):
        raise EventError(
            f"set: {values['parameter']} is {values.get('value')}: {wrong or 'not finite'}"
        )
    return [event]


def apply_set(run: Run, event: Event) -> None:
    """Change the parameter until the next start."""
    group, values = group_of(run, event), event.values
    rows = living_rows_of(run, group, event)
    if len(rows):
        plugin, name = parameter_of(group, values)
        plugin.params[name][rows] = each_of(rows, group, values["value"])
        group.commands_changed = True


KINDS = (EventKind("set", check_set, apply_set),)
