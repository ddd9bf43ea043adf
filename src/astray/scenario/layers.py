"""Layers of a scenario: preset < scenario < `--set`, each value with its origin.

Mappings merge by key. Lists of named things (robots, sensors, rivals, metrics) merge by name, and
what has no name goes by its kind. Every other list is replaced whole.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from astray.errors import Fault, Origin
from astray.errors import suggest as suggest
from astray.files import Marked, read_yaml
from astray.presets import ROBOTS

NAMED = ("robots", "sensors", "rivals", "metrics", "interactions")
PRESETS = ROBOTS


def merge_layers(below: Marked, above: Marked) -> Marked:
    """One value over another; what is above wins."""
    if isinstance(below.value, dict) and isinstance(above.value, dict):
        kinds = [layer.value["kind"].value for layer in (below, above) if "kind" in layer.value]
        if len(kinds) == 2 and kinds[0] != kinds[1]:
            return above  # another kind of thing: the parameters below are not its own
        merged = Marked(dict(below.value), above.origin, {**below.keys, **above.keys})
        for key, value in above.value.items():
            if key not in merged.value:
                merged.value[key] = value
            elif key in NAMED and isinstance(value.value, list):
                merged.value[key] = _merge_named(merged.value[key], value)
            else:
                merged.value[key] = merge_layers(merged.value[key], value)
        return merged
    return above


def _merge_named(below: Marked, above: Marked) -> Marked:
    if not isinstance(below.value, list):
        return above
    merged = list(below.value)
    names = [name_of(item) for item in merged]
    for item in above.value:
        name = name_of(item)
        if name and name in names:
            merged[names.index(name)] = merge_layers(merged[names.index(name)], item)
        else:
            merged.append(item)
    return Marked(merged, above.origin)


def name_of(item: Marked) -> str:
    """What a list item goes by: its name, else its kind."""
    if not isinstance(item.value, dict):
        return ""
    for key in ("name", "kind"):
        if key in item.value and isinstance(item.value[key].value, str):
            return str(item.value[key].value)
    return ""


def with_presets(tree: Marked, folder: Path, faults: list[Fault]) -> Marked:
    """The scenario with every robot laid over the preset that it names."""
    robots = tree.at(("robots",))
    if robots is None or not isinstance(robots.value, list):
        return tree
    for k, robot in enumerate(robots.value):
        found: list[Fault] = []
        robots.value[k] = _with_preset(robot, folder, found, ())
        faults += [replace(f, path=f"robots[{k}].{f.path}") if f.path else f for f in found]
    return tree


def _with_preset(
    robot: Marked, folder: Path, faults: list[Fault], above: tuple[Path, ...]
) -> Marked:
    preset = robot.at(("preset",))
    if preset is None or not isinstance(robot.value, dict):
        return robot
    rest = Marked({k: v for k, v in robot.value.items() if k != "preset"}, robot.origin, robot.keys)
    file = _find_preset(preset, folder, faults)
    if file is None:
        return rest
    if file in above:
        faults.append(Fault(preset.origin, "preset", f"{preset.value!r} leads back to itself"))
        return rest
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        faults.append(Fault(preset.origin, "preset", f"{file}: {_why(problem)}"))
        return rest
    below = read_yaml(text, str(file), faults)
    if below is None or not isinstance(below.value, dict):
        return rest
    return merge_layers(_with_preset(below, file.parent, faults, (*above, file)), rest)


def _find_preset(preset: Marked, folder: Path, faults: list[Fault]) -> Path | None:
    name = str(preset.value)
    bundled = {file.stem: file for file in sorted(PRESETS.glob("*.yaml"))}
    if name in bundled:
        return bundled[name]
    if name.endswith((".yaml", ".yml")):
        if os.path.isfile(folder / name):  # False, not an error, where a name is too long
            return (folder / name).resolve()
        faults.append(Fault(preset.origin, "preset", f"no file {folder / name}"))
    else:
        message = f"no preset {name!r}{suggest(name, bundled)}"
        faults.append(Fault(preset.origin, "preset", f"{message} ({', '.join(bundled)})"))
    return None


def _why(problem: Exception) -> str:
    return getattr(problem, "strerror", None) or str(problem)


def with_overrides(tree: Marked, overrides: Mapping[int, str], faults: list[Fault]) -> Marked:
    """The scenario with every `path=value` of --set, by its number, written into it."""
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
        _move(marked, Origin("--set", number, len(path) + 2))
        _assign(tree, path.strip().split("."), marked, faults)
    return tree


def _move(tree: Marked, origin: Origin) -> None:
    """Every part of an option's value stands on that option's line."""
    tree.origin = Origin(origin.file, origin.line, origin.column + tree.origin.column - 1)
    tree.keys = {
        k: Origin(origin.file, origin.line, origin.column + o.column - 1)
        for k, o in tree.keys.items()
    }
    for child in tree.value.values() if isinstance(tree.value, dict) else ():
        _move(child, origin)
    for child in tree.value if isinstance(tree.value, list) else ():
        _move(child, origin)


def _assign(tree: Marked, path: list[str], value: Marked, faults: list[Fault]) -> None:
    here = tree
    for depth, part in enumerate(path):
        last = depth == len(path) - 1
        if isinstance(here.value, list):
            index = _index(here, part)
            if index is None:
                names = ", ".join(filter(None, map(name_of, here.value)))
                message = f"no {part!r} here ({names})"
                faults.append(Fault(Origin("--set", value.origin.line), ".".join(path), message))
                return
            if last:
                here.value[index] = value
            here = here.value[index]
        elif isinstance(here.value, dict):
            if last:
                here.value[part] = value
                here.keys[part] = Origin(
                    "--set", value.origin.line, len(".".join(path[:depth])) + 1
                )
            else:
                if part not in here.value:
                    here.keys[part] = Origin("--set", value.origin.line, 1)
                here = here.value.setdefault(part, Marked({}, value.origin))
        else:
            message = f"{'.'.join(path[:depth])} is a value and has no {part!r}"
            faults.append(Fault(Origin("--set", value.origin.line), ".".join(path), message))
            return


def _index(items: Marked, part: str) -> int | None:
    if part.isdigit() and int(part) < len(items.value):
        return int(part)
    names = [name_of(item) for item in items.value]
    return names.index(part) if part in names else None
