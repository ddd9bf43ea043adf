"""Generated maps: a function of the seed, of the requested size, free in the middle, connected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from astray.errors import MapError
from astray.tables import Array
from astray.world.geometry.raster import rasterise
from astray.world.map import Map
from astray.world.maps.describe import loose_ends
from astray.world.maps.generate import GENERATORS
from astray.world.maps.generate.base import distance_to_origin
from astray.world.maps.read import read_map

every = pytest.mark.parametrize("kind", GENERATORS)
SMALL: dict[str, dict[str, Any]] = {
    "rooms": {"size": [9, 7], "room": [3, 2.5], "corridor": 1.2},
    "forest": {"size": [4, 4]},
    "maze": {"size": [3, 3], "cell": 1, "clear": 0.5},
    "warehouse": {"size": [20, 10], "shelf": [4, 0.8], "aisle": 2},
}


def flood(free: Array, begin: tuple[int, int]) -> Array:
    """The free cells [y, x] that are connected to a cell."""
    reached = np.zeros_like(free)
    reached[begin] = True
    border = [begin]
    while border:
        row, column = border.pop()
        for r, c in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            inside = 0 <= r < free.shape[0] and 0 <= c < free.shape[1]
            if inside and free[r, c] and not reached[r, c]:
                reached[r, c] = True
                border.append((r, c))
    return reached


def grown(mask: Array, cells: int) -> Array:
    """Obstacles inflated by a radius in cells."""
    for _ in range(cells):
        mask = (
            mask.copy()
            | np.pad(mask, 1)[2:, 1:-1]
            | np.pad(mask, 1)[:-2, 1:-1]
            | np.pad(mask, 1)[1:-1, 2:]
            | np.pad(mask, 1)[1:-1, :-2]
        )
    return mask


@every
def test_a_map_is_a_function_of_its_seed(kind: str) -> None:
    first = read_map({"kind": kind, "seed": 5})
    assert read_map({"kind": kind}, seed=5).digest() == first.digest()
    assert read_map({"kind": kind, "seed": 5}, seed=9, world=3).digest() == first.digest()
    assert read_map({"kind": kind, "seed": 6}).digest() != first.digest()
    assert first.name == kind


@every
def test_worlds_differ_only_where_that_is_asked_for(kind: str) -> None:
    spec = {"kind": kind, "per_world": True}
    digests = [read_map(spec, world=world, seed=2).digest() for world in range(3)]
    assert len(set(digests)) == 3
    assert read_map(spec, world=1, seed=2).digest() == digests[1]
    assert read_map({"kind": kind}, seed=2).digest() == digests[0]


@every
@pytest.mark.parametrize("clear", [0.3, 1.0, 3.3])
def test_a_disc_in_the_middle_is_free(kind: str, clear: float) -> None:
    for seed in range(4):
        found = read_map({"kind": kind, "clear": clear, "seed": seed})
        assert distance_to_origin(found.segments).min() >= clear - 1e-9
        west, south, east, north = found.bounds
        assert (west, south) == pytest.approx((-east, -north), abs=1e-6)


@every
@pytest.mark.parametrize("segments", [300, 3000, 10_000])
def test_segments_may_be_asked_for_instead_of_a_size(kind: str, segments: int) -> None:
    found = read_map({"kind": kind, "segments": segments})
    assert len(found) == pytest.approx(segments, rel=0.1 if segments < 1000 else 0.05)


@every
def test_a_hundred_thousand_segments_take_seconds(kind: str) -> None:
    import time

    began = time.perf_counter()
    found = read_map({"kind": kind, "segments": 100_000})
    assert time.perf_counter() - began < 15.0
    assert len(found) == pytest.approx(100_000, rel=0.05)


@every
@pytest.mark.parametrize("seed", range(3))
def test_small_maps_can_be_made(kind: str, seed: int) -> None:
    found = read_map({"kind": kind, "seed": seed, **SMALL[kind]})
    assert len(found) > 4


@every
def test_solids_have_no_loose_ends(kind: str) -> None:
    found = read_map(kind)
    solid = Map(found.segments[found.solid], found.solid[found.solid])
    assert len(loose_ends(solid)) == 0


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "spec",
    [
        {"kind": "rooms"},
        {"kind": "rooms", "size": [60, 12]},
        {"kind": "rooms", "size": [30, 40], "furniture": 1.0},
        {"kind": "warehouse"},
    ],
)
def test_every_place_of_a_building_can_be_reached_by_a_robot_and_nothing_outside(
    spec: dict[str, Any], seed: int
) -> None:
    found = read_map({**spec, "seed": seed})
    mask, (x, y) = rasterise(found, 0.1)
    free = ~grown(mask, 2)
    reached = flood(free, (int(-y / 0.1), int(-x / 0.1)))
    assert not reached[0].any()
    assert not reached[:, 0].any()
    for place in found.places:
        assert reached[int((place.y - y) / 0.1), int((place.x - x) / 0.1)], place
    assert len(found.places) > 3


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loops", [0.0, 0.3])
def test_every_cell_of_a_maze_can_be_reached_and_nothing_outside(seed: int, loops: float) -> None:
    found = read_map({"kind": "maze", "cell": 1.0, "size": [15, 11], "seed": seed, "loops": loops})
    mask, (x, y) = rasterise(found, 0.25)
    reached = flood(~mask, (int(-y / 0.25), int(-x / 0.25)))
    assert not reached[0].any()
    for column in range(-7, 8):
        for row in range(-5, 6):
            assert reached[int((row - y) / 0.25), int((column - x) / 0.25)]


def test_a_maze_without_loops_is_a_spanning_tree() -> None:
    found = read_map({"kind": "maze", "cell": 1.0, "size": [15, 11], "loops": 0.0, "clear": 0.4})
    length = np.abs(found.segments[:, 2:] - found.segments[:, :2]).sum()
    every_wall = 16 * 11 + 15 * 12
    assert length == every_wall - (15 * 11 - 1)  # a tree opens a wall per cell but the first


def test_trees_keep_their_gap() -> None:
    spec = {"kind": "forest", "gap": 0.5, "fence": False, "radius": [0.1, 0.3]}
    found = read_map(spec)
    trees = found.segments[:, :2].reshape(-1, 10, 2)
    middle, radius = trees.mean(axis=1), 0.3
    apart = np.linalg.norm(middle[:, None] - middle[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    assert found.solid.all()
    assert apart.min() > 0.5 + 0.1
    assert apart.min() < 2 * radius + 2 * 0.5
    assert len(trees) == pytest.approx(30 * 22 * 0.2, abs=1)


def test_a_forest_is_as_dense_as_it_can_be_where_more_is_asked_for() -> None:
    found = read_map({"kind": "forest", "density": 9.0, "size": [10, 10]})
    assert 10 < len(found) / 10 < 400


def test_a_size_that_is_too_small_is_refused_with_a_message() -> None:
    with pytest.raises(MapError, match="no shelf fits"):
        read_map({"kind": "warehouse", "size": [6, 6]})
    with pytest.raises(MapError, match="no size gives about 5 segments"):
        read_map({"kind": "rooms", "segments": 5})
    with pytest.raises(MapError, match="a height of at least 6 m"):
        read_map({"kind": "rooms", "size": [9, 5]})
