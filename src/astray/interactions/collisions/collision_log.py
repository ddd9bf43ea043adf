"""The collision log: when and where each contact of a run began, and how fast."""

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
def write_collisions(
    log: Table, count: int, truth: Table, collisions: Table, memory: Table, rows: Rows
) -> int:
    """Mark rows as touching and append those that did not touch before; the new count."""
    for i in rows:
        memory[i].touching = True
        if not memory[i].touched:
            record, s, c = log[count], truth[i], collisions[i]
            record.stamp, record.world, record.row = s.stamp, s.world, i
            record.other, record.x, record.y, record.speed = c.other, c.x, c.y, c.speed
            count += 1
    return count


class CollisionLog:
    """COLLISION records in order of time: all of a run, or only the newest `max_records`.

    Attributes:
        max_records: How many records are kept; None for all.
        total: How many collisions have begun so far, kept or not.
    """

    def __init__(self, max_records: int | None = None) -> None:
        self.max_records = max_records
        self.total = 0
        self._records, self._count = table(COLLISION, 0), 0

    def __len__(self) -> int:
        return self._count if self.max_records is None else min(self._count, self.max_records)

    def newest(self, count: int) -> Table:
        """A view of the last `count` records, or of as many as are kept."""
        first = self._count - min(count, len(self))
        return self._records[first : self._count]

    def all(self) -> Table:
        """A copy of all records that are kept."""
        return self.newest(len(self)).copy()

    def write(self, truth: Table, collisions: Table, memory: Table, rows: Rows) -> None:
        """Append those of the colliding rows whose contact has just begun."""
        if self._count + len(rows) > len(self._records):
            self._reserve(len(rows))
        before = self._count
        self._count = write_collisions(self._records, before, truth, collisions, memory, rows)
        self.total += self._count - before

    def restore(self, records: Table) -> None:
        """Replace all records by those of a saved run."""
        self._records, self._count, self.total = records.copy(), len(records), len(records)

    def _reserve(self, more: int) -> None:
        """Double the capacity, so records are seldom copied; drop what need not be kept."""
        kept = self.all()
        self._records, self._count = table(COLLISION, 2 * (len(kept) + more)), len(kept)
        self._records[: len(kept)] = kept
