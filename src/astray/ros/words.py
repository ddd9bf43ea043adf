"""How messages are made of tables: which column goes where in the bytes.

A speaker says it once; then any number of messages, of any number of moments, are written by one
pass of a kernel for each table. What is the same in all messages of a robot, its frames and what
never changes, stands in a form that is copied first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from astray.kernel import kernel
from astray.maths import cos, sin
from astray.ros.layout import Layout
from astray.ros.names import Robot
from astray.table import Array, Rows

COPY, NARROW, SMALL, STAMP, TURN = range(5)
"""Bytes as they are; float64 to float32; to a small integer; seconds to a time; yaw to z and w."""

Step = tuple[int, int, int, int]
"""What to do, from which byte of a record, to which byte of a message, and how many values."""


@kernel
def put(raw: Array, at: int, octets: Array) -> None:
    """Copy some bytes; through slices and from 0 on, which compiles to a copy of memory."""
    ours = raw[at : at + len(octets)]
    for n in range(len(octets)):
        ours[n] = octets[n]


@kernel
def begin_all(out: Any, rest: Array, heads: Array, length: int, rows: Rows) -> None:
    """Copy what is the same in all messages of a row, its head, and what is so in all of them."""
    raw, places = out
    for k in range(len(rows)):
        put(raw, places[k], heads[rows[k] * length : (rows[k] + 1) * length])
        put(raw, places[k] + length, rest)


@kernel
def write_all(out: Any, steps: Array, source: Any, widths: Any, which: Any, hands: Any) -> None:
    """Write values of records, which lie in rows and moments, into messages at their places.

    Messages lie anywhere, and numbers in them; so each is made in aligned memory, its hands.
    """
    raw, places = out
    given, values = source
    base, moment_width, record_width = widths
    moments, rows = which
    octets, ints, narrow, wide = hands
    for k in range(len(rows)):
        here, there = base + moments[k] * moment_width + rows[k] * record_width, places[k]
        for j in range(len(steps)):
            start, to, count = here + steps[j, 1], there + steps[j, 2], steps[j, 3]
            action = steps[j, 0]
            if action == COPY:
                put(raw, to, given[start : start + count])
            elif action == NARROW:
                narrow[0] = values[start // 8]
                put(raw, to, octets[:4])
            elif action == SMALL:
                raw[to] = int(values[start // 8]) & 255
            elif action == TURN:
                half = 0.5 * values[start // 8]
                wide[0], wide[1] = sin(half), cos(half)
                put(raw, to, octets[:16])
            else:
                seconds = values[start // 8]
                if not seconds > 0.0:  # before zero there is no time, nor where there is no number
                    seconds = 0.0
                ns = math.floor(seconds * 1e9 + 0.5)
                ints[0], ints[1] = ns // 1_000_000_000, ns % 1_000_000_000
                put(raw, to, octets[:8])


def make_hands() -> tuple[Array, ...]:
    """A little memory, as bytes and as numbers of each kind."""
    octets = np.zeros(16, np.uint8)
    return tuple([octets.view(kind) for kind in (np.uint8, np.int32, np.float32, np.float64)])


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
        elif given == np.float64 and kind == np.float32 and count == 1:
            step = (NARROW, at, to, 1)
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


class Form:
    """Messages to be filled in: what is the same in all of a robot, and the steps for the rest.

    Before each may stand bytes of a container, which differ by robot as well.
    """

    def __init__(self, words: Words, before: Array | None = None) -> None:
        """`before` has a row of bytes for each row of the group, up to the last that speaks."""
        self.lead = 0 if before is None else before.shape[1]
        self.size = self.lead + words.layout.size
        """Bytes of a message and of what stands before it."""
        self.widths = [np.dtype((t.dtype, t.shape[1:])).itemsize for t in words.sources]
        """Bytes of a record of each table."""
        self.steps = [_merged(steps, self.lead) for steps in words.steps]
        """What to do with the records of each table."""
        blank = np.zeros(self.size, np.uint8)
        blank[self.lead :] = words.blank.view(np.uint8)
        self.heads = self._make_heads(words, blank)
        """What differs by robot, for each row; and what stands behind it in all messages."""
        self.rest = blank[self.heads.shape[1] :].copy()
        if before is not None:
            self.heads[: len(before), : self.lead] = before

    def _make_heads(self, words: Words, blank: Array) -> Array:
        places = {path: words.layout.place(path) for path in words.texts}
        ends = [self.lead + at + kind.itemsize for kind, at in places.values()]
        length = max([self.lead, *ends])
        heads = np.zeros((1 + max(robot.row for robot in words.robots), length), np.uint8)
        heads[:] = blank[:length]
        for path, of in words.texts.items():
            kind, at = places[path]
            for robot in words.robots:
                text = np.frombuffer(of(robot).encode(), np.uint8)
                heads[robot.row, self.lead + at : self.lead + at + kind.itemsize] = text
        return heads

    def fill(self, rows: Rows, tables: Sequence[Array]) -> Array:
        """A message for each row, (n, size) bytes, of tables with one record for each of them."""
        every, hands = np.arange(len(rows)), make_hands()
        raw = np.empty((len(rows), self.size), np.uint8)
        out, which = (raw.reshape(-1), every * self.size), (np.zeros_like(every), every)
        begin_all(out, self.rest, self.heads.reshape(-1), self.heads.shape[1], rows)
        for steps, table, width in zip(self.steps, tables, self.widths, strict=True):
            if len(steps):
                write_all(out, steps, octets(table), (0, 0, width), which, hands)
        return raw


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
