"""MCAP files read by topic: all messages of some topics at once, in one pass over the chunks."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from astray.errors import RecordingError
from astray.recording.parsing import (
    Attachment,
    Channel,
    Fields,
    Torn,
    is_finished,
    is_mcap,
    parse_attachment,
    parse_channel,
    parse_schema,
    unpack_chunk,
    walk,
)
from astray.recording.records import HEAD, MAGIC, MESSAGE, Op
from astray.ros.unpack import MessageColumns
from astray.table import Array

LENGTH_AT = 1  # bytes from the beginning of a record


@dataclass
class Gathered:
    """The messages of one channel: when each was written, and its bytes, chunk by chunk."""

    times: list[Array] = field(default_factory=list)
    data: list[Array | list[bytes]] = field(default_factory=list)

    def all_times(self) -> Array:
        """When each was written, (n,) ns."""
        return np.concatenate(self.times) if self.times else np.zeros(0, np.int64)

    def all_data(self) -> Array | list[bytes]:
        """The messages: (n, size) bytes if all are of one size, else one by one."""
        arrays = [part for part in self.data if isinstance(part, np.ndarray)]
        if arrays and len(arrays) == len(self.data) and len({a.shape[1] for a in arrays}) == 1:
            return np.concatenate(arrays)
        return [bytes(row) for part in self.data for row in part]


class Mcap:
    """A whole MCAP file; RecordingError if it is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        except OSError as problem:
            raise RecordingError(f"{path}: {problem.strerror or problem}") from None
        self.data = memoryview(mapped)
        if not is_mcap(self.data):
            raise RecordingError(f"{path}: not an MCAP file")
        if not is_finished(self.data):
            raise RecordingError(f"{path}: was not written to its end; `astray recover {path}` mends it")
        self.channels: dict[int, Channel] = {}
        self.attachments: dict[str, Attachment] = {}
        self._chunks: list[tuple[memoryview, dict[int, Array]]] = []
        self._types: dict[int, str] = {}
        try:
            self._scan()
        except (Torn, struct.error, UnicodeDecodeError, ValueError):
            raise RecordingError(
                f"{path}: is damaged; `astray recover {path}` keeps what is whole"
            ) from None

    def _scan(self) -> None:
        """Find chunks, their indexes and the topics."""
        for op, content, _ in walk(self.data[: -len(MAGIC)], len(MAGIC)):
            if op == Op.SCHEMA:
                number, name = parse_schema(content)
                self._types[number] = name
            elif op == Op.CHANNEL:
                channel = parse_channel(content, self._types)
                self.channels[channel.id] = channel
            elif op == Op.ATTACHMENT:
                attached = parse_attachment(content)
                self.attachments[attached.name] = attached
            elif op == Op.CHUNK:
                self._chunks.append((content, {}))
            elif op == Op.MESSAGE_INDEX and self._chunks:
                fields = Fields(content)
                number, length = fields.numbers("HI")
                pairs = np.frombuffer(fields.raw(length), "<u8").astype(np.int64).reshape(-1, 2)
                self._chunks[-1][1][number] = pairs

    def topics(self) -> dict[str, str]:
        """The type of each topic."""
        return {channel.topic: channel.type for channel in self.channels.values()}

    def gather(self, topics: Collection[str]) -> dict[str, Gathered]:
        """All messages of these topics."""
        wanted = {c.id: c.topic for c in self.channels.values() if c.topic in topics}
        found = {topic: Gathered() for topic in wanted.values()}
        for content, index in self._chunks:
            if index and not index.keys() & wanted.keys():
                continue
            unpacked = unpack_chunk(content)
            if not unpacked.sound:
                raise RecordingError(
                    f"{self.path}: a chunk is damaged; `astray recover {self.path}` mends the file"
                )
            raw = np.frombuffer(unpacked.raw, np.uint8)
            for number, pairs in (index or _index(unpacked.raw)).items():
                if number in wanted and len(pairs):
                    gathered = found[wanted[number]]
                    gathered.times.append(pairs[:, 0])
                    gathered.data.append(_messages(raw, pairs[:, 1]))
        return found

    def columns(self, topics: Collection[str]) -> dict[str, MessageColumns]:
        """All messages of these topics as columns; topics that said nothing are left out."""
        types = self.topics()
        return {
            topic: MessageColumns(types[topic], gathered.all_data())
            for topic, gathered in self.gather(topics).items()
            if gathered.times
        }

    @property
    def span(self) -> tuple[int, int]:
        """The first and last time of a message, ns."""
        spans = [Fields(content).numbers("QQ") for content, index in self._chunks if index]
        if not spans:
            return 0, 0
        return min(first for first, _ in spans), max(last for _, last in spans)


def _messages(raw: Array, places: Array) -> Array | list[bytes]:
    """The messages at these places: as rows if they are of one size."""
    lengths = sliding_window_view(raw, 8)[places + LENGTH_AT].copy().view("<u8")[:, 0]
    head, sizes = MESSAGE.itemsize, lengths.astype(np.int64) + HEAD.size
    if (sizes == sizes[0]).all():
        rows: Array = sliding_window_view(raw, int(sizes[0]))[places, head:]
        return rows
    pairs = zip(places.tolist(), sizes.tolist(), strict=True)
    return [raw[at + head : at + size].tobytes() for at, size in pairs]


def _index(raw: memoryview) -> dict[int, Array]:
    """The index of a chunk that has none."""
    found: dict[int, list[tuple[int, int]]] = {}
    for number, time, start in _walk_messages(raw):
        found.setdefault(number, []).append((time, start))
    return {number: np.array(pairs, np.int64) for number, pairs in found.items()}


def _walk_messages(raw: memoryview) -> Iterator[tuple[int, int, int]]:
    for op, content, start in walk(raw):
        if op == Op.MESSAGE:
            number, _, time = struct.unpack_from("<HIQ", content)
            yield number, time, start
