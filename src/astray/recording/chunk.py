"""What a run says in a stretch of time, kept as copies of tables until it is put into words.

A table that several speakers need is copied once at a moment. The copies lie in memory that is
used again for a later chunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from astray.ros.speaker import Speaker
from astray.ros.words import octets
from astray.table import Array, Rows


class Said(NamedTuple):
    """What a speaker has said at one moment."""

    order: int
    """Which one it is of all that was said in the chunk."""
    ns: int
    rows: Rows
    slots: Sequence[int]
    """Where the copy of each of its tables is."""


class Written(NamedTuple):
    """A message that is in words already."""

    order: int
    ns: int
    channel: int
    data: bytes


class Stage:
    """One table at several moments, byte by byte."""

    def __init__(self, table: Array, room: int) -> None:
        self.table = table
        self._live = octets(table)[0]
        self._size = len(self._live)
        self.width = self._size + -self._size % 8
        self.kept = np.empty((room, self.width), np.uint8)
        self._count, self._moment = 0, -1

    def keep(self, moment: int) -> int:
        """Copy the table unless that was done at this moment; where the copy is."""
        if moment != self._moment:
            self._moment = moment
            self.kept[self._count, : self._size] = self._live
            self._count += 1
        return self._count - 1

    def clear(self) -> None:
        """Forget all copies."""
        self._count, self._moment = 0, -1

    def find(self, slots: Array, rows: Rows, column: str) -> Array:
        """A column, or the whole array, of some rows at some moments."""
        kept = self.kept[:, : self._size].view(self.table.dtype)
        kept = kept.reshape(len(kept), *self.table.shape)
        return (kept[column] if column else kept)[slots, rows]


class Chunk:
    """Takes down what is said from moment to moment; one thread may read what another adds to."""

    def __init__(self, speakers: Sequence[Speaker], room: int) -> None:
        """There is room for so many moments."""
        self._speakers = speakers
        tables = {id(table): table for speaker in speakers for table in speaker.sources}
        self._stages = {key: Stage(table, room) for key, table in tables.items()}
        self.stages = [[self._stages[id(t)] for t in s.sources] for s in speakers]
        """Those of each speaker's tables."""
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        for stage in self._stages.values():
            stage.clear()
        self._said: list[list[Said]] = [[] for _ in self._speakers]
        self._written: list[Written] = []
        self.bytes = self.count = self.moments = 0
        """Of the messages; how often something was said; and at how many moments."""

    def begin_moment(self) -> None:
        """What is said from now on is of another moment: tables have changed."""
        self.moments += 1

    def say(self, ns: int, speaker: int, rows: Rows) -> None:
        """A speaker has something to say for these rows."""
        moment = self.moments
        slots = [stage.keep(moment) for stage in self.stages[speaker]]
        self._said[speaker].append(Said(self.count, ns, rows, slots))
        self.bytes += len(rows) * self._speakers[speaker].layout.size
        self.count += 1  # last: up to here, all is there to be read

    def add(self, ns: int, channel: int, data: bytes) -> None:
        """Something is said in words."""
        self._written.append(Written(self.count, ns, channel, data))
        self.bytes += len(data)
        self.count += 1

    def read(self, count: int) -> tuple[Mapping[int, list[Said]], list[Written]]:
        """The first so many of all that was said, by speaker, and what came in words."""
        said = {k: _first(some, count) for k, some in enumerate(self._said)}
        return {k: some for k, some in said.items() if some}, _first(self._written, count)


def _first(some: list[Any], count: int) -> list[Any]:
    found = list(some)
    while found and found[-1].order >= count:
        found.pop()
    return found
