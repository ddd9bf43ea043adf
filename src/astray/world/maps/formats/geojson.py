"""Maps in GeoJSON: polygons, lines and points, in metres.

Which side of a polygon is solid? One with holes whose outer ring encloses everything else is the
arena: its outer ring is a wall around free ground, its holes are blocks. Any other polygon is a
block, and its holes are free. The property `solid: true` makes a polygon a block and `false` an
arena, whatever it encloses; on a line, `solid: true` says that what lies on its left is solid.

Points are places, with the properties kind (or type), name and yaw. So are lines and areas whose
kind is forbidden_line or forbidden_area, or that have `obstacle: false`. Heights and coordinate
reference systems are not looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from astray.errors import MapError, Path, in_words
from astray.tables import Array
from astray.world.map import FARTHEST, Map, Place
from astray.world.maps.faults import MapFaults, as_points, short

MAX_DEPTH = 16  # levels of collections
AREAS = ("forbidden_line", "forbidden_area")
GEOMETRIES = (
    "Point",
    "MultiPoint",
    "LineString",
    "MultiLineString",
    "Polygon",
    "MultiPolygon",
    "GeometryCollection",
)


@dataclass
class GeoJsonPart:
    """A line or a polygon of a file: its rings, the outer one first."""

    rings: list[Array]
    closed: bool
    solid: bool | None  # None: not said
    path: Path


class _Wrong(Exception):
    def __init__(self, path: Path, message: str) -> None:
        super().__init__(": ".join(filter(None, (in_words(path), message))))


def read_geojson(data: bytes, file: str) -> Map:
    """Read the bytes of a GeoJSON file; `file` is what errors call it."""
    try:
        tree = json.loads(data)
    except json.JSONDecodeError as problem:
        raise MapError(f"{file}:{problem.lineno}: not JSON: {problem.msg}") from None
    except UnicodeDecodeError:
        raise MapError(f"{file}: not a text file in UTF-8") from None
    except RecursionError:
        raise MapError(f"{file}: nested too deep") from None
    except ValueError as problem:  # a number of thousands of digits
        raise MapError(f"{file}: {problem}") from None
    parts: list[GeoJsonPart] = []
    places: list[Place] = []
    try:
        for path, geometry, properties in _features(tree):
            for where, kind, coordinates in _geometries(geometry, path, 0):
                _take(kind, coordinates, where, properties, parts, places)
        _check_range(parts)
    except _Wrong as problem:
        raise MapError(f"{file}: {problem}") from None
    return _build(parts, places)


def _features(tree: Any) -> Iterator[tuple[Path, Any, Mapping[str, Any]]]:
    if not isinstance(tree, dict) or not isinstance(tree.get("type"), str):
        raise _Wrong((), "not GeoJSON: a mapping with a type is needed")
    if tree["type"] == "FeatureCollection":
        listed = tree.get("features")
        if not isinstance(listed, list):
            raise _Wrong(("features",), f"a list is needed, not {short(listed)}")
        for k, feature in enumerate(listed):
            yield _feature(feature, ("features", k))
    elif tree["type"] == "Feature":
        yield _feature(tree, ())
    else:
        yield (), tree, {}


def _feature(feature: Any, path: Path) -> tuple[Path, Any, Mapping[str, Any]]:
    if not isinstance(feature, dict) or feature.get("type") != "Feature":
        raise _Wrong(path, f"a Feature is needed, not {short(feature)}")
    properties = feature.get("properties") or {}
    if not isinstance(properties, dict):
        raise _Wrong((*path, "properties"), f"a mapping is needed, not {short(properties)}")
    return (*path, "geometry"), feature.get("geometry"), properties


def _geometries(geometry: Any, path: Path, depth: int) -> Iterator[tuple[Path, str, Any]]:
    """The simple geometries of one, with their paths; GeoJSON's null has none."""
    if geometry is None:
        return
    if not isinstance(geometry, dict) or geometry.get("type") not in GEOMETRIES:
        what = geometry.get("type") if isinstance(geometry, dict) else geometry
        raise _Wrong(path, f"no geometry {short(what)} ({', '.join(GEOMETRIES)})")
    if depth > MAX_DEPTH:
        raise _Wrong(path, f"collections nested deeper than {MAX_DEPTH} levels")
    kind = geometry["type"]
    key = "geometries" if kind == "GeometryCollection" else "coordinates"
    inner, where = geometry.get(key), (*path, key)
    if not isinstance(inner, list):
        raise _Wrong(where, f"a list is needed, not {short(inner)}")
    if kind == "GeometryCollection":
        for k, member in enumerate(inner):
            yield from _geometries(member, (*where, k), depth + 1)
    elif kind.startswith("Multi"):
        for k, member in enumerate(inner):
            yield (*where, k), kind.removeprefix("Multi"), member
    else:
        yield where, kind, inner


def _take(
    kind: str,
    coordinates: Any,
    where: Path,
    properties: Mapping[str, Any],
    parts: list[GeoJsonPart],
    places: list[Place],
) -> None:
    """Add one simple geometry to the obstacles or to the places."""
    if kind == "Point":
        points = _points([coordinates], where, 1)
        _check_range([GeoJsonPart([points], False, None, where)])
        places.append(_place(properties, points[0], ()))
        return
    rings = coordinates if kind == "Polygon" else [coordinates]
    if not isinstance(rings, list):
        raise _Wrong(where, f"a list of rings is needed, not {short(rings)}")
    if _is_place(properties):
        points = _points(rings[0] if rings else [], where, 1)
        _check_range([GeoJsonPart([points], False, None, where)])
        corners = points[:-1] if kind == "Polygon" and _is_closed(points) else points
        ends = tuple((float(x), float(y)) for x, y in corners)
        places.append(_place(properties, corners.mean(axis=0), ends))
        return
    closed = kind == "Polygon"
    made = []
    for k, ring in enumerate(rings):
        points = _points(ring, (*where, k) if closed else where, 3 if closed else 2)
        made.append(points[:-1] if closed and _is_closed(points) else points)
    if made:
        parts.append(GeoJsonPart(made, closed, _solid(properties, where), where))


def _points(value: Any, path: Path, least: int) -> Array:
    made = as_points(value) if isinstance(value, list) else None
    if made is None or len(made) < least:
        # The slow way says which point is wrong; heights may be given for some points only.
        findings = MapFaults()
        if isinstance(value, list):
            value = [p[:2] if isinstance(p, list) else p for p in value]
        made = findings.points(value, path, least)
        for where, message in findings.faults:
            raise _Wrong(where, message)
    return made


def _is_closed(points: Array) -> bool:
    return len(points) > 1 and bool((points[0] == points[-1]).all())


def _kind(properties: Mapping[str, Any]) -> str:
    named = [properties.get(key) for key in ("kind", "type")]
    return next((value for value in named if isinstance(value, str) and value), "point")


def _is_place(properties: Mapping[str, Any]) -> bool:
    return properties.get("obstacle") is False or _kind(properties) in AREAS


def _solid(properties: Mapping[str, Any], path: Path) -> bool | None:
    value = properties.get("solid")
    if value is None or isinstance(value, bool):
        return value
    raise _Wrong(path, f"solid is true or false, not {short(value)}")


def _place(
    properties: Mapping[str, Any], at: Array, points: tuple[tuple[float, float], ...]
) -> Place:
    def number(key: str, default: float) -> float:
        value = properties.get(key)
        right = isinstance(value, (int, float)) and not isinstance(value, bool)
        return float(value) if right and abs(value) < FARTHEST else default  # type: ignore

    x, y = number("x", float(at[0])), number("y", float(at[1]))
    if not points:
        x, y = float(at[0]), float(at[1])
    name = properties.get("name")
    return Place(
        _kind(properties),
        name if isinstance(name, str) else "",
        x,
        y,
        number("yaw", 0.0),
        points,
    )


def _check_range(parts: list[GeoJsonPart]) -> None:
    if not parts or np.all(np.abs(np.concatenate([r for p in parts for r in p.rings])) < FARTHEST):
        return
    for part in parts:
        if not all(np.all(np.abs(ring) < FARTHEST) for ring in part.rings):
            raise _Wrong(part.path, f"coordinates must be finite and within {FARTHEST:g} m")


def _build(parts: list[GeoJsonPart], places: list[Place]) -> Map:
    """The segments of all parts at once: made one by one, a hundred thousand would take seconds."""
    arena = _find_arena(parts)
    lines: list[Array] = []
    lengths: list[int] = []
    solids: list[bool] = []
    for part in parts:
        free = part.solid is False or part is arena
        for k, ring in enumerate(part.rings):
            bounds_solid = part.solid is True if not part.closed else not free or k > 0
            if part.closed and bounds_solid:
                ring = _wound(ring, clockwise=k > 0 and not free)
            lines.append(ring)
            if part.closed:
                lines.append(ring[:1])
            lengths.append(len(ring) + part.closed)
            solids.append(bounds_solid)
    if not lines:
        return Map(places=tuple(places))
    ends = np.concatenate(lines)
    within = np.ones(len(ends) - 1, bool)  # not from the end of a line to the begin of the next
    within[np.cumsum(lengths)[:-1] - 1] = False
    solid = np.repeat(solids, lengths)[:-1][within]
    return Map(np.hstack([ends[:-1], ends[1:]])[within], solid, tuple(places))


def _wound(ring: Array, clockwise: bool) -> Array:
    x, y = (ring - ring[0]).T
    area = float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    return ring[::-1] if (area < 0.0) != clockwise else ring


def _find_arena(parts: list[GeoJsonPart]) -> GeoJsonPart | None:
    """The polygon with holes that encloses all other parts, if there is one."""
    holed = [p for p in parts if p.closed and p.solid is None and len(p.rings) > 1]
    if not holed:
        return None
    widest = max(holed, key=lambda p: float(np.prod(np.ptp(p.rings[0], axis=0))))
    others = [p.rings[0] for p in parts if p is not widest]
    if not others:
        return widest
    outer = widest.rings[0]
    low = np.array([ring.min(axis=0) for ring in others]).min(axis=0)
    high = np.array([ring.max(axis=0) for ring in others]).max(axis=0)
    if (low < outer.min(axis=0)).any() or (high > outer.max(axis=0)).any():
        return None
    # A part may begin on the ring itself, where inside and outside are a matter of rounding.
    first = _inside(np.array([ring[0] for ring in others]), outer)
    middle = _inside(np.array([ring.mean(axis=0) for ring in others]), outer)
    return widest if bool((first | middle).all()) else None


def _inside(points: Array, ring: Array) -> Array:
    """Which points a ring encloses, by counting the edges to their right."""
    inside = np.zeros(len(points), bool)
    x, y = points.T
    for (ax, ay), (bx, by) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        if ay != by:
            inside ^= ((ay > y) != (by > y)) & (x < ax + (y - ay) * (bx - ax) / (by - ay))
    return inside
