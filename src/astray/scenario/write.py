"""A scenario written out whole: every preset, override and default in its place."""

from __future__ import annotations

import dataclasses
from typing import Any

from astray.draw import Drawn, written
from astray.parameters import parameters
from astray.plugin import Plugin
from astray.scenario.plan import GroupPlan, Scenario
from astray.signals import Signals


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
    made["robots"] = [_robot(plan) for plan in scenario.robots]
    made["metrics"] = [_plugin(metric) for metric in scenario.metrics]
    return made


def _robot(plan: GroupPlan) -> dict[str, Any]:
    made = {
        "name": plan.name,
        "count": plan.count,
        "capacity": plan.capacity,
        "start": {
            f.name: _value(getattr(plan.start, f.name)) for f in dataclasses.fields(plan.start)
        },
        "motion": _plugin(plan.motion),
        "control": _plugin(plan.control),
        "autonomy": _plugin(plan.autonomy),
        "sensors": [_plugin(sensor) for sensor in plan.sensors],
        "rivals": [_plugin(rival) for rival in plan.rivals],
    }
    if plan.estimator:
        made["estimator"] = _plugin(plan.estimator)
    return {k: v for k, v in made.items() if v != []}


def _plugin(plugin: Plugin) -> dict[str, Any]:
    values = {p.name: _value(getattr(plugin, p.name)) for p in parameters(type(plugin))}
    given = {k: v for k, v in values.items() if v is not None}
    return {"kind": plugin.kind, "name": plugin.name, **given}


def _value(value: Any) -> Any:
    if isinstance(value, Drawn):
        return written(value)  # type: ignore[arg-type]
    if isinstance(value, Signals):
        return value.written()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, (list, tuple)):
        return [_value(v) for v in value]
    return value
