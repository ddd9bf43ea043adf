"""What people want to know of a map: how large, how many walls, whether it is closed."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np

from astray.tables import Array
from astray.world.geometry import cells_crossed
from astray.world.map import Map

TOUCH = 1e-6  # m: ends that are closer meet
MOST_LISTED = 20  # places


def describe_map(found: Map) -> dict[str, Any]:
    """A map in figures, as plain data; lengths in m."""
    along = found.segments[:, 2:] - found.segments[:, :2]
    west, south, east, north = found.bounds
    x1, y1, x2, y2 = (found.segments[found.solid] - np.tile([west, south], 2)).T
    return {
        "name": found.name,
        "bounds": [west, south, east, north],
        "size": [east - west, north - south],
        "segments": len(found),
        "solid": int(found.solid.sum()),
        "length": float(np.sqrt((along * along).sum(axis=1)).sum()),
        "solid_area": 0.5 * float(np.sum(x1 * y2 - x2 * y1)),
        "loose_ends": len(loose_ends(found)),
        "places": [_place(asdict(place)) for place in found.places],
    }


def _place(place: dict[str, Any]) -> dict[str, Any]:
    points = [list(point) for point in place.pop("points")]
    return {**place, "points": points} if points else place


def loose_ends(found: Map) -> Array:
    """Ends of segments that meet neither another end nor a wall in between, (n, 2) m."""
    ends = found.segments.reshape(-1, 2)
    if not len(ends):
        return ends
    low = ends.min(axis=0)
    keys = np.rint((ends - low) / TOUCH).astype(np.int64)
    _, inverse, count = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    alone = np.flatnonzero(count[inverse.reshape(-1)] == 1)
    return ends[alone[~_touching(found.segments, alone)]]


def _touching(segments: Array, alone: Array) -> Array:
    """Which of some ends (of segment k // 2) lie on another segment."""
    touching = np.zeros(len(alone), bool)
    if not len(alone):
        return touching
    low = segments.reshape(-1, 2).min(axis=0)
    size = _bin_size(segments)
    whose, cells = cells_crossed((segments - np.tile(low, 2)) / size)
    points = segments.reshape(-1, 2)[alone]
    rows = int(cells[:, 1].max()) + 3
    keys = cells[:, 0] * rows + cells[:, 1]
    order = np.argsort(keys)
    keys, whose = keys[order], whose[order]
    home = (points - low) / size
    # A point near the border of a bin may lie on a segment that is in the next one only.
    for step in ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)):
        at = np.floor(home + 1e-3 * np.array(step)).astype(np.int64)
        key = at[:, 0] * rows + at[:, 1]
        first, last = np.searchsorted(keys, key), np.searchsorted(keys, key, "right")
        which = np.repeat(np.arange(len(alone)), last - first)
        k = np.arange(len(which)) - np.repeat(
            np.cumsum(last - first) - (last - first), last - first
        )
        near = whose[first[which] + k]
        on = _distance(points[which], segments[near]) <= TOUCH
        on &= near != alone[which] // 2
        touching[which[on]] = True
    return touching


def _bin_size(segments: Array) -> float:
    """About as long as a usual segment, and not so small that bins take all memory."""
    along = np.abs(segments[:, 2:] - segments[:, :2]).sum(axis=1)
    return float(max(np.median(along), along.sum() / 4e6, 1e-3))


def _distance(points: Array, segments: Array) -> Array:
    a, along = segments[:, :2], segments[:, 2:] - segments[:, :2]
    t = np.clip(((points - a) * along).sum(axis=1) / (along * along).sum(axis=1), 0.0, 1.0)
    off = points - a - t[:, None] * along
    return np.sqrt((off * off).sum(axis=1))  # type: ignore[no-any-return]


def format_description(facts: dict[str, Any]) -> list[str]:
    """The same in words, a fact per line."""
    west, south, east, north = facts["bounds"]
    width, height = facts["size"]
    loose = facts["loose_ends"]
    lines = [
        f"{facts['name']}: {facts['format']}" if "format" in facts else str(facts["name"]),
        f"size      {width:g} x {height:g} m: x {west:g} to {east:g}, y {south:g} to {north:g}",
        f"segments  {facts['segments']}, {facts['solid']} of them bound something solid",
        f"length    {facts['length']:.6g} m of walls, {facts['solid_area']:.6g} m² solid",
        f"ends      {f'{loose} loose' if loose else 'none is loose: every wall meets another'}",
    ]
    return lines + _places_in_lines(facts["places"])


def _places_in_lines(places: list[dict[str, Any]]) -> list[str]:
    if not places:
        return ["places    none"]
    if len(places) > MOST_LISTED:
        counts = Counter(place["kind"] for place in places)
        return ["places    " + ", ".join(f"{n} {kind}" for kind, n in counts.items())]
    lines = []
    for place in places:
        what = f"{place['kind']} {place['name']!r}" if place["name"] else place["kind"]
        at = f"at {place['x']:g}, {place['y']:g}, yaw {place['yaw']:g}"
        around = f", {len(place['points'])} corners" if place.get("points") else ""
        lines.append(f"          {what} {at}{around}")
    lines[0] = "places" + lines[0][6:]
    return lines
