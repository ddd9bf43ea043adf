"""A warehouse: rows of shelves with aisles between, docks in the west, pallets left about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from astray.world.map import Map, Place, block, boxes, merge
from astray.world.maps.generate.base import Chance, MapLayout, amount, distance_to_origin
from astray.world.maps.generate.furniture import Piece

BAY = 2.7  # m of shelf that is there or missing
PALLET = (1.2, 0.8)  # m
POST = 0.2  # m, beside a dock
WALL = 0.3  # m
DOCK_EVERY = 6.0  # m


@dataclass(kw_only=True)
class Warehouse(MapLayout):
    """Shelves back to back along x, a cross aisle in the middle, docks along the west wall."""

    kind: ClassVar[str] = "warehouse"
    size: tuple[float, float] = amount((56.0, 32.0), 6.0, 20_000.0)  # m, within the walls
    aisle: float = amount(3.0, 0.5, 100.0)  # m between shelves
    shelf: tuple[float, float] = amount((10.8, 1.1), 0.2, 200.0)  # m, length and depth of one
    missing: float = amount(0.06, 0.0, 1.0)  # share of the bays that are empty
    pallets: float = amount(0.4, 0.0, 1.0)  # share of their spots that have one

    def parts(self) -> float:
        """About the number of shelves and docks."""
        length, depth = self.shelf
        each = (length + self.aisle) * (2.0 * depth + self.aisle)
        return self.size[0] * self.size[1] / each + self.size[1] / DOCK_EVERY

    def problem(self) -> str:
        """What does not fit together."""
        if not self._columns() or not self._rows():
            return "no shelf fits; make the size larger or shelf and aisle smaller"
        return super().problem()

    def make(self, chance: Chance) -> Map:
        """Walls, shelves, docks and pallets."""
        w, h = 0.5 * self.size[0], 0.5 * self.size[1]
        pieces: list[Piece] = []
        for y in self._rows():
            for begin, end in self._columns():
                pieces += self._shelf(begin, end, y, chance)
        docks = self._docks()
        for dock in docks:
            pieces += self._dock(dock, chance)
        outer = [(0.0, 0.0, 2.0 * (w + WALL), 2.0 * (h + WALL), 0.0)]
        inner = block([[-w, -h], [w, -h], [w, h], [-w, h]], hole=True)
        things = boxes(pieces).segments.reshape(-1, 4, 4)
        near = distance_to_origin(things.reshape(-1, 4)).reshape(-1, 4).min(axis=1) < self.clear
        kept = things[~near].reshape(-1, 4)
        made = merge([boxes(outer), inner, Map(kept, np.ones(len(kept), bool))])
        places = [Place("home", "crossing"), *docks]
        return Map(made.segments, made.solid, tuple(places))

    def _rows(self) -> list[float]:
        """The y of every double shelf, m; what is left over widens the aisles."""
        room = self.size[1] - self.aisle
        count = int(room / (2.0 * self.shelf[1] + self.aisle) + 1e-9)
        pitch = room / max(1, count)
        return [(k - 0.5 * (count - 1)) * pitch for k in range(count)]

    def _columns(self) -> list[tuple[float, float]]:
        """Where shelves begin and end in x, m; the staging area in the west has none."""
        middle = max(0.5 * self.aisle, self.clear)
        east = self._half_columns(0.5 * self.size[0] - middle)
        west = self._half_columns(0.5 * self.size[0] - middle - 2.0 * self.aisle)
        left = [(-middle - end, -middle - begin) for begin, end in reversed(west)]
        return left + [(middle + begin, middle + end) for begin, end in east]

    def _half_columns(self, room: float) -> list[tuple[float, float]]:
        """Shelves from 0 to an aisle before the end, about as long as is usual."""
        usual = self.shelf[0]
        count = round(room / (usual + self.aisle))
        if count < 1:
            return [(0.0, usual)] if room >= usual + self.aisle else []
        length = room / count - self.aisle
        pitch = length + self.aisle
        return [(k * pitch, k * pitch + length) for k in range(count)] if length > 0.0 else []

    def _shelf(self, begin: float, end: float, y: float, chance: Chance) -> list[Piece]:
        """Two shelves back to back; where a bay is empty, a pallet may stand."""
        length, depth = end - begin, self.shelf[1]
        bays = max(1, round(length / BAY))
        bay = length / bays
        made: list[Piece] = []
        for side in (-0.5, 0.5):
            there = chance.shares(bays) >= self.missing
            edges = np.flatnonzero(np.diff(np.concatenate([[0], there, [0]])))
            for first, last in edges.reshape(-1, 2).tolist():
                x = begin + 0.5 * (first + last) * bay
                made.append((x, y + side * depth, (last - first) * bay, depth, 0.0))
            for k in np.flatnonzero(~there).tolist():
                if chance.share() < self.pallets:
                    made.append(_pallet(begin + (k + 0.5) * bay, y + side * depth, 0.05, chance))
        return made

    def _docks(self) -> list[Place]:
        count = max(1, int(self.size[1] / DOCK_EVERY))
        x = -0.5 * self.size[0] + 1.5
        return [
            Place("dock", f"dock {k + 1}", x, (k - 0.5 * (count - 1)) * DOCK_EVERY)
            for k in range(count)
        ]

    def _dock(self, dock: Place, chance: Chance) -> list[Piece]:
        """Posts on both sides of a dock, and pallets that wait between it and the next."""
        wall = -0.5 * self.size[0]
        made = [(wall + 0.5, dock.y + side * 1.6, POST, POST, 0.0) for side in (-1.0, 1.0)]
        for k in range(3):
            if dock.y + 3.5 < 0.5 * self.size[1] and chance.share() < self.pallets:
                made.append(_pallet(wall + 1.0 + 1.5 * k, dock.y + 3.0, 0.2, chance))
        return made


def _pallet(x: float, y: float, sloppy: float, chance: Chance) -> Piece:
    """A pallet that was put down more or less straight."""
    shift_x, shift_y, turn = (chance.between(-sloppy, sloppy) for _ in range(3))
    return x + shift_x, y + shift_y, *PALLET, turn
