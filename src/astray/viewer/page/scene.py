"""The scene: all that the page draws and that does not move, as plain data.

The map, the groups of robots, which of their sensors can be drawn and how, and the signals that can
be plotted: every number of a robot, those of foreign sensors and metrics included.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from astray.engine import PHASES, Robots, Run
from astray.plugin import Plugin, Reading, Sensor, nominal
from astray.robot.sensors import ray_angles
from astray.scenario import GroupPlan
from astray.tables import (
    CONTACTS,
    FIX,
    LANDMARKS,
    RANGE,
    SCAN,
    SONAR,
    STATE,
    Array,
    Table,
    columns_of,
)
from astray.world import Map

DRAWN_PLACES = ("home", "dock", "goal")
COAST = 3.0  # s in which tracks fade of a tracker that does not say how long it keeps them
STATE_SIGNALS = ("x", "y", "yaw", "vx", "vy", "wz", "ax", "ay", "alpha", "steer", "steer_rate")
MAX_ELEMENTS = 32  # of an array beside a reading that are offered one by one
DRAWN_AS = {
    SCAN: "scan",
    SONAR: "sonar",
    RANGE: "range",
    LANDMARKS: "landmarks",
    CONTACTS: "contacts",
    FIX: "fix",
}
"""How the page draws a sensor, by what it measures, so that foreign sensors are drawn as well."""


def scene_data(
    sim: Run, world: int, signals: Mapping[str, Sequence[PlotSignal]], can_reset: bool
) -> dict[str, Any]:
    """The scene of a run; `world` is an index into the batch, signals are those of each group."""
    map = sim.map(int(sim.worlds[world]))
    return {
        "name": sim.scenario.name,
        "dt": sim.dt,
        "duration": sim.scenario.duration,
        "seed": sim.seed,
        "world": world,
        "worlds": [int(w) for w in sim.worlds[:1000]],
        "phases": list(PHASES),
        "resets": can_reset,
        "map": map_data(map),
        "groups": [
            group_data(plan, map, [{"name": s.name, "unit": s.unit} for s in signals[plan.name]])
            for plan in sim.scenario.robots
        ],
    }


def map_data(map: Map) -> dict[str, Any]:
    """The segments of a map one after the other, those around something solid first, and places."""
    solid_first = np.argsort(~map.solid, kind="stable")
    return {
        "segments": np.round(map.segments[solid_first], 4).ravel().tolist(),
        "solid": int(map.solid.sum()),
        "places": [
            {"kind": place.kind, "name": place.name, "x": place.x, "y": place.y}
            for place in map.places
            if place.kind in DRAWN_PLACES
        ],
    }


def group_data(plan: GroupPlan, map: Map, signals: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """A group of robots; signals are the names and units of what can be plotted."""
    estimators = estimators_of(plan)
    return {
        "name": plan.name,
        "count": plan.capacity,
        "footprint": np.round(plan.footprint.outline(24), 4).tolist(),
        "motion": plan.motion.kind,
        "autonomy": plan.autonomy.kind,
        "estimators": estimators,
        "beliefs": list(estimators),
        "path": _path(plan, map),
        "sensors": [sensor_data(sensor) for sensor in plan.sensors],
        "contacts": _tracker_data(plan),
        "signals": list(signals),
    }


def estimators_of(plan: GroupPlan) -> dict[str, str]:
    """The kinds of the estimators of a group by the names of their beliefs, rivals included."""
    in_charge = {"belief": plan.estimator.kind} if plan.estimator else {}
    return in_charge | {rival.name: rival.kind for rival in plan.rivals}


def _tracker_data(plan: GroupPlan) -> dict[str, Any] | None:
    if plan.contacts is None:
        return None
    return {"kind": plan.contacts.kind, "coast": _nominal(plan.contacts, "coast", COAST)}


def _path(plan: GroupPlan, map: Map) -> list[list[float]]:
    """The goals of a group: points, or names of places on the map."""
    goals = getattr(plan.autonomy, "points", None) or getattr(plan.autonomy, "goals", None) or ()
    places = {place.name: [place.x, place.y] for place in map.places}
    points = []
    for goal in goals if isinstance(goals, (list, tuple)) else ():
        if isinstance(goal, str):
            if goal in places:
                points.append(places[goal])
        elif len(goal) >= 2 and all(isinstance(v, (int, float)) for v in goal[:2]):
            points.append([float(goal[0]), float(goal[1])])
    return [point for point in points if all(math.isfinite(v) for v in point)]


# Sensors.


def sensor_data(sensor: Sensor) -> dict[str, Any]:
    """How a sensor is drawn, "" for not at all, and where it is mounted."""
    drawn_as = DRAWN_AS.get(sensor.measures, "")
    data: dict[str, Any] = {"name": sensor.name, "kind": sensor.kind, "draws": drawn_as}
    if not drawn_as or drawn_as == "fix":
        return data
    mounts = getattr(sensor, "mounts", None) if drawn_as == "sonar" else None
    mount = tuple(_nominal(sensor, name, 0.0) for name in ("x", "y", "yaw"))
    data["mounts"] = [list(one) for one in (mounts or [mount])]
    data["cone"] = _nominal(sensor, "cone", 0.0)
    data["max_range"] = _nominal(sensor, "max_range", 0.0)
    if drawn_as == "scan":
        rays = math.prod(sensor.array_shapes().get("ranges", (0,)))
        field_of_view = min(math.tau, _nominal(sensor, "field_of_view", math.tau))
        start, step = ray_angles(rays, field_of_view)
        data |= {"rays": rays, "start": start, "step": step}
    if drawn_as == "contacts":
        data["min_range"] = _nominal(sensor, "min_range", 0.0)
        data["field_of_view"] = _nominal(sensor, "field_of_view", math.tau)
        data["walls"] = bool(getattr(sensor, "walls", True))
    return data


def drawn_numbers(drawn_as: str, reading: Reading, row: int) -> Array | None:
    """The numbers of one robot's reading that are drawn; None if there are none yet."""
    if math.isnan(reading.stamp[row]):
        return None
    if drawn_as in ("scan", "sonar"):
        ranges = reading.arrays.get("ranges")
        return None if ranges is None else ranges[row].ravel()
    if drawn_as == "range":
        return np.asarray(reading["range"][row : row + 1])
    if drawn_as in ("landmarks", "contacts"):
        seen = reading["seen"][row] > 0
        return np.stack([reading["range"][row][seen], reading["bearing"][row][seen]], 1).ravel()
    if drawn_as == "fix" and not reading["lost"][row]:
        return np.array((reading["x"][row], reading["y"][row]))
    return None


def _nominal(plugin: Plugin, name: str, default: float) -> float:
    """A parameter of a plugin, or the nominal value of the distribution that it is drawn from."""
    value = getattr(plugin, name, default)
    value = nominal(value) if hasattr(value, "nominal") else value
    return float(value) if isinstance(value, (int, float)) else default


# Signals.


class PlotSignal(NamedTuple):
    """A number of each row of a group that can be plotted."""

    name: str
    unit: str
    values: Array
    """A view into the live table, (n,)."""


def signals_of(group: Robots) -> list[PlotSignal]:
    """The signals of a group, in the order in which the page refers to them."""
    signals = _columns("truth", group.truth, STATE_SIGNALS)
    for name, belief in group.beliefs().items():
        if belief is not group.truth:
            signals += _columns(name, belief, STATE_SIGNALS)
    for evaluator in group.evaluators:
        metric, subject = evaluator.metric, evaluator.subject
        name = metric.name if subject == "belief" else f"{metric.name} of {subject}"
        signals.append(PlotSignal(name, metric.unit, evaluator.values))
    for name, reading in group.readings.items():
        columns = [c for c in reading.table.dtype.names or () if c not in ("fresh", "stamp")]
        signals += _columns(name, reading.table, columns)
        for array, values in reading.arrays.items():
            signals += _elements(f"{name}.{array}", "", values)
    return signals


def _columns(owner: str, table: Table, columns: Sequence[str]) -> list[PlotSignal]:
    known = columns_of(STATE if table.dtype == STATE else table.dtype)
    signals: list[PlotSignal] = []
    for column in columns:
        unit = known[column].unit if column in known else ""
        signals += _elements(f"{owner}.{column}", unit, table[column])
    return signals


def _elements(name: str, unit: str, values: Array) -> list[PlotSignal]:
    """One signal for each element of a row."""
    if values.ndim == 1:
        return [PlotSignal(name, unit, values)]
    flat = values.reshape(len(values), -1)
    if flat.shape[1] > MAX_ELEMENTS or not np.shares_memory(flat, values):
        return []
    return [PlotSignal(f"{name}[{k}]", unit, flat[:, k]) for k in range(flat.shape[1])]
