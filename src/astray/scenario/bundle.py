"""A scenario that is to repeat a run elsewhere: what it takes from files goes with it.

A map goes as it was read, since no other form of it keeps the order of its segments and so every
byte of a run. Plugins and samples go as the files that they were.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from astray.scenario.foreign_plugins import SOURCES
from astray.scenario.scenario import Scenario
from astray.signals import file_digest
from astray.world import is_map_dict, map_to_json

BUNDLE_FOLDER = "files"
"""The folder beside a scenario for what it takes from files."""
BUNDLED_NAME = re.compile(rf"{BUNDLE_FOLDER}/([0-9]+/)?[\w .-]*\w")
"""The names that files get there."""


class Files:
    """What goes with a scenario, by its name from there."""

    def __init__(self) -> None:
        self.data: dict[str, bytes] = {}

    def put(self, name: str, data: bytes) -> str:
        """Take a file along; two of one name do not meet."""
        name = re.sub(r"[^\w .-]", "_", name)
        place, number = f"{BUNDLE_FOLDER}/{name}", 1
        while self.data.setdefault(place, data) != data:
            number += 1
            place = f"{BUNDLE_FOLDER}/{number}/{name}"
        return place


def embed_maps(scenario: Scenario) -> dict[str, Any]:
    """The effective scenario, with maps themselves in the place of their files."""
    made = dict(scenario.effective)
    if scenario.map is not None:
        made["world"] = {"map": scenario.map.portable_spec()}
    made["robots"] = [
        robot if plan.map is None else {**robot, "map": plan.map.portable_spec()}
        for robot, plan in zip(made["robots"], scenario.robots, strict=True)
    ]
    return made


def bundle_maps(scenario: Scenario) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The effective scenario with the names of map files beside it, and what is in them."""
    files = Files()
    return _with_map_files(scenario, files), files.data


def bundle_files(scenario: Scenario) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The same with the files of plugins and samples, too."""
    files = Files()
    made = _with_map_files(scenario, files)
    if "plugins" in made:
        made["plugins"] = [_plugin(name, files) for name in made["plugins"]]
    return _replaced(made, _is_samples, lambda spec: _samples(spec, files)), files.data


def _with_map_files(scenario: Scenario, files: Files) -> dict[str, Any]:
    def beside(content: Any) -> str:
        return files.put(f"{content.get('name') or 'map'}.json", map_to_json(content))

    made: dict[str, Any] = _replaced(embed_maps(scenario), is_map_dict, beside)
    return made


def _replaced(tree: Any, which: Callable[[Any], bool], by: Callable[[Any], Any]) -> Any:
    """Plain data with something else in the place of some mappings."""
    if which(tree):
        return by(tree)
    if isinstance(tree, dict):
        return {key: _replaced(value, which, by) for key, value in tree.items()}
    return [_replaced(value, which, by) for value in tree] if isinstance(tree, list) else tree


def _plugin(name: str, files: Files) -> str:
    """A plugin's file; the name of an installed module stays."""
    source = SOURCES.get(Path(name))
    return name if source is None else files.put(Path(name).name, source)


def _is_samples(spec: Any) -> bool:
    return isinstance(spec, dict) and spec.get("type") == "csv" and "digest" in spec


def _samples(spec: dict[str, Any], files: Files) -> dict[str, Any]:
    """Samples of a file; of one that is no longer what was read, its path has to do."""
    path = Path(spec["file"])
    try:
        if file_digest(path) == spec["digest"]:
            return {**spec, "file": files.put(path.name, path.read_bytes())}
    except (ValueError, OSError):
        pass
    return spec
