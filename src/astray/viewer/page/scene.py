"""The scene: all that the page draws and that does not move, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from astray.engine import PHASES, Run
from astray.scenario import GroupPlan
from astray.viewer.page.drawables import sight
from astray.viewer.page.plots import PlotSignals
from astray.viewer.page.tracks import contacts_data
from astray.world import Map

PLACES = ("home", "dock", "goal")


def scene_of(sim: Run, world: int, signals: dict[str, PlotSignals], resets: bool) -> dict[str, Any]:
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
            group_data(plan, around, signals[plan.name].about()) for plan in sim.scenario.robots
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


def beliefs_of(plan: GroupPlan) -> dict[str, str]:
    """Who believes something else than the truth, and by which kind of estimator."""
    found = {"belief": plan.estimator.kind} if plan.estimator else {}
    return found | {rival.name: rival.kind for rival in plan.rivals}


def group_data(
    plan: GroupPlan, around: Map, signals: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    """What the page is told of a group of robots."""
    beliefs = beliefs_of(plan)
    return {
        "name": plan.name,
        "count": plan.capacity,
        "footprint": np.round(plan.footprint.outline(24), 4).tolist(),
        "motion": plan.motion.kind,
        "autonomy": plan.autonomy.kind,
        "estimators": beliefs,
        "beliefs": list(beliefs),
        "path": _path(plan, around),
        "sensors": [sight(sensor) for sensor in plan.sensors],
        "contacts": contacts_data(plan),
        "signals": list(signals),
    }


def _path(plan: GroupPlan, around: Map) -> list[list[float]]:
    """Where the group wants to go: points, or names of places on the map."""
    wanted = getattr(plan.autonomy, "points", None) or getattr(plan.autonomy, "goals", None) or ()
    named = {place.name: [place.x, place.y] for place in around.places}
    found = []
    for point in wanted if isinstance(wanted, (list, tuple)) else ():
        if isinstance(point, str):
            if point in named:
                found.append(named[point])
        elif len(point) >= 2 and all(isinstance(v, (int, float)) for v in point[:2]):
            found.append([float(point[0]), float(point[1])])
    return [point for point in found if all(math.isfinite(v) for v in point)]
