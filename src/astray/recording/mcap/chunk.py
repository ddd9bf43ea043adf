"""What a run says in a stretch of time, kept as copies of tables until it is put into words.

A table that several speakers need is copied once at a moment. The copies lie in memory that is
used again for a later chunk.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from astray.ros.messages import record_memory
from astray.ros.publishers import Publisher
from astray.tables import Array, Rows


class Written(NamedTuple):
    """A message that is in words already."""

    moment: int
    ns: int
    channel: int
    data: bytes


class ChunkStage:
    """One table at several moments, byte by byte, in memory that is shared with others."""

    def __init__(self, table: Array, kept: Array, start: int, room: int) -> None:
        """From a byte on, with room for so many moments."""
        width = width_of(table)
        self.start, self.width = start, width
        self.live = record_memory(table).bytes.data
        """The bytes of the table, as they are in the run."""
        strides = (width, *np.empty(table.shape, table.dtype).strides)
        self._tables = np.ndarray((room, *table.shape), table.dtype, kept, start, strides)
        """The copy of each moment."""
        self._columns = {"": self._tables}

    def put(self, moments: Rows, rows: Rows, values: Array) -> None:
        """Let some rows at some moments have other values."""
        self._tables[moments, rows] = values

    def find(self, moments: Rows, rows: Rows, column: str) -> Array:
        """A column, or the whole array, of some rows at some moments."""
        kept = self._columns.get(column)
        if kept is None:  # finding a column takes longer than reading it
            kept = self._columns[column] = self._tables[column]
        return np.asarray(kept[moments, rows])


def width_of(table: Array) -> int:
    """Bytes from the copy of a table to the next one."""
    return table.nbytes + -table.nbytes % 8


class Memory:
    """Memory that is used again and again: the system takes its time to give some."""

    def __init__(self) -> None:
        self._octets = np.empty(0, np.uint8)

    def of(self, size: int) -> Array:
        """So many bytes, good until the next time."""
        if size > len(self._octets):
            self._octets = np.empty(size + size // 4, np.uint8)
        return self._octets[:size]


Copies = list[tuple[int, int, int, memoryview]]
"""Tables to be copied: from which byte on, how wide apart, how many bytes, and which."""


class Chorus(NamedTuple):
    """Speakers that speak at one moment, each for all of its rows."""

    copies: Copies
    bytes: int
    """Of their messages."""


class Chunk:
    """Takes down what is said from moment to moment; one thread may read what another adds to."""

    def __init__(self, speakers: Sequence[Publisher], room: int) -> None:
        """There is room for so many moments."""
        self.speakers = speakers
        tables = {id(table): table for speaker in speakers for table in speaker.tables}
        self.kept = np.empty(room * sum(map(width_of, tables.values())), np.uint8)
        """The copies of all tables."""
        stages, start = {}, 0
        for key, table in tables.items():
            stages[key] = ChunkStage(table, self.kept, start, room)
            start += room * stages[key].width
        self.stages = [[stages[id(t)] for t in s.tables] for s in speakers]
        """Those of each speaker's tables, and of what is worked out."""
        self._slots, self._own = self.kept.data, [self._copies([s]) for s in speakers]
        self.times = np.zeros(room + 1, np.int64)  # the last one says nothing
        """Of each moment, ns."""
        self._choruses: dict[tuple[int, ...], Chorus] = {}
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self.together: list[tuple[int, ...]] = []
        """At each moment: the speakers that speak for all of their rows."""
        self.alone: list[tuple[int, int, Rows]] = []
        """Moment, speaker and rows where those are not all."""
        self.written: list[Written] = []
        self.moments = self.bytes = 0
        """How many there are, and the bytes of their messages."""

    def add(self, ns: int, channel: int, data: bytes) -> None:
        """Something is said in words, at the beginning of the next moment."""
        self.written.append(Written(self.moments, ns, channel, data))
        self.bytes += len(data)

    def hear(self, ns: int, said: Iterable[tuple[Publisher, Rows]]) -> None:
        """A moment at which these speakers speak for these rows."""
        moment, together = self.moments, []
        for speaker, rows in said:
            if rows is speaker.rows:
                together.append(speaker.index)
            else:
                self.alone.append((moment, speaker.index, rows))
                self._keep(moment, self._own[speaker.index])
                self.bytes += len(rows) * speaker.layout.size
        key = tuple(together)
        chorus = self._choruses.get(key) or self._gather(key)
        self._keep(moment, chorus.copies)
        self.bytes += chorus.bytes
        self.together.append(key)
        self.times[moment] = ns
        self.moments = moment + 1  # last: up to here, all is there to be read

    def _keep(self, moment: int, copies: Copies) -> None:
        """Copy tables as they are now; NumPy takes four times as long to copy a little."""
        slots = self._slots
        for start, width, size, live in copies:
            at = start + moment * width
            slots[at : at + size] = live

    def _gather(self, numbers: tuple[int, ...]) -> Chorus:
        speakers = [self.speakers[k] for k in numbers]
        size = sum(len(s.rows) * s.layout.size for s in speakers)
        made = self._choruses[numbers] = Chorus(self._copies(speakers), size)
        return made

    def _copies(self, speakers: Sequence[Publisher]) -> Copies:
        """The tables that these speakers need, each once."""
        needed: dict[int, ChunkStage] = {}
        for speaker in speakers:
            for stage in self.stages[speaker.index][: len(speaker.sources)]:
                needed[stage.start] = stage
        return [(s.start, s.width, len(s.live), s.live) for s in needed.values()]
