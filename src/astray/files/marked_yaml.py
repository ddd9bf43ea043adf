"""YAML that remembers where every value was written.

YAML 1.2 as people expect it: `1e-3` is a number, `on` and `no` are words, `1:30` is text, and a
key that stands twice is a fault. PyYAML alone gives a string, booleans, 90 and the last one.
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

from astray.errors import Fault, Origin

MAX_DEPTH = 64  # levels: no scenario is deeper, and an alias to itself is endless
MOST_VALUES = 200_000  # a few aliases of aliases can stand for more than any memory holds

# Python refuses to convert thousands of digits; what no float can hold is read as one, as infinite.
INTEGER = re.compile(r"[-+]?[0-9]{1,300}\Z|0o[0-7]{1,300}\Z|0x[0-9a-fA-F]{1,200}\Z")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
SPECIAL = {".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan}
WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass
class Marked:
    """A value with the place where it was written: a mapping, a list or a scalar."""

    value: Any
    origin: Origin
    keys: dict[str, Origin] = field(default_factory=dict)  # of a mapping: where its keys stand

    def plain(self) -> Any:
        """The value without marks."""
        if isinstance(self.value, dict):
            return {k: v.plain() for k, v in self.value.items()}
        if isinstance(self.value, list):
            return [v.plain() for v in self.value]
        return self.value

    def at(self, path: tuple[str | int, ...]) -> Marked | None:
        """The value at a path of keys and indices, None if there is none."""
        here: Marked | None = self
        for part in path:
            value: Any = here.value if here is not None else None
            known = isinstance(value, dict) and part in value
            if not known and isinstance(value, list) and isinstance(part, int):
                known = part < len(value)
            if not known:
                return None
            here = value[part]
        return here

    def nearest(self, path: tuple[str | int, ...], of_key: bool = False) -> Origin:
        """Where the value at a path, or its key, or what should hold it, was written."""
        while path:
            holder = self.at(path[:-1])
            if of_key and holder is not None and path[-1] in holder.keys:
                return holder.keys[str(path[-1])]
            here = self.at(path)
            if here is not None:
                return here.origin
            path = path[:-1]
        return self.origin


def mark(value: Any, file: str) -> Marked:
    """Plain data, or what Python has in its place, as if it were written in a file of that name."""
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


def read_yaml(text: str, file: str, faults: list[Fault], most: int = MOST_VALUES) -> Marked | None:
    """Read YAML that stands for at most so many values; what is wrong is added to the faults."""
    try:
        _check_size(text, most)
        node = yaml.compose(text, LOADER)
    except yaml.MarkedYAMLError as problem:
        where = problem.problem_mark or problem.context_mark
        origin = Origin(file, where.line + 1, where.column + 1) if where else Origin(file)
        what = problem.problem or problem.context or "cannot be read"
        faults.append(Fault(origin, "", f"not YAML: {what}"))
        return None
    except yaml.YAMLError as problem:
        faults.append(Fault(Origin(file), "", f"not YAML: {problem}"))
        return None
    except _TooMuch as problem:
        faults.append(Fault(Origin(file), "", str(problem)))
        return None
    if node is None:
        return Marked({}, Origin(file))
    try:
        return _Reader(file, faults, most).read(node, 0)
    except _TooMuch as problem:
        faults.append(Fault(Origin(file), "", str(problem)))
        return None


def _check_size(text: str, most: int) -> None:
    """Refuse what is nested too deep, which exhausts the stack of the C loader, or far too much.

    What is composed takes a kilobyte for every value, so that is not left to the reader alone.
    """
    depth = count = 0
    for event in yaml.parse(text, LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        count += isinstance(event, yaml.NodeEvent)
        if depth > MAX_DEPTH:
            raise _TooMuch(f"nested deeper than {MAX_DEPTH} levels")
        if count > 2 * most:  # every value may have a key
            raise _TooMuch(f"stands for more than {most} values")


class _TooMuch(Exception):
    pass


class _Reader:
    def __init__(self, file: str, faults: list[Fault], most: int) -> None:
        self.file = file
        self.faults = faults
        self.most = most
        self.count = 0

    def origin(self, node: yaml.Node) -> Origin:
        return Origin(self.file, node.start_mark.line + 1, node.start_mark.column + 1)

    def read(self, node: yaml.Node, depth: int) -> Marked:
        self.count += 1
        if depth > MAX_DEPTH:
            raise _TooMuch(f"nested deeper than {MAX_DEPTH} levels")
        if self.count > self.most:
            raise _TooMuch(f"stands for more than {self.most} values")
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
                self.faults.append(Fault(origin, "", "a key must be a word"))
                continue
            name = str(key.value)
            if name in found.value:
                first = found.keys[name]
                message = f"key {name!r} stands twice, first in line {first.line}"
                self.faults.append(Fault(origin, "", message))
                continue
            found.keys[name] = origin
            found.value[name] = self.read(value, depth + 1)
        return found


def _scalar(text: str, style: str | None) -> Any:
    if style in ("'", '"', "|", ">"):
        return text
    low = text.lower()
    if low in WORDS:
        return WORDS[low]
    if low in SPECIAL:
        return SPECIAL[low]
    if INTEGER.match(text):
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    return float(text) if FLOAT.match(text) else text


class Dumper(getattr(yaml, "CDumper", yaml.Dumper)):  # type: ignore[misc]
    """Writes what `read_yaml` reads: words that it would take for numbers are quoted."""


def _represent(dumper: Any, text: str) -> Any:
    quoted = "'" if not isinstance(_scalar(text, None), str) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=quoted)


Dumper.add_representer(str, _represent)


def dump_yaml(value: Any) -> str:
    """Plain data as YAML: short lists on one line, order kept."""
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


def iterate_values(
    tree: Marked, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Marked]]:
    """Every value with its path, the whole first."""
    yield path, tree
    if isinstance(tree.value, dict):
        for key, value in tree.value.items():
            yield from iterate_values(value, (*path, key))
    elif isinstance(tree.value, list):
        for k, value in enumerate(tree.value):
            yield from iterate_values(value, (*path, k))
