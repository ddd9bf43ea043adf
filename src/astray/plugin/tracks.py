"""What robots believe of each other: a table of tracks for every observer."""

from __future__ import annotations

import numpy as np

from astray.tables import TRACK, TRACKS, Array, Rows, Table, clear, put, table


class Tracks:
    """The tracks of n observers: `tracks["x"]` is (n, slots), nan where a slot is empty."""

    def __init__(self, n: int, slots: int) -> None:
        self.table = table(TRACKS, n)
        """TRACKS, (n,)."""
        self.tracks: Table = table(TRACK, n * slots).reshape(n, slots)
        """TRACK, (n, slots)."""
        self.stamp: Array = self.table["stamp"]
        self.forget(np.arange(n))

    def __getitem__(self, column: str) -> Array:
        return self.tracks[column]

    def of(self, row: int) -> Table:
        """The confirmed tracks of one observer, a copy, in the order of their numbers."""
        mine = self.tracks[row]
        found: Table = mine[mine["confirmed"]]
        return np.sort(found, order="number")

    def forget(self, rows: Rows) -> None:
        """Nothing is known to these rows."""
        clear(self.table, rows)
        self.stamp[rows] = np.nan
        put(self.tracks, rows, EMPTY)


EMPTY = table(TRACK, 1, np.nan)
EMPTY["identity"] = -1
EMPTY.setflags(write=False)
"""A slot without a track, (1,)."""
