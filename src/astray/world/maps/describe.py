"""The figures of a map: its size, its walls, whether it is closed; as data and as text."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np

from astray.tables import Array
from astray.world.geometry import cells_crossed
from astray.world.map import Map

TOUCHING = 1e-6  # m: ends that are closer count as joined
MAX_LISTED = 20  # places; more are only counted


def describe_map(map: Map) -> dict[str, Any]:
    """The figures of a map.

    Args:
        map: The map.

    Returns:
        Plain data: name, bounds and size in m, the number of segments and of solid ones, the
        length of all walls in m, the solid area in m², the number of loose ends, the places, and
        of a map with a georeference the latitude and longitude of its origin in degrees.
    """
    vectors = map.segments[:, 2:] - map.segments[:, :2]
    west, south, east, north = map.bounds
    x1, y1, x2, y2 = (map.segments[map.solid] - np.tile([west, south], 2)).T
    figures = {
        "name": map.name,
        "bounds": [west, south, east, north],
        "size": [east - west, north - south],
        "segments": len(map),
        "solid": int(map.solid.sum()),
        "length": float(np.sqrt((vectors * vectors).sum(axis=1)).sum()),
        "solid_area": 0.5 * float(np.sum(x1 * y2 - x2 * y1)),
        "loose_ends": len(loose_ends(map)),
        "places": [_place(asdict(place)) for place in map.places],
    }
    if map.georeference is not None:
        figures["origin"] = list(map.georeference.locate(0.0, 0.0))
    return figures


def _place(place: dict[str, Any]) -> dict[str, Any]:
    points = [list(point) for point in place.pop("points")]
    return {**place, "points": points} if points else place


def loose_ends(map: Map) -> Array:
    """The ends of segments that touch neither another end nor another segment, (n, 2) m."""
    ends = map.segments.reshape(-1, 2)
    if not len(ends):
        return ends
    low = ends.min(axis=0)
    keys = np.rint((ends - low) / TOUCHING).astype(np.int64)
    _, inverse, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    single = np.flatnonzero(count[inverse.reshape(-1)] == 1)
    return ends[single[~_on_other_segment(map.segments, single)]]


def _on_other_segment(segments: Array, ends: Array) -> Array:
    """Whether each end (end k belongs to segment k // 2) lies on another segment, (n,)."""
    touching = np.zeros(len(ends), bool)
    if not len(ends):
        return touching
    low = segments.reshape(-1, 2).min(axis=0)
    size = _cell_size(segments)
    crossing, cells = cells_crossed((segments - np.tile(low, 2)) / size)
    points = segments.reshape(-1, 2)[ends]
    rows = int(cells[:, 1].max()) + 3
    keys = cells[:, 0] * rows + cells[:, 1]
    order = np.argsort(keys)
    keys, crossing = keys[order], crossing[order]
    position = (points - low) / size
    # A point near the border of a cell may lie on a segment that crosses the next cell only.
    for step in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)):
        cell = np.floor(position + 1e-3 * np.array(step)).astype(np.int64)
        key = cell[:, 0] * rows + cell[:, 1]
        first, last = np.searchsorted(keys, key), np.searchsorted(keys, key, "right")
        count = last - first
        point = np.repeat(np.arange(len(ends)), count)
        offset = np.arange(len(point)) - np.repeat(np.cumsum(count) - count, count)
        near = crossing[first[point] + offset]
        on = _distance(points[point], segments[near]) <= TOUCHING
        on &= near != ends[point] // 2
        touching[point[on]] = True
    return touching


def _cell_size(segments: Array) -> float:
    """The median length of a segment, but large enough that the cells fit into memory, m."""
    lengths = np.abs(segments[:, 2:] - segments[:, :2]).sum(axis=1)
    return float(max(np.median(lengths), lengths.sum() / 4e6, 1e-3))


def _distance(points: Array, segments: Array) -> Array:
    """The distance of each point from the segment of the same row, (n,) m."""
    a, vectors = segments[:, :2], segments[:, 2:] - segments[:, :2]
    t = np.clip(((points - a) * vectors).sum(axis=1) / (vectors * vectors).sum(axis=1), 0.0, 1.0)
    off = points - a - t[:, None] * vectors
    return np.sqrt((off * off).sum(axis=1))  # type: ignore[no-any-return]


def format_description(figures: dict[str, Any]) -> list[str]:
    """The figures from `describe_map` as lines of text."""
    west, south, east, north = figures["bounds"]
    width, height = figures["size"]
    loose = figures["loose_ends"]
    ends = f"{loose} loose" if loose else "none is loose: every wall meets another"
    name = figures["name"]
    lines = [
        f"{name}: {figures['format']}" if "format" in figures else str(name),
        f"size      {width:g} x {height:g} m: x {west:g} to {east:g}, y {south:g} to {north:g}",
        f"segments  {figures['segments']}, {figures['solid']} of them bound something solid",
        f"length    {figures['length']:.6g} m of walls, {figures['solid_area']:.6g} m² solid",
        f"ends      {ends if figures['segments'] else 'none: the map has no walls'}",
    ]
    if "origin" in figures:
        latitude, longitude = figures["origin"]
        lines.append(f"origin    at latitude {latitude:.7g}°, longitude {longitude:.7g}°")
    return lines + _format_places(figures["places"])


def _format_places(places: list[dict[str, Any]]) -> list[str]:
    if not places:
        return ["places    none"]
    if len(places) > MAX_LISTED:
        counts = Counter(place["kind"] for place in places)
        return ["places    " + ", ".join(f"{n} {kind}" for kind, n in counts.items())]
    lines = []
    for place in places:
        what = f"{place['kind']} {place['name']!r}" if place["name"] else place["kind"]
        pose = f"at {place['x']:g}, {place['y']:g}, yaw {place['yaw']:g}"
        corners = f", {len(place['points'])} corners" if place.get("points") else ""
        lines.append(f"          {what} {pose}{corners}")
    lines[0] = "places" + lines[0][6:]
    return lines
