"""Events that control robots: a command, a goal, a parameter of a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from astray.engine.event_queue import Event
from astray.engine.events.base import (
    EventKind,
    active_rows_of,
    check_columns,
    check_selection,
    group_of,
    numbers,
    value_per_row,
)
from astray.engine.robots import Robots
from astray.engine.run import Run
from astray.errors import EventError
from astray.plugin import Plugin, out_of_bounds, parameters_of
from astray.robot.autonomy import Navigate, RemoteAutonomy
from astray.tables import COMMAND, MODES, STOP

MAX_BEYOND_MAP = 100.0  # m from the map to a goal: the path to it is planned on a grid
MAX_HOLD = 1e6  # s for which a command may override the autonomy
COMMAND_VALUES = tuple(c for c in COMMAND.names or () if c not in ("mode", "stamp"))


def check_command(run: Run, event: Event) -> list[Event]:
    """A command that the control accepts, for robots that accept commands."""
    group, values = check_selection(run, event), event.values
    hold = values.get("hold")
    if hold is None and not isinstance(group.autonomy, RemoteAutonomy):
        raise EventError(
            f"{group.name!r} is driven by its autonomy {group.autonomy.kind!r}: "
            "give it {kind: remote} to drive it from outside, or hold it for a while"
        )
    if hold is not None and not (isinstance(hold, (int, float)) and 0.0 <= hold < MAX_HOLD):
        raise EventError(f"command: hold is {hold}: it must be a length of time in s")
    mode = values.get("mode", "twist")
    if mode not in MODES:
        raise EventError(f"command: unknown mode {mode!r} ({', '.join(MODES)})")
    if MODES.index(mode) not in group.control.modes:
        raise EventError(f"command: control {group.control.kind!r} does not understand {mode!r}")
    columns = {k: v for k, v in values.items() if k not in ("mode", "hold")}
    check_columns(group, columns, COMMAND_VALUES, "command")
    return [event]


def apply_command(run: Run, event: Event) -> None:
    """Hand the command to the autonomy, or override the autonomy."""
    group, values = group_of(run, event), event.values
    rows = active_rows_of(run, group, event)
    if not len(rows):
        return
    command, per_row = STOP.take((0,)), {}
    command["mode"] = MODES.index(values.get("mode", "twist"))
    if values.get("mode") == "servo":  # an axis without an end follows its speed
        command["distance"] = command["heading"] = np.nan
    for name, value in values.items():
        if name not in ("mode", "hold"):
            array = value_per_row(rows, group, value)
            if array.ndim:
                per_row[name] = array
            else:
                command[name] = array
    if "hold" in values:
        group.override_commands(rows, command, per_row, values["hold"])
    else:
        group.autonomy.receive(rows, command, per_row)


def check_goal(run: Run, event: Event) -> list[Event]:
    """A goal in the map or near it, for robots that navigate."""
    group, values = check_selection(run, event), event.values
    if not isinstance(group.autonomy, Navigate):
        raise EventError(
            f"{group.name!r} is driven by its autonomy {group.autonomy.kind!r}: "
            "give it {kind: navigate} to send it to goals"
        )
    if set(values) != {"x", "y"}:
        raise EventError(f"goal: x and y are needed, and nothing else, not {', '.join(values)}")
    check_columns(group, values, ("x", "y"), "goal")
    goals = np.stack(np.broadcast_arrays(values["x"], values["y"]), axis=-1).astype(float)
    for map in group.known.map.maps:
        if len(map):
            corners = map.segments.reshape(-1, 2)
            beyond = float(np.maximum(corners.min(0) - goals, goals - corners.max(0)).max())
            if beyond > MAX_BEYOND_MAP:
                raise EventError(
                    f"goal: it lies {beyond:g} m beyond the map; {MAX_BEYOND_MAP:g} m is most"
                )
    return [event]


def apply_goal(run: Run, event: Event) -> None:
    """Send the robots to the goal."""
    group, values = group_of(run, event), event.values
    rows = active_rows_of(run, group, event)
    if len(rows):
        x, y = (value_per_row(rows, group, values[name]) for name in ("x", "y"))
        group.autonomy.go_to(rows, x, y)


def check_set(run: Run, event: Event) -> list[Event]:
    """A number within the bounds of a parameter that may change during a run."""
    group, values = check_selection(run, event), event.values
    plugin, name = _find_parameter(group, values)
    if name in plugin.fixed:
        raise EventError(
            f"set: {values['parameter']} cannot be changed in a run, only in its scenario"
        )
    value = numbers(group, values.get("value", np.nan), "set", str(values["parameter"]))
    hint = next(p.type for p in parameters_of(type(plugin)) if p.name == name)
    fault = out_of_bounds(hint, float(value.min()), float(value.max()))
    if fault or not np.all(np.isfinite(value)):
        raise EventError(
            f"set: {values['parameter']} is {values.get('value')}: {fault or 'not finite'}"
        )
    return [event]


def apply_set(run: Run, event: Event) -> None:
    """Change the parameter until the next start of the row."""
    group, values = group_of(run, event), event.values
    rows = active_rows_of(run, group, event)
    if len(rows):
        plugin, name = _find_parameter(group, values)
        plugin.params[name][rows] = value_per_row(rows, group, values["value"])
        group.commands_changed = True


def _find_parameter(group: Robots, values: Mapping[str, Any]) -> tuple[Plugin, str]:
    """The plugin and the name of the parameter "plugin.name" that an event sets."""
    owner, _, name = str(values.get("parameter", "")).rpartition(".")
    for plugin in group.plugins:
        if owner in (plugin.name, f"{plugin.family}.{plugin.name}", plugin.family):
            parameters = [p.name for p in parameters_of(type(plugin)) if p.number]
            if name in parameters:
                return plugin, name
            raise EventError(f"set: {owner!r} has no number {name!r} ({', '.join(parameters)})")
    names = ", ".join(sorted({p.name for p in group.plugins}))
    raise EventError(f"set: unknown plugin {owner!r} in {group.name!r} ({names})")


KINDS = (
    EventKind("command", check_command, apply_command),
    EventKind("goal", check_goal, apply_goal),
    EventKind("set", check_set, apply_set),
)
