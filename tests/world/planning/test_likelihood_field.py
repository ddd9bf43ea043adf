"""Likelihood fields: the exact distance of every cell from the walls, and where there is floor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astray.world.map import Map, Place, block, merge, wall
from astray.world.maps.map_set import MapSet
from astray.world.maps.read import read_map
from astray.world.planning.likelihood_field import (
    CELL,
    CLEAR,
    DISTANCE_STEP,
    FLOOR,
    MAX_STEPS,
    LikelihoodField,
    LikelihoodFieldCache,
    field_of,
    make_field,
)
from support.free_space import distance, is_free

number = st.floats(-4.0, 4.0)
ends = st.lists(st.tuples(number, number, number, number), min_size=1, max_size=6)


def centres(field: LikelihoodField, cells: Any) -> Any:
    """The centres of cells by their numbers, (n, 2) m."""
    wide = field.steps.shape[1]
    at = np.stack([cells % wide, cells // wide], axis=1) + 0.5
    return at * field.cell + (field.x, field.y)


@settings(max_examples=30)
@given(ends)
def test_a_cell_has_the_distance_of_the_nearest_segment(lines: Any) -> None:
    map = Map(np.array(lines), np.zeros(len(lines), bool))
    if not len(map):
        return
    field = make_field(map)
    cells = np.arange(0, field.steps.size, 7)
    exact = distance(map, centres(field, cells))
    steps = field.steps.ravel()[cells]
    near = exact < DISTANCE_STEP * (MAX_STEPS - 1)
    assert (
        np.abs(steps[near] * DISTANCE_STEP - exact[near]).max(initial=0.0)
        <= 0.5 * DISTANCE_STEP + 1e-9
    )
    assert (steps[~near] >= MAX_STEPS - 1).all()


def test_no_point_outside_a_field_is_near_a_wall() -> None:
    field = field_of(read_map("office"))
    rim = [field.steps[0], field.steps[-1], field.steps[:, 0], field.steps[:, -1]]
    assert min(side.min() for side in rim) * DISTANCE_STEP >= DISTANCE_STEP * MAX_STEPS - 2 * CELL


def test_floor_cells_are_clear_of_walls() -> None:
    map = read_map("office")
    field = field_of(map)
    assert is_free(map, centres(field, field.floor[::97]), CLEAR - DISTANCE_STEP).all()
    # 20 m by 12 m without 49 m² of solid, less a rim along 364 m of walls
    area = len(field.floor) * field.cell**2
    assert 240.0 - 49.0 - 364.0 * 2 * CLEAR < area < 240.0 - 49.0


def test_areas_of_the_kind_floor_are_the_whole_floor() -> None:
    room = wall([(0, 0), (6, 0), (6, 4), (0, 4)], closed=True)
    corner = Place(FLOOR, points=((1.0, 1.0), (3.0, 1.0), (1.0, 3.0)))  # a triangle of 2 m²
    field = make_field(Map(room.segments, room.solid, (corner,)))
    at = centres(field, field.floor)
    assert len(at) * field.cell**2 == pytest.approx(2.0, rel=0.05)
    assert (at.min(axis=0) >= 1.0).all()
    assert (at.sum(axis=1) <= 4.0 + 1e-9).all()


def test_an_empty_map_has_no_cells_and_no_floor() -> None:
    fields = LikelihoodFieldCache().of(MapSet([]))
    assert fields.fields["width"][0] == 0
    assert fields.fields["floors"][0] == 0


def test_a_field_is_computed_once_per_map_and_joined_again_for_other_maps() -> None:
    one, two = read_map("office"), merge([block([(0, 0), (1, 0), (1, 1)])])
    map_set, fields = MapSet([one, two], 2), LikelihoodFieldCache()
    first = fields.of(map_set)
    assert fields.of(map_set) is first
    assert field_of(one) is field_of(one)
    map_set.replace(one, np.array([1]))
    later = fields.of(map_set)
    assert len(later.fields) == len(map_set.maps)
    for world in range(2):
        plan, field = later.fields[later.of_world[world]], field_of(map_set.map(world))
        cells = later.steps[plan["first"] : plan["first"] + field.steps.size]
        assert (cells == field.steps.ravel()).all()
        floor = later.floor[plan["first_floor"] : plan["first_floor"] + plan["floors"]]
        assert (floor == field.floor).all()
