"""What a sensor delivers: a table of columns and, beside it, arrays that a scenario sizes."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from astray.plugin.row_initializer import InitialValue
from astray.tables import Array, Columns, table

Bulk = Mapping[str, tuple[int, ...]]


class Reading:
    """The readings of one sensor for n robots: `reading["x"]` is a column or a bulk array."""

    def __init__(self, layout: Columns, n: int, bulk: Bulk = MappingProxyType({})) -> None:
        self.table = table(layout, n)
        self.arrays = {name: np.zeros((n, *shape)) for name, shape in bulk.items()}
        self.stamp: Array = self.table["stamp"]
        self.fresh: Array = self.table["fresh"]

    def __getitem__(self, column: str) -> Array:
        return self.arrays[column] if column in self.arrays else self.table[column]

    def copy(self) -> Reading:
        """The same readings in tables of their own."""
        made = Reading(self.table.dtype, 0)
        made.table, made.arrays = self.table.copy(), {k: a.copy() for k, a in self.arrays.items()}
        made.stamp, made.fresh = made.table["stamp"], made.table["fresh"]
        return made

    def blanks(self) -> list[InitialValue]:
        """All that is to be blank where nothing has arrived yet."""
        nothing = table(self.table.dtype, 1)
        nothing["stamp"] = np.nan
        return [(self.table, nothing), *((array, None) for array in self.arrays.values())]
