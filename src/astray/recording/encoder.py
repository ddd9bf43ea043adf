"""What was said at many moments as the records of one chunk.

Every speaker writes its messages of all moments at once; then they are put in the order in which
they were said: by step, speaker and row. The same moments give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from astray.kernel import kernel
from astray.recording import records
from astray.recording.chunk import Chunk, Said, Stage
from astray.recording.container import Batch
from astray.recording.records import HEAD, MESSAGE, Op
from astray.ros.speaker import Speaker
from astray.ros.words import Form, Source
from astray.table import Array, Rows

NUMBER_AT, TIME_AT = 11, 15  # bytes from the beginning of a message's record


@kernel
def place_all(raw: Array, messages: Array, shape: Any, which: Any, about: Array) -> None:
    """Copy messages to where they belong; note the place and the time of each.

    Those of a moment stand side by side from its start on.
    """
    lead, size = shape
    moments, starts, times = which
    last, place = -1, 0
    for k in range(len(moments)):
        moment = moments[k]
        if moment != last:
            last, place = moment, starts[moment]
        ours, theirs = raw[place : place + size], messages[k, lead : lead + size]
        for j in range(size):  # through slices, which compile to a copy of memory
            ours[j] = theirs[j]
        about[1, k], about[2, k] = times[moment], place
        place += size


@kernel
def number_all(raw: Array, about: Array, order: Array, counts: Array, index: Any) -> None:
    """Write the time of each message twice, and its number in its channel; list it by channel."""
    pairs, places = index
    for k in order:
        channel, time, start = about[0, k], about[1, k], about[2, k]
        number = counts[channel]
        counts[channel] = number + 1
        pairs[places[channel], 0], pairs[places[channel], 1] = time, start
        places[channel] += 1
        for j in range(4):
            raw[start + NUMBER_AT + j] = number >> 8 * j & 255
        for j in range(8):
            octet = time >> 8 * j & 255
            raw[start + TIME_AT + j] = octet
            raw[start + TIME_AT + 8 + j] = octet


class Voice:
    """A speaker, and the channel of each row that it speaks for."""

    def __init__(self, speaker: Speaker, channels: dict[str, int]) -> None:
        self.speaker = speaker
        self.size = MESSAGE.itemsize + speaker.layout.size
        self.channels = np.zeros(int(speaker.rows.max()) + 1, np.int64)
        for row, topic in speaker.topics.items():
            self.channels[row] = channels[topic.name]
        before = np.zeros(len(self.channels), MESSAGE)
        before["opcode"], before["length"] = Op.MESSAGE, self.size - HEAD.size
        before["channel"] = self.channels
        self._form = Form(speaker.words, before.view(np.uint8).reshape(len(before), -1))
        self.lead = self._form.lead - MESSAGE.itemsize

    def write(self, said: Sequence[Said], stages: Sequence[Stage]) -> tuple[Rows, Rows, Array]:
        """Which moment and row each message is of, and the messages behind heads with no number."""
        rows = np.concatenate([s.rows for s in said])
        moments = np.repeat(np.arange(len(said)), [len(s.rows) for s in said])
        slots = np.array([s.slots for s in said]).T[:, moments]
        sources = [Source(g.kept, g.width, s, rows) for g, s in zip(stages, slots, strict=True)]
        extra = self.speaker.work_out(lambda k, column: stages[k].find(slots[k], rows, column))
        if extra:
            none, every = np.zeros(len(rows), np.int64), np.arange(len(rows))
            sources += [Source(array, 0, none, every) for array in extra]
        return moments, rows, self._form.write(rows, sources)


class Encoder:
    """Turns chunks into records and counts the messages of each channel."""

    def __init__(self, voices: Sequence[Voice], channels: int) -> None:
        self.voices = voices
        self.counts = np.zeros(channels + 1, np.int64)

    def encode(self, chunk: Chunk) -> Batch:
        """The records of what a chunk has by now; whether they count is up to `count`."""
        total = chunk.count
        said, written = chunk.read(total)
        sizes = np.zeros(total + 1, np.int64)
        for voice, some in said.items():
            size = self.voices[voice].size
            for s in some:
                sizes[s.order + 1] = size * len(s.rows)
        for w in written:
            sizes[w.order + 1] = MESSAGE.itemsize + len(w.data)
        starts = np.cumsum(sizes)
        raw = np.empty(int(starts[-1]), np.uint8)
        found = [np.zeros((3, 0), np.int64)]  # channel, time and place of each message
        for w in written:
            data = records.message(w.channel, 0, w.ns, w.data)
            raw[starts[w.order] : starts[w.order + 1]] = np.frombuffer(data, np.uint8)
            found.append(np.array([[w.channel], [w.ns], [starts[w.order]]], np.int64))
        for voice, some in said.items():
            found.append(self._speak(raw, self.voices[voice], some, (chunk.stages[voice], starts)))
        about = np.concatenate(found, axis=1)
        counts = np.bincount(about[0], minlength=len(self.counts))
        ends = np.cumsum(counts)
        pairs = np.empty((about.shape[1], 2), np.int64)
        index = (pairs, ends - counts)
        number_all(raw, about, np.argsort(about[2]), self.counts.copy(), index)
        spoken = [
            (k, pairs[ends[k] - counts[k] : ends[k]]) for k in np.flatnonzero(counts).tolist()
        ]
        return Batch(raw.data, *_span(about[1]), spoken)

    def _speak(
        self, raw: Array, voice: Voice, said: Sequence[Said], where: tuple[Sequence[Stage], Array]
    ) -> Array:
        """Write the messages of one voice where they belong; their channels, times and places."""
        stages, starts = where
        moments, rows, messages = voice.write(said, stages)
        about = np.empty((3, len(rows)), np.int64)
        about[0] = voice.channels[rows]
        times = np.array([s.ns for s in said])
        which = (moments, starts[[s.order for s in said]], times)
        place_all(raw, messages, (voice.lead, voice.size), which, about)
        return about

    def count(self, batch: Batch) -> None:
        """Let the messages of a chunk count: the next ones are numbered behind them."""
        for channel, entries in batch.index:
            self.counts[channel] += len(entries)


def _span(times: Array) -> tuple[int, int]:
    return (int(times.min()), int(times.max())) if len(times) else (0, 0)
