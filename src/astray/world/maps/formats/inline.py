"""Maps that are written where they are used: walls, boxes, polygons, circles and places.

    walls:    [[[0, 0], [8, 0], [8, 5]]]                  lines of walls, without thickness
    boxes:    [{x: 2, y: 1, length: 1.6, width: 0.8, yaw: 0.3}, [5, 3, 1, 1]]    about a centre
    polygons: [[[3, 3], [4, 3], [4, 4]]]                  solid, whichever way they run
    circles:  [{x: 6, y: 2, radius: 0.3}, [7, 4, 0.2]]    solid
    places:   [{kind: home, x: 1, y: 1, yaw: 0}]

A circle is a regular polygon of 12 sides or more. Its corners lie a little outside of the circle
and the middles of its sides as much inside, never more than a millimetre where it has more than 12.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from astray.errors import Path
from astray.tables import Array
from astray.world.map import FARTHEST, MOST_SEGMENTS, Map, Place, block, boxes, merge, wall
from astray.world.maps.faults import MapFaults, short

KEYS = ("walls", "boxes", "polygons", "circles", "places")
BOX = ("x", "y", "length", "width", "yaw")
CIRCLE = ("x", "y", "radius")
PLACE = ("kind", "name", "x", "y", "yaw", "points")
TOLERANCE = 1e-3  # m between a circle and its polygon
FEWEST_SIDES = 12
LARGEST_RADIUS = 1e5  # m


def parse_inline(spec: Mapping[str, Any], findings: MapFaults, name: str = "inline") -> Map:
    """The map that the keys describe; what is wrong with them goes to the findings."""
    parts: list[Map] = []
    count = _weight(spec)
    if count > MOST_SEGMENTS:
        findings.fault((), f"more than {MOST_SEGMENTS} points")
        return Map(name=name)
    for k, points in enumerate(findings.entries(spec.get("walls", []), ("walls",))):
        parts.append(wall(findings.points(points, ("walls", k), 2)))
    listed = findings.entries(spec.get("boxes", []), ("boxes",))
    parts.append(boxes([_box(box, ("boxes", k), findings) for k, box in enumerate(listed)]))
    for k, points in enumerate(findings.entries(spec.get("polygons", []), ("polygons",))):
        parts.append(_polygon(findings.points(points, ("polygons", k), 3), k, findings))
    for k, circle in enumerate(findings.entries(spec.get("circles", []), ("circles",))):
        parts.append(block(_circle(circle, ("circles", k), findings)))
        count += len(parts[-1])
        if count > MOST_SEGMENTS:  # one of 100 km has 15,000 sides
            findings.fault(("circles",), f"their polygons have more than {MOST_SEGMENTS} sides")
            break
    places = parse_places(spec.get("places", []), findings)
    if findings.faults:
        return Map(name=name)
    made = merge(parts)
    return Map(made.segments, made.solid, places, name)


def parse_places(value: object, findings: MapFaults) -> tuple[Place, ...]:
    """The places in a list under the key `places`."""
    listed = findings.entries(value, ("places",))
    return tuple(_place(place, ("places", k), findings) for k, place in enumerate(listed))


def _weight(spec: Mapping[str, Any]) -> int:
    """About how many points there are, without looking at each."""
    lists = [spec.get(key) for key in ("walls", "polygons")]
    return sum(
        len(part)
        for listed in lists
        if isinstance(listed, (list, tuple))
        for part in listed
        if isinstance(part, (list, tuple))
    )


def circle_points(x: float, y: float, radius: float) -> Array:
    """The corners of the polygon that stands for a circle, counter-clockwise, (n, 2) m."""
    # Between corners and middles of sides, (1 - cos) / (1 + cos) of the radius is the deviation.
    inner = (radius - TOLERANCE) / (radius + TOLERANCE)
    sides = max(FEWEST_SIDES, math.ceil(math.pi / math.acos(max(0.0, inner))))
    corner = 2.0 * radius / (1.0 + math.cos(math.pi / sides))
    angle = 2.0 * math.pi * np.arange(sides) / sides
    return np.stack([x + corner * np.cos(angle), y + corner * np.sin(angle)], axis=1)


def _fields(
    value: object, keys: tuple[str, ...], needed: int, path: Path, findings: MapFaults
) -> dict[str, float]:
    """Numbers by name, from a mapping or, without the optional ones, from a list."""
    if isinstance(value, Mapping):
        findings.refuse_unknown(value, keys, path)
        if not findings.require(value, " ".join(keys[:needed]), path):
            return {}
        named = {key: (value[key], (*path, key)) for key in keys if key in value}
    elif isinstance(value, (list, tuple)) and needed <= len(value) <= len(keys):
        named = {keys[k]: (entry, (*path, k)) for k, entry in enumerate(value)}
    else:
        listed = ", ".join(keys[:needed])
        findings.fault(path, f"{{{listed}}} or [{listed}] is needed, not {short(value)}")
        return {}
    return {key: _field(key, entry, where, findings) for key, (entry, where) in named.items()}


def _field(key: str, entry: object, where: Path, findings: MapFaults) -> float:
    if key == "radius":
        return findings.number(entry, where, 0.0, LARGEST_RADIUS, above=True)
    if key in ("length", "width"):
        return findings.number(entry, where, 0.0, above=True)
    return findings.number(entry, where)


def _box(value: object, path: Path, findings: MapFaults) -> list[float]:
    numbers = _fields(value, BOX, 4, path, findings)
    return [numbers.get(key, 0.0) for key in BOX]


def _circle(value: object, path: Path, findings: MapFaults) -> Array:
    numbers = _fields(value, CIRCLE, 3, path, findings)
    return circle_points(**numbers) if numbers else circle_points(0.0, 0.0, 1.0)


def _polygon(points: Array, k: int, findings: MapFaults) -> Map:
    if not len(points):
        return Map()
    x, y = (points - points[0]).T
    if np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) == 0.0:
        findings.fault(("polygons", k), "encloses nothing; a line of walls belongs under walls")
    return block(points)


def _place(value: object, path: Path, findings: MapFaults) -> Place:
    if not isinstance(value, Mapping):
        findings.fault(path, f"{{kind, x, y}} is needed, not {short(value)}")
        return Place("point")
    findings.refuse_unknown(value, PLACE, path)
    findings.require(value, "kind", path)
    x, y, yaw = (
        findings.number(value.get(key, 0.0), (*path, key), -FARTHEST, FARTHEST)
        for key in ("x", "y", "yaw")
    )
    points: Array = np.zeros((0, 2))
    if value.get("points"):
        points = findings.points(value["points"], (*path, "points"), 1)
    return Place(
        findings.word(value.get("kind", "point"), (*path, "kind")),
        findings.word(value.get("name", ""), (*path, "name")),
        x,
        y,
        yaw,
        tuple((float(px), float(py)) for px, py in points),
    )
