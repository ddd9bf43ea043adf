"""Rows as they are before anything has happened: many tables are filled in one call.

Thousands of worlds may start over at every tick, a few at a time, and each row has some twenty
tables. To write to one of them takes NumPy longer than to write to all of them takes a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from astray.numerics import compiled_for, kernel
from astray.tables import Array, Rows

TOGETHER = 8  # tables that are handed to the kernel at a time: one compiles for any number of them
InitialValue = tuple[Array, Array | None]
"""A table or an array with a leading row axis, and what fills a row of it; None for zeros."""


@kernel
def fill_rows(goals: tuple[Array, ...], filling: Array, rows: Rows) -> None:
    """Write to these rows of each of some arrays, (n, size), what fills them."""
    first = 0
    for goal in goals:
        for i in rows:
            row = goal[i]
            for k in range(goal.shape[1]):
                row[np.uint64(k)] = filling[np.uint64(first + k)]
        first += goal.shape[1]


class RowInitializer:
    """Some tables, and what a row of each holds at first."""

    def __init__(self, parts: Iterable[InitialValue]) -> None:
        raw = [_raw(goal, fill) for goal, fill in parts if goal.size]
        self._calls: list[tuple[tuple[Array, ...], Array]] = []
        for word in (np.uint64, np.uint8):
            some = [(goal, fill) for goal, fill in raw if goal.dtype == word]
            for k in range(0, len(some), TOGETHER):
                goals, fills = zip(*some[k : k + TOGETHER], strict=True)
                more = (np.zeros((len(goals[0]), 0), word),) * (TOGETHER - len(goals))
                self._calls.append(((*goals, *more), np.concatenate(fills)))
        self._codes: list[Callable[..., None]] = []

    def fill(self, rows: Rows) -> None:
        """Let these rows be as they are at first."""
        rows = np.ascontiguousarray(rows, np.int64)  # of the one type that the code is for
        if not self._codes:
            self._codes = [compiled_for(fill_rows, *given, rows) for given in self._calls]
        for code, (goals, filling) in zip(self._codes, self._calls, strict=True):
            code(goals, filling, rows)


def _raw(goal: Array, fill: Array | None) -> tuple[Array, Array]:
    """The same memory as words of 8 bytes, or of one, (n, size), and what fills a row of it."""
    size = goal.nbytes // len(goal)
    word = np.dtype(np.uint8 if size % 8 else np.uint64)
    filling = bytes(size) if fill is None else fill.tobytes()
    words = np.ndarray((len(goal), size // word.itemsize), word, goal)
    return words, np.frombuffer(filling, word)
