"""What was taken of many moments as the records of one chunk.

Every speaker fills the messages of all moments at once; then they are put in the order in which
they were said: by step, speaker and row. The same moments give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from astray.recording import records
from astray.recording.container import Batch
from astray.recording.records import HEAD, MESSAGE, Op
from astray.ros.speaker import Speaker, Taken
from astray.table import Array

SEQUENCE_AT = 11  # bytes from the beginning of a message's record


class Said(NamedTuple):
    """What a speaker has said at one moment, not yet in words."""

    ns: int
    voice: int
    taken: Taken


class Written(NamedTuple):
    """A message that is in words already."""

    ns: int
    channel: int
    data: bytes


Entry = Said | Written


class Voice:
    """A speaker, and the channel of each row that it speaks for."""

    def __init__(self, speaker: Speaker, channels: dict[str, int]) -> None:
        self.speaker = speaker
        self.size = MESSAGE.itemsize + speaker.layout.size
        self.channels = np.zeros(int(speaker.rows.max()) + 1, np.int64)
        for row, topic in speaker.topics.items():
            self.channels[row] = channels[topic.name]

    def write(self, said: Sequence[Said]) -> Array:
        """The messages of these moments, each behind its head; they are not numbered yet."""
        taken = tuple(_joined(parts) for parts in zip(*(s.taken for s in said), strict=True))
        out = self.speaker.layout.make(len(taken[0]), MESSAGE)
        out["opcode"] = Op.MESSAGE
        out["length"] = self.size - HEAD.size
        out["channel"] = self.channels[taken[0]]
        out["log_time"] = np.repeat([s.ns for s in said], [len(s.taken[0]) for s in said])
        out["publish_time"] = out["log_time"]
        self.speaker.fill(out, taken)
        return out


def _joined(parts: Sequence[Array]) -> Array:
    """Arrays one behind the other; NumPy's own way is slow for records, whose types it compares."""
    raw = b"".join([part.tobytes() for part in parts])
    return np.frombuffer(raw, parts[0].dtype.base).reshape(-1, *parts[0].shape[1:])


class Encoder:
    """Turns moments into chunks and counts the messages of each channel."""

    def __init__(self, voices: Sequence[Voice], channels: int) -> None:
        self.voices = voices
        self.counts = np.zeros(channels + 1, np.int64)

    def size(self, entry: Entry) -> int:
        """Bytes of a moment in a chunk."""
        if isinstance(entry, Written):
            return MESSAGE.itemsize + len(entry.data)
        return self.voices[entry.voice].size * len(entry.taken[0])

    def encode(self, entries: Sequence[Entry]) -> Batch:
        """The chunk of these moments; whether they count is up to `count`."""
        starts = np.cumsum([0, *(self.size(entry) for entry in entries)])
        raw = np.empty(int(starts[-1]), np.uint8)
        spoken: dict[int, list[int]] = {}
        found = [np.zeros((3, 0), np.int64)]  # channel, time and place of each message
        for k, entry in enumerate(entries):
            if isinstance(entry, Said):
                spoken.setdefault(entry.voice, []).append(k)
            else:
                data = records.message(entry.channel, 0, entry.ns, entry.data)
                raw[starts[k] : starts[k + 1]] = np.frombuffer(data, np.uint8)
                found.append(np.array([[entry.channel], [entry.ns], [starts[k]]], np.int64))
        for voice, which in spoken.items():
            said = [entry for k in which if isinstance(entry := entries[k], Said)]
            found.append(self._speak(raw, self.voices[voice], said, starts[which]))
        about = np.concatenate(found, axis=1)
        about = about[:, np.lexsort((about[2], about[0]))]
        self._number(raw, about)
        return Batch(raw.tobytes(), *_span(about[1]), _index(about))

    def _speak(self, raw: Array, voice: Voice, said: Sequence[Said], starts: Array) -> Array:
        """Write the messages of one voice where they belong; their channels, times and places."""
        out, lengths = voice.write(said), [len(s.taken[0]) for s in said]
        written, end = out.view(np.uint8), 0
        for start, n in zip(starts.tolist(), lengths, strict=True):
            first, end = end, end + n * voice.size
            raw[start : start + n * voice.size] = written[first:end]
        inside = np.concatenate([np.arange(n) for n in lengths]) * voice.size
        places = np.repeat(starts, lengths) + inside
        return np.stack([out["channel"], out["log_time"], places]).astype(np.int64)

    def _number(self, raw: Array, about: Array) -> None:
        """Write the number of each message in its channel, counted from 0 at the file's first."""
        channels, places = about[0], about[2]
        new = np.flatnonzero(np.diff(channels, prepend=-1))
        rank = np.arange(len(channels)) - np.repeat(new, np.diff(np.append(new, len(channels))))
        numbers = (rank + self.counts[channels]).astype("<u4")
        at = places[:, None] + SEQUENCE_AT + np.arange(4)
        raw[at] = numbers.view(np.uint8).reshape(-1, 4)

    def count(self, batch: Batch) -> None:
        """Let the messages of a chunk count: the next ones are numbered behind them."""
        for channel, entries in batch.index:
            self.counts[channel] += len(entries)


def _span(times: Array) -> tuple[int, int]:
    return (int(times.min()), int(times.max())) if len(times) else (0, 0)


def _index(about: Array) -> list[tuple[int, Array]]:
    """Times and places of messages by channel."""
    channels, pairs = about[0], np.ascontiguousarray(about[1:].T)
    new = np.flatnonzero(np.diff(channels, prepend=-1))
    ends = np.append(new[1:], len(channels))
    return [(int(channels[a]), pairs[a:b]) for a, b in zip(new, ends, strict=True)]
