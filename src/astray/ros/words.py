"""How messages are made of tables: which column goes where in the bytes.

A speaker says it once; then any number of messages, of any number of moments, are written by one
pass of a kernel for each table. What is the same in all messages of a robot, its frames and what
never changes, stands in a form that is copied first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from astray.kernel import kernel
from astray.maths import cos, sin
from astray.ros.layout import Layout
from astray.ros.names import Robot
from astray.table import Array, Rows

COPY, NARROW, SMALL, STAMP, TURN = range(5)
"""Bytes as they are; float64 to float32; to a small integer; seconds to a time; yaw to z and w."""
LEAD = 4  # bytes before a message that put its numbers, behind a head of four, at multiples of 8

Step = tuple[int, int, int, int]
"""What to do, from which byte of a record, to which byte of a message, and how many values."""


@kernel
def begin_all(out: Array, blank: Array, heads: Array, rows: Rows) -> None:
    """Copy what is the same in all messages, and in all of a row."""
    for k in range(len(rows)):
        message, head = out[k], heads[rows[k]]
        for j in range(len(head)):
            message[j] = head[j]
        for j in range(len(head), len(blank)):
            message[j] = blank[j]


@kernel
def write_all(out: Any, steps: Array, source: Any, widths: Any, which: Any) -> None:
    """Write values of records, which lie in rows and moments, into messages."""
    octets, ints, narrow, wide = out
    given, values = source
    stride, moment_width, record_width = widths
    moments, rows = which
    for k in range(len(rows)):
        here, there = moments[k] * moment_width + rows[k] * record_width, k * stride
        for j in range(len(steps)):
            start, to, count = here + steps[j, 1], there + steps[j, 2], steps[j, 3]
            action = steps[j, 0]
            if action == COPY:  # through slices, which compile to a copy of memory
                ours, theirs = octets[to : to + count], given[start : start + count]
                for n in range(count):
                    ours[n] = theirs[n]
            elif action == NARROW:
                for n in range(count):
                    narrow[to // 4 + n] = values[start // 8 + n]
            elif action == SMALL:
                octets[to] = int(values[start // 8]) & 255
            elif action == TURN:
                half = 0.5 * values[start // 8]
                wide[to // 8], wide[to // 8 + 1] = sin(half), cos(half)
            else:
                seconds = values[start // 8]
                if not seconds > 0.0:  # before zero there is no time, nor where there is no number
                    seconds = 0.0
                ns = math.floor(seconds * 1e9 + 0.5)
                ints[to // 4], ints[to // 4 + 1] = ns // 1_000_000_000, ns % 1_000_000_000


class Words:
    """What a message says, put together column by column."""

    def __init__(self, layout: Layout, robots: Sequence[Robot], sources: Sequence[Array]) -> None:
        self.layout, self.robots, self.sources = layout, robots, sources
        self.blank = layout.make(1)
        """One message, with all that never changes."""
        self.texts: dict[str, Callable[[Robot], str]] = {}
        self.steps: list[list[Step]] = [[] for _ in sources]

    def text(self, path: str, of: Callable[[Robot], str]) -> None:
        """A text of each robot; all are of one length."""
        self.texts[path] = of

    def column(self, path: str, source: int, column: str = "") -> None:
        """A column of a table, or a whole array: as much of it as the field takes.

        Where a row is several records, the column of each comes behind that of the one before.
        """
        table, room = self.sources[source], _values(self.layout.place(path)[0])
        count = _values(self._find(source, column)[0])
        if not column or table.ndim == 1:
            self._put(path, source, column, (0, 0, min(room, count)))
            return
        size = self._find(source, column)[0].base.itemsize
        for k in range(table.shape[1]):
            start = k * table.dtype.itemsize
            assert start % size == 0
            self._put(path, source, column, (start // size, k * count, count))

    def cell(self, path: str, source: int, column: str = "", at: int = 0, to: int = 0) -> None:
        """One value of a column, or of an array, to one place of a field."""
        self._put(path, source, column, (at, to, 1))

    def stamp(self, source: int, path: str = "header.stamp", column: str = "stamp") -> None:
        """A time."""
        self._special(STAMP, source, column, self.layout.place(f"{path}.sec")[1])

    def turn(self, path: str, source: int, column: str = "yaw", at: int = 0) -> None:
        """A heading as a quaternion."""
        self._special(TURN, source, column, self.layout.place(f"{path}.z")[1], at)

    def planar_covariance(self, path: str, source: int, column: str = "cov") -> None:
        """A covariance of (x, y, yaw) as one of (x, y, z, roll, pitch, yaw)."""
        places = (0, 1, 5)
        for i, row in enumerate(places):
            for j, other in enumerate(places):
                self.cell(path, source, column, 3 * i + j, 6 * row + other)

    def _special(self, action: int, source: int, column: str, to: int, at: int = 0) -> None:
        given, here = self._find(source, column)
        assert given.base == np.float64
        self.steps[source].append((action, here + 8 * at, to, 1))

    def _put(self, path: str, source: int, column: str, span: tuple[int, int, int]) -> None:
        """Some values of a column: from which, to which, and how many."""
        kind, to = self.layout.place(path)
        given, at = self._find(source, column)
        kind, given = kind.base, given.base
        at, to, count = at + span[0] * given.itemsize, to + span[1] * kind.itemsize, span[2]
        if (given.kind == "f", given.itemsize) == (kind.kind == "f", kind.itemsize):
            step = (COPY, at, to, count * kind.itemsize)
        elif given == np.float64 and kind == np.float32:
            step = (NARROW, at, to, count)
        elif given == np.float64 and kind.kind in "iu" and kind.itemsize == count == 1:
            step = (SMALL, at, to, 1)
        else:
            raise TypeError(f"{path}: {given} does not become {kind}")
        self.steps[source].append(step)

    def _find(self, source: int, column: str) -> tuple[np.dtype[Any], int]:
        """The type of a column, and where it is in a record."""
        table = self.sources[source]
        if column:
            return table.dtype[column], _offset(table.dtype, column)
        return np.dtype((table.dtype, table.shape[1:])), 0


class Source(NamedTuple):
    """Where the records of messages are: a moment takes so many bytes, and has rows."""

    table: Array
    width: int
    moments: Rows
    rows: Rows


class Scratch:
    """Memory to be used again and again: the system takes its time to give some."""

    def __init__(self) -> None:
        self._memory = np.empty(0, np.uint8)

    def of(self, size: int) -> Array:
        """So many bytes, good until the next time."""
        if size > len(self._memory):
            self._memory = np.empty(size + size // 4, np.uint8)
        return self._memory[:size]


class Form:
    """Messages to be filled in: what is the same in all of a robot, and the steps for the rest.

    Before each may stand bytes of a container, which differ by robot as well.
    """

    def __init__(self, words: Words, before: Array | None = None) -> None:
        """`before` has a row of bytes for each row of the group, up to the last that speaks."""
        self.size = words.layout.size
        given = 0 if before is None else before.shape[1]
        self.lead = given + (LEAD - given) % 8
        self.stride = self.lead + self.size + -(self.lead + self.size) % 8
        self.dtype = words.layout.within(self.lead, self.stride)
        self.widths = [np.dtype((t.dtype, t.shape[1:])).itemsize for t in words.sources]
        """Bytes of a record of each table."""
        self._steps = [_merged(steps, self.lead) for steps in words.steps]
        self._blank = np.zeros(self.stride, np.uint8)
        self._blank[self.lead : self.lead + self.size] = words.blank.view(np.uint8)
        ends = [sum(self._place(path)) for path in words.texts]
        self._heads = self._make_heads(words, max([self.lead, *ends]))
        if before is not None:
            self._heads[: len(before), self.lead - given : self.lead] = before

    def _place(self, path: str) -> tuple[int, int]:
        return _offset(self.dtype, path), self.dtype[path].itemsize

    def _make_heads(self, words: Words, length: int) -> Array:
        heads = np.zeros((1 + max(robot.row for robot in words.robots), length), np.uint8)
        heads[:] = self._blank[:length]
        for path, of in words.texts.items():
            at, size = self._place(path)
            for robot in words.robots:
                heads[robot.row, at : at + size] = np.frombuffer(of(robot).encode(), np.uint8)
        return heads

    def write(self, rows: Rows, sources: Sequence[Source], scratch: Scratch | None = None) -> Array:
        """A message for each row, (n, stride) bytes; in memory that was used before, if given."""
        size = len(rows) * self.stride
        raw = np.empty(size, np.uint8) if scratch is None else scratch.of(size)
        out = raw.reshape(len(rows), self.stride)
        begin_all(out, self._blank, self._heads, rows)
        flat = out.reshape(-1)
        views = tuple([flat.view(kind) for kind in (np.uint8, np.int32, np.float32, np.float64)])
        for steps, source, width in zip(self._steps, sources, self.widths, strict=True):
            if len(steps):
                widths = (self.stride, source.width, width)
                which = (source.moments, source.rows)
                write_all(views, steps, octets(source.table), widths, which)
        return out

    def fill(self, rows: Rows, tables: Sequence[Array]) -> Array:
        """A message for each row, of tables that have one record for each of them."""
        moments, every = np.zeros(len(rows), np.int64), np.arange(len(rows))
        return self.write(rows, [Source(table, 0, moments, every) for table in tables])


def octets(table: Array) -> tuple[Array, Array]:
    """A table as bytes, and as numbers as far as it goes."""
    raw = np.ascontiguousarray(table).reshape(-1).view(np.uint8)
    return raw, raw[: len(raw) // 8 * 8].view(np.float64)


def _offset(record: np.dtype[Any], column: str) -> int:
    fields: Any = record.fields
    return int(fields[column][1])


def _values(kind: np.dtype[Any]) -> int:
    return int(np.prod(kind.shape)) if kind.shape else 1


def _merged(steps: Sequence[Step], lead: int) -> Array:
    """Steps in the order of what they read; copies side by side become one."""
    made: list[Step] = []
    for action, at, to, count in sorted(steps, key=lambda step: (step[1], step[2])):
        if made and action == COPY == made[-1][0]:
            _, at_, to_, count_ = made[-1]
            if (at_ + count_, to_ + count_) == (at, to + lead):
                made[-1] = (COPY, at_, to_, count_ + count)
                continue
        made.append((action, at, to + lead, count))
    return np.array(made, np.int64).reshape(-1, 4)
