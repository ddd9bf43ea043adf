"""Initial values of rows: many tables are filled in one call.

Thousands of worlds may be reset at every tick, a few at a time, and each row has some twenty
tables. NumPy takes longer to write to one of them than a kernel takes to write to all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from astray.numerics import compiled_for, kernel
from astray.tables import Array, Rows

TABLES_PER_CALL = 8  # fixed, so that the kernel is compiled for one number of tables
InitialValue = tuple[Array, Array | None]
"""A table or an array with a leading row axis, and the record of a row of it; None for zeros."""


@kernel
def fill_rows(targets: tuple[Array, ...], values: Array, rows: Rows) -> None:
    """Write values, one after the other, to these rows of some arrays, (n, size)."""
    first = 0
    for target in targets:
        for i in rows:
            row = target[i]
            for k in range(target.shape[1]):
                row[np.uint64(k)] = values[np.uint64(first + k)]
        first += target.shape[1]


class RowInitializer:
    """Some tables, and the initial value of a row of each."""

    def __init__(self, parts: Iterable[InitialValue]) -> None:
        """Prepare the calls of the kernel.

        Args:
            parts: Tables, and what fills a row of each.
        """
        raw = [_raw(target, value) for target, value in parts if target.size]
        self._calls: list[tuple[tuple[Array, ...], Array]] = []
        for word in (np.uint64, np.uint8):
            of_word = [(target, value) for target, value in raw if target.dtype == word]
            for k in range(0, len(of_word), TABLES_PER_CALL):
                targets, values = zip(*of_word[k : k + TABLES_PER_CALL], strict=True)
                padding = (np.zeros((len(targets[0]), 0), word),) * (TABLES_PER_CALL - len(targets))
                self._calls.append(((*targets, *padding), np.concatenate(values)))
        self._compiled: list[Callable[..., None]] = []

    def fill(self, rows: Rows) -> None:
        """Write the initial values to these rows.

        Args:
            rows: Indices, (k,).
        """
        rows = np.ascontiguousarray(rows, np.int64)  # the one type that the code is compiled for
        if not self._compiled:
            self._compiled = [compiled_for(fill_rows, *call, rows) for call in self._calls]
        for compiled, (targets, values) in zip(self._compiled, self._calls, strict=True):
            compiled(targets, values, rows)


def _raw(target: Array, value: Array | None) -> tuple[Array, Array]:
    """The same memory as words of 8 bytes or of one, (n, size), and the words of a row's value."""
    size = target.nbytes // len(target)
    word = np.dtype(np.uint8 if size % 8 else np.uint64)
    content = bytes(size) if value is None else value.tobytes()
    words = np.ndarray((len(target), size // word.itemsize), word, target)
    return words, np.frombuffer(content, word)
