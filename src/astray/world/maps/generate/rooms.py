"""A building: corridors, rooms on both sides of them, doors, furniture.

It is drawn in cells of 10 cm: all is wall, then rooms, corridors and doors are cut out, and the
outline of what is left are the walls. Every room has a door to a corridor and all corridors meet.
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
from astray.world.maps.generate.base import Chance, MapLayout, amount
from astray.world.maps.generate.furniture import Piece, furnish

CELL = 0.1  # m
ROOMS_PER_BLOCK = 4  # between two cross corridors
OPEN_PLAN = 0.15  # share of the walls between rooms that are left out
CONNECTED = 0.2  # share of them that have a door


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
        """Cells are what takes memory: a million m² is the most."""
        return self.size[0] * self.size[1]

    def problem(self) -> str:
        """What does not fit together."""
        if self.door + 0.4 > min(self.room):
            return "door must be at least 0.4 m narrower than a room"
        if min(self.size) < 2.0 * self.clear + 0.6:
            return f"a free disc of {self.clear:g} m radius does not fit into the size"
        if self.size[1] < self.corridor + 4.0:
            return (
                f"a height of at least {self.corridor + 4.0:g} m is needed for rooms on two sides"
            )
        return super().problem()

    def make(self, chance: Chance) -> Map:
        """Cut rooms, corridors and doors out of a block, then furnish the rooms."""
        columns, rows = (2 * round(0.5 * s / CELL) for s in self.size)
        solid = np.ones((rows, columns), bool)
        plan = _Plan(solid, self, chance)
        rooms = plan.cut()
        _clear(solid, self.clear)
        x0, y0 = 0.5 * columns, 0.5 * rows
        lines = (trace_mask_contours(solid) - np.array([x0, y0, x0, y0])) * CELL
        walls = Map(lines, np.ones(len(lines), bool))
        pieces: list[Piece] = []
        places = [Place("home", "crossing")]
        for k, room in enumerate(rooms):
            west, east = ((x - x0) * CELL for x in (room.west, room.east))
            south, north = ((y - y0) * CELL for y in (room.south, room.north))
            doors = [((x - x0) * CELL, (y - y0) * CELL) for x, y in room.doors]
            box = (west, south, east, north)
            pieces += furnish(box, doors, self.furniture, self.clear, chance)
            x, y = doors[0]
            inward = 1.0 if y < 0.5 * (south + north) else -1.0
            spot = (round(x, 3), round(y + 0.7 * inward, 3), 0.5 * math.pi * inward)
            places.append(Place("goal", f"room {k + 1}", *spot))
        made = merge([walls, boxes(pieces)])
        return Map(made.segments, made.solid, tuple(places))


def _clear(solid: Array, radius: float) -> None:
    """Cut the free disc out; the outer wall stays."""
    rows, columns = solid.shape
    reach = int(np.ceil(radius / CELL)) + 1
    y, x = np.mgrid[-reach:reach, -reach:reach]
    near_x, near_y = np.minimum(np.abs(x), np.abs(x + 1)), np.minimum(np.abs(y), np.abs(y + 1))
    disc = np.hypot(near_x, near_y) * CELL < radius - 1e-9
    y, x = y[disc] + rows // 2, x[disc] + columns // 2
    inner = (x > 1) & (x < columns - 2) & (y > 1) & (y < rows - 2)
    solid[y[inner], x[inner]] = False


class _Plan:
    """The floor plan while it is cut; all in cells. A wall is two cells, one on each side."""

    def __init__(self, solid: Array, layout: Rooms, chance: Chance) -> None:
        self.solid = solid
        self.layout = layout
        self.chance = chance
        self.height, self.width = solid.shape
        self.half = round(0.5 * layout.corridor / CELL) + 1  # of a corridor, its walls included
        self.door = max(2, round(layout.door / CELL))

    def cut(self) -> list[Room]:
        """Cut everything; returns the rooms."""
        bands = max(
            1, round(self.height * CELL / (2.0 * self.layout.room[1] + self.layout.corridor))
        )
        edges = [1 + round(k * (self.height - 2) / bands) for k in range(bands + 1)]
        middles = [(a + b) // 2 for a, b in itertools.pairwise(edges)]
        crossings = self._crossings() if bands > 1 else []
        for y in middles:
            self._free(1, self.width - 1, y - self.half, y + self.half)
        for x in crossings:
            self._free(x - self.half, x + self.half, middles[0], middles[-1])
        rooms = []
        for k, y in enumerate(middles):
            below = crossings if k > 0 else []
            above = crossings if k < bands - 1 else []
            rooms += self._row(edges[k], y - self.half, below, above_door=True)
            rooms += self._row(y + self.half, edges[k + 1], above, above_door=False)
        return rooms

    def _crossings(self) -> list[int]:
        """Where the cross corridors are: one in the middle, others as far as rooms need them."""
        half = 0.5 * self.width
        block = ROOMS_PER_BLOCK * self.layout.room[0] / CELL
        more = max(0, round(half / block - 0.5))
        return [round(half + k * half / (more + 0.5)) for k in range(-more, more + 1)]

    def _free(self, west: int, east: int, south: int, north: int) -> None:
        """Cut a rectangle out, but for half of its walls."""
        self.solid[south + 1 : north - 1, west + 1 : east - 1] = False

    def _row(self, south: int, north: int, crossings: list[int], above_door: bool) -> list[Room]:
        """The rooms between two lines; their corridor is above or below them."""
        stops = [1, *(s for x in crossings for s in (x - self.half, x + self.half)), self.width - 1]
        rooms: list[Room] = []
        for west, east in zip(stops[::2], stops[1::2], strict=True):
            lines = self._split(west, east)
            row = []
            for a, b in itertools.pairwise(lines):
                self._free(a, b, south, north)
                room = Room(a + 1, b - 1, south + 1, north - 1)
                self._door_to_corridor(room, north if above_door else south)
                row.append(room)
            for left, right in itertools.pairwise(row):
                self._connect(left, right)
            rooms += row
        return rooms

    def _split(self, west: int, east: int) -> list[int]:
        """Lines between rooms: even ones, each moved by a fifth of a room at most."""
        usual = self.layout.room[0] / CELL
        count = max(1, round((east - west) / usual))
        step = (east - west) / count
        inner = [round(west + (k + self.chance.between(-0.2, 0.2)) * step) for k in range(1, count)]
        return [west, *inner, east]

    def _door_to_corridor(self, room: Room, line: int) -> None:
        room_width = room.east - room.west
        door = min(self.door, room_width - 2)
        at = room.west + 1 + self.chance.below(room_width - door - 1)
        self.solid[line - 1 : line + 1, at : at + door] = False
        room.doors.append((at + 0.5 * door, float(line)))

    def _connect(self, left: Room, right: Room) -> None:
        """Leave out the wall between two rooms, or give it a door, or neither."""
        luck = self.chance.share()
        wall = slice(left.east, right.west)
        if luck < OPEN_PLAN:
            self.solid[left.south : left.north, wall] = False
        elif luck < OPEN_PLAN + CONNECTED and left.north - left.south > self.door + 4:
            at = left.south + 2 + self.chance.below(left.north - left.south - self.door - 4)
            self.solid[at : at + self.door, wall] = False
            for room in (left, right):
                room.doors.append((0.5 * (left.east + right.west), at + 0.5 * self.door))
