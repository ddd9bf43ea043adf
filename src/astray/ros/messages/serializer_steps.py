"""How the bytes of messages are made of records, step by step.

Records lie in one memory: those of a table behind each other, and its copies of later moments
behind those. A step takes something from the record of a row and puts it into the message.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from astray.numerics import cos, kernel, sin
from astray.tables import Array, Rows

ACTION, TABLE, AT, TO, COUNT, MORE = range(6)
"""Of a step: what to do, with which table, from which byte of a record, to which byte of a message,
with how many values, and one thing more that some actions need."""

COPY, NARROW, SMALL, STAMP, TURN, LINE, SHARE, LIMITED, BENT = range(9)
"""Bytes as they are; float64 to float32; to a small integer; seconds to a time; yaw to z and w; a
value and `count` times the one at `more`; a value by `count`; values between two limits, which are
at `more` in the first table; the turn by a curvature with the speed at `count`, or that at `more`.
"""

START, MOMENT, RECORD = range(3)
"""Of a table: its first byte, and how many there are from moment to moment and record to record."""

HANDS = 2048  # bytes of a little memory

Step = tuple[int, int, int, int, int, int]


@kernel
def copy_bytes(raw: Array, at: int, octets: Array) -> None:
    """Copy some bytes; through slices and from 0 on, which compiles to a copy of memory."""
    ours = raw[at : at + len(octets)]
    for n in range(len(octets)):
        ours[n] = octets[n]


@kernel
def copy_constants_all(out: Any, rest: Array, heads: Array, length: int, rows: Rows) -> None:
    """Copy what is the same in all messages of a row, its head, and what is so in all of them."""
    raw, places = out
    for k in range(len(rows)):
        copy_bytes(raw, places[k], heads[rows[k] * length : (rows[k] + 1) * length])
        copy_bytes(raw, places[k] + length, rest)


@kernel
def time_of(seconds: float) -> int:
    """The nearest nanosecond; before zero there is no time, nor where there is no number."""
    return math.floor(seconds * 1e9 + 0.5) if seconds > 0.0 else 0


@kernel
def within(value: float, near: float, far: float) -> float:
    """A range that is infinite where it is beyond its limits."""
    if value >= far:
        return math.inf
    return -math.inf if value < near else value


@kernel
def limit_all(raw: Array, to: int, ranges: Array, limits: Array, hands: Any) -> None:
    """Write ranges between two limits as numbers of 32 bits, as many at once as hands hold."""
    octets, _, narrow, _ = hands
    near, far, most = limits[0], limits[1], len(narrow)
    for begin in range(0, len(ranges), most):
        count = min(most, len(ranges) - begin)
        for n in range(count):
            narrow[n] = within(ranges[begin + n], near, far)
        copy_bytes(raw, to + 4 * begin, octets[: 4 * count])


@kernel
def copy_fields_all(
    out: Any, steps: Array, source: Any, tables: Array, which: Any, hands: Any
) -> None:
    """Write values of records, which lie in rows and moments, into messages at their places.

    Messages lie anywhere, and numbers in them; so each is made in aligned memory, its hands.
    """
    raw, places = out
    given, values = source
    moments, rows = which
    octets, ints, narrow, wide = hands
    for k in range(len(rows)):
        first = tables[0, START] + moments[k] * tables[0, MOMENT] + rows[k] * tables[0, RECORD]
        record, table = first, 0
        for j in range(len(steps)):
            if steps[j, TABLE] != table:
                table = steps[j, TABLE]
                record = tables[table, START] + moments[k] * tables[table, MOMENT]
                record += rows[k] * tables[table, RECORD]
            action, start, to = steps[j, ACTION], record + steps[j, AT], places[k] + steps[j, TO]
            count, more = steps[j, COUNT], (record + steps[j, MORE]) // 8
            if action == COPY:
                copy_bytes(raw, to, given[start : start + count])
            elif action == STAMP:
                ns = time_of(values[start // 8])
                ints[0], ints[1] = ns // 1_000_000_000, ns % 1_000_000_000
                copy_bytes(raw, to, octets[:8])
            elif action == TURN:
                half = 0.5 * values[start // 8]
                wide[0], wide[1] = sin(half), cos(half)
                copy_bytes(raw, to, octets[:16])
            elif action == SMALL:
                raw[to] = int(values[start // 8]) & 255
            elif action == BENT:
                curvature, speed = values[start // 8], values[(record + count) // 8]
                wide[0] = values[more] if math.isnan(curvature) else speed * curvature
                copy_bytes(raw, to, octets[:8])
            elif action == LIMITED:
                ranges, limits = values[start // 8 :], values[(first + steps[j, MORE]) // 8 :]
                limit_all(raw, to, ranges[:count], limits[:2], hands)
            else:
                value = values[start // 8]
                if action == LINE:
                    value += count * values[more]
                narrow[0] = value / count if action == SHARE else value
                copy_bytes(raw, to, octets[:4])


def make_scratch() -> tuple[Array, ...]:
    """A little memory, as bytes and as numbers of each kind."""
    octets = np.zeros(HANDS, np.uint8)
    return tuple([octets.view(kind) for kind in (np.uint8, np.int32, np.float32, np.float64)])


def octets(table: Array) -> tuple[Array, Array]:
    """A table as bytes, and as numbers as far as it goes."""
    raw = np.ascontiguousarray(table).reshape(-1).view(np.uint8)
    return raw, raw[: len(raw) // 8 * 8].view(np.float64)


def side_by_side(tables: Sequence[Array]) -> tuple[tuple[Array, Array], Array]:
    """Tables of one moment in one memory, and where each of them is in it."""
    parts = [octets(table)[0] for table in tables]
    where = np.zeros((len(tables), 3), np.int64)
    where[:, RECORD] = [record_size(table) for table in tables]
    if len(parts) == 1:
        return octets(parts[0]), where
    sizes = [len(part) + -len(part) % 8 for part in parts]
    where[:, START] = np.cumsum(sizes) - sizes
    memory = np.zeros(sum(sizes), np.uint8)
    for part, start in zip(parts, where[:, START].tolist(), strict=True):
        memory[start : start + len(part)] = part
    return octets(memory), where


def record_size(table: Array) -> int:
    """Bytes of what a table or an array has for one row."""
    return int(np.dtype((table.dtype, table.shape[1:])).itemsize)


def merged(steps: Sequence[Step], lead: int) -> Array:
    """Steps in the order of what they read; copies side by side become one."""
    made: list[Step] = []
    for action, table, at, to, count, more in sorted(steps, key=lambda s: (s[TABLE], s[AT], s[TO])):
        if made and action == COPY == made[-1][ACTION] and table == made[-1][TABLE]:
            _, _, at_, to_, count_, _ = made[-1]
            if (at_ + count_, to_ + count_) == (at, to + lead):
                made[-1] = (COPY, table, at_, to_, count_ + count, 0)
                continue
        made.append((action, table, at, to + lead, count, more))
    return np.array(made, np.int64).reshape(-1, 6)
