"""Reads an MCAP file by topic: all messages of some topics, in one pass over the chunks."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from astray.errors import RecordingError
from astray.recording.mcap.records import (
    MAGIC,
    MESSAGE_HEAD,
    RECORD_HEAD,
    Attachment,
    McapChannel,
    Opcode,
    RecordFields,
    TornRecord,
    decode_attachment,
    decode_channel,
    decode_chunk,
    decode_schema,
    is_finished,
    is_mcap,
    iterate_records,
    map_file,
)
from astray.ros.messages import BadMessage, MessageColumns, declare_type
from astray.tables import Array

LENGTH_OFFSET = 1  # bytes from the start of a record


@dataclass
class ChannelMessages:
    """The messages of one channel, chunk by chunk."""

    times: list[Array] = field(default_factory=list)
    data: list[Array | list[bytes]] = field(default_factory=list)

    def all_times(self) -> Array:
        """The log time of each message, ns."""
        return np.concatenate([np.zeros(0, np.int64), *self.times])

    def all_data(self) -> Array | list[bytes]:
        """The bytes of the messages: (n, size) if all have the same size, else a list."""
        arrays = [part for part in self.data if isinstance(part, np.ndarray)]
        if arrays and len(arrays) == len(self.data) and len({a.shape[1] for a in arrays}) == 1:
            return np.concatenate(arrays)
        return [bytes(row) for part in self.data for row in part]


class _IndexedChunk(NamedTuple):
    """The content of a chunk's record, and those of its index records by channel."""

    content: memoryview
    indexes: dict[int, memoryview]


class McapReader:
    """A finished MCAP file; RecordingError if it is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self.data = map_file(file)
        except OSError as problem:
            raise RecordingError(f"{path}: {problem.strerror or problem}") from None
        if not is_mcap(self.data):
            raise RecordingError(f"{path}: not an MCAP file")
        if not is_finished(self.data):
            raise RecordingError(
                f"{path}: was not written to its end; `astray recover {path}` mends it"
            )
        self.channels: dict[int, McapChannel] = {}
        self.attachments: dict[str, Attachment] = {}
        self._chunks: list[_IndexedChunk] = []
        self._types: dict[int, str] = {}
        self._definitions: dict[str, str] = {}
        try:
            self._scan()
        except (TornRecord, struct.error, UnicodeDecodeError, ValueError):
            raise RecordingError(
                f"{path}: is damaged; `astray recover {path}` keeps what is whole"
            ) from None

    def _scan(self) -> None:
        """Find the schemas, channels, attachments, chunks and indexes."""
        for opcode, content, _ in iterate_records(self.data[: -len(MAGIC)], len(MAGIC)):
            if opcode == Opcode.SCHEMA:
                id, name, text = decode_schema(content)
                self._types[id], self._definitions[name] = name, text
            elif opcode == Opcode.CHANNEL:
                channel = decode_channel(content, self._types)
                self.channels[channel.id] = channel
            elif opcode == Opcode.ATTACHMENT:
                attached = decode_attachment(content)
                self.attachments[attached.name] = attached
            elif opcode == Opcode.CHUNK:
                self._chunks.append(_IndexedChunk(content, {}))
            elif opcode == Opcode.MESSAGE_INDEX and self._chunks:
                self._chunks[-1].indexes[int.from_bytes(content[:2], "little")] = content

    def topics(self) -> dict[str, str]:
        """The type of each topic."""
        return {channel.topic: channel.type for channel in self.channels.values()}

    def read(self, topics: Collection[str]) -> dict[str, ChannelMessages]:
        """All messages of these topics, by topic."""
        wanted = {c.id: c.topic for c in self.channels.values() if c.topic in topics}
        found = {topic: ChannelMessages() for topic in wanted.values()}
        for chunk in self._chunks:
            if chunk.indexes and not chunk.indexes.keys() & wanted.keys():
                continue
            records = decode_chunk(chunk.content)
            if not records.sound:
                raise RecordingError(
                    f"{self.path}: a chunk is damaged; `astray recover {self.path}` mends the file"
                )
            raw = np.frombuffer(records.raw, np.uint8)
            index = {k: _decode_index(entry) for k, entry in chunk.indexes.items() if k in wanted}
            if not chunk.indexes or not all(_is_valid(raw, k, part) for k, part in index.items()):
                index = _rebuild_index(records.raw)
            chosen = {k: part for k, part in index.items() if k in wanted and len(part)}
            for id, data in _read_messages(raw, chosen).items():
                messages = found[wanted[id]]
                messages.times.append(chosen[id][:, 0])
                messages.data.append(data)
        return found

    def columns(self, topics: Collection[str]) -> dict[str, MessageColumns]:
        """All messages of these topics as columns, by topic; topics without any are left out."""
        types = self.topics()
        found = {topic: m for topic, m in self.read(topics).items() if m.times}
        try:
            for name in {types[topic] for topic in found}:
                # Some sensors have types of our own, which this process may not know yet.
                declare_type(name, self._definitions.get(name, ""))
            return {
                topic: MessageColumns(types[topic], m.all_data(), m.all_times())
                for topic, m in found.items()
            }
        except BadMessage as problem:
            raise RecordingError(
                f"{self.path}: is damaged: {problem}; `astray recover {self.path}` may mend it"
            ) from None

    @property
    def time_span(self) -> tuple[int, int]:
        """The log times of the first and the last message, ns."""
        spans = [RecordFields(c.content).numbers("QQ") for c in self._chunks if c.indexes]
        if not spans:
            return 0, 0
        return min(first for first, _ in spans), max(last for _, last in spans)


def _windows(raw: Array, size: int) -> Array:
    """The bytes from each offset on, (offsets, size), without a copy."""
    return np.ndarray((len(raw) - size + 1, size), np.uint8, raw, 0, (1, 1))


def _read_messages(raw: Array, index: dict[int, Array]) -> dict[int, Array | list[bytes]]:
    """The messages of channels, as rows of bytes where those of a channel have the same size.

    Channels whose messages have the same size are copied together: there may be many.
    """
    if not index:
        return {}
    offsets = {id: part[:, 1] for id, part in index.items()}
    joined = np.concatenate(list(offsets.values()))
    lengths = _windows(raw, 8)[joined + LENGTH_OFFSET].view("<u8")[:, 0].astype(np.int64)
    record_sizes = lengths + RECORD_HEAD.size
    found: dict[int, Array | list[bytes]] = {}
    by_size: dict[int, list[int]] = {}
    start = 0
    for id, of_channel in offsets.items():
        sizes = record_sizes[start : start + len(of_channel)]
        start += len(of_channel)
        if (sizes == sizes[0]).all():
            by_size.setdefault(int(sizes[0]), []).append(id)
        else:
            pairs = zip(of_channel.tolist(), sizes.tolist(), strict=True)
            head = MESSAGE_HEAD.itemsize
            found[id] = [raw[offset + head : offset + n].tobytes() for offset, n in pairs]
    for size, ids in by_size.items():
        rows = _windows(raw, size)[np.concatenate([offsets[id] for id in ids])]
        ends = np.cumsum([len(offsets[id]) for id in ids])[:-1]
        parts = np.split(rows[:, MESSAGE_HEAD.itemsize :], ends)
        found |= dict(zip(ids, parts, strict=True))
    return found


def _decode_index(content: memoryview) -> Array:
    """The times and offsets of a channel's messages, (n, 2)."""
    whole = (len(content) - 6) // 16 * 16
    return np.frombuffer(content[6 : 6 + whole], "<u8").astype(np.int64).reshape(-1, 2)


def _is_valid(raw: Array, channel: int, index: Array) -> bool:
    """Whether messages of a channel are where its index says; the index has no checksum."""
    times, offsets = index.T
    max_offset = len(raw) - MESSAGE_HEAD.itemsize
    if not len(offsets) or offsets.min() < 0 or offsets.max() > max_offset:
        return not len(offsets)
    heads = _windows(raw, MESSAGE_HEAD.itemsize)[offsets].view(MESSAGE_HEAD)[:, 0]
    ends = offsets + RECORD_HEAD.size + heads["length"].astype(np.int64)
    of_channel = (heads["opcode"] == Opcode.MESSAGE) & (heads["channel"] == channel)
    in_time = heads["log_time"].astype(np.int64) == times
    return bool((of_channel & (ends <= len(raw)) & in_time).all())


def _rebuild_index(raw: memoryview) -> dict[int, Array]:
    """The index of a chunk whose own is missing or damaged."""
    found: dict[int, list[tuple[int, int]]] = {}
    for channel, time, start in _iterate_messages(raw):
        found.setdefault(channel, []).append((time, start))
    return {channel: np.array(pairs, np.int64) for channel, pairs in found.items()}


def _iterate_messages(raw: memoryview) -> Iterator[tuple[int, int, int]]:
    """Channel, log time and offset of each message."""
    for opcode, content, start in iterate_records(raw):
        if opcode == Opcode.MESSAGE:
            channel, _, time = struct.unpack_from("<HIQ", content)
            yield channel, time, start
