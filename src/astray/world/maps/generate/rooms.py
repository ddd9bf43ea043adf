"""A building: corridors, rooms on both sides of them, doors, furniture.

The floor plan is a grid of cells of 10 cm. All cells begin as wall; rooms, corridors and doors are
cut out, and the outline of the remaining cells are the walls. Every room has a door to a corridor
and all corridors meet.

Rooms have desks with chairs and cabinets along the walls, and a table in the middle. No furniture
stands within a metre of a door, and a passage stays free between two groups of furniture.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from astray.tables import Array
from astray.world.geometry import trace_mask_contours
from astray.world.map import Map, Place, boxes, merge
from astray.world.maps.generate.base import MapLayout, OrientedBox, RandomStream, amount

CELL = 0.1  # m
ROOMS_PER_BLOCK = 4  # between two cross corridors
OPEN_PLAN = 0.15  # share of the walls between rooms that are left out
CONNECTED = 0.2  # share of them that have a door

DESK = (1.6, 0.8)  # m
CHAIR = 0.45  # m
CABINET = (1.0, 0.45)  # m
TABLE = (2.4, 1.1)  # m
DOOR_CLEARANCE = 1.1  # m
PASSAGE = 0.75  # m between groups
WALL_CLEARANCE = 0.05  # m
MAX_GROUPS = 6  # tried per room

Bounds = tuple[float, float, float, float]  # west, south, east, north, m
Furniture = tuple[Bounds, list[OrientedBox]]
"""The bounds of a group of furniture, and its pieces."""


@dataclass
class Room:
    """A room in cells: its inner bounds, and the middle of each of its doors."""

    west: int
    east: int
    south: int
    north: int
    doors: list[tuple[float, float]] = field(default_factory=list)


@dataclass(kw_only=True)
class Rooms(MapLayout):
    """An office floor: closed, with walls of 20 cm, and every room can be reached."""

    kind: ClassVar[str] = "rooms"
    size: tuple[float, float] = amount((40.0, 24.0), 4.0, 20_000.0)  # m
    room: tuple[float, float] = amount((4.5, 5.0), 2.0, 100.0)  # m, usual width and depth
    corridor: float = amount(2.0, 0.6, 100.0)  # m
    door: float = amount(0.9, 0.3, 20.0)  # m
    furniture: float = amount(0.6, 0.0, 1.0)  # how full rooms are

    def parts(self) -> float:
        """The area in m², since the cells of a million m² take all memory."""
        return self.size[0] * self.size[1]

    def problem(self) -> str:
        """Why the parameters do not fit together; empty if they do."""
        if self.door + 0.4 > min(self.room):
            return "door must be at least 0.4 m narrower than a room"
        if min(self.size) < 2.0 * self.clear + 0.6:
            return f"a free disc of {self.clear:g} m radius does not fit into the size"
        if self.size[1] < self.corridor + 4.0:
            return (
                f"a height of at least {self.corridor + 4.0:g} m is needed for rooms on two sides"
            )
        return super().problem()

    def make(self, stream: RandomStream) -> Map:
        """Cut rooms, corridors and doors out of a block, then furnish the rooms."""
        columns, rows = (2 * round(0.5 * s / CELL) for s in self.size)
        solid = np.ones((rows, columns), bool)
        rooms = _FloorPlan(solid, self, stream).cut()
        _cut_disc(solid, self.clear)
        x0, y0 = 0.5 * columns, 0.5 * rows
        lines = (trace_mask_contours(solid) - np.array([x0, y0, x0, y0])) * CELL
        walls = Map(lines, np.ones(len(lines), bool))
        pieces: list[OrientedBox] = []
        places = [Place("home", "crossing")]
        for k, room in enumerate(rooms):
            west, east = ((x - x0) * CELL for x in (room.west, room.east))
            south, north = ((y - y0) * CELL for y in (room.south, room.north))
            doors = [((x - x0) * CELL, (y - y0) * CELL) for x, y in room.doors]
            bounds = (west, south, east, north)
            pieces += _furnish(bounds, doors, self.furniture, self.clear, stream)
            x, y = doors[0]
            inward = 1.0 if y < 0.5 * (south + north) else -1.0
            goal = (round(x, 3), round(y + 0.7 * inward, 3), 0.5 * math.pi * inward)
            places.append(Place("goal", f"room {k + 1}", *goal))
        merged = merge([walls, boxes(pieces)])
        return Map(merged.segments, merged.solid, tuple(places))


def _cut_disc(solid: Array, radius: float) -> None:
    """Cut out the free disc; the outer wall stays."""
    rows, columns = solid.shape
    reach = int(np.ceil(radius / CELL)) + 1
    y, x = np.mgrid[-reach:reach, -reach:reach]
    near_x, near_y = np.minimum(np.abs(x), np.abs(x + 1)), np.minimum(np.abs(y), np.abs(y + 1))
    disc = np.hypot(near_x, near_y) * CELL < radius - 1e-9
    y, x = y[disc] + rows // 2, x[disc] + columns // 2
    inner = (x > 1) & (x < columns - 2) & (y > 1) & (y < rows - 2)
    solid[y[inner], x[inner]] = False


class _FloorPlan:
    """A floor plan in cells. A wall is two cells wide, one on each side of its line."""

    def __init__(self, solid: Array, layout: Rooms, stream: RandomStream) -> None:
        self.solid = solid
        self.layout = layout
        self.stream = stream
        self.height, self.width = solid.shape
        self.half = round(0.5 * layout.corridor / CELL) + 1  # of a corridor, its walls included
        self.door = max(2, round(layout.door / CELL))

    def cut(self) -> list[Room]:
        """Cut out corridors, rooms and doors; returns the rooms."""
        bands = max(
            1, round(self.height * CELL / (2.0 * self.layout.room[1] + self.layout.corridor))
        )
        edges = [1 + round(k * (self.height - 2) / bands) for k in range(bands + 1)]
        middles = [(a + b) // 2 for a, b in itertools.pairwise(edges)]
        crossings = self._crossings() if bands > 1 else []
        for y in middles:
            self._cut_out(1, self.width - 1, y - self.half, y + self.half)
        for x in crossings:
            self._cut_out(x - self.half, x + self.half, middles[0], middles[-1])
        rooms = []
        for k, y in enumerate(middles):
            below = crossings if k > 0 else []
            above = crossings if k < bands - 1 else []
            rooms += self._row(edges[k], y - self.half, below, above_door=True)
            rooms += self._row(y + self.half, edges[k + 1], above, above_door=False)
        return rooms

    def _crossings(self) -> list[int]:
        """The x of the cross corridors: one in the middle, more where blocks get too long."""
        half = 0.5 * self.width
        block = ROOMS_PER_BLOCK * self.layout.room[0] / CELL
        more = max(0, round(half / block - 0.5))
        return [round(half + k * half / (more + 0.5)) for k in range(-more, more + 1)]

    def _cut_out(self, west: int, east: int, south: int, north: int) -> None:
        """Cut out a rectangle, except its half of the walls."""
        self.solid[south + 1 : north - 1, west + 1 : east - 1] = False

    def _row(self, south: int, north: int, crossings: list[int], above_door: bool) -> list[Room]:
        """The rooms between two lines; their corridor is above or below."""
        stops = [1, *(s for x in crossings for s in (x - self.half, x + self.half)), self.width - 1]
        rooms: list[Room] = []
        for west, east in zip(stops[::2], stops[1::2], strict=True):
            lines = self._split(west, east)
            row = []
            for a, b in itertools.pairwise(lines):
                self._cut_out(a, b, south, north)
                room = Room(a + 1, b - 1, south + 1, north - 1)
                self._door_to_corridor(room, north if above_door else south)
                row.append(room)
            for left, right in itertools.pairwise(row):
                self._connect(left, right)
            rooms += row
        return rooms

    def _split(self, west: int, east: int) -> list[int]:
        """The lines between rooms: at equal distances, each moved by at most a fifth of a room."""
        usual = self.layout.room[0] / CELL
        count = max(1, round((east - west) / usual))
        step = (east - west) / count
        inner = [round(west + (k + self.stream.between(-0.2, 0.2)) * step) for k in range(1, count)]
        return [west, *inner, east]

    def _door_to_corridor(self, room: Room, line: int) -> None:
        room_width = room.east - room.west
        door = min(self.door, room_width - 2)
        at = room.west + 1 + self.stream.integer(room_width - door - 1)
        self.solid[line - 1 : line + 1, at : at + door] = False
        room.doors.append((at + 0.5 * door, float(line)))

    def _connect(self, left: Room, right: Room) -> None:
        """Remove the wall between two rooms, or cut a door into it, or keep it."""
        u = self.stream.uniform()
        wall = slice(left.east, right.west)
        if u < OPEN_PLAN:
            self.solid[left.south : left.north, wall] = False
        elif u < OPEN_PLAN + CONNECTED and left.north - left.south > self.door + 4:
            at = left.south + 2 + self.stream.integer(left.north - left.south - self.door - 4)
            self.solid[at : at + self.door, wall] = False
            for room in (left, right):
                room.doors.append((0.5 * (left.east + right.west), at + 0.5 * self.door))


def _furnish(
    room: Bounds, doors: list[tuple[float, float]], share: float, clear: float, stream: RandomStream
) -> list[OrientedBox]:
    """The furniture of a room, as boxes, given the middles of its doors and the free disc."""
    taken: list[Bounds] = []
    placed: list[OrientedBox] = []

    def place(bounds: Bounds, group: list[OrientedBox]) -> None:
        if _fits(bounds, room, doors, clear, taken):
            taken.append(bounds)
            placed.extend(group)

    if min(room[2] - room[0], room[3] - room[1]) > 4.2 and stream.uniform() < 0.5 * share:
        place(*_table(room, stream))
    for _ in range(MAX_GROUPS):
        if stream.uniform() >= share:
            continue
        place(*(_desk if stream.uniform() < 0.6 else _cabinet)(room, stream))
    return placed


def _fits(
    bounds: Bounds,
    room: Bounds,
    doors: list[tuple[float, float]],
    clear: float,
    taken: list[Bounds],
) -> bool:
    """Whether a group fits into a room, beside its doors, the free disc and other groups."""
    west, south, east, north = bounds
    if west < room[0] or south < room[1] or east > room[2] or north > room[3]:
        return False
    discs = [*((x, y, DOOR_CLEARANCE) for x, y in doors), (0.0, 0.0, clear + WALL_CLEARANCE)]
    for x, y, radius in discs:
        dx, dy = max(west - x, 0.0, x - east), max(south - y, 0.0, y - north)
        if dx * dx + dy * dy < radius * radius:
            return False
    return not any(
        west < e + PASSAGE and w < east + PASSAGE and south < n + PASSAGE and s < north + PASSAGE
        for w, s, e, n in taken
    )


def _desk(room: Bounds, stream: RandomStream) -> Furniture:
    """A desk along a side wall, with its chair on the side of the room."""
    west, south, east, north = room
    length, depth = DESK
    left = stream.uniform() < 0.5
    y = stream.between(south + 0.5 * length + WALL_CLEARANCE, north - 0.5 * length - WALL_CLEARANCE)
    inward = 1.0 if left else -1.0
    edge = west if left else east
    desk_x = edge + inward * (0.5 * depth + WALL_CLEARANCE)
    chair_x = desk_x + inward * (0.5 * depth + 0.5 * CHAIR + 0.1)
    chair_y, turn = y + stream.between(-0.2, 0.2), stream.between(-0.5, 0.5)
    ends = sorted((edge + inward * WALL_CLEARANCE, chair_x + inward * 0.7 * CHAIR))
    bounds = (ends[0], y - 0.5 * length, ends[1], y + 0.5 * length)
    return bounds, [(desk_x, y, depth, length, 0.0), (chair_x, chair_y, CHAIR, CHAIR, turn)]


def _cabinet(room: Bounds, stream: RandomStream) -> Furniture:
    """One to three cabinets side by side along an upper or lower wall."""
    west, south, east, north = room
    length, depth = CABINET[0] * (1 + stream.integer(3)), CABINET[1]
    upper = stream.uniform() < 0.5
    x = stream.between(west + 0.5 * length + WALL_CLEARANCE, east - 0.5 * length - WALL_CLEARANCE)
    y = north - 0.5 * depth - WALL_CLEARANCE if upper else south + 0.5 * depth + WALL_CLEARANCE
    bounds = (x - 0.5 * length, y - 0.5 * depth, x + 0.5 * length, y + 0.5 * depth)
    return bounds, [(x, y, length, depth, 0.0)]


def _table(room: Bounds, stream: RandomStream) -> Furniture:
    """A table with three chairs on either long side, along the longer side of the room."""
    west, south, east, north = room
    x, y = 0.5 * (west + east), 0.5 * (south + north)
    length, depth = TABLE
    vertical = east - west < north - south
    group: list[OrientedBox] = [
        (x, y, depth, length, 0.0) if vertical else (x, y, length, depth, 0.0)
    ]
    for side in (-1.0, 1.0):
        for k in (-1.0, 0.0, 1.0):
            offset = side * (0.5 * depth + 0.5 * CHAIR + stream.between(0.05, 0.2))
            dx, dy = (offset, k * 0.75) if vertical else (k * 0.75, offset)
            group.append((x + dx, y + dy, CHAIR, CHAIR, stream.between(-0.4, 0.4)))
    half_length, half_depth = 0.5 * length, 0.5 * depth + CHAIR + 0.3
    dx, dy = (half_depth, half_length) if vertical else (half_length, half_depth)
    return (x - dx, y - dy, x + dx, y + dy), group
