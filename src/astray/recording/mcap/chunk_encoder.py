"""What was said at many moments as the records of one chunk.

The messages of all speakers at all moments are written by one kernel, straight to where they
belong: by step, speaker and row. The same moments give the same bytes. All is done in that one
call, since between two calls this thread would have to wait for the one that runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from astray.numerics import compiled_for, kernel
from astray.recording.mcap import records
from astray.recording.mcap.chunk import Chunk, Memory, Written
from astray.recording.mcap.chunk_layout import (
    FIRST,
    LAST,
    VOICE,
    ChannelWriter,
    ChunkLayout,
    MessageBlock,
)
from astray.recording.mcap.message_index import enter
from astray.recording.mcap.writer import Batch
from astray.ros.messages import (
    INSTRUCTION,
    TABLE_PLACEMENT,
    ConstantBytes,
    MessageBuffer,
    RecordMemory,
    RecordSelection,
    Scratch,
    copy_bytes,
    copy_constants_all,
    make_scratch,
    record_memory,
    record_size,
    write_fields_all,
)
from astray.tables import Array

NUMBER_AT, TIME_AT = 11, 15  # bytes from the beginning of a message's record
PLANS = 64  # that are kept
HEADS, REST, END, LENGTH, STEPS, LAST_STEP, TABLES, LAST_TABLE = range(8)
"""Of a voice: where its heads begin, where the rest does that stands behind each, where that ends,
and how long a head is; from which to which its steps are, and its tables."""


@kernel
def write_voices(
    raw: Array, messages: Any, memory: RecordMemory, program: Any, scratch: Scratch
) -> None:
    """Write the messages of all voices."""
    places, moments, rows, passes = messages
    blanks, voices, steps, tables = program
    for k in range(len(passes)):
        first, last, v = passes[k, FIRST], passes[k, LAST], voices[passes[k, VOICE]]
        out = MessageBuffer(raw, places[first:last])
        records = RecordSelection(moments[first:last], rows[first:last])
        prefixes, rest = blanks[v[HEADS] : v[REST]], blanks[v[REST] : v[END]]
        copy_constants_all(out, ConstantBytes(prefixes, v[LENGTH], rest), records.rows)
        todo, where = steps[v[STEPS] : v[LAST_STEP]], tables[v[TABLES] : v[LAST_TABLE]]
        write_fields_all(out, todo, memory, where, records, scratch)


@kernel
def number(raw: Array, place: int, count: int, time: int) -> None:
    """Write the number of a message in its channel, and its time twice."""
    for j in range(4):
        raw[place + NUMBER_AT + j] = count >> 8 * j & 255
    for j in range(8):
        octet = time >> 8 * j & 255
        raw[place + TIME_AT + j] = octet
        raw[place + TIME_AT + 8 + j] = octet


@kernel
def write_chunk(
    out: Any, messages: Any, memory: RecordMemory, program: Any, given: Any, scratch: Scratch
) -> None:
    """Write the messages of all voices; number all messages, and enter them into the index."""
    whole, start, entries, blank = out
    copy_bytes(entries, 0, blank)
    (places, channels, which, goals), times, counts = given
    raw = whole[start:]
    write_voices(raw, messages, memory, program, scratch)
    for k in range(len(places)):
        channel, time = channels[k], times[which[k]]
        number(raw, places[k], counts[channel], time)
        counts[channel] += 1
        enter(entries, goals[k], time, start + places[k])


class ChunkEncoder:
    """Turns chunks into records and counts the messages of each channel."""

    def __init__(self, voices: Sequence[ChannelWriter], channels: int) -> None:
        self.voices = voices
        self.counts = np.zeros(channels + 1, np.int64)
        self._plans: dict[Any, ChunkLayout] = {}
        self._program: tuple[Array, ...] | None = None
        self._scratch = make_scratch()
        self._code: Callable[..., None] | None = None

    def encode(self, chunk: Chunk, memory: Memory, before: bytes = b"") -> Batch:
        """The records of what a chunk has by now, in some memory, behind other records.

        Whether they count is up to `count`.
        """
        count = chunk.moments  # first: others may come meanwhile
        written = [w for w in list(chunk.written) if w.moment < count]
        plan, times = self._plan(chunk, count, written), chunk.times[:count]
        if written:
            times = np.concatenate([times, np.array([w.ns for w in written], np.int64)])
        whole, start = memory.of(len(before) + plan.size), len(before)
        whole[:start] = np.frombuffer(before, np.uint8)
        for w, place in zip(written, (start + plan.written).tolist(), strict=True):
            data = records.message(w.channel, 0, w.ns, w.data)
            whole[place : place + len(data)] = np.frombuffer(data, np.uint8)
        for k, part in plan.parts.items():
            self._work_out(part, self.voices[k], chunk)
        if self._program is None:  # chunks are all alike
            self._program = _program(self.voices, chunk)
        index = np.empty_like(plan.index.blank)
        what = (
            (whole, start, index, plan.index.blank),
            plan.messages,
            record_memory(chunk.kept),
            self._program,
            (plan.records, times, self.counts.copy()),
            self._scratch,
        )
        if self._code is None:  # to look at the types of all these would take a while each time
            self._code = compiled_for(write_chunk, *what)
        self._code(*what)
        span = (int(times.min()), int(times.max())) if len(times) else (0, 0)
        return Batch(whole.data, *span, plan.index.filled(index))

    def _work_out(self, part: MessageBlock, voice: ChannelWriter, chunk: Chunk) -> None:
        """Keep the values of messages that no column has."""
        speaker, stages = voice.speaker, chunk.stages[voice.speaker.index]
        made = stages[len(speaker.sources) :]
        if made:
            moments, rows = part.moments, part.rows
            found = speaker.compute(lambda column: stages[0].find(moments, rows, column))
            for stage, values in zip(made, found, strict=True):
                stage.put(moments, rows, values)

    def _plan(self, chunk: Chunk, count: int, written: Sequence[Written]) -> ChunkLayout:
        """Where the messages of a chunk go; kept where nothing is out of the ordinary."""
        ordinary = not written and not chunk.alone
        key = tuple(chunk.together[:count]) if ordinary else None
        plan = self._plans.get(key) if ordinary else None
        if plan is None:
            plan = ChunkLayout(chunk, count, written, self.voices)
            if ordinary:
                if len(self._plans) >= PLANS:
                    self._plans.clear()
                self._plans[key] = plan
        return plan

    def count(self, batch: Batch) -> None:
        """Let the messages of a chunk count: the next ones are numbered behind them."""
        self.counts[batch.index.channels] += batch.index.counts


def _program(voices: Sequence[ChannelWriter], chunk: Chunk) -> tuple[Array, ...]:
    """The forms of all voices behind each other, where each is in them, steps and tables."""
    blanks, steps = [np.zeros(0, np.uint8)], [np.zeros(0, INSTRUCTION)]
    tables: list[tuple[int, ...]] = []
    at, start, step = [], 0, 0
    for voice, stages in zip(voices, chunk.stages, strict=True):
        constants, instructions = voice.serializer.constants, voice.serializer.instructions
        middle, table = start + constants.prefixes.size, len(tables)
        end, last = middle + len(constants.rest), step + len(instructions)
        for stage, given in zip(stages, voice.speaker.tables, strict=True):
            tables.append((stage.start, stage.width, record_size(given)))
        length = constants.prefix_size
        at.append((start, middle, end, length, step, last, table, len(tables)))
        blanks += [constants.prefixes, constants.rest]
        steps.append(instructions)
        start, step = end, last
    return (
        np.concatenate(blanks),
        np.array(at, np.int64).reshape(-1, 8),
        np.concatenate(steps),
        np.array(tables, TABLE_PLACEMENT),
    )
