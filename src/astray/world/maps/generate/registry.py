"""The table of generators, and the maps that they make.

To add a generator, write a file beside this one with a `MapLayout`, and add the class to
`GENERATORS`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from astray.errors import MapError, suggest
from astray.world.map import Map
from astray.world.maps.fields import FieldReader, shorten
from astray.world.maps.generate.base import MapLayout, RandomStream
from astray.world.maps.generate.forest import Forest
from astray.world.maps.generate.maze import Maze
from astray.world.maps.generate.rooms import Rooms
from astray.world.maps.generate.warehouse import Warehouse

GENERATORS: dict[str, type[MapLayout]] = {cls.kind: cls for cls in (Forest, Maze, Rooms, Warehouse)}
MIN_REQUEST, MAX_REQUEST = 4, 400_000  # segments that can be asked for
CLOSE_ENOUGH = 0.02  # of the segments that were asked for
TOO_FAR = 0.2
MAX_TRIALS = 10
DECIMALS = 6  # of a coordinate in metres


def parse_layout(spec: Mapping[str, Any], fields: FieldReader) -> MapLayout:
    """The layout that a mapping with a kind describes; faults go to the field reader."""
    kind = spec.get("kind")
    if not isinstance(kind, str) or kind not in GENERATORS:
        hint = suggest(str(kind), GENERATORS)
        fields.fault(("kind",), f"unknown kind {shorten(kind)}{hint} ({', '.join(GENERATORS)})")
        return Maze()
    cls = GENERATORS[kind]
    if "size" in spec and "segments" in spec:
        fields.fault(("segments",), "give size or segments, not both")
    before = len(fields.faults)
    values = {
        field.name: _parse_parameter(field, spec[field.name], fields)
        for field in dataclasses.fields(cls)
        if field.name in spec
    }
    layout = cls(**values) if len(fields.faults) == before else cls()
    if len(fields.faults) == before and (problem := layout.problem()):
        fields.fault((), problem)
    return layout


def _parse_parameter(field: Any, value: object, fields: FieldReader) -> Any:
    path, bounds = (field.name,), field.metadata
    if isinstance(field.default, bool):
        return fields.boolean(value, path)
    if isinstance(field.default, tuple):
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            fields.fault(path, f"two numbers are needed, not {shorten(value)}")
            return field.default
        return tuple(
            fields.number(v, (*path, k), bounds["least"], bounds["most"])
            for k, v in enumerate(value)
        )
    return fields.number(value, path, bounds["least"], bounds["most"])


def parameter_names(kind: str) -> list[str]:
    """The parameters of a generator."""
    return [field.name for field in dataclasses.fields(GENERATORS[kind])]


def generate(layout: MapLayout, segments: int | None, seed: int, world: int) -> Map:
    """Generate the map of a layout.

    Args:
        layout: The generator with its parameters.
        segments: The number of segments to come close to by scaling the size; None keeps the size.
        seed: The seed of the random numbers.
        world: The number of the world, which changes the random numbers too.

    Returns:
        The map.

    Raises:
        MapError: The parameters do not fit together, or no size gives that many segments.
    """
    best = _generate(layout, seed, world)
    if segments is None:
        return best
    scale, count = 1.0, len(best)
    too_small, too_large = 0.0, math.inf  # the scales that bracket the wanted number
    for _ in range(MAX_TRIALS):
        if abs(len(best) - segments) <= CLOSE_ENOUGH * segments:
            break
        if count < segments:
            too_small = max(too_small, scale)
        else:
            too_large = min(too_large, scale)
        scale *= math.sqrt(segments / max(1, count))
        if not too_small < scale < too_large:
            scale = math.sqrt(too_small * too_large) if too_small else 0.7 * too_large
        width, height = layout.size
        scaled = dataclasses.replace(layout, size=(width * scale, height * scale))
        if scaled.problem():
            too_large = min(too_large, scale) if scale > 1.0 else too_large
            too_small = max(too_small, scale) if scale < 1.0 else too_small
            count = segments
            continue
        trial = _generate(scaled, seed, world)
        count = len(trial)
        if abs(count - segments) < abs(len(best) - segments):
            best = trial
    if abs(len(best) - segments) > TOO_FAR * segments + 8:
        message = f"no size gives about {segments} segments; the nearest found has {len(best)}"
        raise MapError(f"{layout.kind}: {message}")
    return best


def _generate(layout: MapLayout, seed: int, world: int) -> Map:
    if problem := layout.problem():
        raise MapError(f"{layout.kind}: {problem}")
    map = layout.make(RandomStream(seed, layout.kind, world))
    return Map(np.round(map.segments, DECIMALS) + 0.0, map.solid, map.places, layout.kind)
