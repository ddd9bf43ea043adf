"""MCAP files read by topic: all messages of some topics at once, in one pass over the chunks."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from astray.errors import RecordingError
from astray.recording.mcap.parse import (
    Attachment,
    McapChannel,
    RecordReader,
    Torn,
    is_finished,
    is_mcap,
    parse_attachment,
    parse_channel,
    parse_schema,
    unpack_chunk,
    walk,
)
from astray.recording.mcap.records import HEAD, MAGIC, MESSAGE, Op
from astray.ros.messages import BadMessage, MessageColumns, declare_type
from astray.tables import Array

LENGTH_AT = 1  # bytes from the beginning of a record


@dataclass
class Gathered:
    """The messages of one channel: when each was written, and its bytes, chunk by chunk."""

    times: list[Array] = field(default_factory=list)
    data: list[Array | list[bytes]] = field(default_factory=list)

    def all_times(self) -> Array:
        """When the messages were written, ns."""
        return np.concatenate([np.zeros(0, np.int64), *self.times])

    def all_data(self) -> Array | list[bytes]:
        """The messages: (n, size) bytes if all are of one size, else one by one."""
        arrays = [part for part in self.data if isinstance(part, np.ndarray)]
        if arrays and len(arrays) == len(self.data) and len({a.shape[1] for a in arrays}) == 1:
            return np.concatenate(arrays)
        return [bytes(row) for part in self.data for row in part]


class McapReader:
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
            raise RecordingError(
                f"{path}: was not written to its end; `astray recover {path}` mends it"
            )
        self.channels: dict[int, McapChannel] = {}
        self.attachments: dict[str, Attachment] = {}
        self._chunks: list[tuple[memoryview, dict[int, memoryview]]] = []
        self._types: dict[int, str] = {}
        self._definitions: dict[str, str] = {}
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
                number, name, text = parse_schema(content)
                self._types[number], self._definitions[name] = name, text
            elif op == Op.CHANNEL:
                channel = parse_channel(content, self._types)
                self.channels[channel.id] = channel
            elif op == Op.ATTACHMENT:
                attached = parse_attachment(content)
                self.attachments[attached.name] = attached
            elif op == Op.CHUNK:
                self._chunks.append((content, {}))
            elif op == Op.MESSAGE_INDEX and self._chunks:
                self._chunks[-1][1][int.from_bytes(content[:2], "little")] = content

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
            every = {k: _pairs(content) for k, content in index.items() if k in wanted}
            if not index or not all(_fits(raw, k, pairs) for k, pairs in every.items()):
                every = _index(unpacked.raw)  # there is none, or one that is damaged
            some = {k: pairs for k, pairs in every.items() if k in wanted and len(pairs)}
            for number, data in _messages(raw, some).items():
                gathered = found[wanted[number]]
                gathered.times.append(some[number][:, 0])
                gathered.data.append(data)
        return found

    def columns(self, topics: Collection[str]) -> dict[str, MessageColumns]:
        """All messages of these topics as columns; topics that said nothing are left out."""
        types = self.topics()
        said = {topic: g for topic, g in self.gather(topics).items() if g.times}
        try:
            for name in {types[topic] for topic in said}:
                # Sensors have types of our own, which this process may not know yet.
                declare_type(name, self._definitions.get(name, ""))
            return {
                topic: MessageColumns(types[topic], g.all_data(), g.all_times())
                for topic, g in said.items()
            }
        except BadMessage as problem:
            raise RecordingError(
                f"{self.path}: is damaged: {problem}; `astray recover {self.path}` may mend it"
            ) from None

    @property
    def span(self) -> tuple[int, int]:
        """The first and last time of a message, ns."""
        spans = [RecordReader(content).numbers("QQ") for content, index in self._chunks if index]
        if not spans:
            return 0, 0
        return min(first for first, _ in spans), max(last for _, last in spans)


def _windows(raw: Array, size: int) -> Array:
    """Every run of so many bytes, (starts, size), without a copy."""
    return np.ndarray((len(raw) - size + 1, size), np.uint8, raw, 0, (1, 1))


def _messages(raw: Array, index: dict[int, Array]) -> dict[int, Array | list[bytes]]:
    """The messages of channels: as rows where those of a channel are of one size.

    Channels whose messages are of the same size are copied together: there may be many.
    """
    if not index:
        return {}
    places = {number: pairs[:, 1] for number, pairs in index.items()}
    every = np.concatenate(list(places.values()))
    lengths = _windows(raw, 8)[every + LENGTH_AT].view("<u8")[:, 0].astype(np.int64) + HEAD.size
    made: dict[int, Array | list[bytes]] = {}
    alike: dict[int, list[int]] = {}
    start = 0
    for number, some in places.items():
        sizes = lengths[start : start + len(some)]
        start += len(some)
        if (sizes == sizes[0]).all():
            alike.setdefault(int(sizes[0]), []).append(number)
        else:
            pairs = zip(some.tolist(), sizes.tolist(), strict=True)
            made[number] = [raw[at + MESSAGE.itemsize : at + n].tobytes() for at, n in pairs]
    for size, numbers in alike.items():
        rows = _windows(raw, size)[np.concatenate([places[n] for n in numbers])]
        ends = np.cumsum([len(places[n]) for n in numbers])[:-1]
        parts = np.split(rows[:, MESSAGE.itemsize :], ends)
        made |= dict(zip(numbers, parts, strict=True))
    return made


def _pairs(content: memoryview) -> Array:
    """Times and places of a channel's messages, (n, 2)."""
    whole = (len(content) - 6) // 16 * 16
    return np.frombuffer(content[6 : 6 + whole], "<u8").astype(np.int64).reshape(-1, 2)


def _fits(raw: Array, number: int, pairs: Array) -> bool:
    """Whether there are messages of a channel where its index says; no checksum is over that."""
    times, places = pairs.T
    last = len(raw) - MESSAGE.itemsize
    if not len(places) or places.min() < 0 or places.max() > last:
        return not len(places)
    heads = _windows(raw, MESSAGE.itemsize)[places].view(MESSAGE)[:, 0]
    ends = places + HEAD.size + heads["length"].astype(np.int64)
    found = (heads["opcode"] == Op.MESSAGE) & (heads["channel"] == number) & (ends <= len(raw))
    return bool((found & (heads["log_time"].astype(np.int64) == times)).all())


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
