"""Blank rows are as they were asked to be, and all others as they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import astray
from astray.errors import PluginError
from astray.plugin import Datasheets, Reading, Scene, row_initializer
from astray.plugin.row_initializer import TABLES_PER_CALL, RowInitializer
from astray.tables import ADDRESS, STATE, Array, Column, Rows, columns, table
from support.kernels import without_jit

ODD = columns(Column("a", "", "?"), Column("b", "", "?"), Column("c", "", "?"))  # of three bytes
ROWS = 7


def parts(count: int) -> list[tuple[Array, Array | None]]:
    """So many tables of all kinds, full of ones, and what fills them."""
    filled = table(STATE, 1, 2.5)
    kinds: list[tuple[Array, Array | None]] = [
        (table(STATE, ROWS, 1.0), filled),
        (np.ones((ROWS, 3)), None),
        (np.ones(ROWS, ODD), np.array([(True, False, True)], ODD)),
        (np.ones((ROWS, 2, 5), np.float32), None),
        (np.ones(ROWS, bool), None),
        (np.zeros((ROWS, 0)), None),
    ]
    return [
        kinds[k % len(kinds)] if k < len(kinds) else copy_of(kinds[k % 6]) for k in range(count)
    ]


def copy_of(part: tuple[Array, Array | None]) -> tuple[Array, Array | None]:
    return part[0].copy(), part[1]


@given(st.integers(0, 3 * TABLES_PER_CALL), st.sets(st.integers(0, ROWS - 1)))
def test_only_the_named_rows_are_filled(count: int, some: set[int]) -> None:
    made = parts(count)
    before = [goal.copy() for goal, _ in made]
    rows = np.array(sorted(some), np.int64)
    RowInitializer(made).fill(rows)
    for (goal, fill), old in zip(made, before, strict=True):
        old[rows] = np.zeros((), goal.dtype) if fill is None else fill
        np.testing.assert_array_equal(goal, old)


def test_plain_python_fills_the_same() -> None:
    made, others = parts(9), parts(9)
    RowInitializer(made).fill(np.array([1, 4]))
    with without_jit(row_initializer):
        RowInitializer(others).fill(np.array([1, 4]))
    for (goal, _), (other, _) in zip(made, others, strict=True):
        np.testing.assert_array_equal(goal, other)


def test_rows_of_any_kind_of_number_will_do() -> None:
    made = parts(2)
    RowInitializer(made).fill(np.array([5, 3, 1], np.int32)[::2])
    assert np.flatnonzero(made[1][0][:, 0] == 0.0).tolist() == [1, 5]


class Sideways(astray.Sensor):
    """Keeps an array the wrong way round."""

    measures = astray.tables.FIX

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Make room."""
        self.arrays["past"] = np.zeros((n, 3), order="F")

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read nothing."""


def test_an_array_that_cannot_be_filled_is_refused() -> None:
    with pytest.raises(PluginError, match="the array 'past' must be contiguous"):
        Sideways().attach(table(ADDRESS, 2), {}, 0.1, 0, "")
