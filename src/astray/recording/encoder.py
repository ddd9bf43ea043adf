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
from astray.recording.chunk import Chunk, Stage, Written
from astray.recording.container import Batch
from astray.recording.records import HEAD, MESSAGE, Op
from astray.ros.speaker import Speaker
from astray.ros.words import Form, Scratch, Source
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

    def write(self, moments: Rows, rows: Rows, stages: Sequence[Stage], scratch: Scratch) -> Array:
        """The messages of these rows at these moments behind heads that have no number yet."""
        sources = [Source(stage.kept, stage.width, moments, rows) for stage in stages]
        extra = self.speaker.work_out(lambda k, column: stages[k].find(moments, rows, column))
        if extra:
            none, every = np.zeros(len(rows), np.int64), np.arange(len(rows))
            sources += [Source(array, 0, none, every) for array in extra]
        return self._form.write(rows, sources, scratch)


class Encoder:
    """Turns chunks into records and counts the messages of each channel."""

    def __init__(self, voices: Sequence[Voice], channels: int) -> None:
        self.voices = voices
        self.counts = np.zeros(channels + 1, np.int64)
        self._raw, self._messages = Scratch(), Scratch()

    def encode(self, chunk: Chunk) -> Batch:
        """The records of what a chunk has by now, good until the next time.

        Whether they count is up to `count`.
        """
        count = chunk.moments  # first: others may come meanwhile
        times = np.array(chunk.times[:count], np.int64)
        spoken = _by_speaker(chunk, count)
        written = [w for w in list(chunk.written) if w.moment < count]
        sizes = np.zeros((count, 1 + len(self.voices)), np.int64)
        for w in written:
            sizes[w.moment, 0] += MESSAGE.itemsize + len(w.data)
        for k, (moments, _) in spoken.items():
            sizes[:, k + 1] = np.bincount(moments, minlength=count) * self.voices[k].size
        starts = (np.cumsum(sizes) - sizes.reshape(-1)).reshape(sizes.shape)
        raw = self._raw.of(int(sizes.sum()))
        found = [_put(raw, written, starts[:, 0].copy())]
        for k, (moments, rows) in spoken.items():
            voice = self.voices[k]
            messages = voice.write(moments, rows, chunk.stages[k], self._messages)
            about = np.empty((3, len(rows)), np.int64)  # channel, time and place of each message
            about[0] = voice.channels[rows]
            which = (moments, np.ascontiguousarray(starts[:, k + 1]), times)
            place_all(raw, messages, (voice.lead, voice.size), which, about)
            found.append(about)
        return self._numbered(raw, np.concatenate(found, axis=1))

    def _numbered(self, raw: Array, about: Array) -> Batch:
        """Number the messages in the order in which they stand, and list them by channel."""
        counts = np.bincount(about[0], minlength=len(self.counts))
        ends = np.cumsum(counts)
        pairs = np.empty((about.shape[1], 2), np.int64)
        index = (pairs, ends - counts)
        number_all(raw, about, np.argsort(about[2]), self.counts.copy(), index)
        channels = np.flatnonzero(counts).tolist()
        listed = [(k, pairs[ends[k] - counts[k] : ends[k]]) for k in channels]
        return Batch(raw.data, *_span(about[1]), listed)

    def count(self, batch: Batch) -> None:
        """Let the messages of a chunk count: the next ones are numbered behind them."""
        for channel, entries in batch.index:
            self.counts[channel] += len(entries)


def _span(times: Array) -> tuple[int, int]:
    return (int(times.min()), int(times.max())) if len(times) else (0, 0)


def _by_speaker(chunk: Chunk, count: int) -> dict[int, tuple[Rows, Rows]]:
    """The moments and rows of all messages of each speaker, in order."""
    choruses: dict[tuple[int, ...], list[int]] = {}
    for moment, numbers in enumerate(chunk.together[:count]):
        choruses.setdefault(numbers, []).append(moment)
    together: dict[int, list[int]] = {}
    for numbers, some_moments in choruses.items():
        for k in numbers:
            together.setdefault(k, []).extend(some_moments)
    alone = [said for said in list(chunk.alone) if said[0] < count]
    spoken = {}
    for k in sorted({*together, *(said[1] for said in alone)}):
        every = chunk.speakers[k].rows
        some = {moment: rows for moment, number, rows in alone if number == k}
        moments = np.array(sorted([*together.get(k, ()), *some]), np.int64)
        if not some:
            spoken[k] = np.repeat(moments, len(every)), np.tile(every, len(moments))
        else:
            rows = [some.get(moment, every) for moment in moments.tolist()]
            spoken[k] = np.repeat(moments, [len(r) for r in rows]), np.concatenate(rows)
    return spoken


def _put(raw: Array, written: Sequence[Written], starts: Array) -> Array:
    """Copy messages that are in words to where they belong; their channels, times and places."""
    about = np.empty((3, len(written)), np.int64)
    for k, w in enumerate(written):
        data = records.message(w.channel, 0, w.ns, w.data)
        start = starts[w.moment]
        raw[start : start + len(data)] = np.frombuffer(data, np.uint8)
        about[:, k] = w.channel, w.ns, start
        starts[w.moment] += len(data)
    return about
