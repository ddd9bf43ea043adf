"""Maps that are written where they are used: walls, boxes, polygons, circles and places.

    walls:    [[[0, 0], [8, 0], [8, 5]]]                  polylines without thickness
    boxes:    [{x: 2, y: 1, length: 1.6, width: 0.8, yaw: 0.3}, [5, 3, 1, 1]]    about a centre
    polygons: [[[3, 3], [4, 3], [4, 4]]]                  solid, in either orientation
    circles:  [{x: 6, y: 2, radius: 0.3}, [7, 4, 0.2]]    solid
    places:   [{kind: home, x: 1, y: 1, yaw: 0}]

A circle becomes a regular polygon of 12 sides or more. Its corners lie a little outside of the
circle and the middles of its sides as much inside, at most a millimetre where it has more than 12.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from astray.errors import Path
from astray.tables import Array
from astray.world.map import MAX_SEGMENTS, Map, Place, block, boxes, merge, wall
from astray.world.maps.fields import FieldReader, shorten

SHAPE_KEYS = ("walls", "boxes", "polygons", "circles", "places")
BOX_KEYS = ("x", "y", "length", "width", "yaw")
CIRCLE_KEYS = ("x", "y", "radius")
PLACE_KEYS = ("kind", "name", "x", "y", "yaw", "points")
TOLERANCE = 1e-3  # m between a circle and its polygon
MIN_SIDES = 12
MAX_RADIUS = 1e5  # m


def parse_inline(spec: Mapping[str, Any], fields: FieldReader) -> Map:
    """The map that the shapes of a description make; an empty map if there are faults."""
    parts: list[Map] = []
    count = _point_count(spec)
    if count > MAX_SEGMENTS:
        fields.fault((), f"more than {MAX_SEGMENTS} points")
        return Map(name="inline")
    for k, points in enumerate(fields.entries(spec.get("walls", []), ("walls",))):
        parts.append(wall(fields.points(points, ("walls", k), 2)))
    listed = fields.entries(spec.get("boxes", []), ("boxes",))
    parts.append(boxes([_box(box, ("boxes", k), fields) for k, box in enumerate(listed)]))
    for k, points in enumerate(fields.entries(spec.get("polygons", []), ("polygons",))):
        parts.append(_polygon(fields.points(points, ("polygons", k), 3), k, fields))
    for k, circle in enumerate(fields.entries(spec.get("circles", []), ("circles",))):
        parts.append(block(_circle(circle, ("circles", k), fields)))
        count += len(parts[-1])
        if count > MAX_SEGMENTS:  # a circle of 100 km has 15,000 sides
            fields.fault(("circles",), f"their polygons have more than {MAX_SEGMENTS} sides")
            break
    places = parse_places(spec.get("places", []), fields)
    if fields.faults:
        return Map(name="inline")
    merged = merge(parts)
    return Map(merged.segments, merged.solid, places, "inline")


def parse_places(value: object, fields: FieldReader) -> tuple[Place, ...]:
    """The places in the list under the key `places`."""
    listed = fields.entries(value, ("places",))
    return tuple(_place(place, ("places", k), fields) for k, place in enumerate(listed))


def _point_count(spec: Mapping[str, Any]) -> int:
    """About how many points there are, without a check of each."""
    lists = [spec.get(key) for key in ("walls", "polygons")]
    return sum(
        len(part)
        for listed in lists
        if isinstance(listed, (list, tuple))
        for part in listed
        if isinstance(part, (list, tuple))
    )


def circle_points(x: float, y: float, radius: float) -> Array:
    """The corners of the polygon that replaces a circle, counter-clockwise, (n, 2) m."""
    # The deviation of corners and of middles of sides is (1 - cos) / (1 + cos) of the radius.
    inner = (radius - TOLERANCE) / (radius + TOLERANCE)
    sides = max(MIN_SIDES, math.ceil(math.pi / math.acos(max(0.0, inner))))
    corner = 2.0 * radius / (1.0 + math.cos(math.pi / sides))
    angle = 2.0 * math.pi * np.arange(sides) / sides
    return np.stack([x + corner * np.cos(angle), y + corner * np.sin(angle)], axis=1)


def _named_numbers(
    value: object, keys: tuple[str, ...], needed: int, path: Path, fields: FieldReader
) -> dict[str, float]:
    """Numbers by key, from a mapping or from a list; the keys after the `needed` are optional."""
    if isinstance(value, Mapping):
        fields.refuse_unknown(value, keys, path)
        if not fields.require(value, " ".join(keys[:needed]), path):
            return {}
        named = {key: (value[key], (*path, key)) for key in keys if key in value}
    elif isinstance(value, (list, tuple)) and needed <= len(value) <= len(keys):
        named = {keys[k]: (entry, (*path, k)) for k, entry in enumerate(value)}
    else:
        listed = ", ".join(keys[:needed])
        fields.fault(path, f"{{{listed}}} or [{listed}] is needed, not {shorten(value)}")
        return {}
    return {key: _dimension(key, entry, at, fields) for key, (entry, at) in named.items()}


def _dimension(key: str, entry: object, path: Path, fields: FieldReader) -> float:
    if key == "radius":
        return fields.number(entry, path, 0.0, MAX_RADIUS, above=True)
    if key in ("length", "width"):
        return fields.number(entry, path, 0.0, above=True)
    return fields.number(entry, path)


def _box(value: object, path: Path, fields: FieldReader) -> list[float]:
    numbers = _named_numbers(value, BOX_KEYS, 4, path, fields)
    return [numbers.get(key, 0.0) for key in BOX_KEYS]


def _circle(value: object, path: Path, fields: FieldReader) -> Array:
    numbers = _named_numbers(value, CIRCLE_KEYS, 3, path, fields)
    return circle_points(**numbers) if numbers else circle_points(0.0, 0.0, 1.0)


def _polygon(points: Array, k: int, fields: FieldReader) -> Map:
    if not len(points):
        return Map()
    x, y = (points - points[0]).T
    if np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) == 0.0:
        fields.fault(("polygons", k), "encloses nothing; a line of walls belongs under walls")
    return block(points)


def _place(value: object, path: Path, fields: FieldReader) -> Place:
    if not isinstance(value, Mapping):
        fields.fault(path, f"{{kind, x, y}} is needed, not {shorten(value)}")
        return Place("point")
    fields.refuse_unknown(value, PLACE_KEYS, path)
    fields.require(value, "kind", path)
    x, y, yaw = (fields.number(value.get(key, 0.0), (*path, key)) for key in ("x", "y", "yaw"))
    points: Array = np.zeros((0, 2))
    if value.get("points"):
        points = fields.points(value["points"], (*path, "points"), 1)
    return Place(
        fields.string(value.get("kind", "point"), (*path, "kind")),
        fields.string(value.get("name", ""), (*path, "name")),
        x,
        y,
        yaw,
        tuple((float(px), float(py)) for px, py in points),
    )
