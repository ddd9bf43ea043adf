"""Maps as files; the suffix says which format.

.geojson .json    GeoJSON: everything, exactly
.map              ARIA's map: lines in whole millimetres; what is solid is not kept
.yaml .yml        a map of ROS's map_server: an image beside it, of cells; places are kept
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from astray.errors import MapError
from astray.files import atomic_write
from astray.world.geometry import Polyline, assign_holes, map_polylines
from astray.world.map import Map, Place

SUFFIXES = (".geojson", ".json", ".map", ".yaml", ".yml")
RESOLUTION = 0.05  # m per pixel


def write_map(found: Map, file: str | os.PathLike[str], resolution: float = RESOLUTION) -> None:
    """Write a map in the format of the suffix; `resolution` m per pixel counts for .yaml only."""
    goal = Path(file)
    suffix = goal.suffix.lower()
    if suffix in (".geojson", ".json"):
        _put(goal, geojson_text(found).encode())
    elif suffix == ".map":
        from astray.world.maps.formats import aria_text

        _put(goal, aria_text(found).encode())
    elif suffix in (".yaml", ".yml"):
        from astray.world.maps.formats import map_server_files

        picture = goal.with_suffix(".pgm")
        try:
            text, pixels = map_server_files(found, picture.name, resolution)
        except MapError as problem:
            raise MapError(f"{goal}: {problem}") from None
        _put(picture, pixels)
        _put(goal, text.encode())
    else:
        raise MapError(f"{goal}: no format for {suffix!r} ({', '.join(SUFFIXES)})")


def _put(goal: Path, data: bytes) -> None:
    """Write a file, all of it or nothing."""
    with atomic_write(goal, MapError) as stream:
        stream.write(data)


def geojson_text(found: Map) -> str:
    """A map as GeoJSON, a feature per line."""
    features = [_feature(geometry, kind, p) for geometry, kind, p in _obstacles(found)]
    features += [_place(place) for place in found.places]
    lines = ",\n".join(json.dumps(f, ensure_ascii=False, allow_nan=False) for f in features)
    head = json.dumps({"type": "FeatureCollection", "name": found.name}, ensure_ascii=False)[:-1]
    return f'{head}, "features": [\n{lines}\n]}}\n'


def _feature(coordinates: Any, kind: str, properties: dict[str, Any]) -> dict[str, Any]:
    geometry = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def _obstacles(found: Map) -> list[tuple[Any, str, dict[str, Any]]]:
    """Blocks with their holes, then whatever bounds a solid without being a block, then walls."""
    lines = map_polylines(found)
    blocks = assign_holes([c for c in lines if c.solid and c.closed and len(c.points) > 2])
    made: list[tuple[Any, str, dict[str, Any]]] = []
    used: set[int] = set()
    for ring, holes in blocks:
        used.update(map(id, (ring, *holes)))
        made.append(([_closed(r) for r in (ring, *holes)], "Polygon", {"solid": True}))
    for line in lines:
        if id(line) not in used:
            points = _closed(line) if line.closed else line.points.tolist()
            made.append((points, "LineString", {"solid": True} if line.solid else {}))
    return made


def _closed(ring: Polyline) -> list[list[float]]:
    points: list[list[float]] = np.vstack([ring.points, ring.points[:1]]).tolist()
    return points


def _place(place: Place) -> dict[str, Any]:
    properties: dict[str, Any] = {"kind": place.kind, "name": place.name, "yaw": place.yaw}
    if not place.points:
        return _feature([place.x, place.y], "Point", properties)
    properties |= {"x": place.x, "y": place.y, "obstacle": False}
    points = [list(point) for point in place.points]
    if len(points) < 3:
        return _feature(points, "LineString", properties)
    return _feature([[*points, points[0]]], "Polygon", properties)
