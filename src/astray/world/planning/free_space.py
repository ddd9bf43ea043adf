"""Where robots find room: spots of a map that are away from obstacles and from each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from astray.numerics import kernel
from astray.tables import Array
from astray.world.geometry import list_near_segments, make_nearest_segments, winding_number
from astray.world.maps import MapSet

TakenPositions = tuple[Array, Array]
"""Worlds, by their places in the batch, and the spots in them that are taken, (n, 2) m."""
WIDER = 1.0 + 1e-9  # times the clearance that one looks around: the nearest is then told exactly


@kernel
def is_free(walls: Any, solids: Any, number: int, x: float, y: float, clearance: float) -> bool:
    """Whether no obstacle of a map is nearer than this, and the place is not in a solid."""
    listing, faces, cells, grids, plans = walls
    disc = (x, y, 0.0, WIDER * clearance)
    if list_near_segments(listing, faces, cells, grids, plans[number], disc) < clearance:
        return False
    rings, starts = solids
    return winding_number(rings, starts[number], starts[number + 1], x, y) == 0


@kernel
def is_apart(spots: Array, first: int, last: int, x: float, y: float, clearance: float) -> bool:
    """Whether some spots are so far away that two robots have room."""
    for k in range(first, last):
        dx, dy = spots[k, 0] - x, spots[k, 1] - y
        if dx * dx + dy * dy < 4.0 * clearance * clearance:
            return False
    return True


@kernel
def find_spots(
    spots: Array, tries: Array, where: Any, walls: Any, solids: Any, clearance: float
) -> int:
    """The first try of each robot that has room; the first robot that finds none, −1 if all do.

    A robot keeps away from those before it in its world, whatever comes after; those that have a
    spot keep it.
    """
    worlds, numbers, bounds = where
    begun = 0
    for i in range(len(spots)):
        if worlds[i] != worlds[begun]:
            begun = i
        if not math.isnan(spots[i, 0]):
            continue
        low_x, low_y, high_x, high_y = bounds[i, 0], bounds[i, 1], bounds[i, 2], bounds[i, 3]
        found = False
        for k in range(tries.shape[1] // 2):
            x = low_x + tries[i, 2 * k] * (high_x - low_x)
            y = low_y + tries[i, 2 * k + 1] * (high_y - low_y)
            if is_apart(spots, begun, i, x, y, clearance) and is_free(
                walls, solids, numbers[i], x, y, clearance
            ):
                spots[i, 0], spots[i, 1] = x, y
                found = True
                break
        if not found:
            return i
    return -1


def sample_free_positions(
    tries: Array, map: MapSet, worlds: Array, clearance: float, taken: TakenPositions | None = None
) -> Array | None:
    """A spot for each robot, (n, 2) m; None if one finds none.

    `tries` has pairs of shares of the map's width and height, `worlds` the world of each robot, by
    its place in the batch; those of a world come one after the other. Spots may be taken already.
    """
    if taken is not None and len(taken[0]):
        return _among(tries, map, worlds, clearance, taken)
    return _find(np.full((len(tries), 2), np.nan), tries, map, worlds, clearance)


def _among(
    tries: Array, map: MapSet, worlds: Array, clearance: float, taken: TakenPositions
) -> Array | None:
    """Spots away from those that are taken: as if they came first in their worlds."""
    n = len(taken[0])
    spots = np.concatenate([taken[1], np.full((len(tries), 2), np.nan)])
    tries = np.concatenate([np.zeros((n, tries.shape[1])), tries])
    worlds = np.concatenate([taken[0], worlds])
    order = np.argsort(worlds, kind="stable")
    found = _find(spots[order], tries[order], map, worlds[order], clearance)
    if found is None:
        return None
    spots[order] = found
    return spots[n:]


def _find(spots: Array, tries: Array, map: MapSet, worlds: Array, clearance: float) -> Array | None:
    index, numbers = map.index, map.of_world[worlds]
    used, which = np.unique(numbers, return_inverse=True)
    bounds = np.array([map.maps[number].bounds for number in used]).reshape(-1, 4)[which]
    listing = make_nearest_segments(len(index.ends))
    walls = listing, index.faces, index.cells, index.grids, index.plans
    where, solids = (worlds, numbers, bounds), tuple(map.solids)
    missing = find_spots(spots, tries, where, walls, solids, clearance)
    return spots if missing < 0 else None
