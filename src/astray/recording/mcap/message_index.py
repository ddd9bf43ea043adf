"""Where the messages of a chunk are: an index by channel, which stands behind the chunk.

Who speaks when is the same from chunk to chunk, and so is the index but for times: it is laid out
once and filled in by a kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from astray.numerics import kernel
from astray.recording.mcap.records import INDEX, Op
from astray.tables import Array, Rows

ENTRY = 16  # bytes: a time and a place
OFFSET = np.dtype([("channel", "<u2"), ("at", "<u8")])
"""Where the index of a channel is, packed."""


@kernel
def enter(raw: Array, goal: int, time: int, place: int) -> None:
    """Write the time and the place of a message to where its entry is."""
    for j in range(8):
        raw[goal + j] = time >> 8 * j & 255
        raw[goal + 8 + j] = place >> 8 * j & 255


@kernel
def enter_all(raw: Array, goals: Rows, times: Array, places: Rows) -> None:
    """Write the time and the place of each message to where its entry is."""
    for k in range(len(goals)):
        enter(raw, goals[k], times[k], places[k])


class MessageIndex(NamedTuple):
    """Records that tell the times and places of messages, channel by channel."""

    raw: bytes | memoryview
    channels: Rows
    counts: Rows
    """The messages of each channel."""
    offsets: Array
    """OFFSET records, counted from the first byte of the index."""


class IndexLayout:
    """The index of messages on these channels, without their times and places."""

    def __init__(self, channels: Rows) -> None:
        """The channel of each message, in the order in which they stand."""
        self.channels, self.counts = np.unique(channels, return_counts=True)
        sizes = INDEX.size + ENTRY * self.counts
        starts = np.cumsum(sizes) - sizes
        self._offsets = np.zeros(len(starts), OFFSET)
        self._offsets["channel"], self._offsets["at"] = self.channels, starts
        self.blank = np.zeros(int(sizes.sum()), np.uint8)
        """The bytes of the index, to be filled in."""
        heads = zip(starts.tolist(), self.channels.tolist(), self.counts.tolist(), strict=True)
        for start, channel, count in heads:
            head = INDEX.pack(Op.MESSAGE_INDEX, 6 + ENTRY * count, channel, ENTRY * count)
            self.blank[start : start + INDEX.size] = np.frombuffer(head, np.uint8)
        order = np.argsort(channels, kind="stable")
        nth = np.arange(len(order)) - np.repeat(np.cumsum(self.counts) - self.counts, self.counts)
        self.goals = np.zeros(len(order), np.int64)
        """Where in the index the entry of each message is."""
        self.goals[order] = np.repeat(starts + INDEX.size, self.counts) + ENTRY * nth

    def fill(self, times: Array, places: Rows) -> MessageIndex:
        """The index of messages with these times, ns, at these places in the chunk."""
        raw = self.blank.copy()
        enter_all(raw, self.goals, times, places)
        return self.filled(raw)

    def filled(self, raw: Array) -> MessageIndex:
        """The index, now that these bytes of it, a copy of the blank, are filled in."""
        return MessageIndex(raw.data, self.channels, self.counts, self._offsets)
