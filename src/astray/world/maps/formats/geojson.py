"""Maps in GeoJSON (RFC 7946): polygons, lines and points, in metres.

Which side of a polygon is solid? One with holes whose outer ring encloses all other geometry is the
arena: its outer ring is a wall around free space, its holes are blocks. Any other polygon is a
block, and its holes are free. The property `solid: true` makes a polygon a block and `false` an
arena, whatever it encloses; on a line, `solid: true` means that the solid lies on its left.

Points are places, with the properties kind (or type), name and yaw. So are lines and areas whose
kind is forbidden_line or forbidden_area, or that have `obstacle: false`. Heights and coordinate
reference systems are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from astray.errors import MapError, Path, format_path
from astray.tables import Array
from astray.world.geometry import Polyline, assign_holes, map_polylines
from astray.world.map import MAX_COORDINATE, Map, Place
from astray.world.maps.fields import FieldReader, as_points, shorten

MAX_DEPTH = 16  # levels of collections
AREA_KINDS = ("forbidden_line", "forbidden_area")
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
    solid: bool | None  # None: no property
    path: Path


class _GeoJsonFault(Exception):
    def __init__(self, path: Path, message: str) -> None:
        super().__init__(": ".join(filter(None, (format_path(path), message))))


def is_geojson(text: bytes) -> bool:
    """Whether the beginning of a file is that of JSON."""
    return text.startswith((b"{", b"["))


def read_geojson(data: bytes, file: str | FilePath) -> Map:
    """Read the bytes of a GeoJSON file.

    Args:
        data: The bytes.
        file: The name of the file, for the error.

    Returns:
        The map.

    Raises:
        MapError: The bytes are not JSON, or a geometry is wrong.
    """
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
            for at, kind, coordinates in _geometries(geometry, path, 0):
                _add_geometry(kind, coordinates, at, properties, parts, places)
        _check_range(parts)
    except _GeoJsonFault as problem:
        raise MapError(f"{file}: {problem}") from None
    return _build(parts, places)


def _features(tree: Any) -> Iterator[tuple[Path, Any, Mapping[str, Any]]]:
    """The geometry of each feature with its path and the feature's properties."""
    if not isinstance(tree, dict) or not isinstance(tree.get("type"), str):
        raise _GeoJsonFault((), "not GeoJSON: a mapping with a type is needed")
    if tree["type"] == "FeatureCollection":
        listed = tree.get("features")
        if not isinstance(listed, list):
            raise _GeoJsonFault(("features",), f"a list is needed, not {shorten(listed)}")
        for k, feature in enumerate(listed):
            yield _read_feature(feature, ("features", k))
    elif tree["type"] == "Feature":
        yield _read_feature(tree, ())
    else:
        yield (), tree, {}


def _read_feature(feature: Any, path: Path) -> tuple[Path, Any, Mapping[str, Any]]:
    if not isinstance(feature, dict) or feature.get("type") != "Feature":
        raise _GeoJsonFault(path, f"a Feature is needed, not {shorten(feature)}")
    properties = feature.get("properties") or {}
    if not isinstance(properties, dict):
        got = shorten(properties)
        raise _GeoJsonFault((*path, "properties"), f"a mapping is needed, not {got}")
    return (*path, "geometry"), feature.get("geometry"), properties


def _geometries(geometry: Any, path: Path, depth: int) -> Iterator[tuple[Path, str, Any]]:
    """The simple geometries of one, with their paths; GeoJSON's null has none."""
    if geometry is None:
        return
    if not isinstance(geometry, dict) or geometry.get("type") not in GEOMETRIES:
        what = geometry.get("type") if isinstance(geometry, dict) else geometry
        raise _GeoJsonFault(path, f"unknown geometry {shorten(what)} ({', '.join(GEOMETRIES)})")
    if depth > MAX_DEPTH:
        raise _GeoJsonFault(path, f"collections nested deeper than {MAX_DEPTH} levels")
    kind = geometry["type"]
    key = "geometries" if kind == "GeometryCollection" else "coordinates"
    inner, at = geometry.get(key), (*path, key)
    if not isinstance(inner, list):
        raise _GeoJsonFault(at, f"a list is needed, not {shorten(inner)}")
    if kind == "GeometryCollection":
        for k, member in enumerate(inner):
            yield from _geometries(member, (*at, k), depth + 1)
    elif kind.startswith("Multi"):
        for k, member in enumerate(inner):
            yield (*at, k), kind.removeprefix("Multi"), member
    else:
        yield at, kind, inner


def _add_geometry(
    kind: str,
    coordinates: Any,
    path: Path,
    properties: Mapping[str, Any],
    parts: list[GeoJsonPart],
    places: list[Place],
) -> None:
    """Add a simple geometry to the obstacles or to the places."""
    if kind == "Point":
        points = _points([coordinates], path, 1)
        _check_range([GeoJsonPart([points], False, None, path)])
        places.append(_read_place(properties, points[0], ()))
        return
    rings = coordinates if kind == "Polygon" else [coordinates]
    if not isinstance(rings, list):
        raise _GeoJsonFault(path, f"a list of rings is needed, not {shorten(rings)}")
    if _is_place(properties):
        points = _points(rings[0] if rings else [], path, 1)
        _check_range([GeoJsonPart([points], False, None, path)])
        corners = points[:-1] if kind == "Polygon" and _is_closed(points) else points
        ends = tuple((float(x), float(y)) for x, y in corners)
        places.append(_read_place(properties, corners.mean(axis=0), ends))
        return
    closed = kind == "Polygon"
    checked = []
    for k, ring in enumerate(rings):
        points = _points(ring, (*path, k) if closed else path, 3 if closed else 2)
        checked.append(points[:-1] if closed and _is_closed(points) else points)
    if checked:
        parts.append(GeoJsonPart(checked, closed, _read_solid(properties, path), path))


def _points(value: Any, path: Path, least: int) -> Array:
    """At least `least` points, (n, 2) m."""
    points = as_points(value) if isinstance(value, list) else None
    if points is None or len(points) < least:
        # Checks point by point to find the wrong one; only some points may have heights.
        fields = FieldReader()
        if isinstance(value, list):
            value = [p[:2] if isinstance(p, list) else p for p in value]
        points = fields.points(value, path, least)
        for at, message in fields.faults:
            raise _GeoJsonFault(at, message)
    return points


def _is_closed(points: Array) -> bool:
    return len(points) > 1 and bool((points[0] == points[-1]).all())


def _read_kind(properties: Mapping[str, Any]) -> str:
    named = [properties.get(key) for key in ("kind", "type")]
    return next((value for value in named if isinstance(value, str) and value), "point")


def _is_place(properties: Mapping[str, Any]) -> bool:
    return properties.get("obstacle") is False or _read_kind(properties) in AREA_KINDS


def _read_solid(properties: Mapping[str, Any], path: Path) -> bool | None:
    value = properties.get("solid")
    if value is None or isinstance(value, bool):
        return value
    raise _GeoJsonFault(path, f"solid is true or false, not {shorten(value)}")


def _read_place(
    properties: Mapping[str, Any], centre: Array, points: tuple[tuple[float, float], ...]
) -> Place:
    def number(key: str, default: float) -> float:
        value = properties.get(key)
        right = isinstance(value, (int, float)) and not isinstance(value, bool)
        return float(value) if right and abs(value) < MAX_COORDINATE else default  # type: ignore

    x, y = float(centre[0]), float(centre[1])
    if points:
        x, y = number("x", x), number("y", y)
    name = properties.get("name")
    name = name if isinstance(name, str) else ""
    return Place(_read_kind(properties), name, x, y, number("yaw", 0.0), points)


def _in_range(points: Array) -> bool:
    return bool(np.all(np.abs(points) < MAX_COORDINATE))


def _check_range(parts: list[GeoJsonPart]) -> None:
    if not parts or _in_range(np.concatenate([ring for part in parts for ring in part.rings])):
        return
    for part in parts:
        if not all(map(_in_range, part.rings)):
            message = f"coordinates must be finite and within {MAX_COORDINATE:g} m"
            raise _GeoJsonFault(part.path, message)


def _build(parts: list[GeoJsonPart], places: list[Place]) -> Map:
    """The map of all parts, built at once: one by one, a hundred thousand would take seconds."""
    arena = _find_arena(parts)
    lines: list[Array] = []
    lengths: list[int] = []
    solids: list[bool] = []
    for part in parts:
        free = part.solid is False or part is arena
        for k, ring in enumerate(part.rings):
            bounds_solid = part.solid is True if not part.closed else not free or k > 0
            if part.closed and bounds_solid:
                ring = _oriented(ring, clockwise=k > 0 and not free)
            lines.append(ring)
            if part.closed:
                lines.append(ring[:1])
            lengths.append(len(ring) + part.closed)
            solids.append(bounds_solid)
    if not lines:
        return Map(places=tuple(places))
    ends = np.concatenate(lines)
    within = np.ones(len(ends) - 1, bool)  # not from the end of a line to the start of the next
    within[np.cumsum(lengths)[:-1] - 1] = False
    solid = np.repeat(solids, lengths)[:-1][within]
    return Map(np.hstack([ends[:-1], ends[1:]])[within], solid, tuple(places))


def _oriented(ring: Array, clockwise: bool) -> Array:
    x, y = (ring - ring[0]).T
    area = float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    return ring[::-1] if (area < 0.0) != clockwise else ring


def _find_arena(parts: list[GeoJsonPart]) -> GeoJsonPart | None:
    """The polygon with holes that encloses all other parts; None if there is none."""
    with_holes = [p for p in parts if p.closed and p.solid is None and len(p.rings) > 1]
    if not with_holes:
        return None
    widest = max(with_holes, key=lambda p: float(np.prod(np.ptp(p.rings[0], axis=0))))
    rings = [p.rings[0] for p in parts if p is not widest]
    if not rings:
        return widest
    outer = widest.rings[0]
    low = np.array([ring.min(axis=0) for ring in rings]).min(axis=0)
    high = np.array([ring.max(axis=0) for ring in rings]).max(axis=0)
    if (low < outer.min(axis=0)).any() or (high > outer.max(axis=0)).any():
        return None
    # The first point may lie on the outer ring, where rounding decides between inside and outside.
    first = _inside(np.array([ring[0] for ring in rings]), outer)
    middle = _inside(np.array([ring.mean(axis=0) for ring in rings]), outer)
    return widest if bool((first | middle).all()) else None


def _inside(points: Array, ring: Array) -> Array:
    """Whether a ring encloses each point: the number of edges to its right is odd."""
    inside = np.zeros(len(points), bool)
    x, y = points.T
    for (ax, ay), (bx, by) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        if ay != by:
            inside ^= ((ay > y) != (by > y)) & (x < ax + (y - ay) * (bx - ax) / (by - ay))
    return inside


def geojson_text(map: Map) -> str:
    """A map as GeoJSON, exactly, a feature per line."""
    features = [*_obstacle_features(map), *(_place_feature(place) for place in map.places)]
    lines = ",\n".join(json.dumps(f, ensure_ascii=False, allow_nan=False) for f in features)
    head = json.dumps({"type": "FeatureCollection", "name": map.name}, ensure_ascii=False)[:-1]
    return f'{head}, "features": [\n{lines}\n]}}\n'


def geojson_files(map: Map, file: FilePath, resolution: float) -> dict[FilePath, bytes]:
    """The file of a map in GeoJSON."""
    return {file: geojson_text(map).encode()}


def _feature(coordinates: Any, kind: str, properties: dict[str, Any]) -> dict[str, Any]:
    geometry = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def _obstacle_features(map: Map) -> Iterator[dict[str, Any]]:
    """Blocks with their holes, then other lines that bound a solid, then walls."""
    lines = map_polylines(map)
    blocks = assign_holes([c for c in lines if c.solid and c.closed and len(c.points) > 2])
    written: set[int] = set()
    for ring, holes in blocks:
        written.update(id(line) for line in (ring, *holes))
        yield _feature([_closed(r) for r in (ring, *holes)], "Polygon", {"solid": True})
    for line in lines:
        if id(line) not in written:
            points = _closed(line) if line.closed else line.points.tolist()
            yield _feature(points, "LineString", {"solid": True} if line.solid else {})


def _closed(ring: Polyline) -> list[list[float]]:
    points: list[list[float]] = np.vstack([ring.points, ring.points[:1]]).tolist()
    return points


def _place_feature(place: Place) -> dict[str, Any]:
    properties: dict[str, Any] = {"kind": place.kind, "name": place.name, "yaw": place.yaw}
    if not place.points:
        return _feature([place.x, place.y], "Point", properties)
    properties |= {"x": place.x, "y": place.y, "obstacle": False}
    points = [list(point) for point in place.points]
    if len(points) < 3:
        return _feature(points, "LineString", properties)
    return _feature([[*points, points[0]]], "Polygon", properties)
