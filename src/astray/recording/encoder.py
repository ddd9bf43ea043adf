"""What was said at many moments as the records of one chunk.

Every speaker writes its messages of all moments at once, straight to where they belong: by step,
speaker and row. The same moments give the same bytes. Where each message goes depends only on who
spoke when, and chunk after chunk is alike in that, so it is worked out once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from astray.kernel import kernel
from astray.recording import records
from astray.recording.chunk import Chunk, Memory, Stage, Written
from astray.recording.container import Batch
from astray.recording.index import IndexLayout
from astray.recording.records import HEAD, MESSAGE, Op
from astray.ros.speaker import Speaker
from astray.ros.words import Form, Source
from astray.table import Array, Rows

NUMBER_AT, TIME_AT = 11, 15  # bytes from the beginning of a message's record
PLANS = 64  # that are kept


@kernel
def number_all(raw: Array, places: Rows, channels: Rows, times: Array, counts: Array) -> None:
    """Write the time of each message twice, and its number in its channel."""
    for k in range(len(places)):
        start, time, number = places[k], times[k], counts[channels[k]]
        counts[channels[k]] = number + 1
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

    def write(self, raw: Array, part: Part, stages: Sequence[Stage]) -> None:
        """Write messages behind heads that have no number yet."""
        moments, rows = part.moments, part.rows
        sources = [Source(stage.kept, stage.width, moments, rows) for stage in stages]
        extra = self.speaker.work_out(lambda k, column: stages[k].find(moments, rows, column))
        sources += [Source(array, 0, part.none, part.every) for array in extra]
        self._form.write(raw, part.places, rows, sources)


class Part(NamedTuple):
    """The messages of one voice: of which moment and row they are, and where they go."""

    moments: Rows
    rows: Rows
    places: Rows
    none: Rows
    every: Rows


class Plan:
    """Where the messages of a chunk go."""

    def __init__(self, chunk: Chunk, count: int, written: Sequence[Written], voices: Any) -> None:
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
        self.parts = {
            k: _part(m, r, starts[:, k + 1], voices[k].size) for k, (m, r) in spoken.items()
        }
        self.written = _places(written, starts[:, 0].copy())
        channels = [np.array([w.channel for w in written], np.int64)]
        channels += [voices[k].channels[part.rows] for k, part in self.parts.items()]
        places = [self.written, *(part.places for part in self.parts.values())]
        order = np.argsort(np.concatenate(places))
        self._moments = [part.moments for part in self.parts.values()]
        self._order = order
        self.channels, self.places = np.concatenate(channels)[order], np.concatenate(places)[order]
        """Of all messages in the order in which they stand."""
        self.index = IndexLayout(self.channels)

    def times(self, times: Array, written: Sequence[Written]) -> Array:
        """The time of each message, ns, in the order in which they stand."""
        said = [times[moments] for moments in self._moments]
        return np.concatenate([np.array([w.ns for w in written], np.int64), *said])[self._order]


class Encoder:
    """Turns chunks into records and counts the messages of each channel."""

    def __init__(self, voices: Sequence[Voice], channels: int) -> None:
        self.voices = voices
        self.counts = np.zeros(channels + 1, np.int64)
        self._plans: dict[Any, Plan] = {}

    def encode(self, chunk: Chunk, memory: Memory, before: bytes = b"") -> Batch:
        """The records of what a chunk has by now, in some memory, behind other records.

        Whether they count is up to `count`.
        """
        count = chunk.moments  # first: others may come meanwhile
        written = [w for w in list(chunk.written) if w.moment < count]
        plan = self._plan(chunk, count, written)
        whole, start = memory.of(len(before) + plan.size), len(before)
        whole[:start] = np.frombuffer(before, np.uint8)
        raw = whole[start:]
        for k, part in plan.parts.items():
            self.voices[k].write(raw, part, chunk.stages[k])
        for w, place in zip(written, plan.written.tolist(), strict=True):
            data = records.message(w.channel, 0, w.ns, w.data)
            raw[place : place + len(data)] = np.frombuffer(data, np.uint8)
        times = plan.times(np.array(chunk.times[:count], np.int64), written)
        number_all(raw, plan.places, plan.channels, times, self.counts.copy())
        span = (int(times.min()), int(times.max())) if len(times) else (0, 0)
        return Batch(whole.data, *span, plan.index.fill(times, plan.places + start))

    def _plan(self, chunk: Chunk, count: int, written: Sequence[Written]) -> Plan:
        """Where the messages of a chunk go; kept where nothing is out of the ordinary."""
        ordinary = not written and not chunk.alone
        key = tuple(chunk.together[:count]) if ordinary else None
        plan = self._plans.get(key) if ordinary else None
        if plan is None:
            plan = Plan(chunk, count, written, self.voices)
            if ordinary:
                if len(self._plans) >= PLANS:
                    self._plans.clear()
                self._plans[key] = plan
        return plan

    def count(self, batch: Batch) -> None:
        """Let the messages of a chunk count: the next ones are numbered behind them."""
        self.counts[batch.index.channels] += batch.index.counts


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


def _part(moments: Rows, rows: Rows, starts: Array, size: int) -> Part:
    """The messages of a voice, those of a moment side by side from its start on."""
    every = np.arange(len(rows))
    first = np.searchsorted(moments, moments)  # of its moment
    return Part(
        moments, rows, starts[moments] + (every - first) * size, np.zeros_like(every), every
    )


def _places(written: Sequence[Written], starts: Array) -> Rows:
    """Where messages that are in words go, from the start of their moment on."""
    places = np.zeros(len(written), np.int64)
    for k, w in enumerate(written):
        places[k] = starts[w.moment]
        starts[w.moment] += MESSAGE.itemsize + len(w.data)
    return places
