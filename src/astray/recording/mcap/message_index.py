"""The message index of a chunk: the time and offset of each message, by channel.

Chunk after chunk has messages of the same channels in the same order, and so the same index but
for times. Its layout is computed once, and a kernel fills in the entries.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from astray.numerics import kernel
from astray.recording.mcap.records import MESSAGE_INDEX_HEAD, Opcode
from astray.tables import Array, Rows

ENTRY_SIZE = 16  # bytes: a time and an offset
CHANNEL_OFFSET = np.dtype([("channel", "<u2"), ("offset", "<u8")])
"""Where the index of a channel starts, packed."""


@kernel
def write_entry(raw: Array, entry: int, time: int, offset: int) -> None:
    """Write the time and the offset of a message to its entry."""
    for j in range(8):
        raw[entry + j] = time >> 8 * j & 255
        raw[entry + 8 + j] = offset >> 8 * j & 255


@kernel
def write_entry_all(raw: Array, entries: Rows, times: Array, offsets: Rows) -> None:
    """Write the time and the offset of each message to its entry."""
    for k in range(len(entries)):
        write_entry(raw, entries[k], times[k], offsets[k])


class MessageIndex(NamedTuple):
    """The index records of a chunk, one per channel."""

    raw: bytes | memoryview
    channels: Rows
    counts: Rows
    """The number of messages of each channel."""
    offsets: Array
    """CHANNEL_OFFSET, from the first byte of the index."""


class IndexLayout:
    """The index of messages on given channels, without their times and offsets."""

    def __init__(self, channels: Rows) -> None:
        """Lay out the index, given the channel of each message in the order of the chunk."""
        self.channels, self.counts = np.unique(channels, return_counts=True)
        sizes = MESSAGE_INDEX_HEAD.size + ENTRY_SIZE * self.counts
        starts = np.cumsum(sizes) - sizes
        self._offsets = np.zeros(len(starts), CHANNEL_OFFSET)
        self._offsets["channel"], self._offsets["offset"] = self.channels, starts
        self.blank = np.zeros(int(sizes.sum()), np.uint8)
        """The bytes of the index with empty entries."""
        heads = zip(starts.tolist(), self.channels.tolist(), self.counts.tolist(), strict=True)
        for start, channel, count in heads:
            size = ENTRY_SIZE * count
            head = MESSAGE_INDEX_HEAD.pack(Opcode.MESSAGE_INDEX, 6 + size, channel, size)
            self.blank[start : start + len(head)] = np.frombuffer(head, np.uint8)
        order = np.argsort(channels, kind="stable")
        nth = np.arange(len(order)) - np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        self.entries = np.zeros(len(order), np.int64)
        """The offset in the index of the entry of each message."""
        first_entries = starts + MESSAGE_INDEX_HEAD.size
        self.entries[order] = np.repeat(first_entries, self.counts) + ENTRY_SIZE * nth

    def fill(self, times: Array, offsets: Rows) -> MessageIndex:
        """The index of messages with these times, ns, at these offsets in the chunk."""
        raw = self.blank.copy()
        write_entry_all(raw, self.entries, times, offsets)
        return self.to_index(raw)

    def to_index(self, raw: Array) -> MessageIndex:
        """The index whose bytes are a filled copy of the blank."""
        return MessageIndex(raw.data, self.channels, self.counts, self._offsets)
