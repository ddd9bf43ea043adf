"""Signals in ROS 2 parameter files, as the nodes of the signal simulator read them.

A file holds sections, `node: ros__parameters: …`, where `/**` is any node, or only what is inside
of one. Parameters may be nested or dotted: `linear_x.num_intervals`. Of two sections that fit a
node, what the later one says counts.
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
from astray.files import MAX_DEPTH, Marked, iterate_values, read_yaml
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

INSIDE = "ros__parameters"
ANY = "/**"
PLAIN = re.compile(r"[A-Za-z_/][\w./*~-]*\Z")
NO_TEXT = ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf")


def read_ros_parameters(
    file: str | Path,
    objects: Sequence[str] | None = None,
    node: str | None = None,
    *,
    strict: bool = False,
) -> Signals:
    """The signals of a parameter file: those of `objects`, or all that there are.

    A file with sections for several nodes needs to be told which `node` is meant. ScenarioError
    has every fault, with line and column.
    """
    faults: list[Fault] = []
    tree = signal_tree(Path(file), faults, objects, node)
    make_paths_absolute(tree)
    findings = SignalFaults(strict)
    found = read_signals(tree.plain(), findings)
    faults += [located(problem, tree) for problem in findings.faults]
    if faults:
        raise ScenarioError(faults)
    for remark in findings.warnings:
        warnings.warn(str(located(remark, tree)), SignalWarning, stacklevel=2)
    if objects is not None:  # one that the file says nothing of is 0, as in the document
        found = {name: found.get(name, Signal()) for name in objects}
    return Signals(found)


def node_parameters(file: Path, node: str, faults: list[Fault]) -> Marked:
    """All parameters of a node in a file, nested by their dots; none if it is not about the node.

    A file without sections is taken to be about whoever reads it.
    """
    tree = _read(file, faults)
    found = Marked({}, tree.origin)
    if not isinstance(tree.value, dict):
        faults.append(Fault(tree.origin, "", "a parameter file is a mapping of names to values"))
        return found
    sections = dict(_sections(tree, ()))
    fitting = [s for name, s in sections.items() if fits(name, node)] if sections else [tree]
    for section in fitting:
        found = merge_layers(found, _nested(section, faults))
    return found


def as_parameter(name: str, value: str, origin: str, faults: list[Fault]) -> Marked:
    """One parameter as it is typed: a dotted name, and a value in YAML."""
    made = read_yaml(value, origin, faults) or Marked(None, Origin(origin))
    return _nested(Marked({name: made}, made.origin, {name: made.origin}), faults)


def signals_of(tree: Marked, objects: Sequence[str], *, strict: bool = False) -> Signals:
    """The signals of these names among parameters; those that are not there are 0."""
    chosen = _signals_of(tree, objects)
    make_paths_absolute(chosen)
    findings = SignalFaults(strict)
    found = read_signals(chosen.plain(), findings)
    if findings.faults:
        raise ScenarioError([located(problem, chosen) for problem in findings.faults])
    for remark in findings.warnings:
        warnings.warn(str(located(remark, chosen)), SignalWarning, stacklevel=2)
    return Signals(found)


def signal_tree(
    file: Path,
    faults: list[Fault],
    objects: Sequence[str] | None = None,
    node: str | None = None,
) -> Marked:
    """What a parameter file says of signals, each value with its place."""
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
    """What parameters say of signals: the sections that are meant, laid over each other."""
    found, before = Marked({}, tree.origin), len(faults)
    if isinstance(tree.value, dict):
        for section in _chosen(tree, objects, node, faults):
            found = merge_layers(found, _signals_of(_nested(section, faults), objects))
        if len(faults) == before and not found.value.keys() - SETTING_KEYS:
            which = f"none of these signals: {', '.join(objects)}" if objects else "no signals"
            near = [suggest(str(path[-1]), [INSIDE]) for path, _ in iterate_values(tree) if path]
            message = f"holds {which}{next(filter(None, near), '')}"
            faults.append(Fault(tree.origin, "", message))
    else:
        faults.append(Fault(tree.origin, "", "a parameter file is a mapping of names to values"))
    return found


def make_paths_absolute(tree: Marked) -> None:
    """Let the paths of samples go from the file that they are written in."""
    for _, part in iterate_values(tree):
        file = part.at(("file",))
        if file is not None and isinstance(file.value, str):
            file.value = str(absolute(file))


def absolute(file: Marked) -> Path:
    """A path that is written in a file and goes from there."""
    return Path(os.path.abspath(Path(file.origin.file).parent / str(file.value)))


def located(problem: Problem, tree: Marked, where: Sequence[str | int] = ()) -> Fault:
    """A problem with the place where it was written; `where` leads to the tree."""
    origin = tree.nearest(problem.path, problem.of_key)
    return Fault(origin, format_path((*where, *problem.path)), problem.message)


def _chosen(
    tree: Marked, objects: Sequence[str] | None, node: str | None, faults: list[Fault]
) -> list[Marked]:
    """The sections that are meant, in the order of the file; the whole file if it has none."""
    sections = dict(_sections(tree, ()))
    if not sections:
        return [tree]
    if node is not None:
        fitting = [section for name, section in sections.items() if fits(name, node)]
        if not fitting:
            message = f"no section for node {node!r} ({', '.join(sections)})"
            faults.append(Fault(tree.origin, "", message))
        return fitting
    speaking = {
        name: section
        for name, section in sections.items()
        if "*" in name or _signals_of(_nested(section, []), objects).value.keys() - SETTING_KEYS
    }
    named = [name for name in speaking if "*" not in name]
    if len(named) > 1:
        message = f"has signals of several nodes: say which is meant ({', '.join(named)})"
        faults.append(Fault(tree.origin, "", message))
        return []
    return list(speaking.values())


def _sections(tree: Marked, above: tuple[str, ...]) -> Iterator[tuple[str, Marked]]:
    """The sections of a file by the full names of their nodes; namespaces may be nested."""
    for key, value in tree.value.items() if isinstance(tree.value, dict) else ():
        if key == INSIDE:
            yield "/" + "/".join(above), value
        else:
            yield from _sections(value, (*above, *key.strip("/").split("/")))


def fits(pattern: str, node: str) -> bool:
    """Whether a section's name means this node; a node without namespace is found in any."""
    wanted, given = pattern.strip("/").split("/"), node.strip("/").split("/")
    if not node.startswith("/") and len(given) == 1 and "*" not in pattern:
        return wanted[-1] == given[0]
    return _fit(wanted, given)


def _fit(wanted: list[str], given: list[str]) -> bool:
    if not wanted or not given:
        return wanted == given or wanted == ["**"]
    if wanted[0] == "**":
        return _fit(wanted[1:], given) or _fit(wanted, given[1:])
    return wanted[0] in ("*", given[0]) and _fit(wanted[1:], given[1:])


def _nested(tree: Marked, faults: list[Fault]) -> Marked:
    """The same parameters with every dot of a key as one more level."""
    if not isinstance(tree.value, dict):
        return tree
    made = Marked({}, tree.origin)
    for key, value in tree.value.items():
        origin = tree.keys.get(key, value.origin)
        first, *rest = key.split(".")
        if len(rest) > MAX_DEPTH:
            faults.append(Fault(origin, "", f"nested deeper than {MAX_DEPTH} levels"))
            continue
        inner = _nested(value, faults)
        for part in reversed(rest):
            inner = Marked({part: inner}, origin, {part: origin})
        _join(made, first, inner, origin, faults)
    return made


def _join(into: Marked, key: str, value: Marked, origin: Origin, faults: list[Fault]) -> None:
    """Put a value under a key; mappings grow together, anything else may stand only once."""
    if key not in into.value:
        into.value[key], into.keys[key] = value, origin
        return
    there = into.value[key]
    if not isinstance(there.value, dict) or not isinstance(value.value, dict):
        message = f"key {key!r} is given twice, first in line {into.keys[key].line}"
        faults.append(Fault(origin, "", message))
        return
    for name, inner in value.value.items():
        _join(there, name, inner, value.keys[name], faults)


def _signals_of(tree: Marked, objects: Sequence[str] | None) -> Marked:
    """Those parameters that are signals; a node has others, too."""
    made = Marked({}, tree.origin)
    for key, value in tree.value.items() if isinstance(tree.value, dict) else ():
        wanted = key in objects if objects is not None else _is_signal(value)
        if key in SETTING_KEYS or wanted:
            made.value[key], made.keys[key] = value, tree.keys[key]
    return made


def _is_signal(tree: Marked) -> bool:
    keys = tree.value if isinstance(tree.value, dict) else ()
    return any(key == "num_intervals" or INTERVAL_KEY.match(key) for key in keys)


def write_ros_parameters(
    signals: Mapping[str, Signal], file: str | Path | None = None, node: str = ANY
) -> str:
    """The text of a parameter file with these signals, written to `file` if one is given.

    Steps become constants and samples lines. A sine has no counterpart there: SignalError.
    """
    lines = [f"{_key(node)}:", f"  {INSIDE}:"]
    parts = {name: _portable(name, signal) for name, signal in signals.items()}
    lines.append(f"    max_intervals: {max(map(len, parts.values()), default=0)}")
    for name, intervals in parts.items():
        lines += [f"    {_key(name)}:", f"      num_intervals: {len(intervals)}"]
        if signals[name].gap != "hold":
            lines.append(f'      gap: "{signals[name].gap}"')
        for k, interval in enumerate(intervals):
            lines.append(f"      interval_{k}:")
            for key, value in interval.plain().items():
                text = f'"{value}"' if isinstance(value, str) else _double(value)
                lines.append(f"        {key}: {text}")
    text = "\n".join(lines) + "\n"
    if file is not None:
        Path(file).write_text(text, encoding="utf-8", newline="\n")
    return text


def _portable(name: str, signal: Signal) -> list[IntervalConfig]:
    """A signal in the three types that the document knows."""
    made: list[IntervalConfig] = []
    for interval in signal.intervals:
        if isinstance(interval, Sine):
            message = "a sine cannot be written as constant, linear or quadratic intervals"
            raise SignalError([Problem((name,), message)])
        if isinstance(interval, Samples) or interval.type is SimType.STEP:
            for part in segments(interval):
                kind = (SimType.CONSTANT, SimType.LINEAR)[part.form]
                numbers = (part.t_start, part.t_end, part.y_start, part.y_end)
                made.append(IntervalConfig(kind, *map(float, numbers)))
        else:
            made.append(interval)
    return made


def _key(name: str) -> str:
    """A name that every YAML reader takes for a text."""
    return name if PLAIN.match(name) and name.lower() not in NO_TEXT else json.dumps(name)


def _double(value: float) -> str:
    """A number that no YAML reader takes for an integer or a text: it has a point."""
    mantissa, e, exponent = repr(float(value)).partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + e + exponent
