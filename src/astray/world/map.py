"""A map: obstacles as line segments, and named places; and a map as plain data.

A segment is a wall without thickness that is hit from both sides. Where it bounds a solid, the
solid lies on its left: the ring of a block runs counter-clockwise, the ring of a hole in it
clockwise. So a point lies inside a solid where the winding number of the rings is not 0.

As plain data a map keeps every bit and the order of its segments: so it goes into saved runs,
recordings and logged events. GeoJSON and the other formats are in `maps/formats`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from astray.errors import MapError, WrongInput
from astray.tables import Array, read_only
from astray.world.georeference import Georeference

MIN_LENGTH = 1e-140  # m; the square of a shorter segment is 0
MAX_SEGMENTS = 5_000_000
MAX_PIXELS = 100_000_000
MAX_COORDINATE = 1e7  # m; beyond it a float64 cannot resolve nanometres
DATA_KEYS = ("name", "places", "segments", "solid", "georeference")
JSON_MAGIC = b'{"segments"'  # the first bytes of a file from `map_to_json`


@dataclass(frozen=True)
class Place:
    """A named pose, line or area of a map that is no obstacle: a home, a goal, a forbidden area."""

    kind: str
    """home, dock, goal, forbidden_line, forbidden_area; or what the file calls it."""
    name: str = ""
    x: float = 0.0  # m
    y: float = 0.0  # m
    yaw: float = 0.0  # rad
    points: tuple[tuple[float, float], ...] = ()
    """The ends of a line or the corners of an area, m."""


@dataclass(frozen=True, eq=False)
class Map:
    """The obstacles and the places of a world.

    Raises:
        WrongInput: `solid` is not as long as `segments`, or a coordinate is not finite or is
            beyond `MAX_COORDINATE`.
    """

    segments: Array = field(default_factory=lambda: np.zeros((0, 4)))
    """x and y of the first end, x and y of the second, (n, 4) m. Segments without length are
    left out."""
    solid: Array = field(default_factory=lambda: np.zeros(0, bool))
    """Whether a segment bounds a solid, which then lies on its left, (n,)."""
    places: tuple[Place, ...] = ()
    name: str = ""
    georeference: Georeference | None = None
    """Where on Earth it is, if that is known."""

    def __post_init__(self) -> None:
        segments = np.ascontiguousarray(self.segments, np.float64).reshape(-1, 4)
        solid = np.ascontiguousarray(self.solid, bool)
        if len(solid) != len(segments):
            raise WrongInput(f"{len(segments)} segments need as many values of solid")
        if not np.all(np.abs(segments) < MAX_COORDINATE):
            raise WrongInput(f"coordinates must be finite and within {MAX_COORDINATE:g} m")
        extent = np.abs(segments[:, :2] - segments[:, 2:]).max(axis=1, initial=0.0)
        object.__setattr__(self, "segments", read_only(segments[extent > MIN_LENGTH]))
        object.__setattr__(self, "solid", read_only(solid[extent > MIN_LENGTH]))

    def __len__(self) -> int:
        return len(self.segments)

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Smallest x and y, largest x and y, m; zeros for an empty map."""
        if not len(self.segments):
            return 0.0, 0.0, 0.0, 0.0
        ends = self.segments.reshape(-1, 2)
        low, high = ends.min(axis=0), ends.max(axis=0)
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])

    def digest(self) -> str:
        """A hash of the obstacles: equal for maps with equal segments in the same order."""
        hashed = hashlib.blake2b(self.segments.tobytes(), digest_size=8)
        hashed.update(self.solid.tobytes())
        return hashed.hexdigest()


def wall(points: Sequence[Sequence[float]] | Array, closed: bool = False) -> Map:
    """A polyline of walls without thickness; nothing is solid.

    Args:
        points: The vertices, (n, 2) m.
        closed: Whether a last segment leads back to the first vertex.

    Returns:
        The map of the walls.
    """
    ends = np.asarray(points, np.float64).reshape(-1, 2)
    if closed and len(ends):
        ends = np.vstack([ends, ends[:1]])
    segments = np.hstack([ends[:-1], ends[1:]])
    return Map(segments, np.zeros(len(segments), bool))


def block(points: Sequence[Sequence[float]] | Array, hole: bool = False) -> Map:
    """A solid polygon.

    Args:
        points: The vertices in either orientation, (n, 2) m; the first may be repeated at the end.
        hole: Whether the polygon is a hole: the solid lies outside of it.

    Returns:
        The map of the polygon.
    """
    ring = np.asarray(points, np.float64).reshape(-1, 2)
    x, y = ring[:, 0] - ring[0, 0], ring[:, 1] - ring[0, 1]
    area = 0.5 * float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    if (area < 0.0) != hole:
        ring = ring[::-1]
    segments = wall(ring, closed=True).segments
    return Map(segments, np.ones(len(segments), bool))


def boxes(rows: Array | Sequence[Sequence[float]]) -> Map:
    """Solid boxes, one per row of centre x, centre y, length, width and yaw, (n, 5) m and rad."""
    x, y, length, width, yaw = np.asarray(rows, np.float64).reshape(-1, 5).T[:, :, None]
    u = 0.5 * length * np.array([-1.0, 1.0, 1.0, -1.0])
    v = 0.5 * width * np.array([-1.0, -1.0, 1.0, 1.0])
    s, c = np.sin(yaw), np.cos(yaw)
    px, py = x + c * u - s * v, y + s * u + c * v
    ends = np.stack([px, py, np.roll(px, -1, axis=1), np.roll(py, -1, axis=1)], axis=-1)
    return Map(ends.reshape(-1, 4), np.ones(ends.size // 4, bool))


def merge(maps: Sequence[Map], name: str = "") -> Map:
    """The obstacles and places of several maps as one map.

    Args:
        maps: The maps, in the order that their segments keep.
        name: The name of the result; that of the first map if empty.

    Returns:
        The merged map.
    """
    if not maps:
        return Map(name=name)
    return Map(
        np.vstack([m.segments for m in maps]),
        np.concatenate([m.solid for m in maps]),
        tuple(place for m in maps for place in m.places),
        name or maps[0].name,
    )


def map_to_dict(map: Map) -> dict[str, Any]:
    """A map as plain data: its labels, segments, and `solid`, the indices of solid segments."""
    segments, solid = map.segments.tolist(), np.flatnonzero(map.solid).tolist()
    return {**map_labels(map), "segments": segments, "solid": solid}


def map_from_dict(data: Mapping[str, Any]) -> Map:
    """The map that `map_to_dict` described."""
    segments = np.asarray(data["segments"], float).reshape(-1, 4)
    solid = np.zeros(len(segments), bool)
    solid[np.asarray(data.get("solid", ()), np.int64)] = True
    return map_with_labels(segments, solid, data)


def is_map_dict(spec: object) -> bool:
    """Whether a map description lists segments; of a generator, `segments` is their number."""
    return isinstance(spec, Mapping) and isinstance(spec.get("segments"), (list, tuple, np.ndarray))


def map_dict_fault(data: Mapping[str, Any]) -> str:
    """Why `map_from_dict` would fail; empty if it would not."""
    unknown = set(data) - set(DATA_KEYS)
    if unknown:
        return f"unknown value {min(unknown)!r} ({', '.join(DATA_KEYS)})"
    try:
        map_from_dict(data)
    except (WrongInput, ValueError, TypeError, IndexError, OverflowError) as problem:
        return f"not a map: {problem}"
    return ""


def map_to_json(data: Mapping[str, Any]) -> bytes:
    """The bytes of a file with a map from `map_to_dict`, bit for bit."""
    return json.dumps({"segments": data["segments"], **data}).encode() + b"\n"


def map_from_json(data: bytes, file: str) -> Map:
    """Read the bytes from `map_to_json`; `file` is the name for MapError."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise MapError(f"{file}: not JSON: {problem}") from None
    if fault := map_dict_fault(found):
        raise MapError(f"{file}: {fault}")
    return map_from_dict(found)


def map_labels(map: Map) -> dict[str, Any]:
    """The name, the places and the georeference of a map as plain data."""
    labels: dict[str, Any] = {"name": map.name, "places": [asdict(place) for place in map.places]}
    if map.georeference is not None:
        labels["georeference"] = asdict(map.georeference)
    return labels


def map_with_labels(segments: Array, solid: Array, labels: Mapping[str, Any]) -> Map:
    """A map with the labels from `map_labels`; older files have no places, or no labels at all."""
    places = tuple(_place(**place) for place in labels.get("places", ()))
    point = labels.get("georeference")
    georeference = None if point is None else Georeference(**point)
    return Map(segments, solid, places, str(labels.get("name", "")), georeference)


def _place(points: Any = (), **rest: Any) -> Place:
    return Place(**rest, points=tuple((float(x), float(y)) for x, y in points))
