"""Tables compared by their bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from astray.tables import Array, Table


def same(a: Table, b: Table) -> bool:
    """Whether two tables have the same bytes in every column."""
    names: Any = a.dtype.names or (None,)
    return all(_bytes(a, name) == _bytes(b, name) for name in names)


def _bytes(table: Array, column: str | None) -> bytes:
    return np.ascontiguousarray(table if column is None else table[column]).tobytes()
