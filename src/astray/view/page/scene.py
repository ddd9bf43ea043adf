"""The scene: all that the page draws and that does not move, as plain data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from astray.group import Group
from astray.sim import PHASES, Sim
from astray.view.page.sights import sight
from astray.view.page.signals import Signals
from astray.world.map import Map

PLACES = ("home", "dock", "goal")


def scene_of(sim: Sim, world: int, signals: dict[str, Signals], resets: bool) -> dict[str, Any]:
    """What the page is told of a run once; `world` is a place in the batch."""
    around = sim.map(int(sim.worlds[world]))
    return {
        "name": sim.scenario.name,
        "dt": sim.dt,
        "duration": sim.scenario.duration,
        "seed": sim.seed,
        "world": world,
        "worlds": [int(w) for w in sim.worlds[:1000]],
        "phases": list(PHASES),
        "resets": resets,
        "map": map_data(around),
        "groups": [
            _group(group, around, signals[name].about()) for name, group in sim.robots.items()
        ],
    }


def map_data(around: Map) -> dict[str, Any]:
    """Segments one behind the other, first those around something solid, and places."""
    solid_first = np.argsort(~around.solid, kind="stable")
    return {
        "segments": np.round(around.segments[solid_first], 4).ravel().tolist(),
        "solid": int(around.solid.sum()),
        "places": [
            {"kind": place.kind, "name": place.name, "x": place.x, "y": place.y}
            for place in around.places
            if place.kind in PLACES
        ],
    }


def _group(group: Group, around: Map, signals: list[dict[str, str]]) -> dict[str, Any]:
    beliefs = [who for who, belief in group.beliefs().items() if belief is not group.truth]
    return {
        "name": group.name,
        "count": group.plan.capacity,
        "footprint": np.round(group.plan.footprint.outline(24), 4).tolist(),
        "motion": group.motion.kind,
        "autonomy": group.autonomy.kind,
        "estimators": {e.name: e.kind for e in (group.plan.estimator, *group.plan.rivals) if e},
        "beliefs": beliefs,
        "path": _path(group, around),
        "sensors": [sight(channel.sensor) for channel in group.channels.values()],
        "signals": signals,
    }


def _path(group: Group, around: Map) -> list[list[float]]:
    """Where the group wants to go: points, or names of places on the map."""
    wanted = getattr(group.autonomy, "points", None) or getattr(group.autonomy, "goals", None) or ()
    named = {place.name: [place.x, place.y] for place in around.places}
    found = []
    for point in wanted if isinstance(wanted, (list, tuple)) else ():
        if isinstance(point, str):
            if point in named:
                found.append(named[point])
        elif len(point) >= 2 and all(isinstance(v, (int, float)) for v in point[:2]):
            found.append([float(point[0]), float(point[1])])
    return [point for point in found if all(math.isfinite(v) for v in point)]
