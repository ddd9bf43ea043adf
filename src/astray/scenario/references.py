"""What a scenario takes from other files: maps, and the signals of plugins.

Both are read once, when the scenario is loaded, so that a broken file is a fault with a line. A
path is relative to the file that names it, and absolute in the effective scenario.

`file: imu.yaml` of a plugin with signals is merged under its `signals`, as a preset is merged under
a robot: the effective scenario has the signals and no longer needs the file.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from astray.errors import Fault, MapError, SignalWarning, format_path
from astray.errors import Path as FieldPath
from astray.files import Marked, iterate_values
from astray.plugin import KINDS, parameters_of
from astray.scenario.importers import (
    absolute_path,
    locate_problem,
    make_paths_absolute,
    nest_parameters,
    read_signal_tree,
)
from astray.scenario.schema import SLOTS
from astray.signals import SignalFaults, Signals, channel_names, read_signals
from astray.tables import Array
from astray.world import Map, map_to_dict
from astray.world.maps import GENERATORS, bundled_maps, check_spec, differs_per_world, read_map


@dataclass(frozen=True)
class MapPlan:
    """The map of a scenario or of a robot: one for all worlds, or one for each."""

    spec: Any
    """The description, with absolute paths."""
    loaded: Map | None = None
    """The map, if it is not generated."""

    def portable_spec(self) -> Any:
        """A description without files: the segments of a map that was read from one."""
        name = self.spec.get("file") if isinstance(self.spec, dict) else self.spec
        if self.loaded is None or name is None or name in bundled_maps():
            return self.spec
        return map_to_dict(self.loaded)

    def maps(self, worlds: Array, seed: int) -> list[Map]:
        """The maps of some worlds.

        Args:
            worlds: The numbers of the worlds, (n,).
            seed: The seed of a generator that has none of its own.

        Returns:
            A map per world; a single one if all worlds share it.
        """
        if self.loaded is not None:
            return [self.loaded]
        numbers = worlds if differs_per_world(self.spec) else np.zeros(1, np.int64)
        return [read_map(self.spec, world=int(world), seed=seed) for world in numbers]


def read_map_references(tree: Marked, faults: list[Fault]) -> None:
    """Replace every map description of a scenario by a MapPlan."""
    _read_map(tree, ("world", "map"), faults)
    robots = tree.at(("robots",))
    for k in range(len(robots.value) if robots and isinstance(robots.value, list) else 0):
        _read_map(tree, ("robots", k, "map"), faults)


def _read_map(tree: Marked, path: FieldPath, faults: list[Fault]) -> None:
    node = tree.at(path)
    if node is None or node.value is None or isinstance(node.value, MapPlan):
        return
    spec = node.plain()
    if isinstance(spec, Map):
        node.value = MapPlan(map_to_dict(spec), spec)
        return
    if isinstance(spec, str):
        spec = _absolute_name(spec, node.origin.file)
    elif isinstance(spec, dict):
        if wrong := check_spec(spec):
            for inner, message in wrong:
                faults.append(Fault(node.nearest(inner), format_path((*path, *inner)), message))
            node.value = MapPlan({})
            return
        if "file" in spec:
            spec = {**spec, "file": _absolute_name(spec["file"], node.origin.file)}
    else:
        message = "a map is a file, a bundled name, or a mapping that describes one"
        faults.append(Fault(node.origin, format_path(path), message))
        node.value = MapPlan({})
        return
    generated = spec in GENERATORS if isinstance(spec, str) else "kind" in spec
    loaded = None
    try:
        loaded = None if generated else read_map(spec)
    except MapError as problem:
        faults.append(Fault(node.origin, format_path(path), str(problem)))
    node.value = MapPlan(spec, loaded)


def _absolute_name(name: str, file: str) -> str:
    """The absolute path of a map file; the names of bundled maps and generators stay."""
    if name in bundled_maps() or name in GENERATORS:
        return name
    return str((Path(file).resolve().parent / name).resolve())


def read_signal_references(tree: Marked, faults: list[Fault]) -> None:
    """Replace the signals of every plugin, and the file that they come from, by Signals."""
    for path, node in list(iterate_values(tree)):
        for key, names in _signal_parameters(path, node).items():
            if (signals := node.at((key,))) is not None:
                node.value[key] = nest_parameters(signals, faults)
            if key == "signals":
                _merge_over_file(node, names, path, faults)
            if (signals := node.at((key,))) is not None:
                _read_signals(signals, names, (*path, key), faults)


def _signal_parameters(path: FieldPath, node: Marked) -> dict[str, tuple[str, ...]]:
    """The parameters of a plugin that are signals, each with the names of its signals."""
    kind = node.at(("kind",))
    family = next((SLOTS[part] for part in reversed(path) if part in SLOTS), None)
    cls = KINDS[family].get(str(kind.value)) if kind and family else None
    found = {p.name: channel_names(p.type) for p in parameters_of(cls)} if cls else {}
    return {key: names for key, names in found.items() if names}


def _read_signals(
    node: Marked, names: tuple[str, ...], path: FieldPath, faults: list[Fault]
) -> None:
    make_paths_absolute(node)
    found = SignalFaults()
    signals = read_signals(node.plain(), found, names)
    faults += [locate_problem(problem, node, path) for problem in found.faults]
    for warning in found.warnings:
        warnings.warn(str(locate_problem(warning, node, path)), SignalWarning, stacklevel=2)
    node.value = Signals(signals)


def _merge_over_file(
    node: Marked, names: tuple[str, ...], path: FieldPath, faults: list[Fault]
) -> None:
    """Merge the signals of a plugin over those of its file."""
    file, section = node.at(("file",)), node.at(("node",))
    if file is None or not isinstance(file.value, str):
        return  # the schema refuses it
    file_path = format_path((*path, "file"))
    absolute = absolute_path(file)
    lower = Marked({}, file.origin)
    if os.path.isfile(absolute):  # False, not an error, for a name that is too long
        found: list[Fault] = []
        lower = read_signal_tree(absolute, found, names, str(section.value) if section else None)
        faults += [Fault(fault.origin, file_path, fault.message) for fault in found]
    else:
        faults.append(Fault(file.origin, file_path, f"no file {absolute}"))
    upper = node.at(("signals",))
    if upper is None:
        node.value["signals"], node.keys["signals"] = lower, file.origin
    elif isinstance(upper.value, dict):
        upper.value = {**lower.value, **upper.value}
        upper.keys = {**lower.keys, **upper.keys}
    for key in ("file", "node"):
        node.value.pop(key, None)
