"""How far each place of a map is from the nearest wall: what a likelihood field is made of.

Space is cut into cells. A cell has one byte: the exact distance of its middle from the nearest
segment in steps of 5 mm, 255 for 1.275 m and beyond. Whoever scores a beam has a table of 256
likelihoods, so the field serves any noise and lies in the cache of the processor.

Beside it is a list of the cells that are floor, where a robot may be. A map may have places of
the kind `floor`, areas that are known to be; else it is all between the walls, clear of them.
"""

from __future__ import annotations

import math
import threading
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from astray.numerics import kernel
from astray.tables import Array, Column, Table, columns, table
from astray.world.geometry import rasterise, squared_distance
from astray.world.map import Map, Place
from astray.world.maps import MapSet

FLOOR = "floor"
"""The kind of a place that is known to be floor."""
CELL = 0.05  # m
MOST_CELLS = 1 << 26  # of one map; a larger one gets wider cells
DISTANCE_STEP = 0.005  # m
MAX_STEPS = 255  # steps, and anything beyond
CLEAR = 0.1  # m from any wall: floor on which a robot can be

LIKELIHOOD_FIELD = columns(
    "x m",
    "y m",
    "cell m",
    Column("width", "cells", "i8"),
    Column("height", "cells", "i8"),
    Column("first", "", "i8"),
    Column("first_floor", "", "i8"),
    Column("floors", "", "i8"),
)
"""The field of a map: its lower left corner, its cells, and where they and its floor begin."""


class LikelihoodFieldArrays(NamedTuple):
    """The fields of an atlas, as kernels read them."""

    fields: Table
    """FIELD of each map."""
    steps: Array
    """The bytes of all cells, row by row, map by map."""
    floor: Array
    """The numbers, within their map, of the cells that are floor."""
    of_world: Array
    """The number of the map of each world."""


@kernel
def fill(steps: Array, ends: Array, x: float, y: float, cell: float) -> None:
    """Write the distance of the nearest segment into cells (rows, columns) that are all FAR."""
    reach = DISTANCE_STEP * MAX_STEPS
    for k in range(len(ends)):
        a = (ends[k, 0], ends[k, 1], ends[k, 2], ends[k, 3])
        left = max(math.floor((min(a[0], a[2]) - reach - x) / cell), 0)
        right = min(math.floor((max(a[0], a[2]) + reach - x) / cell) + 1, steps.shape[1])
        low = max(math.floor((min(a[1], a[3]) - reach - y) / cell), 0)
        high = min(math.floor((max(a[1], a[3]) + reach - y) / cell) + 1, steps.shape[0])
        for row in range(low, high):
            for column in range(left, right):
                far = squared_distance(a, x + (column + 0.5) * cell, y + (row + 0.5) * cell)
                known = DISTANCE_STEP * steps[row, column]
                if far < known * known:
                    steps[row, column] = min(
                        math.floor(math.sqrt(far) / DISTANCE_STEP + 0.5), MAX_STEPS
                    )


class LikelihoodField(NamedTuple):
    """The field of one map: bytes [row, column], floor (n,), lower left corner and cell, m."""

    steps: Array
    floor: Array
    x: float
    y: float
    cell: float


def make_field(map: Map) -> LikelihoodField:
    """The field of one map."""
    if not len(map):
        return LikelihoodField(np.zeros((0, 0), np.uint8), np.zeros(0, np.int64), 0.0, 0.0, CELL)
    west, south, east, north = map.bounds
    margin = DISTANCE_STEP * MAX_STEPS
    area = (east - west + 2.0 * margin) * (north - south + 2.0 * margin)
    cell = max(CELL, math.sqrt(area / MOST_CELLS))
    solid, (x, y) = rasterise(map, cell)
    around = math.ceil(margin / cell)
    x, y = x - around * cell, y - around * cell
    steps = np.full([size + 2 * around for size in solid.shape], MAX_STEPS, np.uint8)
    fill(steps, map.segments, x, y, cell)
    areas = [place for place in map.places if place.kind == FLOOR and len(place.points) > 2]
    if areas:
        floor = _inside(areas, steps.shape, x, y, cell)
    else:
        floor = np.pad(~solid, around) & (steps >= CLEAR / DISTANCE_STEP)
    return LikelihoodField(steps, np.flatnonzero(floor), x, y, cell)


def _inside(areas: list[Place], shape: tuple[int, ...], x: float, y: float, cell: float) -> Array:
    """Cells [row, column] whose middle is in one of some areas."""
    floor = np.zeros(shape, bool)
    for area in areas:
        corners = (np.array(area.points) - (x, y)) / cell - 0.5  # the middle of cell k is at k
        low = np.clip(np.ceil(corners.min(axis=0)), 0, shape[::-1]).astype(np.int64)
        high = np.clip(np.floor(corners.max(axis=0)) + 1, 0, shape[::-1]).astype(np.int64)
        column, row = np.arange(low[0], high[0]), np.arange(low[1], high[1])[:, None]
        inside = np.zeros((len(row), len(column)), bool)
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            if a[1] != b[1]:
                at = a[0] + (row - a[1]) * (b[0] - a[0]) / (b[1] - a[1])
                inside ^= ((a[1] > row) != (b[1] > row)) & (column < at)
        floor[low[1] : high[1], low[0] : high[0]] |= inside
    return floor


_made: WeakKeyDictionary[Map, LikelihoodField] = WeakKeyDictionary()
_making = threading.Lock()


def field_of(map: Map) -> LikelihoodField:
    """The field of one map, made once and kept as long as the map is."""
    with _making:
        if map not in _made:
            _made[map] = make_field(map)
        return _made[map]


class LikelihoodFieldCache:
    """The fields of an atlas, joined anew when its maps change."""

    def __init__(self) -> None:
        self._maps: list[Map] = []
        self._lock = threading.Lock()
        self._all: LikelihoodFieldArrays

    def of(self, atlas: MapSet) -> LikelihoodFieldArrays:
        """The fields of an atlas; `of_world` is the atlas's own."""
        with self._lock:
            if self._maps != atlas.maps:
                self._all = self._join(atlas)
                self._maps = list(atlas.maps)
            if self._all.of_world is not atlas.of_world:
                self._all = self._all._replace(of_world=atlas.of_world)
            return self._all

    def _join(self, atlas: MapSet) -> LikelihoodFieldArrays:
        plans, first, first_floor, parts = table(LIKELIHOOD_FIELD, len(atlas.maps)), 0, 0, []
        for plan, map in zip(plans, atlas.maps, strict=True):
            field = field_of(map)
            plan.x, plan.y, plan.cell = field.x, field.y, field.cell
            plan.height, plan.width = field.steps.shape
            plan.first, plan.first_floor, plan.floors = first, first_floor, len(field.floor)
            first += field.steps.size
            first_floor += len(field.floor)
            parts.append(field)
        steps = np.concatenate([part.steps.ravel() for part in parts])
        floor = np.concatenate([part.floor for part in parts])
        return LikelihoodFieldArrays(plans, steps, floor, atlas.of_world)
