"""A scenario as plain data: with every default, and with all that it takes from files.

The effective scenario has every preset, override and default. To repeat a run elsewhere it needs
its files too. A map goes along as it was read, since no map format keeps the order of its segments
and so every byte of a run. Plugins and samples go along as the files that they were.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from astray.plugin import DrawnParameter, Plugin, parameters_of, to_scenario
from astray.scenario.plugin_files import SOURCES
from astray.scenario.scenario import GroupPlan, Scenario
from astray.signals import Signals, file_digest
from astray.world import is_map_dict, map_to_json
from astray.world.geometry import Footprint

BUNDLE_FOLDER = "files"
"""The folder beside a scenario with its files."""
BUNDLED_NAME = re.compile(rf"{BUNDLE_FOLDER}/([0-9]+/)?[\w .-]*\w")
"""The names of files in that folder."""


def effective_scenario(scenario: Scenario, plugins: list[str]) -> dict[str, Any]:
    """The scenario as plain data that loads to the same scenario."""
    data: dict[str, Any] = {
        "name": scenario.name,
        "duration": scenario.duration,
        "dt": scenario.dt,
        "seed": scenario.seed,
    }
    if plugins:
        data["plugins"] = list(plugins)
    if scenario.map is not None:
        data["world"] = {"map": scenario.map.spec}
    data["robots"] = [_robot(plan) for plan in scenario.robots]
    data["metrics"] = [_plugin(metric) for metric in scenario.metrics]
    if scenario.map is not None or scenario.interactions:
        data["interactions"] = [_plugin(interaction) for interaction in scenario.interactions]
    return data


def _robot(plan: GroupPlan) -> dict[str, Any]:
    start = plan.start
    data = {
        "name": plan.name,
        "count": plan.count,
        "capacity": plan.capacity,
        "start": {f.name: plain_value(getattr(start, f.name)) for f in dataclasses.fields(start)},
        "motion": _plugin(plan.motion),
        "control": _plugin(plan.control),
        "autonomy": _plugin(plan.autonomy),
        "sensors": [_plugin(sensor) for sensor in plan.sensors],
        "rivals": [_plugin(rival) for rival in plan.rivals],
    }
    if plan.estimator:
        data["estimator"] = _plugin(plan.estimator)
    if plan.contacts:
        data["contacts"] = _plugin(plan.contacts)
    if plan.footprint != Footprint():
        data["footprint"] = _footprint(plan.footprint)
    if plan.map is not None:
        data["map"] = plan.map.spec
    return {k: v for k, v in data.items() if v != []}


def _footprint(footprint: Footprint) -> dict[str, Any]:
    if footprint.corners:
        return {"corners": [list(corner) for corner in footprint.corners]}
    return {"radius": footprint.radius, "x": footprint.x, "y": footprint.y}


def _plugin(plugin: Plugin) -> dict[str, Any]:
    values = {p.name: plain_value(getattr(plugin, p.name)) for p in parameters_of(type(plugin))}
    given = {k: v for k, v in values.items() if v is not None}
    return {"kind": plugin.kind, "name": plugin.name, **given}


def plain_value(value: Any) -> Any:
    """The value of a parameter as plain data, as in a scenario."""
    if isinstance(value, DrawnParameter):
        return to_scenario(value)  # type: ignore[arg-type]
    if isinstance(value, Signals):
        return value.plain()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, (list, tuple)):
        return [plain_value(v) for v in value]
    return value


class BundledFiles:
    """The files of a scenario by their names in the bundle."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}

    def put(self, name: str, data: bytes) -> str:
        """Add a file; returns its name in the bundle, which is unique."""
        name = re.sub(r"[^\w .-]", "_", name)
        path, number = f"{BUNDLE_FOLDER}/{name}", 1
        while self.data.setdefault(path, data) != data:
            number += 1
            path = f"{BUNDLE_FOLDER}/{number}/{name}"
        return path


def embed_maps(scenario: Scenario) -> dict[str, Any]:
    """The effective scenario with maps as plain data instead of files."""
    data = dict(scenario.effective)
    if scenario.map is not None:
        data["world"] = {"map": scenario.map.portable_spec()}
    data["robots"] = [
        robot if plan.map is None else {**robot, "map": plan.map.portable_spec()}
        for robot, plan in zip(data["robots"], scenario.robots, strict=True)
    ]
    return data


def bundle_maps(scenario: Scenario) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The effective scenario with maps in files beside it.

    Args:
        scenario: The scenario.

    Returns:
        The scenario as plain data, and the bytes of the files by their names.
    """
    files = BundledFiles()
    return _with_map_files(scenario, files), files.data


def bundle_files(scenario: Scenario) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The effective scenario with maps, plugins and samples in files beside it.

    Args:
        scenario: The scenario.

    Returns:
        The scenario as plain data, and the bytes of the files by their names.
    """
    files = BundledFiles()
    data = _with_map_files(scenario, files)
    if "plugins" in data:
        data["plugins"] = [_bundle_plugin(name, files) for name in data["plugins"]]
    return _replaced(data, _is_samples, lambda spec: _bundle_samples(spec, files)), files.data


def _with_map_files(scenario: Scenario, files: BundledFiles) -> dict[str, Any]:
    def bundle_map(spec: Any) -> str:
        return files.put(f"{spec.get('name') or 'map'}.json", map_to_json(spec))

    data: dict[str, Any] = _replaced(embed_maps(scenario), is_map_dict, bundle_map)
    return data


def _replaced(tree: Any, matches: Callable[[Any], bool], replace: Callable[[Any], Any]) -> Any:
    """Plain data with some values replaced."""
    if matches(tree):
        return replace(tree)
    if isinstance(tree, dict):
        return {key: _replaced(value, matches, replace) for key, value in tree.items()}
    return [_replaced(v, matches, replace) for v in tree] if isinstance(tree, list) else tree


def _bundle_plugin(name: str, files: BundledFiles) -> str:
    """The name of a plugin's file in the bundle; the name of an installed module stays."""
    source = SOURCES.get(Path(name))
    return name if source is None else files.put(Path(name).name, source)


def _is_samples(spec: Any) -> bool:
    return isinstance(spec, dict) and spec.get("type") == "csv" and "digest" in spec


def _bundle_samples(spec: dict[str, Any], files: BundledFiles) -> dict[str, Any]:
    """Samples of a file in the bundle; a file that has changed since keeps its path."""
    path = Path(spec["file"])
    try:
        if file_digest(path) == spec["digest"]:
            return {**spec, "file": files.put(path.name, path.read_bytes())}
    except (ValueError, OSError):
        pass
    return spec
