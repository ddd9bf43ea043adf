"""Likelihood fields: the distance from the nearest wall, cell by cell of a map.

The model is that of Thrun, Burgard and Fox (Probabilistic Robotics, 2005, section 6.4). A cell has
one byte: the exact distance of its centre from the nearest segment in steps of 5 mm, 255 for
1.275 m and beyond. A filter scores beams by a table of 256 likelihoods. So one field serves any
noise, and it stays in the cache of the processor.

With the distances comes a list of the floor cells, in which a robot can be. These are the cells in
the map's areas of the kind `floor`; in a map without such areas all cells between the walls, clear
of them.
"""

from __future__ import annotations

import math
import threading
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from astray.numerics import kernel
from astray.tables import Array, Column, Table, columns, table
from astray.world.geometry import Segment, rasterise, squared_distance
from astray.world.map import Map, Place
from astray.world.maps import MapSet

FLOOR = "floor"
"""The kind of a place of a map that is an area of floor."""
CELL = 0.05  # m
MOST_CELLS = 1 << 26  # of one map; a larger map gets larger cells
DISTANCE_STEP = 0.005  # m
MAX_STEPS = 255  # this distance and any longer one
CLEAR = 0.1  # m, the least distance of floor cells from walls

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
"""The field of a map: its lower left corner, size of a cell, width and height, its first cell and
its first floor cell in the arrays of all maps, and how many floor cells it has."""


class LikelihoodFieldArrays(NamedTuple):
    """The fields of a map set, as kernels read them."""

    fields: Table
    """LIKELIHOOD_FIELD of each map."""
    steps: Array
    """The distances of all cells in steps, uint8, row by row, map by map."""
    floor: Array
    """The numbers, within their map, of the floor cells."""
    of_world: Array
    """The number of the map of each world."""


@kernel
def write_distances(steps: Array, ends: Array, x: float, y: float, cell: float) -> None:
    """Write the distance of the nearest segment into cells [row, column] that hold MAX_STEPS."""
    reach = DISTANCE_STEP * MAX_STEPS
    for k in range(len(ends)):
        p = Segment(ends[k, 0], ends[k, 1], ends[k, 2], ends[k, 3])
        left = max(math.floor((min(p.ax, p.bx) - reach - x) / cell), 0)
        right = min(math.floor((max(p.ax, p.bx) + reach - x) / cell) + 1, steps.shape[1])
        low = max(math.floor((min(p.ay, p.by) - reach - y) / cell), 0)
        high = min(math.floor((max(p.ay, p.by) + reach - y) / cell) + 1, steps.shape[0])
        for row in range(low, high):
            for column in range(left, right):
                square = squared_distance(p, x + (column + 0.5) * cell, y + (row + 0.5) * cell)
                known = DISTANCE_STEP * steps[row, column]
                if square < known * known:
                    distance = math.floor(math.sqrt(square) / DISTANCE_STEP + 0.5)
                    steps[row, column] = min(distance, MAX_STEPS)


class LikelihoodField(NamedTuple):
    """The field of one map."""

    steps: Array
    """Distances in steps, uint8 [row, column]."""
    floor: Array
    """Numbers of the floor cells, (n,)."""
    x: float  # m, of the lower left corner
    y: float  # m
    cell: float  # m


def make_field(map: Map) -> LikelihoodField:
    """Compute the field of one map."""
    if not len(map):
        return LikelihoodField(np.zeros((0, 0), np.uint8), np.zeros(0, np.int64), 0.0, 0.0, CELL)
    west, south, east, north = map.bounds
    margin = DISTANCE_STEP * MAX_STEPS
    area = (east - west + 2.0 * margin) * (north - south + 2.0 * margin)
    cell = max(CELL, math.sqrt(area / MOST_CELLS))
    solid, (x, y) = rasterise(map, cell)
    border = math.ceil(margin / cell)
    x, y = x - border * cell, y - border * cell
    steps = np.full([size + 2 * border for size in solid.shape], MAX_STEPS, np.uint8)
    write_distances(steps, map.segments, x, y, cell)
    areas = [place for place in map.places if place.kind == FLOOR and len(place.points) > 2]
    if areas:
        floor = _cells_in_areas(areas, steps.shape, x, y, cell)
    else:
        floor = np.pad(~solid, border) & (steps >= CLEAR / DISTANCE_STEP)
    return LikelihoodField(steps, np.flatnonzero(floor), x, y, cell)


def _cells_in_areas(
    areas: list[Place], shape: tuple[int, ...], x: float, y: float, cell: float
) -> Array:
    """Mark the cells [row, column] whose centre is in one of the areas."""
    floor = np.zeros(shape, bool)
    for area in areas:
        corners = (np.array(area.points) - (x, y)) / cell - 0.5  # the centre of cell k is at k
        low = np.clip(np.ceil(corners.min(axis=0)), 0, shape[::-1]).astype(np.int64)
        high = np.clip(np.floor(corners.max(axis=0)) + 1, 0, shape[::-1]).astype(np.int64)
        column, row = np.arange(low[0], high[0]), np.arange(low[1], high[1])[:, None]
        inside = np.zeros((len(row), len(column)), bool)
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            if a[1] != b[1]:
                crossing = a[0] + (row - a[1]) * (b[0] - a[0]) / (b[1] - a[1])
                inside ^= ((a[1] > row) != (b[1] > row)) & (column < crossing)
        floor[low[1] : high[1], low[0] : high[0]] |= inside
    return floor


_cache: WeakKeyDictionary[Map, LikelihoodField] = WeakKeyDictionary()
_cache_lock = threading.Lock()


def field_of(map: Map) -> LikelihoodField:
    """The field of one map, computed once and kept as long as the map."""
    with _cache_lock:
        if map not in _cache:
            _cache[map] = make_field(map)
        return _cache[map]


class LikelihoodFieldCache:
    """The fields of a map set; they are joined again when its maps change."""

    def __init__(self) -> None:
        self._maps: list[Map] = []
        self._lock = threading.Lock()
        self._arrays: LikelihoodFieldArrays

    def of(self, maps: MapSet) -> LikelihoodFieldArrays:
        """The fields of a map set; `of_world` is the array of the map set itself."""
        with self._lock:
            if self._maps != maps.maps:
                self._arrays = self._join(maps)
                self._maps = list(maps.maps)
            if self._arrays.of_world is not maps.of_world:
                self._arrays = self._arrays._replace(of_world=maps.of_world)
            return self._arrays

    def _join(self, maps: MapSet) -> LikelihoodFieldArrays:
        fields = [field_of(map) for map in maps.maps]
        records, first, first_floor = table(LIKELIHOOD_FIELD, len(fields)), 0, 0
        for record, field in zip(records, fields, strict=True):
            record.x, record.y, record.cell = field.x, field.y, field.cell
            record.height, record.width = field.steps.shape
            record.first, record.first_floor, record.floors = first, first_floor, len(field.floor)
            first += field.steps.size
            first_floor += len(field.floor)
        steps = np.concatenate([field.steps.ravel() for field in fields])
        floor = np.concatenate([field.floor for field in fields])
        return LikelihoodFieldArrays(records, steps, floor, maps.of_world)
