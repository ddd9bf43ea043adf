"""Free-space sampling: positions on a map with a clearance from obstacles and from other robots."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from astray.numerics import kernel
from astray.tables import Array
from astray.world.geometry import (
    NearestSegments,
    NearQuery,
    SegmentIndex,
    Solids,
    list_near_segments,
    make_nearest_segments,
    segment_grids,
    winding_number,
)
from astray.world.maps import MapSet

WIDER = 1.0 + 1e-9  # times the clearance that is searched, so the nearest distance is exact there


class TakenPositions(NamedTuple):
    """Positions that robots have already."""

    worlds: Array
    """The index of the world of each in the batch, (n,)."""
    positions: Array
    """x and y, (n, 2) m."""


class Obstacles(NamedTuple):
    """What a free position must be clear of."""

    walls: SegmentIndex
    """The walls of all maps."""
    solids: Solids
    nearest: NearestSegments
    """Workspace for searches."""


class Seekers(NamedTuple):
    """The robots that need a position, world by world."""

    worlds: Array
    """The index of each one's world in the batch, (n,)."""
    maps: Array
    """The number of each one's map, (n,)."""
    bounds: Array
    """The bounding box of each one's map, (n, 4) m."""


@kernel
def is_free(obstacles: Obstacles, number: int, x: float, y: float, clearance: float) -> bool:
    """Whether a point of a map is outside of solids and clear of all obstacles."""
    walls, solids = obstacles.walls, obstacles.solids
    query = NearQuery(x, y, 0.0, WIDER * clearance)
    entry = walls.maps[number]
    if list_near_segments(obstacles.nearest, segment_grids(walls), entry, query) < clearance:
        return False
    first, stop = solids.starts[number], solids.starts[number + 1]
    return winding_number(solids.ends, first, stop, x, y) == 0


@kernel
def is_apart(positions: Array, first: int, last: int, x: float, y: float, clearance: float) -> bool:
    """Whether a point is twice the clearance away from the positions `first` to `last`."""
    for k in range(first, last):
        dx, dy = positions[k, 0] - x, positions[k, 1] - y
        if dx * dx + dy * dy < 4.0 * clearance * clearance:
            return False
    return True


@kernel
def find_positions(
    positions: Array, tries: Array, seekers: Seekers, obstacles: Obstacles, clearance: float
) -> int:
    """Write the first free try of each robot; the first robot that finds none, −1 if all do.

    A robot keeps away from those before it in its world, and not from those after it. Positions
    that are not nan stay as they are.
    """
    worlds, bounds = seekers.worlds, seekers.bounds
    begin = 0
    for i in range(len(positions)):
        if worlds[i] != worlds[begin]:
            begin = i
        if not math.isnan(positions[i, 0]):
            continue
        low_x, low_y, high_x, high_y = bounds[i, 0], bounds[i, 1], bounds[i, 2], bounds[i, 3]
        found = False
        for k in range(tries.shape[1] // 2):
            x = low_x + tries[i, 2 * k] * (high_x - low_x)
            y = low_y + tries[i, 2 * k + 1] * (high_y - low_y)
            if is_apart(positions, begin, i, x, y, clearance) and is_free(
                obstacles, seekers.maps[i], x, y, clearance
            ):
                positions[i, 0], positions[i, 1] = x, y
                found = True
                break
        if not found:
            return i
    return -1


def sample_free_positions(
    tries: Array, map: MapSet, worlds: Array, clearance: float, taken: TakenPositions | None = None
) -> Array | None:
    """Find a free position for each robot.

    Args:
        tries: Pairs of shares of the map's width and height to try, (n, 2 · tries), in [0, 1).
        map: The maps of all worlds.
        worlds: The index in the batch of each robot's world, sorted, (n,).
        clearance: The least distance from obstacles and half of that from other robots, m.
        taken: Positions that robots have already.

    Returns:
        x and y of each robot, (n, 2) m; None if a robot finds none.
    """
    if taken is not None and len(taken.worlds):
        return _sample_among(tries, map, worlds, clearance, taken)
    return _sample(np.full((len(tries), 2), np.nan), tries, map, worlds, clearance)


def _sample_among(
    tries: Array, map: MapSet, worlds: Array, clearance: float, taken: TakenPositions
) -> Array | None:
    """Sample positions as if those taken came first in their worlds."""
    n = len(taken.worlds)
    positions = np.concatenate([taken.positions, np.full((len(tries), 2), np.nan)])
    tries = np.concatenate([np.zeros((n, tries.shape[1])), tries])
    worlds = np.concatenate([taken.worlds, worlds])
    order = np.argsort(worlds, kind="stable")
    found = _sample(positions[order], tries[order], map, worlds[order], clearance)
    if found is None:
        return None
    positions[order] = found
    return positions[n:]


def _sample(
    positions: Array, tries: Array, map: MapSet, worlds: Array, clearance: float
) -> Array | None:
    numbers = map.of_world[worlds]
    used, which = np.unique(numbers, return_inverse=True)
    bounds = np.array([map.maps[number].bounds for number in used]).reshape(-1, 4)[which]
    obstacles = Obstacles(map.index, map.solids, make_nearest_segments(len(map.index.ends)))
    seekers = Seekers(worlds, numbers, bounds)
    missing = find_positions(positions, tries, seekers, obstacles, clearance)
    return positions if missing < 0 else None
