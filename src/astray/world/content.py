"""All that a map has as plain data, for saved runs and for logs of events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from astray.table import Array
from astray.world.map import Map, Place

KEYS = ("name", "places", "segments", "solid")


def content_of(found: Map) -> dict[str, Any]:
    """A map as plain data; `solid` are the numbers of the segments that bound something solid."""
    segments, solid = found.segments.tolist(), np.flatnonzero(found.solid).tolist()
    return {**labels_of(found), "segments": segments, "solid": solid}


def map_with(content: Mapping[str, Any]) -> Map:
    """The map that `content_of` wrote."""
    segments = np.asarray(content["segments"], float).reshape(-1, 4)
    solid = np.zeros(len(segments), bool)
    solid[np.asarray(content.get("solid", ()), np.int64)] = True
    return labelled(segments, solid, content)


def labels_of(found: Map) -> dict[str, Any]:
    """What a map has beside its segments, as plain data."""
    return {"name": found.name, "places": [asdict(place) for place in found.places]}


def labelled(segments: Array, solid: Array, labels: Mapping[str, Any]) -> Map:
    """A map of segments and what `labels_of` wrote; older files have no places, or no labels."""
    places = tuple(_place(**place) for place in labels.get("places", ()))
    return Map(segments, solid, places, str(labels.get("name", "")))


def _place(points: Any = (), **rest: Any) -> Place:
    return Place(**rest, points=tuple((float(x), float(y)) for x, y in points))
