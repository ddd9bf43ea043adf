"""Where the messages of a chunk go, and of what they are made.

That depends only on who spoke when, and chunk after chunk is alike in that: it is worked out once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from astray.recording.mcap.chunk import Chunk, Written
from astray.recording.mcap.message_index import IndexLayout
from astray.recording.mcap.records import HEAD, MESSAGE, Op
from astray.ros.publishers import Publisher
from astray.tables import Array, Rows


class ChannelWriter:
    """A speaker, and the channel of each row that it speaks for."""

    def __init__(self, speaker: Publisher, channels: dict[str, int]) -> None:
        self.speaker = speaker
        self.size = MESSAGE.itemsize + speaker.layout.size
        self.channels = np.zeros(int(speaker.rows.max()) + 1, np.int64)
        for row, topic in speaker.topics.items():
            self.channels[row] = channels[topic.name]
        before = np.zeros(len(self.channels), MESSAGE)
        before["opcode"], before["length"] = Op.MESSAGE, self.size - HEAD.size
        before["channel"] = self.channels
        headers = before.view(np.uint8).reshape(len(before), -1)
        self.serializer = speaker.make_serializer(headers)
        """Its messages behind heads that have no number yet."""


class MessageBlock(NamedTuple):
    """The messages of one voice: of which moment and row they are, and where they go."""

    moments: Rows
    rows: Rows
    places: Rows


class ChunkLayout:
    """Where the messages of a chunk go."""

    def __init__(
        self, chunk: Chunk, count: int, written: Sequence[Written], voices: Sequence[ChannelWriter]
    ) -> None:
        """Of the first so many moments, with these messages that are in words."""
        spoken = _by_speaker(chunk, count)
        sizes = np.zeros((count, 1 + len(voices)), np.int64)
        for w in written:
            sizes[w.moment, 0] += MESSAGE.itemsize + len(w.data)
        for k, (moments, _) in spoken.items():
            sizes[:, k + 1] = np.bincount(moments, minlength=count) * voices[k].size
        starts = (np.cumsum(sizes) - sizes.reshape(-1)).reshape(sizes.shape)
        self.size = int(sizes.sum())
        """Of all messages, bytes."""
        self.parts: dict[int, MessageBlock] = {}
        """Those of each voice that has something to say."""
        for k, (moments, rows) in spoken.items():
            nth = np.arange(len(rows)) - np.searchsorted(moments, moments)  # at its moment
            places = starts[moments, k + 1] + nth * voices[k].size
            self.parts[k] = MessageBlock(moments, rows, places)
        self.written = _places(written, starts[:, 0].copy())
        """Where the messages go that are in words."""
        places, moments, rows = self._joined()
        self.messages = places, moments, rows, _passes(self.parts)
        """Those of all voices, one voice behind the other, and from which to which are whose."""
        channels = [np.array([w.channel for w in written], np.int64)]
        channels += [voices[k].channels[part.rows] for k, part in self.parts.items()]
        places = np.concatenate([self.written, places])
        times = np.concatenate([count + np.arange(len(written)), moments])
        order = np.argsort(places)
        ordered = np.concatenate(channels)[order]
        self.index = IndexLayout(ordered)
        self.records = places[order], ordered, times[order], self.index.goals
        """Of all messages in the order in which they stand: place, channel, which time (that of a
        moment, or behind all of those of one in words), and where the entry in the index is."""

    def _joined(self) -> list[Rows]:
        """Places, moments and rows of all voices."""
        parts, none = self.parts.values(), np.zeros(0, np.int64)
        every = ([p.places for p in parts], [p.moments for p in parts], [p.rows for p in parts])
        return [np.concatenate([none, *some]) for some in every]


FIRST, LAST, VOICE = range(3)
"""The columns of a pass: messages from, to; and of which voice they are."""


def _passes(parts: dict[int, MessageBlock]) -> Array:
    ends = np.cumsum([len(part.rows) for part in parts.values()], dtype=np.int64)
    return np.stack([np.concatenate([[0], ends])[:-1], ends, np.array([*parts], np.int64)], axis=1)


def _by_speaker(chunk: Chunk, count: int) -> dict[int, tuple[Rows, Rows]]:
    """The moments and rows of all messages of each speaker, in order."""
    together: dict[int, list[int]] = {}
    for moment, numbers in enumerate(chunk.together[:count]):
        for k in numbers:
            together.setdefault(k, []).append(moment)
    alone = [said for said in list(chunk.alone) if said[0] < count]
    spoken = {}
    for k in sorted({*together, *(said[1] for said in alone)}):
        every = chunk.speakers[k].rows
        some = {moment: rows for moment, number, rows in alone if number == k}
        moments = np.array(sorted([*together.get(k, ()), *some]), np.int64)
        rows = [some.get(moment, every) for moment in moments.tolist()]
        spoken[k] = np.repeat(moments, [len(r) for r in rows]), np.concatenate(rows)
    return spoken


def _places(written: Sequence[Written], starts: Array) -> Rows:
    """Where messages that are in words go, from the start of their moment on."""
    places = np.zeros(len(written), np.int64)
    for k, w in enumerate(written):
        places[k] = starts[w.moment]
        starts[w.moment] += MESSAGE.itemsize + len(w.data)
    return places
