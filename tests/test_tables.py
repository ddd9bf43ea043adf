"""Rows of tables are written whole, whatever their columns are."""

from __future__ import annotations

import numpy as np
import pytest

from astray.tables import (
    COLLISION_STATE,
    COMMAND,
    STATE,
    TRACK,
    Columns,
    Table,
    clear_rows,
    table,
    write_records,
)

ROWS = np.array([4, 0, 3])
LAYOUTS = [STATE, COMMAND, COLLISION_STATE, TRACK]


def made(layout: Columns, n: int, seed: int) -> Table:
    """A table in which no two values are equal."""
    rng = np.random.default_rng(seed)
    found = table(layout, n)
    for name in layout.names or ():
        found[name] = rng.integers(1, 100, found[name].shape)
    return found


@pytest.mark.parametrize("layout", LAYOUTS)
def test_put_writes_a_record_to_each_row_or_one_to_all(layout: Columns) -> None:
    for some in (made(layout, 3, 1), made(layout, 1, 2)):
        goal = made(layout, 6, 3)
        by_columns = goal.copy()
        write_records(goal, ROWS, some)
        for name in layout.names or ():
            by_columns[name][ROWS] = some[name]
        np.testing.assert_array_equal(goal, by_columns)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_clear_writes_zeros_to_these_rows_alone(layout: Columns) -> None:
    goal = made(layout, 12, 3).reshape(6, 2)[1:]  # a part of a table with several moments
    before = goal.copy()
    clear_rows(goal, ROWS)
    np.testing.assert_array_equal(goal[ROWS], table(layout, 6).reshape(3, 2))
    np.testing.assert_array_equal(goal[[1, 2]], before[[1, 2]])
