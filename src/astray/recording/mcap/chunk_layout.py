"""The layout of a chunk: where each message goes, and which sample and row it is made of.

It depends only on which publishers were due when. Chunk after chunk is alike in that, so a layout
is computed once and used again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from astray.recording.mcap.chunk import Chunk, EncodedMessage
from astray.recording.mcap.message_index import IndexLayout
from astray.recording.mcap.records import MESSAGE_HEAD, RECORD_HEAD, Opcode
from astray.ros.publishers import Publisher
from astray.tables import Array, Rows, record_type

RUN = record_type([(name, "i8") for name in ("first", "last", "writer")])
"""Consecutive entries of a MessageTable that one ChannelWriter writes: from, to, its index."""


class ChannelWriter:
    """A publisher, and the channel of each of its rows."""

    def __init__(self, publisher: Publisher, channels: dict[str, int]) -> None:
        self.publisher = publisher
        self.record_size = MESSAGE_HEAD.itemsize + publisher.layout.size
        self.channels = np.zeros(int(publisher.rows.max()) + 1, np.int64)
        for row, topic in publisher.topics.items():
            self.channels[row] = channels[topic.name]
        heads = np.zeros(len(self.channels), MESSAGE_HEAD)
        heads["opcode"] = Opcode.MESSAGE
        heads["length"] = self.record_size - RECORD_HEAD.size
        heads["channel"] = self.channels
        self.serializer = publisher.make_serializer(heads.view(np.uint8).reshape(len(heads), -1))
        """Makes its messages, each after a record head without sequence number and time."""


class MessageBlock(NamedTuple):
    """The messages of one publisher: their samples, rows, and offsets in the chunk."""

    samples: Rows
    rows: Rows
    offsets: Rows


class MessageTable(NamedTuple):
    """The messages that are made of tables, those of one publisher after the other."""

    offsets: Rows
    samples: Rows
    rows: Rows
    runs: Array
    """RUN, one per publisher."""


class RecordTable(NamedTuple):
    """All messages in the order of the chunk."""

    offsets: Rows
    channels: Rows
    times: Rows
    """An index of the times: that of the sample; after those, one for each encoded message."""
    entries: Rows
    """The offset of the message's entry in the index."""


class ChunkLayout:
    """Where the messages of a chunk go."""

    def __init__(
        self,
        chunk: Chunk,
        samples: int,
        encoded: Sequence[EncodedMessage],
        writers: Sequence[ChannelWriter],
    ) -> None:
        """Lay out the first samples of a chunk, with these encoded messages."""
        found = _messages_by_publisher(chunk, samples)
        # The bytes of each sample: encoded messages first, then those of each publisher.
        sizes = np.zeros((samples, 1 + len(writers)), np.int64)
        for message in encoded:
            sizes[message.sample, 0] += MESSAGE_HEAD.itemsize + len(message.data)
        for k, (of_sample, _) in found.items():
            sizes[:, k + 1] = np.bincount(of_sample, minlength=samples) * writers[k].record_size
        starts = (np.cumsum(sizes) - sizes.reshape(-1)).reshape(sizes.shape)
        self.size = int(sizes.sum())
        """The bytes of all messages."""
        self.blocks: dict[int, MessageBlock] = {}
        """The messages of each publisher that has any, by its index."""
        for k, (of_sample, rows) in found.items():
            nth = np.arange(len(rows)) - np.searchsorted(of_sample, of_sample)  # in its sample
            offsets = starts[of_sample, k + 1] + nth * writers[k].record_size
            self.blocks[k] = MessageBlock(of_sample, rows, offsets)
        self.encoded_offsets = _encoded_offsets(encoded, starts[:, 0].copy())
        """The offset of each encoded message."""
        self.messages = self._join_blocks()
        channels = [np.array([message.channel for message in encoded], np.int64)]
        channels += [writers[k].channels[block.rows] for k, block in self.blocks.items()]
        offsets = np.concatenate([self.encoded_offsets, self.messages.offsets])
        times = np.concatenate([samples + np.arange(len(encoded)), self.messages.samples])
        order = np.argsort(offsets)
        in_order = np.concatenate(channels)[order]
        self.index = IndexLayout(in_order)
        self.records = RecordTable(offsets[order], in_order, times[order], self.index.entries)

    def _join_blocks(self) -> MessageTable:
        blocks, empty = self.blocks.values(), np.zeros(0, np.int64)
        ends = np.cumsum([len(block.rows) for block in blocks], dtype=np.int64)
        runs = np.zeros(len(ends), RUN)
        runs["first"], runs["last"] = np.concatenate([[0], ends])[:-1], ends
        runs["writer"] = np.array([*self.blocks], np.int64)
        return MessageTable(
            np.concatenate([empty, *(block.offsets for block in blocks)]),
            np.concatenate([empty, *(block.samples for block in blocks)]),
            np.concatenate([empty, *(block.rows for block in blocks)]),
            runs,
        )


def _messages_by_publisher(chunk: Chunk, samples: int) -> dict[int, tuple[Rows, Rows]]:
    """The sample and row of each message, in order, by the index of the publisher."""
    full: dict[int, list[int]] = {}
    for sample, indices in enumerate(chunk.full[:samples]):
        for k in indices:
            full.setdefault(k, []).append(sample)
    partial = [part for part in list(chunk.partial) if part.sample < samples]
    found = {}
    for k in sorted({*full, *(part.publisher for part in partial)}):
        all_rows = chunk.publishers[k].rows
        some_rows = {part.sample: part.rows for part in partial if part.publisher == k}
        of_sample = np.array(sorted([*full.get(k, ()), *some_rows]), np.int64)
        rows = [some_rows.get(sample, all_rows) for sample in of_sample.tolist()]
        found[k] = np.repeat(of_sample, [len(r) for r in rows]), np.concatenate(rows)
    return found


def _encoded_offsets(encoded: Sequence[EncodedMessage], starts: Array) -> Rows:
    """The offsets of encoded messages, one after the other from the start of their sample on."""
    offsets = np.zeros(len(encoded), np.int64)
    for k, message in enumerate(encoded):
        offsets[k] = starts[message.sample]
        starts[message.sample] += MESSAGE_HEAD.itemsize + len(message.data)
    return offsets
