"""Where the messages of a chunk go, and of what they are made.

That depends only on who spoke when, and chunk after chunk is alike in that: it is worked out once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from astray.recording.chunk import Chunk, Written
from astray.recording.index import IndexLayout
from astray.recording.records import HEAD, MESSAGE, Op
from astray.ros.speaker import Speaker
from astray.ros.words import Form
from astray.table import Array, Rows


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
        self.form = Form(speaker.words, before.view(np.uint8).reshape(len(before), -1))
        """Its messages behind heads that have no number yet."""


class Part(NamedTuple):
    """The messages of one voice: of which moment and row they are, and where they go."""

    moments: Rows
    rows: Rows
    places: Rows
    first: int
    """Among those of all voices."""
    made: Sequence[int]
    """From which byte on the arrays are kept that it works out."""


class Plan:
    """Where the messages of a chunk go."""

    def __init__(
        self, chunk: Chunk, count: int, written: Sequence[Written], voices: Sequence[Voice]
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
        self.room = 0
        """For what voices work out, bytes."""
        self.parts: dict[int, Part] = {}
        self._lay_out(spoken, starts, voices)
        parts = self.parts.values()
        none = np.zeros(0, np.int64)
        self.places, self.moments, self.rows, self.ordinals = (
            np.concatenate([none, *every])
            for every in (
                [p.places for p in parts],
                [p.moments for p in parts],
                [p.rows for p in parts],
                [np.arange(len(p.rows)) for p in parts],
            )
        )
        """Of the messages of all voices, one voice behind the other."""
        self.written = _places(written, starts[:, 0].copy())
        channels = [np.array([w.channel for w in written], np.int64)]
        channels += [voices[k].channels[part.rows] for k, part in self.parts.items()]
        places = np.concatenate([self.written, self.places])
        self._order = np.argsort(places)
        self.all_places = places[self._order]
        """Of all messages in the order in which they stand, as their channels and their index."""
        self.channels = np.concatenate(channels)[self._order]
        self.index = IndexLayout(self.channels)
        self.passes = _passes(self.parts, chunk, voices)

    def _lay_out(
        self, spoken: dict[int, tuple[Rows, Rows]], starts: Array, voices: Sequence[Voice]
    ) -> None:
        first = 0
        for k, (moments, rows) in spoken.items():
            nth = np.arange(len(rows)) - np.searchsorted(moments, moments)  # at its moment
            places = starts[moments, k + 1] + nth * voices[k].size
            made = []
            for width in voices[k].form.widths[len(voices[k].speaker.sources) :]:
                made.append(self.room)
                self.room += len(rows) * width + -len(rows) * width % 8
            self.parts[k] = Part(moments, rows, places, first, made)
            first += len(rows)

    def times(self, times: Array, written: Sequence[Written]) -> Array:
        """The time of each message, ns, in the order in which they stand."""
        before = np.array([w.ns for w in written], np.int64)
        return np.concatenate([before, times[self.moments]])[self._order]


FIRST, LAST, VOICE, STEPS, UNTIL, START, MOMENT, RECORD = range(8)
"""The columns of a pass: messages from, to; voice; steps from, to; and of what is read the first
byte, negative if it is worked out, the bytes from moment to moment, and from record to record."""


def _passes(parts: dict[int, Part], chunk: Chunk, voices: Sequence[Voice]) -> Array:
    """What is to be done: one pass for each table of each voice that has something to say."""
    made: list[tuple[int, ...]] = []
    step = 0
    for k, voice in enumerate(voices):
        part, stages = parts.get(k), chunk.stages[k]
        for j, (steps, width) in enumerate(zip(voice.form.steps, voice.form.widths, strict=True)):
            if part is not None:
                if j < len(stages):
                    source = (stages[j].start, stages[j].width, width)
                else:
                    source = (-1 - part.made[j - len(stages)], 0, width)
                last = part.first + len(part.rows)
                made.append((part.first, last, k, step, step + len(steps), *source))
            step += len(steps)
    return np.array(made, np.int64).reshape(-1, 8)


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
