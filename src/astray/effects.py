"""What each kind of event does to a run."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.autonomy import Navigate, Remote
from astray.errors import EventError
from astray.events import KINDS, Event
from astray.group import Group
from astray.maths import wrap
from astray.parameters import out_of_bounds, parameters
from astray.plugin import Plugin
from astray.restarting import awake, restart
from astray.table import COMMAND, MODES, STOP, Array, Rows, Table
from astray.world.map import Map
from astray.world.read import read_map

if TYPE_CHECKING:
    from astray.sim import Sim

PLACED = ("x", "y", "yaw", "vx", "vy", "wz", "steer")
BELIEVED = (*PLACED, "z", "vz", "ax", "ay", "alpha", "stamp", "cov")
BEYOND = 100.0  # m from a map that a goal may lie at most: the way to it is planned cell by cell
LONGEST_HOLD = 1e6  # s that a hand may stay on a robot
COMMANDED = tuple(c for c in COMMAND.names or () if c not in ("mode", "stamp"))


def check(sim: Sim, event: Event) -> None:
    """Refuse an event that could not take effect, while its sender still listens."""
    if event.kind not in KINDS:
        raise EventError(f"no event kind {event.kind!r} ({', '.join(KINDS)})")
    if event.kind in ("reset", "world"):
        if event.worlds is not None and not sim.places.keys() >= set(event.worlds):
            _worlds(sim, event)  # which says what is wrong
        return
    group = _group(sim, event)
    if event.worlds is not None or event.robots is not None:
        _rows(sim, group, event)
    CHECKS[event.kind](group, event.values)


def apply(sim: Sim, event: Event) -> None:
    """Let an event take effect."""
    if event.kind == "reset":
        restart(sim, _worlds(sim, event), event.values.get("life"))
        return
    if event.kind == "world":
        sim.scenery.replace_map(map_of(event), _worlds(sim, event))
        return
    group = _group(sim, event)
    if event.kind == "spawn":
        _spawn(sim, group, _rows(sim, group, event), event.values)
        return
    rows = group.rows
    if event.worlds is not None or event.robots is not None:
        rows = _rows(sim, group, event)
        rows = rows[group.truth["alive"][rows]]
    if len(rows):
        EFFECTS[event.kind](group, rows, event.values)
    if event.kind == "place":
        sim.scenery.placed(group.scene.first + rows)
    elif event.kind == "remove":
        sim.scenery.changed()
    elif event.kind == "ghost":
        sim.scenery.make_ghosts(group.scene.first + rows, bool(event.values.get("ghostly", True)))


def with_content(event: Event) -> Event:
    """A world event that holds the map itself, so that its log needs no file."""
    if event.kind != "world" or "segments" in event.values:
        return event
    unknown = set(event.values) - {"map"}
    if unknown:
        raise EventError(f"world: no value {min(unknown)!r} (map)")
    given = event.values.get("map")
    found = given if isinstance(given, Map) else read_map(given) if given else Map()
    content = {
        "name": found.name,
        "segments": found.segments.tolist(),
        "solid": np.flatnonzero(found.solid).tolist(),
    }
    return dataclasses.replace(event, values=content)


def map_of(event: Event) -> Map:
    """The map that a world event holds."""
    segments = np.asarray(event.values["segments"], float).reshape(-1, 4)
    solid = np.zeros(len(segments), bool)
    solid[np.asarray(event.values.get("solid", ()), np.int64)] = True
    return Map(segments, solid, name=str(event.values.get("name", "")))


def _worlds(sim: Sim, event: Event) -> Array:
    """The places in the batch of the worlds that an event names, in order."""
    if event.worlds is None:
        return np.arange(len(sim.worlds))
    try:
        found = set(map(sim.places.__getitem__, event.worlds))
        return np.array(sorted(found), np.int64)
    except KeyError as unknown:
        raise EventError(f"{event.kind}: no world {unknown.args[0]}") from None


def _group(sim: Sim, event: Event) -> Group:
    if event.group in sim.robots:
        return sim.robots[event.group]
    raise EventError(f"{event.kind}: no robot {event.group!r} ({', '.join(sim.robots)})")


def _rows(sim: Sim, group: Group, event: Event) -> Rows:
    """The rows that an event names, asleep or not."""
    if event.worlds is None and event.robots is None:
        return np.arange(len(group.truth))
    worlds = _worlds(sim, event)
    if event.robots is None:
        return group.rows_of(worlds)
    if not all(0 <= k < group.plan.capacity for k in event.robots):
        raise EventError(f"{event.kind}: {group.name!r} has robots 0 to {group.plan.capacity - 1}")
    robots = np.array(sorted(set(event.robots)), np.int64)
    return np.asarray((worlds[:, None] * group.plan.capacity + robots).ravel())


def _columns(group: Group, values: Mapping[str, Any], known: tuple[str, ...], kind: str) -> None:
    for name, value in values.items():
        if name not in known:
            raise EventError(f"{kind}: no value {name!r} ({', '.join(known)})")
        if isinstance(value, float) and math.isfinite(value):
            continue  # most are, and wires post them a thousand times a second
        array = np.asarray(value, float)
        if not np.isfinite(array).all():
            raise EventError(f"{kind}: {name} is {value}: it must be finite")
        if name != "cov" and array.ndim and array.shape != (len(group.truth),):
            raise EventError(
                f"{kind}: {name} needs one number, or one for each of the {len(group.truth)} rows "
                f"of {group.name!r}, not {array.size}"
            )


def _check_command(group: Group, values: Mapping[str, Any]) -> None:
    hold = values.get("hold")
    if hold is None and not isinstance(group.autonomy, Remote):
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
    _columns(group, rest, COMMANDED, "command")


def _command(group: Group, rows: Rows, values: Mapping[str, Any]) -> None:
    command, each = STOP.take((0,)), {}
    command["mode"] = MODES.index(values.get("mode", "twist"))
    if values.get("mode") == "servo":  # an axis that is given no end is left to its speed
        command["distance"] = command["heading"] = np.nan
    for name, value in values.items():
        if name not in ("mode", "hold"):
            found = _of(rows, group, value)
            if found.ndim:
                each[name] = found
            else:
                command[name] = found
    if "hold" in values:
        group.take_in_hand(rows, command, each, values["hold"])
    else:
        group.autonomy.receive(rows, command, each)


def _check_goal(group: Group, values: Mapping[str, Any]) -> None:
    if not isinstance(group.autonomy, Navigate):
        raise EventError(
            f"{group.name!r} is driven by its autonomy {group.autonomy.kind!r}: "
            "give it {kind: navigate} to send it to goals"
        )
    if set(values) != {"x", "y"}:
        raise EventError(f"goal: x and y are needed, and nothing else, not {', '.join(values)}")
    _columns(group, values, ("x", "y"), "goal")
    goals = np.stack(np.broadcast_arrays(values["x"], values["y"]), axis=-1).astype(float)
    for found in group.known.map.maps:
        if len(found):
            corners = found.segments.reshape(-1, 2)
            away = float(np.maximum(corners.min(0) - goals, goals - corners.max(0)).max())
            if away > BEYOND:
                raise EventError(f"goal: it lies {away:g} m beyond the map; {BEYOND:g} m is most")


def _goal(group: Group, rows: Rows, values: Mapping[str, Any]) -> None:
    group.autonomy.go_to(rows, _of(rows, group, values["x"]), _of(rows, group, values["y"]))


def _of(rows: Rows, group: Group, value: Any) -> Array:
    """A value for each of these rows: one for all, or one per row of the group."""
    array = np.asarray(value, float)
    if array.ndim and len(rows) < len(array) == len(group.truth):
        return array[rows]
    return array


def _check_pose(group: Group, values: Mapping[str, Any]) -> None:
    _columns(group, values, PLACED, "place")


def _place(group: Group, rows: Rows, values: Mapping[str, Any]) -> None:
    _write(group, group.truth, rows, values)
    for channel in group.channels.values():
        channel.sensor.placed(rows, group.scene)


def _write(group: Group, state: Table, rows: Rows, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        one = name == "cov" and np.ndim(value) == 2  # also for a group of three
        array = np.asarray(value, float) if one else _of(rows, group, value)
        if name == "yaw":
            array = np.array([wrap(float(v)) for v in np.broadcast_to(array, len(rows))])
        state[name][rows] = array


def _check_believe(group: Group, values: Mapping[str, Any]) -> None:
    who = values.get("estimator", "belief")
    if who == "belief" and group.estimator is None:
        raise EventError(f"{group.name!r} has no estimator: it believes the truth")
    if who not in group.beliefs():
        raise EventError(f"believe: no estimator {who!r} ({', '.join(group.beliefs())})")
    _columns(group, {k: v for k, v in values.items() if k != "estimator"}, BELIEVED, "believe")


def _believe(group: Group, rows: Rows, values: Mapping[str, Any]) -> None:
    who = values.get("estimator", "belief")
    belief = group.beliefs()[who]
    _write(group, belief, rows, {k: v for k, v in values.items() if k != "estimator"})
    if "stamp" not in values:
        belief["stamp"][rows] = group.time[rows]
    if "cov" not in values:
        belief["cov"][rows] = 0.0
    for estimator, owned, _ in group.estimators:
        if owned is belief:
            estimator.believe(rows, belief)
    group.judging.judge_believed(rows, belief, group.truth)


def _spawn(sim: Sim, group: Group, rows: Rows, values: Mapping[str, Any]) -> None:
    """Wake the first sleeping robot of each world that is named."""
    asleep = rows[~group.truth["alive"][rows]]
    _, first = np.unique(group.world_of_row[asleep], return_index=True)
    woken = asleep[first]
    if not len(woken):
        return
    group.begin(woken, sim.lives, sim.clock)
    sim.scenery.changed()
    for state in {id(t): t for t in (group.truth, *group.beliefs().values())}.values():
        _write(group, state, woken, values)
    for estimator, belief, _ in group.estimators:  # started where it was drawn, not where it is put
        estimator.believe(woken, belief)
    awake(sim, [woken if one is group else woken[:0] for one in sim.robots.values()])


def _remove(group: Group, rows: Rows, values: Mapping[str, Any]) -> None:
    group.end(rows)


def _check_ghost(group: Group, values: Mapping[str, Any]) -> None:
    wrong = [name for name in values if name != "ghostly"]
    if wrong or not isinstance(values.get("ghostly", True), bool):
        raise EventError(f"ghost: ghostly is true or false, and all that is needed, not {values}")


def _ghost(group: Group, rows: Rows, values: Mapping[str, Any]) -> None:
    """Nothing of the robots themselves changes: they are left out of what is around others."""


def _check_set(group: Group, values: Mapping[str, Any]) -> None:
    plugin, name = _find_parameter(group, values)
    value = np.asarray(values.get("value", np.nan), float)
    hint = next(p.type for p in parameters(type(plugin)) if p.name == name)
    wrong = out_of_bounds(hint, float(value.min()), float(value.max()))
    if wrong or not np.all(np.isfinite(value)):
        raise EventError(
            f"set: {values['parameter']} is {values.get('value')}: {wrong or 'not finite'}"
        )


def _set(group: Group, rows: Rows, values: Mapping[str, Any]) -> None:
    plugin, name = _find_parameter(group, values)
    plugin.params[name][rows] = _of(rows, group, values["value"])
    group.commanded = True


def _find_parameter(group: Group, values: Mapping[str, Any]) -> tuple[Plugin, str]:
    path = str(values.get("parameter", ""))
    who, _, name = path.rpartition(".")
    for plugin in group.plugins:
        if who in (plugin.name, f"{plugin.family}.{plugin.name}", plugin.family):
            numbers = [p.name for p in parameters(type(plugin)) if p.number]
            if name in numbers:
                return plugin, name
            raise EventError(f"set: {who!r} has no number {name!r} ({', '.join(numbers)})")
    names = ", ".join(sorted({p.name for p in group.plugins}))
    raise EventError(f"set: no plugin {who!r} in {group.name!r} ({names})")


def _check_nothing(group: Group, values: Mapping[str, Any]) -> None:
    if values:
        raise EventError(f"no value {next(iter(values))!r} is needed here")


CHECKS: dict[str, Callable[[Group, Mapping[str, Any]], None]] = {
    "command": _check_command,
    "goal": _check_goal,
    "place": _check_pose,
    "believe": _check_believe,
    "spawn": _check_pose,
    "remove": _check_nothing,
    "ghost": _check_ghost,
    "set": _check_set,
}
EFFECTS: dict[str, Callable[[Group, Rows, Mapping[str, Any]], None]] = {
    "command": _command,
    "goal": _goal,
    "place": _place,
    "believe": _believe,
    "remove": _remove,
    "ghost": _ghost,
    "set": _set,
}
