"""Layers of a scenario: preset < scenario < `--set`, each value with its origin.

Mappings merge by key. Lists of named things (robots, sensors, rivals, metrics, interactions) merge
by name; an entry without a name goes by its kind. Every other list is replaced as a whole.

`--set path=value` follows the path from the root of the scenario: a part is a key of a mapping, or
the name, kind or index of an entry of a list. `--set robots.rover.sensors.lidar.rays=90` sets the
key `rays` of the sensor `lidar` of the robots `rover`; mappings that are missing are made. The
value replaces what was there, also a whole list or mapping.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from astray.errors import Fault, Origin, suggest
from astray.files import Marked, read_yaml
from astray.presets import ROBOTS

MERGED_BY_NAME = ("robots", "sensors", "rivals", "metrics", "interactions")


def merge_layers(lower: Marked, upper: Marked) -> Marked:
    """Merge two layers of a value.

    Args:
        lower: The layer that gives what the upper one leaves out.
        upper: The layer that wins.

    Returns:
        The merged value. A mapping of another kind replaces the lower one: the lower parameters
        are not its own.
    """
    if not isinstance(lower.value, dict) or not isinstance(upper.value, dict):
        return upper
    kinds = [layer.value["kind"].value for layer in (lower, upper) if "kind" in layer.value]
    if len(kinds) == 2 and kinds[0] != kinds[1]:
        return upper
    merged = Marked(dict(lower.value), upper.origin, {**lower.keys, **upper.keys})
    for key, value in upper.value.items():
        if key not in merged.value:
            merged.value[key] = value
        elif key in MERGED_BY_NAME and isinstance(value.value, list):
            merged.value[key] = _merge_by_name(merged.value[key], value)
        else:
            merged.value[key] = merge_layers(merged.value[key], value)
    return merged


def _merge_by_name(lower: Marked, upper: Marked) -> Marked:
    if not isinstance(lower.value, list):
        return upper
    merged = list(lower.value)
    names = [name_of(entry) for entry in merged]
    for entry in upper.value:
        name = name_of(entry)
        if name and name in names:
            merged[names.index(name)] = merge_layers(merged[names.index(name)], entry)
        else:
            merged.append(entry)
    return Marked(merged, upper.origin)


def name_of(entry: Marked) -> str:
    """The name of a list entry, or else its kind; empty without both."""
    if not isinstance(entry.value, dict):
        return ""
    for key in ("name", "kind"):
        if key in entry.value and isinstance(entry.value[key].value, str):
            return str(entry.value[key].value)
    return ""


def with_presets(tree: Marked, folder: Path, faults: list[Fault]) -> Marked:
    """Merge every robot over the preset that it names.

    Args:
        tree: The scenario; its robots are replaced.
        folder: The folder that preset files are found from.
        faults: Every fault is appended.

    Returns:
        The scenario.
    """
    robots = tree.at(("robots",))
    if robots is None or not isinstance(robots.value, list):
        return tree
    for k, robot in enumerate(robots.value):
        found: list[Fault] = []
        robots.value[k] = _with_preset(robot, folder, found, ())
        faults += [replace(f, path=f"robots[{k}].{f.path}") if f.path else f for f in found]
    return tree


def _with_preset(
    robot: Marked, folder: Path, faults: list[Fault], including: tuple[Path, ...]
) -> Marked:
    """A robot over its preset, which may name another; `including` are the files on the way."""
    preset = robot.at(("preset",))
    if preset is None or not isinstance(robot.value, dict):
        return robot
    rest = Marked({k: v for k, v in robot.value.items() if k != "preset"}, robot.origin, robot.keys)
    file = _find_preset(preset, folder, faults)
    if file is None:
        return rest
    if file in including:
        faults.append(Fault(preset.origin, "preset", f"{preset.value!r} includes itself"))
        return rest
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        faults.append(Fault(preset.origin, "preset", f"{file}: {why}"))
        return rest
    lower = read_yaml(text, str(file), faults)
    if lower is None or not isinstance(lower.value, dict):
        return rest
    return merge_layers(_with_preset(lower, file.parent, faults, (*including, file)), rest)


def _find_preset(preset: Marked, folder: Path, faults: list[Fault]) -> Path | None:
    name = str(preset.value)
    bundled = {file.stem: file for file in sorted(ROBOTS.glob("*.yaml"))}
    if name in bundled:
        return bundled[name]
    if name.endswith((".yaml", ".yml")):
        if os.path.isfile(folder / name):  # False, not an error, for a name that is too long
            return (folder / name).resolve()
        faults.append(Fault(preset.origin, "preset", f"no file {folder / name}"))
    else:
        message = f"unknown preset {name!r}{suggest(name, bundled)}"
        faults.append(Fault(preset.origin, "preset", f"{message} ({', '.join(bundled)})"))
    return None


def with_overrides(tree: Marked, overrides: Mapping[int, str], faults: list[Fault]) -> Marked:
    """Write every `path=value` of --set into a scenario.

    Args:
        tree: The scenario; it is changed in place.
        overrides: The texts by their number on the command line; faults report it as their line.
        faults: Every fault is appended.

    Returns:
        The scenario.
    """
    for number, text in overrides.items():
        path, equals, value = text.partition("=") if isinstance(text, str) else ("", "", "")
        origin = Origin("--set", number, 1)
        if not equals or not path.strip():
            faults.append(Fault(origin, "", f"{text!r} is not path=value"))
            continue
        marked = read_yaml(value, "--set", [])
        if marked is None:
            faults.append(Fault(origin, path, f"{value!r} is not a YAML value"))
            continue
        _shift_origins(marked, Origin("--set", number, len(path) + 2))
        _assign(tree, path.strip().split("."), marked, faults)
    return tree


def _shift_origins(tree: Marked, origin: Origin) -> None:
    """Move all origins of a value that was read alone to the line and column of its option."""

    def shifted(own: Origin) -> Origin:
        return Origin(origin.file, origin.line, origin.column + own.column - 1)

    tree.origin = shifted(tree.origin)
    tree.keys = {key: shifted(own) for key, own in tree.keys.items()}
    for child in tree.value.values() if isinstance(tree.value, dict) else ():
        _shift_origins(child, origin)
    for child in tree.value if isinstance(tree.value, list) else ():
        _shift_origins(child, origin)


def _assign(tree: Marked, path: list[str], value: Marked, faults: list[Fault]) -> None:
    """Set the value at a path; mappings on the way that are missing are made."""
    line = value.origin.line
    node = tree
    for depth, part in enumerate(path):
        last = depth == len(path) - 1
        if isinstance(node.value, list):
            index = _index(node, part)
            if index is None:
                names = ", ".join(filter(None, map(name_of, node.value)))
                message = f"there is no {part!r} here ({names})"
                faults.append(Fault(Origin("--set", line), ".".join(path), message))
                return
            if last:
                node.value[index] = value
            node = node.value[index]
        elif isinstance(node.value, dict):
            if last:
                node.value[part] = value
                node.keys[part] = Origin("--set", line, len(".".join(path[:depth])) + 1)
            else:
                if part not in node.value:
                    node.keys[part] = Origin("--set", line, 1)
                node = node.value.setdefault(part, Marked({}, value.origin))
        else:
            message = f"{'.'.join(path[:depth])} is a value and has no {part!r}"
            faults.append(Fault(Origin("--set", line), ".".join(path), message))
            return


def _index(entries: Marked, part: str) -> int | None:
    """The index of a list entry, given as a number, a name or a kind; None if there is none."""
    if part.isdigit() and int(part) < len(entries.value):
        return int(part)
    names = [name_of(entry) for entry in entries.value]
    return names.index(part) if part in names else None
