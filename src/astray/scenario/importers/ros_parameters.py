"""Signals in ROS 2 parameter files, as the nodes of the signal simulator read them.

A file has sections `node: ros__parameters: …`, where `/**` matches any node, or only the content of
one section. Parameters may be nested or dotted: `linear_x.num_intervals`. Of two sections that
match a node, the later one wins.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from astray.errors import (
    Fault,
    Origin,
    Problem,
    ScenarioError,
    SignalError,
    SignalWarning,
    format_path,
    suggest,
)
from astray.files import MAX_DEPTH, Marked, format_double, iterate_values, read_yaml
from astray.scenario.layers import merge_layers
from astray.signals import (
    INTERVAL_KEY,
    SETTING_KEYS,
    IntervalConfig,
    Samples,
    Signal,
    SignalFaults,
    Signals,
    SimType,
    Sine,
    read_signals,
    segments,
)

SECTION_KEY = "ros__parameters"
ANY_NODE = "/**"
PLAIN_KEY = re.compile(r"[A-Za-z_/][\w./*~-]*\Z")
NOT_STRINGS = ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf")
NO_MAPPING = "a parameter file is a mapping of names to values"


def read_ros_parameters(
    file: str | Path,
    objects: Sequence[str] | None = None,
    node: str | None = None,
    *,
    strict: bool = False,
) -> Signals:
    """Read the signals of a parameter file.

    Args:
        file: The file.
        objects: The names of the signals to read; a signal that the file does not have is 0. None
            reads all signals.
        node: The node whose sections are read; needed if several nodes have signals.
        strict: Whether what was probably not meant is a fault instead of a SignalWarning.

    Returns:
        The signals.

    Raises:
        ScenarioError: With every fault, each with line and column.
    """
    faults: list[Fault] = []
    tree = read_signal_tree(Path(file), faults, objects, node)
    signals = _read_located(tree, faults, strict)
    if objects is not None:
        signals = {name: signals.get(name, Signal()) for name in objects}
    return Signals(signals)


def read_node_parameters(file: Path, node: str, faults: list[Fault]) -> Marked:
    """Read all parameters of a node.

    Args:
        file: The parameter file; one without sections is for any node.
        node: The full name of the node.
        faults: Every fault is appended.

    Returns:
        The parameters, nested by their dots; empty if no section matches the node.
    """
    tree = _read(file, faults)
    found = Marked({}, tree.origin)
    if not isinstance(tree.value, dict):
        faults.append(Fault(tree.origin, "", NO_MAPPING))
        return found
    sections = dict(_sections(tree, ()))
    matching = [s for name, s in sections.items() if matches_node(name, node)]
    for section in matching if sections else [tree]:
        found = merge_layers(found, nest_parameters(section, faults))
    return found


def parse_parameter(name: str, value: str, origin: str, faults: list[Fault]) -> Marked:
    """Parse one parameter of a command line.

    Args:
        name: The dotted name.
        value: The value in YAML.
        origin: The name of the option, for faults.
        faults: Every fault is appended.

    Returns:
        The parameter, nested by its dots.
    """
    parsed = read_yaml(value, origin, faults) or Marked(None, Origin(origin))
    return nest_parameters(Marked({name: parsed}, parsed.origin, {name: parsed.origin}), faults)


def select_signals(tree: Marked, objects: Sequence[str], *, strict: bool = False) -> Signals:
    """Read the signals of these names among parameters.

    Args:
        tree: The parameters of a node.
        objects: The names of the signals; a missing one is left out.
        strict: Whether what was probably not meant is a fault instead of a SignalWarning.

    Returns:
        The signals.

    Raises:
        ScenarioError: With every fault.
    """
    return Signals(_read_located(_select(tree, objects), [], strict))


def _read_located(tree: Marked, faults: list[Fault], strict: bool) -> dict[str, Signal]:
    """Signals from a tree; raises all faults, and gives warnings, with their origins."""
    make_paths_absolute(tree)
    found = SignalFaults(strict)
    signals = read_signals(tree.plain(), found)
    faults += [locate_problem(problem, tree) for problem in found.faults]
    if faults:
        raise ScenarioError(faults)
    for warning in found.warnings:
        warnings.warn(str(locate_problem(warning, tree)), SignalWarning, stacklevel=3)
    return signals


def read_signal_tree(
    file: Path,
    faults: list[Fault],
    objects: Sequence[str] | None = None,
    node: str | None = None,
) -> Marked:
    """Read what a parameter file has on signals.

    Args:
        file: The parameter file.
        faults: Every fault is appended.
        objects: The names of the signals; None reads all signals.
        node: The node whose sections are read.

    Returns:
        The descriptions of the signals by name, each value with its origin.
    """
    before = len(faults)
    tree = _read(file, faults)
    return signals_in(tree, faults, objects, node) if len(faults) == before else tree


def _read(file: Path, faults: list[Fault]) -> Marked:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        faults.append(Fault(Origin(str(file)), "", "not a text file in UTF-8"))
    except OSError as problem:
        faults.append(Fault(Origin(str(file)), "", problem.strerror or str(problem)))
    else:
        tree = read_yaml(text, str(file), faults)
        if tree is not None:
            return tree
    return Marked({}, Origin(str(file)))


def signals_in(
    tree: Marked, faults: list[Fault], objects: Sequence[str] | None, node: str | None
) -> Marked:
    """The descriptions of signals in a file: the sections of a node, merged."""
    found, before = Marked({}, tree.origin), len(faults)
    if not isinstance(tree.value, dict):
        faults.append(Fault(tree.origin, "", NO_MAPPING))
        return found
    for section in _choose_sections(tree, objects, node, faults):
        found = merge_layers(found, _select(nest_parameters(section, faults), objects))
    if len(faults) == before and not found.value.keys() - SETTING_KEYS:
        which = f"none of these signals: {', '.join(objects)}" if objects else "no signals"
        hints = (suggest(str(path[-1]), [SECTION_KEY]) for path, _ in iterate_values(tree) if path)
        faults.append(Fault(tree.origin, "", f"holds {which}{next(filter(None, hints), '')}"))
    return found


def make_paths_absolute(tree: Marked) -> None:
    """Make the paths of samples absolute; they are relative to the file that they stand in."""
    for _, part in iterate_values(tree):
        file = part.at(("file",))
        if file is not None and isinstance(file.value, str):
            file.value = str(absolute_path(file))


def absolute_path(file: Marked) -> Path:
    """The absolute path of a value that is a path relative to its file."""
    return Path(os.path.abspath(Path(file.origin.file).parent / str(file.value)))


def locate_problem(problem: Problem, tree: Marked, path: Sequence[str | int] = ()) -> Fault:
    """A problem with its origin.

    Args:
        problem: The problem, with a path inside the tree.
        tree: The values that were read.
        path: The path of the tree itself.

    Returns:
        The fault.
    """
    origin = tree.nearest(problem.path, problem.of_key)
    return Fault(origin, format_path((*path, *problem.path)), problem.message)


def _choose_sections(
    tree: Marked, objects: Sequence[str] | None, node: str | None, faults: list[Fault]
) -> list[Marked]:
    """The sections of a node in the order of the file; the whole file if it has none."""
    sections = dict(_sections(tree, ()))
    if not sections:
        return [tree]
    if node is not None:
        matching = [section for name, section in sections.items() if matches_node(name, node)]
        if not matching:
            message = f"no section for node {node!r} ({', '.join(sections)})"
            faults.append(Fault(tree.origin, "", message))
        return matching
    with_signals = {
        name: section
        for name, section in sections.items()
        if "*" in name or _select(nest_parameters(section, []), objects).value.keys() - SETTING_KEYS
    }
    named = [name for name in with_signals if "*" not in name]
    if len(named) > 1:
        message = f"has signals of several nodes: say which is meant ({', '.join(named)})"
        faults.append(Fault(tree.origin, "", message))
        return []
    return list(with_signals.values())


def _sections(tree: Marked, namespace: tuple[str, ...]) -> Iterator[tuple[str, Marked]]:
    """The sections of a file by the full names of their nodes; namespaces may be nested."""
    for key, value in tree.value.items() if isinstance(tree.value, dict) else ():
        if key == SECTION_KEY:
            yield "/" + "/".join(namespace), value
        else:
            yield from _sections(value, (*namespace, *key.strip("/").split("/")))


def matches_node(pattern: str, node: str) -> bool:
    """Whether a section's name matches a node; a node without namespace matches in any."""
    pattern_parts, parts = pattern.strip("/").split("/"), node.strip("/").split("/")
    if not node.startswith("/") and len(parts) == 1 and "*" not in pattern:
        return pattern_parts[-1] == parts[0]
    return _match_parts(pattern_parts, parts)


def _match_parts(pattern: list[str], parts: list[str]) -> bool:
    if not pattern or not parts:
        return pattern == parts or pattern == ["**"]
    if pattern[0] == "**":
        return _match_parts(pattern[1:], parts) or _match_parts(pattern, parts[1:])
    return pattern[0] in ("*", parts[0]) and _match_parts(pattern[1:], parts[1:])


def nest_parameters(tree: Marked, faults: list[Fault]) -> Marked:
    """Nest parameters by the dots of their names.

    Args:
        tree: Parameters, nested or dotted.
        faults: Every fault is appended.

    Returns:
        The same parameters with every dot of a key as one more level.
    """
    if not isinstance(tree.value, dict):
        return tree
    nested = Marked({}, tree.origin)
    for key, value in tree.value.items():
        origin = tree.keys.get(key, value.origin)
        first, *rest = key.split(".")
        if len(rest) > MAX_DEPTH:
            faults.append(Fault(origin, "", f"nested deeper than {MAX_DEPTH} levels"))
            continue
        inner = nest_parameters(value, faults)
        for part in reversed(rest):
            inner = Marked({part: inner}, origin, {part: origin})
        _insert(nested, first, inner, origin, faults)
    return nested


def _insert(into: Marked, key: str, value: Marked, origin: Origin, faults: list[Fault]) -> None:
    """Put a value under a key; two mappings merge, any other repetition is a fault."""
    if key not in into.value:
        into.value[key], into.keys[key] = value, origin
        return
    existing = into.value[key]
    if not isinstance(existing.value, dict) or not isinstance(value.value, dict):
        message = f"key {key!r} is given twice, first in line {into.keys[key].line}"
        faults.append(Fault(origin, "", message))
        return
    for name, inner in value.value.items():
        _insert(existing, name, inner, value.keys[name], faults)


def _select(tree: Marked, objects: Sequence[str] | None) -> Marked:
    """The parameters that are signals, of these names or of any, and the settings."""
    selected = Marked({}, tree.origin)
    for key, value in tree.value.items() if isinstance(tree.value, dict) else ():
        wanted = key in objects if objects is not None else _is_signal(value)
        if key in SETTING_KEYS or wanted:
            selected.value[key], selected.keys[key] = value, tree.keys[key]
    return selected


def _is_signal(tree: Marked) -> bool:
    keys = tree.value if isinstance(tree.value, dict) else ()
    return any(key == "num_intervals" or INTERVAL_KEY.match(key) for key in keys)


def write_ros_parameters(
    signals: Mapping[str, Signal], file: str | Path | None = None, node: str = ANY_NODE
) -> str:
    """Write signals as a parameter file; steps become constants and samples lines.

    Args:
        signals: The signals by name.
        file: The file to write, if any.
        node: The name of the section.

    Returns:
        The text of the file.

    Raises:
        SignalError: A signal has a sine, which the format does not know.
    """
    lines = [f"{_key(node)}:", f"  {SECTION_KEY}:"]
    parts = {name: _portable_intervals(name, signal) for name, signal in signals.items()}
    lines.append(f"    max_intervals: {max(map(len, parts.values()), default=0)}")
    for name, intervals in parts.items():
        lines += [f"    {_key(name)}:", f"      num_intervals: {len(intervals)}"]
        if signals[name].gap != "hold":
            lines.append(f'      gap: "{signals[name].gap}"')
        for k, interval in enumerate(intervals):
            lines.append(f"      interval_{k}:")
            for key, value in interval.plain().items():
                text = f'"{value}"' if isinstance(value, str) else format_double(value)
                lines.append(f"        {key}: {text}")
    text = "\n".join(lines) + "\n"
    if file is not None:
        Path(file).write_text(text, encoding="utf-8", newline="\n")
    return text


def _portable_intervals(name: str, signal: Signal) -> list[IntervalConfig]:
    """A signal in the three types of intervals that the format knows."""
    found: list[IntervalConfig] = []
    for interval in signal.intervals:
        if isinstance(interval, Sine):
            message = "a sine cannot be written as constant, linear or quadratic intervals"
            raise SignalError([Problem((name,), message)])
        if isinstance(interval, Samples) or interval.type is SimType.STEP:
            for part in segments(interval):
                kind = (SimType.CONSTANT, SimType.LINEAR)[part.form]
                end = part.y_end if kind is SimType.LINEAR else part.y_start
                numbers = (part.t_start, part.t_end, part.y_start, end)
                found.append(IntervalConfig(kind, *map(float, numbers)))
        else:
            found.append(interval)
    return found


def _key(name: str) -> str:
    """A key that every YAML reader takes for a string."""
    return name if PLAIN_KEY.match(name) and name.lower() not in NOT_STRINGS else json.dumps(name)
