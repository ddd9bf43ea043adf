"""Encodes a chunk: the records of its messages, and their index.

One kernel writes the messages of all publishers at all samples straight to where the layout has
them. The same samples give the same bytes. It is one call, since between two calls this thread
would wait for the one that runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from astray.numerics import compiled_for, kernel
from astray.recording.mcap.chunk import Chunk, EncodedMessage, ReusedBuffer
from astray.recording.mcap.chunk_layout import (
    ChannelWriter,
    ChunkLayout,
    MessageBlock,
    MessageTable,
    RecordTable,
)
from astray.recording.mcap.message_index import write_entry
from astray.recording.mcap.records import encode_message
from astray.recording.mcap.write_ahead_log import ChunkContent
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
from astray.tables import Array, record_type

SEQUENCE_OFFSET, TIMES_OFFSET = 11, 15  # bytes from the start of a message's record
MAX_LAYOUTS = 64  # that are kept

WRITER = record_type(
    [
        (name, "i8")
        for name in (
            *("first_prefix", "prefix_size", "first_rest", "last_rest"),
            *("first_instruction", "last_instruction", "first_table", "last_table"),
        )
    ]
)
"""Where the parts of one ChannelWriter are in the arrays of a SerializerTable."""


class ChunkBuffer(NamedTuple):
    """Where a chunk is written: its bytes, where messages start in them, and its index."""

    bytes: Array
    start: int
    message_index: Array
    blank_index: Array


class SerializerTable(NamedTuple):
    """The serializers of all ChannelWriters, joined."""

    constants: Array
    writers: Array
    """WRITER."""
    instructions: Array
    placements: Array


class MessageNumbers(NamedTuple):
    """The times by which messages are stamped, ns, and the next sequence number per channel."""

    times: Array
    counts: Array


@kernel
def write_messages(
    raw: Array,
    messages: MessageTable,
    memory: RecordMemory,
    serializers: SerializerTable,
    scratch: Scratch,
) -> None:
    """Write the messages that are made of tables."""
    for k in range(len(messages.runs)):
        first, last = messages.runs[k].first, messages.runs[k].last
        writer = serializers.writers[messages.runs[k].writer]
        out = MessageBuffer(raw, messages.offsets[first:last])
        selection = RecordSelection(messages.samples[first:last], messages.rows[first:last])
        prefixes = serializers.constants[writer.first_prefix : writer.first_rest]
        rest = serializers.constants[writer.first_rest : writer.last_rest]
        copy_constants_all(out, ConstantBytes(prefixes, writer.prefix_size, rest), selection.rows)
        instructions = serializers.instructions[writer.first_instruction : writer.last_instruction]
        placements = serializers.placements[writer.first_table : writer.last_table]
        write_fields_all(out, instructions, memory, placements, selection, scratch)


@kernel
def write_sequence_and_times(raw: Array, offset: int, sequence: int, time: int) -> None:
    """Complete the head of a message's record: its sequence number, log time and publish time."""
    for j in range(4):
        raw[offset + SEQUENCE_OFFSET + j] = sequence >> 8 * j & 255
    for j in range(8):
        octet = time >> 8 * j & 255
        raw[offset + TIMES_OFFSET + j] = octet
        raw[offset + TIMES_OFFSET + 8 + j] = octet


@kernel
def write_chunk(
    out: ChunkBuffer,
    messages: MessageTable,
    memory: RecordMemory,
    serializers: SerializerTable,
    records: RecordTable,
    numbers: MessageNumbers,
    scratch: Scratch,
) -> None:
    """Write the messages that are made of tables, the heads of all messages, and the index."""
    copy_bytes(out.message_index, 0, out.blank_index)
    raw = out.bytes[out.start :]
    write_messages(raw, messages, memory, serializers, scratch)
    for k in range(len(records.offsets)):
        channel, time = records.channels[k], numbers.times[records.times[k]]
        write_sequence_and_times(raw, records.offsets[k], numbers.counts[channel], time)
        numbers.counts[channel] += 1
        write_entry(out.message_index, records.entries[k], time, out.start + records.offsets[k])


class ChunkEncoder:
    """Encodes chunks, and numbers the messages of each channel."""

    def __init__(self, writers: Sequence[ChannelWriter], channels: int) -> None:
        self.writers = writers
        self.counts = np.zeros(channels + 1, np.int64)
        """The number of messages of each channel so far."""
        self._layouts: dict[Any, ChunkLayout] = {}
        self._serializers: SerializerTable | None = None
        self._scratch = make_scratch()
        self._write_chunk: Callable[..., None] | None = None

    def encode(self, chunk: Chunk, buffer: ReusedBuffer, before: bytes = b"") -> ChunkContent:
        """Encode the samples that a chunk has by now, after records of other kinds.

        The result lies in the buffer. Sequence numbers advance only by `advance`.
        """
        samples = chunk.samples  # read first: the run may add more meanwhile
        encoded = [message for message in list(chunk.encoded) if message.sample < samples]
        layout, times = self._layout(chunk, samples, encoded), chunk.times[:samples]
        if encoded:
            encoded_times = np.array([message.ns for message in encoded], np.int64)
            times = np.concatenate([times, encoded_times])
        raw, start = buffer.take(len(before) + layout.size), len(before)
        raw[:start] = np.frombuffer(before, np.uint8)
        for message, offset in zip(encoded, layout.encoded_offsets.tolist(), strict=True):
            data = encode_message(message.channel, 0, message.ns, message.data)
            raw[start + offset : start + offset + len(data)] = np.frombuffer(data, np.uint8)
        for k, block in layout.blocks.items():
            self._compute_values(block, self.writers[k], chunk)
        if self._serializers is None:  # the tables of all chunks are placed alike
            self._serializers = _join_serializers(self.writers, chunk)
        index = np.empty_like(layout.index.blank)
        arguments = (
            ChunkBuffer(raw, start, index, layout.index.blank),
            layout.messages,
            record_memory(chunk.memory),
            self._serializers,
            layout.records,
            MessageNumbers(times, self.counts.copy()),
            self._scratch,
        )
        if self._write_chunk is None:  # to find the types of all these takes long, each time
            self._write_chunk = compiled_for(write_chunk, *arguments)
        self._write_chunk(*arguments)
        first, last = (int(times.min()), int(times.max())) if len(times) else (0, 0)
        return ChunkContent(raw.data, first, last, layout.index.to_index(index))

    def advance(self, content: ChunkContent) -> None:
        """Advance the sequence numbers by the messages of an encoded chunk."""
        self.counts[content.index.channels] += content.index.counts

    def _compute_values(self, block: MessageBlock, writer: ChannelWriter, chunk: Chunk) -> None:
        """Write the values that a publisher computes to the copies of their table."""
        publisher, copies = writer.publisher, chunk.copies[writer.publisher.index]
        computed = copies[len(publisher.sources) :]
        if computed:
            samples, rows = block.samples, block.rows
            found = publisher.compute(lambda column: copies[0].read(samples, rows, column))
            for target, values in zip(computed, found, strict=True):
                target.write(samples, rows, values)

    def _layout(self, chunk: Chunk, samples: int, encoded: Sequence[EncodedMessage]) -> ChunkLayout:
        """The layout of a chunk; kept where all messages are regular."""
        if encoded or chunk.partial:
            return ChunkLayout(chunk, samples, encoded, self.writers)
        key = tuple(chunk.full[:samples])
        layout = self._layouts.get(key)
        if layout is None:
            if len(self._layouts) >= MAX_LAYOUTS:
                self._layouts.clear()
            layout = self._layouts[key] = ChunkLayout(chunk, samples, encoded, self.writers)
        return layout


def _join_serializers(writers: Sequence[ChannelWriter], chunk: Chunk) -> SerializerTable:
    """Join the constant bytes, instructions and table placements of all writers."""
    constants, instructions = [np.zeros(0, np.uint8)], [np.zeros(0, INSTRUCTION)]
    placements: list[tuple[int, ...]] = []
    joined = np.zeros(len(writers), WRITER)
    size = count = 0
    for k, (writer, copies) in enumerate(zip(writers, chunk.copies, strict=True)):
        own, steps = writer.serializer.constants, writer.serializer.instructions
        first_rest, first_table = size + own.prefixes.size, len(placements)
        last_rest, last_instruction = first_rest + len(own.rest), count + len(steps)
        for copy, table in zip(copies, writer.publisher.tables, strict=True):
            placements.append((copy.start, copy.stride, record_size(table)))
        joined[k] = (
            *(size, own.prefix_size, first_rest, last_rest),
            *(count, last_instruction, first_table, len(placements)),
        )
        constants += [own.prefixes, own.rest]
        instructions.append(steps)
        size, count = last_rest, last_instruction
    return SerializerTable(
        np.concatenate(constants),
        joined,
        np.concatenate(instructions),
        np.array(placements, TABLE_PLACEMENT),
    )
