"""The contacts of a run as a table: when and where each began, and how fast."""

from __future__ import annotations

from astray.numerics import kernel
from astray.tables import Column, Rows, Table, columns, table

COLLISION = columns(
    "stamp s",
    Column("world", "", "i4"),
    Column("row", "", "i8"),
    Column("other", "", "i8"),
    "x m",
    "y m",
    "speed m/s",
)
"""The beginning of a contact: when and where a row met another, or a wall (−1), and how fast."""


@kernel
def write_hits(
    hits: Table, count: int, truth: Table, contacts: Table, memory: Table, rows: Rows
) -> int:
    """Let rows that touch something remember it, and write down those that did not before.

    How many are written down then.
    """
    for i in rows:
        memory[i].touching = True
        if not memory[i].touched:
            h, s, c = hits[count], truth[i], contacts[i]
            h.stamp, h.world, h.row = s.stamp, s.world, i
            h.other, h.x, h.y, h.speed = c.other, c.x, c.y, c.speed
            count += 1
    return count


class CollisionLog:
    """COLLISION records in order of time: all of a run, or only the newest `max_records`."""

    def __init__(self, max_records: int | None = None) -> None:
        self.max_records = max_records
        self.total = 0  # that have begun so far, kept or not
        self._room, self._count = table(COLLISION, 0), 0

    def __len__(self) -> int:
        return self._count if self.max_records is None else min(self._count, self.max_records)

    def newest(self, count: int) -> Table:
        """The last so many, or as many of them as are kept."""
        first = self._count - min(count, len(self))
        return self._room[first : self._count]

    def all(self) -> Table:
        """All that are kept, a copy."""
        return self.newest(len(self)).copy()

    def write(self, truth: Table, contacts: Table, memory: Table, rows: Rows) -> None:
        """Write down which of the rows that touch something have begun to."""
        if self._count + len(rows) > len(self._room):
            self._make_room(len(rows))
        before = self._count
        self._count = write_hits(self._room, before, truth, contacts, memory, rows)
        self.total += self._count - before

    def restore(self, hits: Table) -> None:
        """Take over those of a saved run, or none."""
        self._room, self._count, self.total = hits.copy(), len(hits), len(hits)

    def _make_room(self, more: int) -> None:
        """Twice the room of what is kept, so that it is seldom copied."""
        kept = self.all()
        self._room, self._count = table(COLLISION, 2 * (len(kept) + more)), len(kept)
        self._room[: len(kept)] = kept
