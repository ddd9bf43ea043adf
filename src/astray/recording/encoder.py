"""What was said at many moments as the records of one chunk.

The messages of all speakers at all moments are written by one kernel, straight to where they
belong: by step, speaker and row. The same moments give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from astray.kernel import kernel
from astray.recording import records
from astray.recording.chunk import Chunk, Memory, Written
from astray.recording.container import Batch
from astray.recording.plan import (
    FIRST,
    LAST,
    MOMENT,
    RECORD,
    START,
    STEPS,
    UNTIL,
    VOICE,
    Part,
    Plan,
    Voice,
)
from astray.ros.words import begin_all, make_hands, octets, write_all
from astray.table import Array, Rows

NUMBER_AT, TIME_AT = 11, 15  # bytes from the beginning of a message's record
PLANS = 64  # that are kept


@kernel
def write_voices(
    raw: Array, messages: Any, memory: Any, program: Any, passes: Array, hands: Any
) -> None:
    """Write the messages of all voices, pass by pass."""
    places, moments, rows, ordinals = messages
    kept, made = memory
    (blanks, at), steps = program
    begun = -1
    for k in range(len(passes)):
        p = passes[k]
        first, last, voice = p[FIRST], p[LAST], p[VOICE]
        out = (raw, places[first:last])
        if voice != begun:
            begun = voice
            heads, rest = blanks[at[voice, 0] : at[voice, 1]], blanks[at[voice, 1] : at[voice, 2]]
            begin_all(out, rest, heads, at[voice, 3], rows[first:last])
        own = p[START] < 0
        source, which = (made, ordinals) if own else (kept, rows)
        widths = (-1 - p[START] if own else p[START], p[MOMENT], p[RECORD])
        todo, records = steps[p[STEPS] : p[UNTIL]], (moments[first:last], which[first:last])
        write_all(out, todo, source, widths, records, hands)


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


class Encoder:
    """Turns chunks into records and counts the messages of each channel."""

    def __init__(self, voices: Sequence[Voice], channels: int) -> None:
        self.voices = voices
        self.counts = np.zeros(channels + 1, np.int64)
        self._plans: dict[Any, Plan] = {}
        self._made, self._hands = Memory(), make_hands()
        steps = [step for voice in voices for step in voice.form.steps]
        self._program = _blanks(voices), np.concatenate([np.zeros((0, 4), np.int64), *steps])

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
        made = self._made.of(plan.room)
        for k, part in plan.parts.items():
            self._work_out(made, part, self.voices[k], chunk)
        messages = plan.places, plan.moments, plan.rows, plan.ordinals
        sources = octets(chunk.kept), octets(made)
        write_voices(raw, messages, sources, self._program, plan.passes, self._hands)
        for w, place in zip(written, plan.written.tolist(), strict=True):
            data = records.message(w.channel, 0, w.ns, w.data)
            raw[place : place + len(data)] = np.frombuffer(data, np.uint8)
        times = plan.times(np.array(chunk.times[:count], np.int64), written)
        number_all(raw, plan.all_places, plan.channels, times, self.counts.copy())
        span = (int(times.min()), int(times.max())) if len(times) else (0, 0)
        return Batch(whole.data, *span, plan.index.fill(times, plan.all_places + start))

    def _work_out(self, made: Array, part: Part, voice: Voice, chunk: Chunk) -> None:
        """Keep the values of messages that no column has."""
        if not part.made:
            return
        stages = chunk.stages[voice.speaker.number]
        moments, rows = part.moments, part.rows
        found = voice.speaker.work_out(lambda k, column: stages[k].find(moments, rows, column))
        for start, array in zip(part.made, found, strict=True):
            values = octets(array)[0]
            made[start : start + len(values)] = values

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


def _blanks(voices: Sequence[Voice]) -> tuple[Array, Array]:
    """The forms of all voices behind each other, and of each where it is in them.

    That is: its first byte, where its heads end, where the rest does, and the length of a head.
    """
    at, blanks, start = [], [np.zeros(0, np.uint8)], 0
    for voice in voices:
        heads, rest = voice.form.heads, voice.form.rest
        middle = start + heads.size
        at.append((start, middle, middle + len(rest), heads.shape[1]))
        blanks += [heads.reshape(-1), rest]
        start = middle + len(rest)
    return np.concatenate(blanks), np.array(at, np.int64).reshape(-1, 4)
