"""Events for whole worlds: reset, world."""

from __future__ import annotations

import dataclasses
from typing import Any

from astray.engine.clocks import MOST_EPISODES
from astray.engine.event_queue import Event, is_whole
from astray.engine.events.base import EventKind, worlds_of
from astray.engine.run import Run
from astray.errors import EventError
from astray.world import Map, map_dict_fault, map_from_dict, map_to_dict
from astray.world.maps import differs_per_world, read_map


def check_reset(run: Run, event: Event) -> list[Event]:
    """The number of an episode, if there is one."""
    values = event.values
    episode = values.get("episode")
    if "life" in values:
        raise EventError("reset: life is called episode now")
    unknown = set(values) - {"episode"}
    if unknown:
        raise EventError(f"reset: unknown value {min(unknown)!r} (episode)")
    if episode is not None and not (is_whole(episode) and 0 <= episode < MOST_EPISODES):
        most = MOST_EPISODES - 1
        raise EventError(
            f"reset: episode is {episode!r}: it must be a whole number from 0 to {most}"
        )
    worlds_of(run, event)
    return [event]


def apply_reset(run: Run, event: Event) -> None:
    """Begin the next episode of the worlds, or the one of the event."""
    run.restart_worlds(worlds_of(run, event), event.values.get("episode"))


def check_world(run: Run, event: Event) -> list[Event]:
    """Events that contain the map itself, so that the log needs no map file."""
    places = worlds_of(run, event)
    if "segments" in event.values:
        if fault := map_dict_fault(event.values):
            raise EventError(f"world: {fault}")
        return [event]
    unknown = set(event.values) - {"map"}
    if unknown:
        raise EventError(f"world: unknown value {min(unknown)!r} (map)")
    given: Any = event.values.get("map")
    maps: list[tuple[tuple[int, ...] | None, Map]]
    if isinstance(given, Map):
        maps = [(event.worlds, given)]
    elif differs_per_world(given):
        numbers = run.worlds[places].tolist()
        maps = [((world,), read_map(given, world=world, seed=run.seed)) for world in numbers]
    else:
        maps = [(event.worlds, read_map(given, seed=run.seed) if given else Map())]
    return [dataclasses.replace(event, worlds=w, values=map_to_dict(found)) for w, found in maps]


def apply_world(run: Run, event: Event) -> None:
    """Replace the maps of the worlds."""
    run.environment.replace_map(map_from_dict(event.values), worlds_of(run, event))


KINDS = (
    EventKind("reset", check_reset, apply_reset),
    EventKind("world", check_world, apply_world),
)
