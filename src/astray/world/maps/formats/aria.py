"""ARIA's maps (.map): text in millimetres and degrees, as MobileSim and Mapper have them.

A head of `Key: values`, then sections: LINES with the ends of walls, DATA with points that a laser
saw. A point is a solid square as wide as the map's Resolution; squares that touch on one lattice
become one solid. Other sources' sections, such as Sick_LINES, count the same. Counts and bounds in
the head are not trusted.

Cairns are places: RobotHome is home, Dock dock, Goal and GoalWithHeading goal, ForbiddenLine and
ForbiddenArea what they say, any other keeps its name. The corners of an area are turned by its
heading about the origin of the map. Boxes of Sim.BoxObstacle are solid, and so are areas of types
that MapInfo declares with Sim.Obstacle=yes; a boundary of such a type is a wall.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from astray.errors import MapError
from astray.tables import Array
from astray.world.geometry import trace_cell_contours
from astray.world.map import FARTHEST, Map, Place, block, boxes, merge

MAGIC = "2D-Map"
SECTION = re.compile(r"(\w*?)_?(LINES|DATA)\Z")
WORD = re.compile(r'"([^"]*)"|(\S+)')
RESOLUTION = 20.0  # mm
MOST_LATTICES = 1000  # points on more than these are not on lattices at all
KINDS = {
    "RobotHome": "home",
    "Dock": "dock",
    "Goal": "goal",
    "GoalWithHeading": "goal",
    "ForbiddenLine": "forbidden_line",
    "ForbiddenArea": "forbidden_area",
}
TYPES = {
    "home": "RobotHome",
    "dock": "Dock",
    "goal": "GoalWithHeading",
    "forbidden_line": "ForbiddenLine",
    "forbidden_area": "ForbiddenArea",
}
BOX = "Sim.BoxObstacle"


@dataclass
class _File:
    """What a file says, before it is put together."""

    name: str
    keys: dict[str, str] = field(default_factory=dict)
    sections: list[tuple[str, str, list[int], list[str]]] = field(default_factory=list)
    cairns: list[tuple[int, list[str]]] = field(default_factory=list)
    lines: set[str] = field(default_factory=lambda: {"ForbiddenLine"})
    obstacles: set[str] = field(default_factory=lambda: {BOX})

    def wrong(self, line: int, message: str) -> MapError:
        return MapError(f"{self.name}:{line}: {message}")


def read_aria(data: bytes, file: str) -> Map:
    """Read the bytes of an ARIA map; `file` is what errors call it."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # as older tools wrote names
    found = _File(file)
    _scan(text.replace("\r", "\n" if "\n" not in text else "").split("\n"), found)
    parts = [_section(*section, found) for section in found.sections]
    places = []
    for line, words in found.cairns:
        place = _cairn(line, words, found)
        if words[0] not in found.obstacles or not place.points:
            places.append(place)
        elif words[0] in found.lines:
            ends = [coordinate for point in place.points for coordinate in point]
            parts.append(Map(np.array([ends]), np.zeros(1, bool)))
        else:
            parts.append(block(place.points))
    made = merge(parts)
    return Map(made.segments, made.solid, tuple(places))


def _scan(lines: Sequence[str], found: _File) -> None:
    """Sort the lines of a file into head, cairns and sections."""
    if not lines[0].strip().startswith(MAGIC):
        raise found.wrong(1, f"an ARIA map begins with {MAGIC}")
    numbers: list[int] | None = None
    rows: list[str] = []
    for k, line in enumerate(lines[1:], 2):
        if numbers is not None and line[:1] in "-0123456789" and line:
            numbers.append(k)
            rows.append(line)
        elif section := SECTION.match(line.strip()):
            numbers, rows = [], []
            found.sections.append((section[1], section[2], numbers, rows))
        elif ":" in line:
            _take_key(k, line, found)
        elif line.strip():
            if numbers is None or line.strip()[0] not in "-+.0123456789":
                raise found.wrong(k, f"neither a key, a section nor numbers: {line.strip()[:30]!r}")
            numbers.append(k)
            rows.append(line)


def _take_key(line: int, text: str, found: _File) -> None:
    key, _, value = text.partition(":")
    key = key.strip()
    words = [quoted or plain for quoted, plain in WORD.findall(value)]
    if key == "Cairn":
        found.cairns.append((line, words))
    elif key == "MapInfo" and words:
        settings = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        name = settings.get("Name", "")
        if words[0] == "BoundaryType":
            found.lines.add(name)
        if settings.get("Sim.Obstacle", "").lower() in ("yes", "true", "1"):
            found.obstacles.add(name)
    else:
        found.keys.setdefault(key, value.strip())


def _section(source: str, kind: str, numbers: list[int], rows: list[str], found: _File) -> Map:
    width = 4 if kind == "LINES" else 2
    values = _numbers(numbers, rows, width, found)
    if kind == "LINES":
        return Map(0.001 * values, np.zeros(len(values), bool))
    written = found.keys.get(f"{source}Resolution", found.keys.get("Resolution", ""))
    try:
        resolution = float(written or RESOLUTION)
    except ValueError:
        resolution = math.nan
    if not 0.0 < resolution <= 1e6:
        raise MapError(f"{found.name}: Resolution: {written!r} is no size in mm")
    return _squares(values, resolution)


def _numbers(numbers: list[int], rows: list[str], width: int, found: _File) -> Array:
    """The numbers of a section, (n, width) mm."""
    words = [row.split() for row in rows]
    try:
        values = np.array(words, np.float64).reshape(-1, width)
        right = len(values) == len(words) and bool(np.all(np.abs(values) < 1e3 * FARTHEST))
    except ValueError:
        right = False
    if right:
        return values
    for line, row in zip(numbers, words, strict=True):
        if len(row) != width or not all(map(_is_number, row)):
            raise found.wrong(line, f"{width} numbers are needed, not {' '.join(row)[:40]!r}")
    raise MapError(f"{found.name}: no numbers")


def _is_number(word: str) -> bool:
    try:
        return abs(float(word)) < 1e3 * FARTHEST
    except ValueError:
        return False


def _squares(points: Array, size: float) -> Map:
    """Points as squares about them, merged where they share a lattice."""
    if not len(points):
        return Map()
    cells = np.floor(points / size)
    offsets, group = np.unique(np.round(points - cells * size, 6), axis=0, return_inverse=True)
    if len(offsets) > MOST_LATTICES:
        sizes = np.full((len(points), 2), 0.001 * size)
        return boxes(np.hstack([0.001 * points, sizes, np.zeros((len(points), 1))]))
    group = group.reshape(-1)
    order = np.argsort(group, kind="stable")
    parts = []
    for offset, chosen in zip(
        offsets,
        np.split(order, np.searchsorted(group[order], np.arange(1, len(offsets)))),
        strict=True,
    ):
        lines = trace_cell_contours(cells[chosen].astype(np.int64)) * size
        parts.append(0.001 * (lines + np.tile(offset - 0.5 * size, 2)))
    segments = np.vstack(parts)
    return Map(segments, np.ones(len(segments), bool))


def _cairn(line: int, words: list[str], found: _File) -> Place:
    if len(words) < 4 or not all(map(_is_number, words[1:4])):
        raise found.wrong(line, "a cairn is: type x y heading and so on")
    x, y, heading_deg = (float(word) for word in words[1:4])
    name = words[6] if len(words) > 6 else ""
    corners = words[7:11]
    points: tuple[tuple[float, float], ...] = ()
    if len(corners) == 4 and all(map(_is_number, corners)):
        x1, y1, x2, y2 = (0.001 * float(word) for word in corners)
        if words[0] in found.lines:
            points = ((x1, y1), (x2, y2))
        else:
            points = _turned(((x1, y1), (x2, y1), (x2, y2), (x1, y2)), math.radians(heading_deg))
    yaw = math.remainder(math.radians(heading_deg), 2.0 * math.pi)
    return Place(KINDS.get(words[0], words[0]), name, 0.001 * x, 0.001 * y, yaw, points)


def _turned(points: Sequence[tuple[float, float]], angle: float) -> tuple[tuple[float, float], ...]:
    s, c = math.sin(angle), math.cos(angle)
    return tuple((x * c - y * s, x * s + y * c) for x, y in points)


def aria_text(found: Map) -> str:
    """A map in ARIA's format: every segment a line, in whole millimetres."""
    lines_mm = np.rint(found.segments * 1000.0).astype(np.int64)
    lines_mm = lines_mm[(lines_mm[:, :2] != lines_mm[:, 2:]).any(axis=1)]
    ends = lines_mm.reshape(-1, 2)
    low, high = (ends.min(axis=0), ends.max(axis=0)) if len(ends) else ((0, 0), (0, 0))
    head = [
        MAGIC,
        f"LineMinPos: {low[0]} {low[1]}",
        f"LineMaxPos: {high[0]} {high[1]}",
        f"NumLines: {len(lines_mm)}",
        "NumPoints: 0",
        f"Resolution: {RESOLUTION:.0f}",
    ]
    shaped = {p.kind: len(p.points) == 2 for p in found.places if p.points and p.kind not in TYPES}
    for kind, is_line in shaped.items():
        head.append(f'MapInfo: {"Boundary" if is_line else "Sector"}Type "Name={_plain(kind)}"')
    head += [_cairn_line(place) for place in found.places]
    rows = [f"{a} {b} {c} {d}" for a, b, c, d in lines_mm.tolist()]
    return "\n".join([*head, "LINES", *rows, "DATA", ""])


def _plain(text: str) -> str:
    """A text that quotes can hold."""
    return " ".join(text.replace('"', "'").split("\n")).replace("\r", " ")


def _cairn_line(place: Place) -> str:
    kind = TYPES.get(place.kind, place.kind)
    if place.kind == "goal" and place.yaw == 0.0:
        kind = "Goal"
    if re.search(r"\s", kind) or not kind:
        kind = f'"{_plain(kind)}"'
    x, y = round(1000.0 * place.x), round(1000.0 * place.y)
    heading_deg = f"{math.degrees(place.yaw):.6f}"
    line = f'Cairn: {kind} {x} {y} {heading_deg} "" ICON "{_plain(place.name)}"'
    if not place.points:
        return line
    points = place.points
    if len(points) != 2:
        angle = math.radians(float(heading_deg))
        turned = np.array(_turned(points, -angle))
        points = (tuple(turned.min(axis=0)), tuple(turned.max(axis=0)))
    corners = " ".join(f"{round(1000.0 * c)}" for point in points for c in point)
    return f"{line} {corners}"
