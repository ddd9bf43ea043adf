"""Maps that are made up: rooms, forest, maze and warehouse, each a function of its seed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from astray.errors import suggest
from astray.world.maps.faults import MapFaults, short
from astray.world.maps.generate.base import MapLayout
from astray.world.maps.generate.forest import Forest
from astray.world.maps.generate.maze import Maze
from astray.world.maps.generate.rooms import Rooms
from astray.world.maps.generate.warehouse import Warehouse

GENERATORS: dict[str, type[MapLayout]] = {cls.kind: cls for cls in (Forest, Maze, Rooms, Warehouse)}
FEWEST_SEGMENTS, MOST_SEGMENTS = 4, 400_000


def parse_layout(spec: Mapping[str, Any], findings: MapFaults) -> MapLayout:
    """The layout that a mapping with a kind describes; faults go to the findings."""
    kind = spec.get("kind")
    if not isinstance(kind, str) or kind not in GENERATORS:
        hint = suggest(str(kind), GENERATORS)
        findings.fault(("kind",), f"no kind {short(kind)}{hint} ({', '.join(GENERATORS)})")
        return Maze()
    cls = GENERATORS[kind]
    if "size" in spec and "segments" in spec:
        findings.fault(("segments",), "give size or segments, not both")
    before = len(findings.faults)
    values = {
        field.name: _value(field, spec[field.name], findings)
        for field in dataclasses.fields(cls)
        if field.name in spec
    }
    made = cls(**values) if len(findings.faults) == before else cls()
    if len(findings.faults) == before and (problem := made.problem()):
        findings.fault((), problem)
    return made


def parameters(kind: str) -> list[str]:
    """The keys of a generator."""
    return [field.name for field in dataclasses.fields(GENERATORS[kind])]


def _value(field: Any, value: object, findings: MapFaults) -> Any:
    path, bounds = (field.name,), field.metadata
    if isinstance(field.default, bool):
        return findings.truth(value, path)
    if isinstance(field.default, tuple):
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            findings.fault(path, f"two numbers are needed, not {short(value)}")
            return field.default
        return tuple(
            findings.number(v, (*path, k), bounds["least"], bounds["most"])
            for k, v in enumerate(value)
        )
    return findings.number(value, path, bounds["least"], bounds["most"])
