"""A scenario written out whole: every preset, override and default in its place."""

from __future__ import annotations

import dataclasses
from typing import Any

from astray.plugin import DrawnParameter, Plugin, parameters_of, written
from astray.scenario.scenario import GroupPlan, Scenario
from astray.signals import Signals
from astray.world.geometry import Footprint


def effective(scenario: Scenario, plugins: list[str]) -> dict[str, Any]:
    """The scenario as plain data that loads to the same scenario."""
    made: dict[str, Any] = {
        "name": scenario.name,
        "duration": scenario.duration,
        "dt": scenario.dt,
        "seed": scenario.seed,
    }
    if plugins:
        made["plugins"] = list(plugins)
    if scenario.map is not None:
        made["world"] = {"map": scenario.map.spec}
    made["robots"] = [_robot(plan) for plan in scenario.robots]
    made["metrics"] = [_plugin(metric) for metric in scenario.metrics]
    if scenario.map is not None or scenario.interactions:
        made["interactions"] = [_plugin(found) for found in scenario.interactions]
    return made


def _robot(plan: GroupPlan) -> dict[str, Any]:
    made = {
        "name": plan.name,
        "count": plan.count,
        "capacity": plan.capacity,
        "start": {
            f.name: plain_value(getattr(plan.start, f.name)) for f in dataclasses.fields(plan.start)
        },
        "motion": _plugin(plan.motion),
        "control": _plugin(plan.control),
        "autonomy": _plugin(plan.autonomy),
        "sensors": [_plugin(sensor) for sensor in plan.sensors],
        "rivals": [_plugin(rival) for rival in plan.rivals],
    }
    if plan.estimator:
        made["estimator"] = _plugin(plan.estimator)
    if plan.contacts:
        made["contacts"] = _plugin(plan.contacts)
    if plan.footprint != Footprint():
        made["footprint"] = _footprint(plan.footprint)
    if plan.map is not None:
        made["map"] = plan.map.spec
    return {k: v for k, v in made.items() if v != []}


def _footprint(footprint: Footprint) -> dict[str, Any]:
    if footprint.corners:
        return {"corners": [list(corner) for corner in footprint.corners]}
    return {"radius": footprint.radius, "x": footprint.x, "y": footprint.y}


def _plugin(plugin: Plugin) -> dict[str, Any]:
    values = {p.name: plain_value(getattr(plugin, p.name)) for p in parameters_of(type(plugin))}
    given = {k: v for k, v in values.items() if v is not None}
    return {"kind": plugin.kind, "name": plugin.name, **given}


def plain_value(value: Any) -> Any:
    """The value of a parameter as plain data, as a scenario has it."""
    if isinstance(value, DrawnParameter):
        return written(value)  # type: ignore[arg-type]
    if isinstance(value, Signals):
        return value.plain()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, (list, tuple)):
        return [plain_value(v) for v in value]
    return value
