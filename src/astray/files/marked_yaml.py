"""YAML with the file, line and column of every value: where a fault gets its line number.

YAML 1.2 as people expect it: `1e-3` is a number, `on` and `no` are strings, `1:30` is a string, and
a repeated key is a fault. PyYAML alone returns a string, booleans, 90 and the last of the values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np
import yaml

from astray.errors import Fault, Origin, Path

MAX_DEPTH = 64  # levels: no scenario is deeper, and an alias to itself never ends
MAX_VALUES = 200_000  # a few aliases of aliases can expand to more than any memory holds

# Python refuses to convert thousands of digits; such a number is read as a float, as infinite.
INTEGER = re.compile(r"[-+]?[0-9]{1,300}\Z|0o[0-7]{1,300}\Z|0x[0-9a-fA-F]{1,200}\Z")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
SPECIAL_FLOATS = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}
LITERALS = {"true": True, "false": False, "null": None, "~": None, "": None}
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass
class Marked:
    """A value with its origin; the value is a scalar, a list or a mapping of marked values."""

    value: Any
    origin: Origin
    keys: dict[str, Origin] = field(default_factory=dict)
    """Of a mapping: the origin of each key."""

    def plain(self) -> Any:
        """The value without origins."""
        if isinstance(self.value, dict):
            return {k: v.plain() for k, v in self.value.items()}
        if isinstance(self.value, list):
            return [v.plain() for v in self.value]
        return self.value

    def at(self, path: Path) -> Marked | None:
        """The value at a path of keys and indices; None if there is none."""
        node: Marked | None = self
        for part in path:
            value: Any = node.value if node is not None else None
            exists = isinstance(value, dict) and part in value
            if not exists and isinstance(value, list) and isinstance(part, int):
                exists = part < len(value)
            if not exists:
                return None
            node = value[part]
        return node

    def nearest(self, path: Path, of_key: bool = False) -> Origin:
        """The origin of the value at a path, or of the innermost value around it that exists.

        Args:
            path: Keys and indices from this value.
            of_key: Whether to return the origin of the key instead of that of its value.

        Returns:
            The origin to report a fault at.
        """
        while path:
            parent = self.at(path[:-1])
            if of_key and parent is not None and path[-1] in parent.keys:
                return parent.keys[str(path[-1])]
            node = self.at(path)
            if node is not None:
                return node.origin
            path = path[:-1]
        return self.origin


def iterate_values(tree: Marked, path: Path = ()) -> Iterator[tuple[Path, Marked]]:
    """Every value of a tree with its path, parents before children."""
    yield path, tree
    if isinstance(tree.value, dict):
        for key, value in tree.value.items():
            yield from iterate_values(value, (*path, key))
    elif isinstance(tree.value, list):
        for k, value in enumerate(tree.value):
            yield from iterate_values(value, (*path, k))


def mark(value: Any, file: str) -> Marked:
    """Plain data, NumPy arrays and paths included, as if it were read from a file of this name."""
    origin = Origin(file)
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    elif isinstance(value, PurePath):
        value = str(value)
    if isinstance(value, Mapping):
        return Marked({str(k): mark(v, file) for k, v in value.items()}, origin)
    if isinstance(value, (list, tuple)):
        return Marked([mark(v, file) for v in value], origin)
    return Marked(value, origin)


def read_yaml(
    text: str, file: str, faults: list[Fault], max_values: int = MAX_VALUES
) -> Marked | None:
    """Read YAML without trust in it.

    Args:
        text: The text of the file.
        file: The name of the file, for the origins.
        faults: Every fault is appended to this list.
        max_values: The number of values, aliases expanded, above which the text is refused.

    Returns:
        The tree of values; an empty mapping for an empty text, None if it cannot be read.
    """
    try:
        _check_size(text, max_values)
        node = yaml.compose(text, LOADER)
        return _Reader(file, faults, max_values).read(node, 0) if node else Marked({}, Origin(file))
    except yaml.MarkedYAMLError as problem:
        faults.append(syntax_fault(problem, text, file))
    except yaml.YAMLError as problem:
        faults.append(Fault(Origin(file), "", f"not YAML: {problem}"))
    except _TooLarge as problem:
        faults.append(Fault(Origin(file), "", str(problem)))
    return None


def syntax_fault(problem: yaml.MarkedYAMLError, text: str, file: str) -> Fault:
    """The fault of a text that is no YAML.

    Args:
        problem: What PyYAML raised.
        text: The text.
        file: The name of its file.

    Returns:
        The fault with line and column; a tab, which no message of PyYAML names well, is named.
    """
    position = problem.problem_mark or problem.context_mark
    what = problem.problem or problem.context or "cannot be read"
    if position is None:
        return Fault(Origin(file), "", f"not YAML: {what}")
    lines = text.split("\n", position.line + 1)
    line = lines[position.line] if position.line < len(lines) else ""
    indent = line[: len(line) - len(line.lstrip())]
    column = indent.find("\t") if "\t" in indent else position.column
    if line[column : column + 1] == "\t":
        what = "a tab; YAML is indented by spaces"
    return Fault(Origin(file, position.line + 1, column + 1), "", f"not YAML: {what}")


def _check_size(text: str, max_values: int) -> None:
    """Refuse a text that is too deep, which exhausts the stack of the C loader, or too large.

    PyYAML takes a kilobyte for every composed value, so this runs before it composes any.
    """
    depth = count = 0
    for event in yaml.parse(text, LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        count += isinstance(event, yaml.NodeEvent)
        if depth > MAX_DEPTH:
            raise _TooLarge(f"nested deeper than {MAX_DEPTH} levels")
        if count > 2 * max_values:  # every value may have a key
            raise _TooLarge(f"expands to more than {max_values} values")


class _TooLarge(Exception):
    """A text has too many levels or values."""


class _Reader:
    """Converts PyYAML's nodes; counts values, since aliases expand."""

    def __init__(self, file: str, faults: list[Fault], max_values: int) -> None:
        self.file = file
        self.faults = faults
        self.max_values = max_values
        self.count = 0

    def origin(self, node: yaml.Node) -> Origin:
        return Origin(self.file, node.start_mark.line + 1, node.start_mark.column + 1)

    def read(self, node: yaml.Node, depth: int) -> Marked:
        self.count += 1
        if depth > MAX_DEPTH:
            raise _TooLarge(f"nested deeper than {MAX_DEPTH} levels")
        if self.count > self.max_values:
            raise _TooLarge(f"expands to more than {self.max_values} values")
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, depth)
        if isinstance(node, yaml.SequenceNode):
            return Marked([self.read(n, depth + 1) for n in node.value], self.origin(node))
        return Marked(_scalar(str(node.value), getattr(node, "style", None)), self.origin(node))

    def mapping(self, node: yaml.MappingNode, depth: int) -> Marked:
        found = Marked({}, self.origin(node))
        for key, value in node.value:
            origin = self.origin(key)
            if not isinstance(key, yaml.ScalarNode):
                self.faults.append(Fault(origin, "", "a key must be a string"))
                continue
            name = str(key.value)
            if name in found.value:
                first = found.keys[name]
                message = f"key {name!r} is given twice, first in line {first.line}"
                self.faults.append(Fault(origin, "", message))
                continue
            found.keys[name] = origin
            found.value[name] = self.read(value, depth + 1)
        return found


def _scalar(text: str, style: str | None) -> Any:
    """The value of a scalar; one in quotes or in a block is a string."""
    if style in ("'", '"', "|", ">"):
        return text
    lower = text.lower()
    if lower in LITERALS:
        return LITERALS[lower]
    if lower in SPECIAL_FLOATS:
        return SPECIAL_FLOATS[lower]
    if INTEGER.match(text):
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    return float(text) if FLOAT.match(text) else text


class Dumper(getattr(yaml, "CDumper", yaml.Dumper)):  # type: ignore[misc]
    """Writes what `read_yaml` reads: strings that it would read as numbers are quoted."""


def _represent(dumper: Any, text: str) -> Any:
    quoted = "'" if not isinstance(_scalar(text, None), str) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=quoted)


Dumper.add_representer(str, _represent)


def dump_yaml(value: Any) -> str:
    """Plain data as YAML text: short lists on one line, keys in their order."""
    return str(
        yaml.dump(
            value,
            Dumper=Dumper,
            sort_keys=False,
            allow_unicode=True,
            default_flow_style=None,
            width=96,
        )
    )


def format_double(value: float) -> str:
    """A number with a decimal point, which every YAML reader takes for a float."""
    mantissa, e, exponent = repr(float(value)).partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + e + exponent
