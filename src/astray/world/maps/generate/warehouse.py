"""A warehouse: rows of shelves with aisles between, docks in the west, pallets on the floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from astray.world.map import Map, Place, block, boxes, merge
from astray.world.maps.generate.base import (
    MapLayout,
    OrientedBox,
    RandomStream,
    amount,
    distance_to_origin,
)

BAY = 2.7  # m, the length of shelf that is present or missing
PALLET = (1.2, 0.8)  # m
POST = 0.2  # m, beside a dock
WALL = 0.3  # m
DOCK_SPACING = 6.0  # m


@dataclass(kw_only=True)
class Warehouse(MapLayout):
    """Shelves back to back along x, a cross aisle in the middle, docks along the west wall."""

    kind: ClassVar[str] = "warehouse"
    size: tuple[float, float] = amount((56.0, 32.0), 6.0, 20_000.0)  # m, within the walls
    aisle: float = amount(3.0, 0.5, 100.0)  # m between shelves
    shelf: tuple[float, float] = amount((10.8, 1.1), 0.2, 200.0)  # m, length and depth of one
    missing: float = amount(0.06, 0.0, 1.0)  # share of the bays that are empty
    pallets: float = amount(0.4, 0.0, 1.0)  # share of the empty bays and dock slots that have one

    def parts(self) -> float:
        """About the number of shelves and docks."""
        length, depth = self.shelf
        each = (length + self.aisle) * (2.0 * depth + self.aisle)
        return self.size[0] * self.size[1] / each + self.size[1] / DOCK_SPACING

    def problem(self) -> str:
        """Why the parameters do not fit together; empty if they do."""
        if not self._columns() or not self._rows():
            return "no shelf fits; make the size larger or shelf and aisle smaller"
        return super().problem()

    def make(self, stream: RandomStream) -> Map:
        """Walls, shelves, docks and pallets."""
        w, h = 0.5 * self.size[0], 0.5 * self.size[1]
        pieces: list[OrientedBox] = []
        for y in self._rows():
            for begin, end in self._columns():
                pieces += self._shelf(begin, end, y, stream)
        docks = self._docks()
        for dock in docks:
            pieces += self._dock(dock, stream)
        outer = [(0.0, 0.0, 2.0 * (w + WALL), 2.0 * (h + WALL), 0.0)]
        inner = block([[-w, -h], [w, -h], [w, h], [-w, h]], hole=True)
        sides = boxes(pieces).segments
        near = distance_to_origin(sides).reshape(-1, 4).min(axis=1) < self.clear
        kept = sides.reshape(-1, 4, 4)[~near].reshape(-1, 4)
        merged = merge([boxes(outer), inner, Map(kept, np.ones(len(kept), bool))])
        places = [Place("home", "crossing"), *docks]
        return Map(merged.segments, merged.solid, tuple(places))

    def _rows(self) -> list[float]:
        """The y of every double shelf, m; the remaining width is added to the aisles."""
        width = self.size[1] - self.aisle
        count = int(width / (2.0 * self.shelf[1] + self.aisle) + 1e-9)
        pitch = width / max(1, count)
        return [(k - 0.5 * (count - 1)) * pitch for k in range(count)]

    def _columns(self) -> list[tuple[float, float]]:
        """The ends of shelves in x, m; the staging area in the west has none."""
        middle = max(0.5 * self.aisle, self.clear)
        east = self._half_columns(0.5 * self.size[0] - middle)
        west = self._half_columns(0.5 * self.size[0] - middle - 2.0 * self.aisle)
        left = [(-middle - end, -middle - begin) for begin, end in reversed(west)]
        return left + [(middle + begin, middle + end) for begin, end in east]

    def _half_columns(self, width: float) -> list[tuple[float, float]]:
        """Shelves of about the usual length, from 0 to an aisle before the end of a width."""
        usual = self.shelf[0]
        count = round(width / (usual + self.aisle))
        if count < 1:
            return [(0.0, usual)] if width >= usual + self.aisle else []
        length = width / count - self.aisle
        pitch = length + self.aisle
        return [(k * pitch, k * pitch + length) for k in range(count)] if length > 0.0 else []

    def _shelf(self, begin: float, end: float, y: float, stream: RandomStream) -> list[OrientedBox]:
        """Two shelves back to back; a pallet may stand in an empty bay."""
        length, depth = end - begin, self.shelf[1]
        bays = max(1, round(length / BAY))
        bay = length / bays
        pieces: list[OrientedBox] = []
        for side in (-0.5, 0.5):
            present = stream.uniforms(bays) >= self.missing
            edges = np.flatnonzero(np.diff(np.concatenate([[0], present, [0]])))
            for first, last in edges.reshape(-1, 2).tolist():
                x = begin + 0.5 * (first + last) * bay
                pieces.append((x, y + side * depth, (last - first) * bay, depth, 0.0))
            for k in np.flatnonzero(~present).tolist():
                if stream.uniform() < self.pallets:
                    pieces.append(_pallet(begin + (k + 0.5) * bay, y + side * depth, 0.05, stream))
        return pieces

    def _docks(self) -> list[Place]:
        count = max(1, int(self.size[1] / DOCK_SPACING))
        x = -0.5 * self.size[0] + 1.5
        return [
            Place("dock", f"dock {k + 1}", x, (k - 0.5 * (count - 1)) * DOCK_SPACING)
            for k in range(count)
        ]

    def _dock(self, dock: Place, stream: RandomStream) -> list[OrientedBox]:
        """Posts on both sides of a dock, and pallets between it and the next one."""
        wall = -0.5 * self.size[0]
        pieces = [(wall + 0.5, dock.y + side * 1.6, POST, POST, 0.0) for side in (-1.0, 1.0)]
        for k in range(3):
            if dock.y + 3.5 < 0.5 * self.size[1] and stream.uniform() < self.pallets:
                pieces.append(_pallet(wall + 1.0 + 1.5 * k, dock.y + 3.0, 0.2, stream))
        return pieces


def _pallet(x: float, y: float, scatter: float, stream: RandomStream) -> OrientedBox:
    """A pallet, displaced and rotated at random by up to `scatter` m and rad."""
    shift_x, shift_y, turn = (stream.between(-scatter, scatter) for _ in range(3))
    return x + shift_x, y + shift_y, *PALLET, turn
