"""ARIA's maps (.map): text in millimetres and degrees, as MobileSim and Mapper read and write them.

A header of `Key: values`, then sections: LINES with the ends of walls, DATA with points that a
laser measured. A point becomes a solid square as wide as the map's Resolution; squares that touch
on one lattice become one solid. Sections of a source, such as Sick_LINES, count the same. Counts
and bounds in the header are ignored.

Cairns become places: RobotHome home, Dock dock, Goal and GoalWithHeading goal, ForbiddenLine and
ForbiddenArea forbidden_line and forbidden_area; any other keeps its type's name. The corners of an
area are rotated by its heading about the origin of the map. A Sim.BoxObstacle is a solid box, and
so are areas of a type that MapInfo declares with Sim.Obstacle=yes; a boundary of such a type is a
wall. OriginLatLongAlt, in degrees and metres, is the georeference of the origin, with east along x.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from astray.errors import MapError, WrongInput
from astray.tables import Array
from astray.world.geometry import trace_cell_contours
from astray.world.georeference import Georeference
from astray.world.map import MAX_COORDINATE, Map, Place, block, boxes, merge

MAGIC = "2D-Map"
SECTION = re.compile(r"(\w*?)_?(LINES|DATA)\Z")
WORD = re.compile(r'"([^"]*)"|(\S+)')
RESOLUTION_MM = 20.0
MAX_LATTICES = 1000  # points on more lattices than this lie on no lattice at all
PLACE_KINDS = {
    "RobotHome": "home",
    "Dock": "dock",
    "Goal": "goal",
    "GoalWithHeading": "goal",
    "ForbiddenLine": "forbidden_line",
    "ForbiddenArea": "forbidden_area",
}
CAIRN_TYPES = {
    "home": "RobotHome",
    "dock": "Dock",
    "goal": "GoalWithHeading",
    "forbidden_line": "ForbiddenLine",
    "forbidden_area": "ForbiddenArea",
}
BOX_OBSTACLE = "Sim.BoxObstacle"
GEOREFERENCE = "OriginLatLongAlt"


@dataclass
class _Section:
    """The numbers of a LINES or DATA section."""

    source: str
    """What stands before the underscore: Sick of Sick_DATA; usually empty."""
    kind: str
    rows: list[tuple[int, str]] = field(default_factory=list)
    """Line numbers and lines."""


@dataclass
class _AriaFile:
    """The lines of a file, sorted into header, cairns and sections."""

    name: str
    keys: dict[str, str] = field(default_factory=dict)
    sections: list[_Section] = field(default_factory=list)
    cairns: list[tuple[int, list[str]]] = field(default_factory=list)
    """Line numbers and words."""
    line_types: set[str] = field(default_factory=lambda: {"ForbiddenLine"})
    obstacle_types: set[str] = field(default_factory=lambda: {BOX_OBSTACLE})

    def error(self, line: int, message: str) -> MapError:
        return MapError(f"{self.name}:{line}: {message}")


def is_aria(text: bytes) -> bool:
    """Whether the beginning of a file is that of an ARIA map."""
    return text.startswith(MAGIC.encode())


def read_aria(data: bytes, file: str | Path) -> Map:
    """Read the bytes of an ARIA map; `file` is the name for MapError."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # as older tools wrote names
    content = _AriaFile(str(file))
    _scan(text.replace("\r", "\n" if "\n" not in text else "").split("\n"), content)
    parts = [_read_section(section, content) for section in content.sections]
    places = []
    for line, words in content.cairns:
        place = _read_cairn(line, words, content)
        if words[0] not in content.obstacle_types or not place.points:
            places.append(place)
        elif words[0] in content.line_types:
            ends = [coordinate for point in place.points for coordinate in point]
            parts.append(Map(np.array([ends]), np.zeros(1, bool)))
        else:
            parts.append(block(place.points))
    merged = merge(parts)
    point = _read_georeference(content)
    return Map(merged.segments, merged.solid, tuple(places), georeference=point)


def _read_georeference(content: _AriaFile) -> Georeference | None:
    """The latitude and longitude of the origin in degrees, and the altitude in m or nothing."""
    text = content.keys.get(GEOREFERENCE)
    if text is None:
        return None
    try:
        latitude, longitude, *altitude = (float(word) for word in text.split())
        return Georeference(latitude, longitude, *altitude[:1])
    except (WrongInput, ValueError) as problem:
        why = problem if isinstance(problem, WrongInput) else f"{text[:40]!r} is no position"
        raise MapError(f"{content.name}: {GEOREFERENCE}: {why}") from None


def _scan(lines: Sequence[str], content: _AriaFile) -> None:
    """Sort the lines of a file into header, cairns and sections."""
    if not lines[0].strip().startswith(MAGIC):
        raise content.error(1, f"an ARIA map begins with {MAGIC}")
    section: _Section | None = None
    for number, line in enumerate(lines[1:], 2):
        if section is not None and line[:1] in "-0123456789" and line:
            section.rows.append((number, line))
        elif match := SECTION.match(line.strip()):
            section = _Section(match[1], match[2])
            content.sections.append(section)
        elif ":" in line:
            _scan_key(number, line, content)
        elif line.strip():
            if section is None or line.strip()[0] not in "-+.0123456789":
                message = f"neither a key, a section nor numbers: {line.strip()[:30]!r}"
                raise content.error(number, message)
            section.rows.append((number, line))


def _scan_key(line: int, text: str, content: _AriaFile) -> None:
    key, _, value = text.partition(":")
    key = key.strip()
    words = [quoted or plain for quoted, plain in WORD.findall(value)]
    if key == "Cairn":
        content.cairns.append((line, words))
    elif key == "MapInfo" and words:
        settings = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        name = settings.get("Name", "")
        if words[0] == "BoundaryType":
            content.line_types.add(name)
        if settings.get("Sim.Obstacle", "").lower() in ("yes", "true", "1"):
            content.obstacle_types.add(name)
    else:
        content.keys.setdefault(key, value.strip())


def _read_section(section: _Section, content: _AriaFile) -> Map:
    """The walls of a LINES section, or the solids of a DATA section."""
    values_mm = _read_numbers(section, content)
    if section.kind == "LINES":
        return Map(0.001 * values_mm, np.zeros(len(values_mm), bool))
    own_key = f"{section.source}Resolution"
    text = content.keys.get(own_key, content.keys.get("Resolution", ""))
    try:
        resolution_mm = float(text or RESOLUTION_MM)
    except ValueError:
        resolution_mm = math.nan
    if not 0.0 < resolution_mm <= 1e6:
        raise MapError(f"{content.name}: Resolution: {text!r} is no size in mm")
    return _squares(values_mm, resolution_mm)


def _read_numbers(section: _Section, content: _AriaFile) -> Array:
    """The numbers of a section, mm: (n, 4) of lines, (n, 2) of points."""
    width = 4 if section.kind == "LINES" else 2
    rows = [(number, line.split()) for number, line in section.rows]
    try:
        values = np.array([words for _, words in rows], np.float64).reshape(-1, width)
        if len(values) == len(rows) and bool(np.all(np.abs(values) < 1e3 * MAX_COORDINATE)):
            return values
    except ValueError:
        pass
    for number, words in rows:
        if len(words) != width or not all(map(_is_number, words)):
            got = " ".join(words)[:40]
            raise content.error(number, f"{width} numbers are needed, not {got!r}")
    raise MapError(f"{content.name}: no numbers")


def _is_number(word: str) -> bool:
    try:
        return abs(float(word)) < 1e3 * MAX_COORDINATE
    except ValueError:
        return False


def _squares(points_mm: Array, size_mm: float) -> Map:
    """Squares about points, merged where they share a lattice."""
    if not len(points_mm):
        return Map()
    cells = np.floor(points_mm / size_mm)
    residues = np.round(points_mm - cells * size_mm, 6)
    offsets_mm, lattice = np.unique(residues, axis=0, return_inverse=True)
    if len(offsets_mm) > MAX_LATTICES:
        sizes = np.full((len(points_mm), 2), 0.001 * size_mm)
        return boxes(np.hstack([0.001 * points_mm, sizes, np.zeros((len(points_mm), 1))]))
    lattice = lattice.reshape(-1)
    order = np.argsort(lattice, kind="stable")
    first = np.searchsorted(lattice[order], np.arange(1, len(offsets_mm)))
    parts = []
    for offset_mm, chosen in zip(offsets_mm, np.split(order, first), strict=True):
        lines_mm = trace_cell_contours(cells[chosen].astype(np.int64)) * size_mm
        parts.append(0.001 * (lines_mm + np.tile(offset_mm - 0.5 * size_mm, 2)))
    segments = np.vstack(parts)
    return Map(segments, np.ones(len(segments), bool))


def _read_cairn(line: int, words: list[str], content: _AriaFile) -> Place:
    if len(words) < 4 or not all(map(_is_number, words[1:4])):
        raise content.error(line, "a cairn is: type x y heading and so on")
    x_mm, y_mm, heading_deg = (float(word) for word in words[1:4])
    name = words[6] if len(words) > 6 else ""
    corners = words[7:11]
    points: tuple[tuple[float, float], ...] = ()
    if len(corners) == 4 and all(map(_is_number, corners)):
        x1, y1, x2, y2 = (0.001 * float(word) for word in corners)
        if words[0] in content.line_types:
            points = ((x1, y1), (x2, y2))
        else:
            points = _rotated(((x1, y1), (x2, y1), (x2, y2), (x1, y2)), math.radians(heading_deg))
    yaw = math.remainder(math.radians(heading_deg), 2.0 * math.pi)
    kind = PLACE_KINDS.get(words[0], words[0])
    return Place(kind, name, 0.001 * x_mm, 0.001 * y_mm, yaw, points)


def _rotated(
    points: Sequence[tuple[float, float]], angle: float
) -> tuple[tuple[float, float], ...]:
    s, c = math.sin(angle), math.cos(angle)
    return tuple((x * c - y * s, x * s + y * c) for x, y in points)


def aria_files(map: Map, file: Path, resolution: float) -> dict[Path, bytes]:
    """A map in ARIA's format: every segment a line, in whole millimetres; solids are not kept."""
    lines_mm = np.rint(map.segments * 1000.0).astype(np.int64)
    lines_mm = lines_mm[(lines_mm[:, :2] != lines_mm[:, 2:]).any(axis=1)]
    ends = lines_mm.reshape(-1, 2)
    low, high = (ends.min(axis=0), ends.max(axis=0)) if len(ends) else ((0, 0), (0, 0))
    header = [
        MAGIC,
        f"LineMinPos: {low[0]} {low[1]}",
        f"LineMaxPos: {high[0]} {high[1]}",
        f"NumLines: {len(lines_mm)}",
        "NumPoints: 0",
        f"Resolution: {RESOLUTION_MM:.0f}",
    ]
    point = map.georeference
    if point is not None and point.yaw == 0.0:
        latitude, longitude = point.locate(0.0, 0.0)
        header.append(f"{GEOREFERENCE}: {latitude:.9f} {longitude:.9f} {point.altitude:g}")
    own = [place for place in map.places if place.points and place.kind not in CAIRN_TYPES]
    is_line = {place.kind: len(place.points) == 2 for place in own}
    for kind, line in is_line.items():
        header.append(f'MapInfo: {"Boundary" if line else "Sector"}Type "Name={_unquoted(kind)}"')
    header += [_cairn_line(place) for place in map.places]
    rows = [f"{a} {b} {c} {d}" for a, b, c, d in lines_mm.tolist()]
    return {file: "\n".join([*header, "LINES", *rows, "DATA", ""]).encode()}


def _unquoted(text: str) -> str:
    """A text that may stand between quotes."""
    return " ".join(text.replace('"', "'").split("\n")).replace("\r", " ")


def _cairn_line(place: Place) -> str:
    kind = CAIRN_TYPES.get(place.kind, place.kind)
    if place.kind == "goal" and place.yaw == 0.0:
        kind = "Goal"
    if re.search(r"\s", kind) or not kind:
        kind = f'"{_unquoted(kind)}"'
    x_mm, y_mm = round(1000.0 * place.x), round(1000.0 * place.y)
    heading_deg = f"{math.degrees(place.yaw):.6f}"
    line = f'Cairn: {kind} {x_mm} {y_mm} {heading_deg} "" ICON "{_unquoted(place.name)}"'
    if not place.points:
        return line
    points = place.points
    if len(points) != 2:
        corners = np.array(_rotated(points, -math.radians(float(heading_deg))))
        points = (tuple(corners.min(axis=0)), tuple(corners.max(axis=0)))
    corners_mm = " ".join(f"{round(1000.0 * c)}" for point in points for c in point)
    return f"{line} {corners_mm}"
