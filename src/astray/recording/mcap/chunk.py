"""A chunk while it is open: what was published, kept as copies of tables until it is encoded.

At each step at which publishers are due, the chunk takes a sample: it copies the tables that their
messages are made of, each table once. That is all that a tick costs. The messages are encoded
later, in another thread. The copies lie in memory that is used again for a later chunk.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from astray.ros.messages import record_memory
from astray.ros.publishers import Publisher
from astray.tables import Array, Rows


class EncodedMessage(NamedTuple):
    """A message that was given as bytes, and the sample before which it stands."""

    sample: int
    ns: int
    channel: int
    data: bytes


class PartialSample(NamedTuple):
    """A sample in which a publisher had messages for some of its rows only."""

    sample: int
    publisher: int
    rows: Rows


class TableCopies:
    """The copies of one table, one per sample, in memory that several tables share."""

    def __init__(self, table: Array, memory: Array, start: int, capacity: int) -> None:
        """Place the copies from a byte offset on."""
        stride = copy_stride(table)
        self.start, self.stride = start, stride
        self.live = record_memory(table).bytes.data
        """The bytes of the table itself, which the run changes."""
        strides = (stride, *np.empty(table.shape, table.dtype).strides)
        self._copies = np.ndarray((capacity, *table.shape), table.dtype, memory, start, strides)
        self._columns = {"": self._copies}

    def write(self, samples: Rows, rows: Rows, values: Array) -> None:
        """Write the values of rows at samples."""
        self._copies[samples, rows] = values

    def read(self, samples: Rows, rows: Rows, column: str) -> Array:
        """The values of a column, or of the whole array, of rows at samples."""
        values = self._columns.get(column)
        if values is None:  # to find a column takes longer than to read it
            values = self._columns[column] = self._copies[column]
        return np.asarray(values[samples, rows])


def copy_stride(table: Array) -> int:
    """The bytes from one copy of a table to the next."""
    return table.nbytes + -table.nbytes % 8


class ReusedBuffer:
    """Memory that is used again and again: to get some from the system takes time."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def take(self, size: int) -> Array:
        """This many bytes, valid until the next call."""
        if size > len(self._bytes):
            self._bytes = np.empty(size + size // 4, np.uint8)
        return self._bytes[:size]


class CopyOrder(NamedTuple):
    """A table to copy at a sample."""

    start: int
    stride: int
    size: int
    live: memoryview


class DueGroup(NamedTuple):
    """Publishers that are due at the same sample, each for all of its rows."""

    copies: list[CopyOrder]
    bytes: int
    """Of their messages."""


class Chunk:
    """Collects samples. One thread adds them, another may encode those that are complete."""

    def __init__(self, publishers: Sequence[Publisher], capacity: int) -> None:
        """Make room for the tables of so many samples."""
        self.publishers = publishers
        tables = {id(table): table for p in publishers for table in p.tables}
        self.memory = np.empty(capacity * sum(map(copy_stride, tables.values())), np.uint8)
        """The copies of all tables."""
        copies, start = {}, 0
        for key, table in tables.items():
            copies[key] = TableCopies(table, self.memory, start, capacity)
            start += capacity * copies[key].stride
        self.copies = [[copies[id(table)] for table in p.tables] for p in publishers]
        """Of each publisher's tables, that of computed values included."""
        self._target = self.memory.data
        self._copies_alone = [self._copy_orders([p]) for p in publishers]
        self.times = np.zeros(capacity + 1, np.int64)  # the last sample may be without messages
        """Of each sample, ns."""
        self._due_groups: dict[tuple[int, ...], DueGroup] = {}
        self.clear()

    def clear(self) -> None:
        """Discard all samples."""
        self.full: list[tuple[int, ...]] = []
        """Of each sample, the indices of the publishers with messages for all of their rows."""
        self.partial: list[PartialSample] = []
        self.encoded: list[EncodedMessage] = []
        self.samples = self.bytes = 0
        """The number of samples, and the bytes of their messages."""

    def add_message(self, ns: int, channel: int, data: bytes) -> None:
        """Add a message that stands before the next sample."""
        self.encoded.append(EncodedMessage(self.samples, ns, channel, data))
        self.bytes += len(data)

    def add_sample(self, ns: int, due: Iterable[tuple[Publisher, Rows]]) -> None:
        """Copy the tables of the publishers that are due, for the rows that have messages."""
        sample, full = self.samples, []
        for publisher, rows in due:
            if rows is publisher.rows:
                full.append(publisher.index)
            else:
                self.partial.append(PartialSample(sample, publisher.index, rows))
                self._copy_tables(sample, self._copies_alone[publisher.index])
                self.bytes += len(rows) * publisher.layout.size
        key = tuple(full)
        group = self._due_groups.get(key) or self._make_due_group(key)
        self._copy_tables(sample, group.copies)
        self.bytes += group.bytes
        self.full.append(key)
        self.times[sample] = ns
        self.samples = sample + 1  # last: all before it may be read by the other thread

    def _copy_tables(self, sample: int, copies: list[CopyOrder]) -> None:
        """Copy tables by memory views; for small ones NumPy takes four times as long."""
        target = self._target
        for start, stride, size, live in copies:
            offset = start + sample * stride
            target[offset : offset + size] = live

    def _make_due_group(self, indices: tuple[int, ...]) -> DueGroup:
        publishers = [self.publishers[k] for k in indices]
        size = sum(len(p.rows) * p.layout.size for p in publishers)
        group = self._due_groups[indices] = DueGroup(self._copy_orders(publishers), size)
        return group

    def _copy_orders(self, publishers: Sequence[Publisher]) -> list[CopyOrder]:
        """The source tables of these publishers, each once."""
        needed: dict[int, TableCopies] = {}
        for publisher in publishers:
            for copies in self.copies[publisher.index][: len(publisher.sources)]:
                needed[copies.start] = copies
        return [CopyOrder(c.start, c.stride, len(c.live), c.live) for c in needed.values()]
