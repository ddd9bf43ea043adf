"""Events that tell robots what to do: a command, a goal."""

from __future__ import annotations

import numpy as np

from astray.engine.event_queue import Event
from astray.engine.events.kinds import EventKind
from astray.engine.events.selectors import check_rows, each_of, group_of, living_rows_of
from astray.engine.events.values import check_columns
from astray.engine.run import Run
from astray.errors import EventError
from astray.robot.autonomy import Navigate, RemoteAutonomy
from astray.tables import COMMAND, MODES, STOP

BEYOND = 100.0  # m from a map that a goal may lie at most: the way to it is planned cell by cell
LONGEST_HOLD = 1e6  # s for which a command may override the autonomy
COMMANDED = tuple(c for c in COMMAND.names or () if c not in ("mode", "stamp"))


def check_command(run: Run, event: Event) -> list[Event]:
    """A command that the control understands, for robots that take commands."""
    group, values = group_of(run, event), event.values
    check_rows(run, group, event)
    hold = values.get("hold")
    if hold is None and not isinstance(group.autonomy, RemoteAutonomy):
        raise EventError(
            f"{group.name!r} is driven by its autonomy {group.autonomy.kind!r}: "
            "give it {kind: remote} to drive it from outside, or hold it for a while"
        )
    if hold is not None and not (isinstance(hold, (int, float)) and 0.0 <= hold < LONGEST_HOLD):
        raise EventError(f"command: hold is {hold}: it must be a length of time in s")
    mode = values.get("mode", "twist")
    if mode not in MODES:
        raise EventError(f"command: no mode {mode!r} ({', '.join(MODES)})")
    if MODES.index(mode) not in group.control.modes:
        raise EventError(f"command: control {group.control.kind!r} does not understand {mode!r}")
    rest = {k: v for k, v in values.items() if k not in ("mode", "hold")}
    check_columns(group, rest, COMMANDED, "command")
    return [event]


def apply_command(run: Run, event: Event) -> None:
    """Hand the command to the autonomy, or override it."""
    group, values = group_of(run, event), event.values
    rows = living_rows_of(run, group, event)
    if not len(rows):
        return
    command, each = STOP.take((0,)), {}
    command["mode"] = MODES.index(values.get("mode", "twist"))
    if values.get("mode") == "servo":  # an axis that is given no end is left to its speed
        command["distance"] = command["heading"] = np.nan
    for name, value in values.items():
        if name not in ("mode", "hold"):
            found = each_of(rows, group, value)
            if found.ndim:
                each[name] = found
            else:
                command[name] = found
    if "hold" in values:
        group.override_commands(rows, command, each, values["hold"])
    else:
        group.autonomy.receive(rows, command, each)


def check_goal(run: Run, event: Event) -> list[Event]:
    """A goal on the map or near it, for robots that navigate."""
    group, values = group_of(run, event), event.values
    check_rows(run, group, event)
    if not isinstance(group.autonomy, Navigate):
        raise EventError(
            f"{group.name!r} is driven by its autonomy {group.autonomy.kind!r}: "
            "give it {kind: navigate} to send it to goals"
        )
    if set(values) != {"x", "y"}:
        raise EventError(f"goal: x and y are needed, and nothing else, not {', '.join(values)}")
    check_columns(group, values, ("x", "y"), "goal")
    goals = np.stack(np.broadcast_arrays(values["x"], values["y"]), axis=-1).astype(float)
    for found in group.known.map.maps:
        if len(found):
            corners = found.segments.reshape(-1, 2)
            away = float(np.maximum(corners.min(0) - goals, goals - corners.max(0)).max())
            if away > BEYOND:
                raise EventError(f"goal: it lies {away:g} m beyond the map; {BEYOND:g} m is most")
    return [event]


def apply_goal(run: Run, event: Event) -> None:
    """Send the robots to the goal."""
    group, values = group_of(run, event), event.values
    rows = living_rows_of(run, group, event)
    if len(rows):
        x, y = each_of(rows, group, values["x"]), each_of(rows, group, values["y"])
        group.autonomy.go_to(rows, x, y)


KINDS = (
    EventKind("command", check_command, apply_command),
    EventKind("goal", check_goal, apply_goal),
)
