"""The kernels that write message bytes: constant bytes first, then one instruction per field.

A table is read from memory that may hold it several times, once per sample time. The record of a
row at a sample time begins at `start + time · time_stride + row · row_stride`; each instruction
takes values from there and writes them at an offset of the message.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from astray.numerics import cos, kernel, sin
from astray.tables import Array, Row, Rows, Table, record_type

INSTRUCTION = record_type(
    [(name, "i8") for name in ("op", "table", "source", "target", "length", "second", "third")]
)
"""One operation: the table that it reads, the byte offset of its value in a record, the byte offset
of the field in the message, a length, and the byte offsets of further operands."""

(
    COPY_BYTES,  # `length` bytes
    WRITE_STAMP,  # seconds as builtin_interfaces/Time
    WRITE_YAW_QUATERNION,  # yaw as z and w of a quaternion
    WRITE_UINT8,  # a float64 that is a small integer
    WRITE_FLOAT32,
    WRITE_STEPPED,  # float32: source + length · second
    WRITE_QUOTIENT,  # float32: source / length
    WRITE_CLIPPED_RANGES,  # `length` ranges, clipped to the columns second and third of table 0
    WRITE_TURN_RATE,  # source, or the speed (third) times the curvature (second) where it is given
) = range(9)

TABLE_PLACEMENT = record_type([(name, "i8") for name in ("start", "time_stride", "row_stride")])
"""Where a table is in memory: byte offset of its first record, bytes from sample time to sample
time and from row to row."""

SCRATCH_SIZE = 2048  # bytes


class RecordMemory(NamedTuple):
    """The memory of one or more tables, seen as bytes and as float64."""

    bytes: Array
    float64: Array


class MessageBuffer(NamedTuple):
    """Where messages are written: a buffer of bytes and the offset of each message in it."""

    bytes: Array
    starts: Array


class RecordSelection(NamedTuple):
    """The records that messages are made of: the sample time and the row of each message."""

    times: Array
    rows: Rows


class ConstantBytes(NamedTuple):
    """The bytes that need no table: a prefix for each row, and the rest, common to all rows."""

    prefixes: Array
    prefix_size: int
    rest: Array


class Scratch(NamedTuple):
    """One piece of aligned memory as several types: fields of messages are not aligned."""

    bytes: Array
    int32: Array
    float32: Array
    float64: Array


@kernel
def copy_bytes(target: Array, offset: int, source: Array) -> None:
    """Copy bytes to an offset; a slice that is indexed from 0 compiles to a memory copy."""
    field = target[offset : offset + len(source)]
    for n in range(len(source)):
        field[n] = source[n]


@kernel
def nanoseconds(seconds: float) -> int:
    """The nearest nanosecond; 0 for negative times and nan."""
    return math.floor(seconds * 1e9 + 0.5) if seconds > 0.0 else 0


@kernel
def write_stamp(target: Array, offset: int, seconds: float, scratch: Scratch) -> None:
    """Write builtin_interfaces/Time: seconds and nanoseconds, int32 each."""
    ns = nanoseconds(seconds)
    scratch.int32[0], scratch.int32[1] = ns // 1_000_000_000, ns % 1_000_000_000
    copy_bytes(target, offset, scratch.bytes[:8])


@kernel
def write_yaw_quaternion(target: Array, offset: int, yaw: float, scratch: Scratch) -> None:
    """Write z and w of the quaternion of a yaw angle; x and y are 0."""
    half = 0.5 * yaw
    scratch.float64[0], scratch.float64[1] = sin(half), cos(half)
    copy_bytes(target, offset, scratch.bytes[:16])


@kernel
def write_float32(target: Array, offset: int, value: float, scratch: Scratch) -> None:
    """Write a number with 32 bits."""
    scratch.float32[0] = value
    copy_bytes(target, offset, scratch.bytes[:4])


@kernel
def write_float64(target: Array, offset: int, value: float, scratch: Scratch) -> None:
    """Write a number with 64 bits."""
    scratch.float64[0] = value
    copy_bytes(target, offset, scratch.bytes[:8])


@kernel
def clipped_range(value: float, range_min: float, range_max: float) -> float:
    """A range as REP 117 wants it: +inf from range_max on, -inf below range_min."""
    if value >= range_max:
        return math.inf
    return -math.inf if value < range_min else value


@kernel
def write_clipped_ranges(
    target: Array,
    offset: int,
    ranges: Array,
    range_min: float,
    range_max: float,
    scratch: Scratch,
) -> None:
    """Write ranges as float32, as many at a time as the scratch memory holds."""
    most = len(scratch.float32)
    for first in range(0, len(ranges), most):
        count = min(most, len(ranges) - first)
        for n in range(count):
            scratch.float32[n] = clipped_range(ranges[first + n], range_min, range_max)
        copy_bytes(target, offset + 4 * first, scratch.bytes[: 4 * count])


@kernel
def turn_rate(rate: float, curvature: float, speed: float) -> float:
    """The commanded yaw rate, rad/s: speed · curvature where a curvature is commanded."""
    return rate if math.isnan(curvature) else speed * curvature


@kernel
def record_start(placement: Row, time: int, row: int) -> int:
    """The byte offset of a row's record at a sample time."""
    start: int = placement.start + time * placement.time_stride + row * placement.row_stride
    return start


@kernel
def copy_constants_all(messages: MessageBuffer, constants: ConstantBytes, rows: Rows) -> None:
    """Write the constant bytes of each message: the prefix of its row, then the common rest."""
    size = constants.prefix_size
    for k in range(len(rows)):
        prefix = constants.prefixes[rows[k] * size : (rows[k] + 1) * size]
        copy_bytes(messages.bytes, messages.starts[k], prefix)
        copy_bytes(messages.bytes, messages.starts[k] + size, constants.rest)


@kernel
def write_fields_all(
    messages: MessageBuffer,
    instructions: Table,
    memory: RecordMemory,
    placements: Table,
    records: RecordSelection,
    scratch: Scratch,
) -> None:
    """Run the instructions of a message type for each message."""
    out, values = messages.bytes, memory.float64
    for k in range(len(records.rows)):
        time, row, message = records.times[k], records.rows[k], messages.starts[k]
        first = record_start(placements[0], time, row)
        start, table = first, 0
        for j in range(len(instructions)):
            step = instructions[j]
            if step.table != table:
                table = step.table
                start = record_start(placements[table], time, row)
            source, target = start + step.source, message + step.target
            if step.op == COPY_BYTES:
                copy_bytes(out, target, memory.bytes[source : source + step.length])
            elif step.op == WRITE_STAMP:
                write_stamp(out, target, values[source // 8], scratch)
            elif step.op == WRITE_YAW_QUATERNION:
                write_yaw_quaternion(out, target, values[source // 8], scratch)
            elif step.op == WRITE_UINT8:
                out[target] = int(values[source // 8]) & 255
            elif step.op == WRITE_FLOAT32:
                write_float32(out, target, values[source // 8], scratch)
            elif step.op == WRITE_STEPPED:
                end = values[source // 8] + step.length * values[(start + step.second) // 8]
                write_float32(out, target, end, scratch)
            elif step.op == WRITE_QUOTIENT:
                write_float32(out, target, values[source // 8] / step.length, scratch)
            elif step.op == WRITE_CLIPPED_RANGES:
                ranges = values[source // 8 :]
                range_min = values[(first + step.second) // 8]
                range_max = values[(first + step.third) // 8]
                write_clipped_ranges(
                    out, target, ranges[: step.length], range_min, range_max, scratch
                )
            elif step.op == WRITE_TURN_RATE:
                curvature = values[(start + step.second) // 8]
                speed = values[(start + step.third) // 8]
                rate = turn_rate(values[source // 8], curvature, speed)
                write_float64(out, target, rate, scratch)


def make_scratch() -> Scratch:
    """Scratch memory for one thread."""
    octets = np.zeros(SCRATCH_SIZE, np.uint8)
    return Scratch(octets, octets.view(np.int32), octets.view(np.float32), octets.view(np.float64))


def record_memory(table: Array) -> RecordMemory:
    """The memory of a table; its last bytes are no float64 if they do not fill one."""
    octets = np.ascontiguousarray(table).reshape(-1).view(np.uint8)
    return RecordMemory(octets, octets[: len(octets) // 8 * 8].view(np.float64))


def record_size(table: Array) -> int:
    """Bytes that a table or an array has for one row."""
    return int(np.dtype((table.dtype, table.shape[1:])).itemsize)


def place_tables(tables: Sequence[Array]) -> tuple[RecordMemory, Table]:
    """Copy tables of one sample time into one memory; where each of them is in it."""
    parts = [record_memory(table).bytes for table in tables]
    placements = np.zeros(len(tables), TABLE_PLACEMENT)
    placements["row_stride"] = [record_size(table) for table in tables]
    if len(parts) == 1:
        return record_memory(parts[0]), placements
    sizes = [len(part) + -len(part) % 8 for part in parts]
    placements["start"] = np.cumsum(sizes) - sizes
    memory = np.zeros(sum(sizes), np.uint8)
    for part, start in zip(parts, placements["start"].tolist(), strict=True):
        memory[start : start + len(part)] = part
    return record_memory(memory), placements
