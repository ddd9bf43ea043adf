"""All that a map has as plain data, for saved runs and for logs of events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from astray.errors import MapError, WrongInput
from astray.tables import Array
from astray.world.map import Map, Place

KEYS = ("name", "places", "segments", "solid")
HEAD = b'{"segments"'  # what a file of it begins with


def map_to_dict(found: Map) -> dict[str, Any]:
    """A map as plain data; `solid` are the numbers of the segments that bound something solid."""
    segments, solid = found.segments.tolist(), np.flatnonzero(found.solid).tolist()
    return {**map_labels(found), "segments": segments, "solid": solid}


def map_from_dict(content: Mapping[str, Any]) -> Map:
    """The map that `map_to_dict` wrote."""
    segments = np.asarray(content["segments"], float).reshape(-1, 4)
    solid = np.zeros(len(segments), bool)
    solid[np.asarray(content.get("solid", ()), np.int64)] = True
    return map_with_labels(segments, solid, content)


def is_map_dict(spec: object) -> bool:
    """Whether it describes a map by all that it has; of generators, `segments` is a number."""
    return isinstance(spec, Mapping) and isinstance(spec.get("segments"), (list, tuple, np.ndarray))


def map_dict_fault(content: Mapping[str, Any]) -> str:
    """What keeps it from being a map; empty if nothing does."""
    unknown = set(content) - set(KEYS)
    if unknown:
        return f"no value {min(unknown)!r} ({', '.join(KEYS)})"
    try:
        map_from_dict(content)
    except (WrongInput, ValueError, TypeError, IndexError, OverflowError) as problem:
        return f"not a map: {problem}"
    return ""


def map_to_json(content: Mapping[str, Any]) -> bytes:
    """A file that holds a map bit for bit, the order of its segments included."""
    return json.dumps({"segments": content["segments"], **content}).encode() + b"\n"


def map_from_json(data: bytes, file: str) -> Map:
    """Read what `map_to_json` wrote; `file` is what errors call it."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise MapError(f"{file}: not JSON: {problem}") from None
    if fault := map_dict_fault(content):
        raise MapError(f"{file}: {fault}")
    return map_from_dict(content)


def map_labels(found: Map) -> dict[str, Any]:
    """What a map has beside its segments, as plain data."""
    return {"name": found.name, "places": [asdict(place) for place in found.places]}


def map_with_labels(segments: Array, solid: Array, labels: Mapping[str, Any]) -> Map:
    """A map of segments and what `map_labels` wrote; older files have no places, or no labels."""
    places = tuple(_place(**place) for place in labels.get("places", ()))
    return Map(segments, solid, places, str(labels.get("name", "")))


def _place(points: Any = (), **rest: Any) -> Place:
    return Place(**rest, points=tuple((float(x), float(y)) for x, y in points))
