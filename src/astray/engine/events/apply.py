"""What each kind of event does to a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from astray.engine.event_queue import Event
from astray.engine.events.selectors import each_of, group_of, parameter_of, rows_of, worlds_of
from astray.engine.reset import awake, restart
from astray.engine.robots import Group
from astray.errors import EventError
from astray.numerics.elementary import wrap
from astray.tables import MODES, STOP, Rows, Table
from astray.world.map import Map
from astray.world.map_data import content_fault, content_of, map_with
from astray.world.maps.read import per_world, read_map

if TYPE_CHECKING:
    from astray.sim import Sim


def apply(sim: Sim, event: Event) -> None:
    """Let an event take effect."""
    if event.kind == "reset":
        restart(sim, worlds_of(sim, event), event.values.get("life"))
        return
    if event.kind == "world":
        sim.scenery.replace_map(map_with(event.values), worlds_of(sim, event))
        return
    group = group_of(sim, event)
    if event.kind == "spawn":
        _spawn(sim, group, rows_of(sim, group, event), event.values)
        return
    rows = group.rows
    if event.worlds is not None or event.robots is not None:
        rows = rows_of(sim, group, event)
        rows = rows[group.truth["alive"][rows]]
    if len(rows):
        EFFECTS[event.kind](group, rows, event.values)
    if event.kind == "place":
        sim.scenery.placed(group.scene.first + rows)
    elif event.kind == "remove":
        sim.scenery.changed()
    elif event.kind == "ghost":
        sim.scenery.make_ghosts(group.scene.first + rows, bool(event.values.get("ghostly", True)))


def with_content(sim: Sim, event: Event) -> list[Event]:
    """World events that hold the map itself, so that their log needs no file; one as it is."""
    if event.kind != "world":
        return [event]
    if "segments" in event.values:
        if fault := content_fault(event.values):
            raise EventError(f"world: {fault}")
        return [event]
    unknown = set(event.values) - {"map"}
    if unknown:
        raise EventError(f"world: no value {min(unknown)!r} (map)")
    given: Any = event.values.get("map")
    maps: list[tuple[tuple[int, ...] | None, Map]]
    if isinstance(given, Map):
        maps = [(event.worlds, given)]
    elif per_world(given):
        numbers = sim.worlds[worlds_of(sim, event)].tolist()
        maps = [((world,), read_map(given, world=world, seed=sim.seed)) for world in numbers]
    else:
        maps = [(event.worlds, read_map(given, seed=sim.seed) if given else Map())]
    return [dataclasses.replace(event, worlds=w, values=content_of(found)) for w, found in maps]


def _command(group: Group, rows: Rows, values: Mapping[str, Any]) -> None:
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
        group.take_in_hand(rows, command, each, values["hold"])
    else:
        group.autonomy.receive(rows, command, each)


def _goal(group: Group, rows: Rows, values: Mapping[str, Any]) -> None:
    group.autonomy.go_to(rows, each_of(rows, group, values["x"]), each_of(rows, group, values["y"]))


def _place(group: Group, rows: Rows, values: Mapping[str, Any]) -> None:
    _write(group, group.truth, rows, values)
    for channel in group.channels.values():
        channel.sensor.placed(rows, group.scene)


def _write(group: Group, state: Table, rows: Rows, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        one = name == "cov" and np.ndim(value) == 2  # also for a group of three
        array = np.asarray(value, float) if one else each_of(rows, group, value)
        if name == "yaw":
            array = np.array([wrap(float(v)) for v in np.broadcast_to(array, len(rows))])
        state[name][rows] = array


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
    group.begin(woken, sim.lives, sim.clock, sim.scenery.spots_taken())
    sim.scenery.changed()
    for state in {id(t): t for t in (group.truth, *group.beliefs().values())}.values():
        _write(group, state, woken, values)
    for estimator, belief, _ in group.estimators:  # started where it was drawn, not where it is put
        estimator.believe(woken, belief)
    awake(sim, [woken if one is group else woken[:0] for one in sim.robots.values()])


def _remove(group: Group, rows: Rows, values: Mapping[str, Any]) -> None:
    group.end(rows)


def _ghost(group: Group, rows: Rows, values: Mapping[str, Any]) -> None:
    """Nothing of the robots themselves changes: they are left out of what is around others."""


def _set(group: Group, rows: Rows, values: Mapping[str, Any]) -> None:
    plugin, name = parameter_of(group, values)
    plugin.params[name][rows] = each_of(rows, group, values["value"])
    group.commanded = True


EFFECTS: dict[str, Callable[[Group, Rows, Mapping[str, Any]], None]] = {
    "command": _command,
    "goal": _goal,
    "place": _place,
    "believe": _believe,
    "remove": _remove,
    "ghost": _ghost,
    "set": _set,
}
