"""What a message says, and where it has it from: which column of which table goes where.

A speaker says it once; then any number of messages, of any number of moments, are written by one
pass of a kernel. What is the same in all messages of a robot, its frames and what never changes,
stands in a form that is copied first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from astray.ros.messages.planar import PLANAR_INDICES
from astray.ros.messages.serializer import MessageLayout
from astray.ros.messages.serializer_steps import (
    BENT,
    COPY,
    LIMITED,
    LINE,
    NARROW,
    SHARE,
    SMALL,
    STAMP,
    TURN,
    Step,
    copy_constants_all,
    copy_fields_all,
    make_scratch,
    merged,
    side_by_side,
)
from astray.ros.names import RosRobot
from astray.tables import Array, Rows


class Words:
    """What a message says, put together column by column."""

    def __init__(
        self, layout: MessageLayout, robots: Sequence[RosRobot], sources: Sequence[Array]
    ) -> None:
        self.layout, self.robots, self.sources = layout, robots, sources
        self.blank = layout.blank(1)
        """One message, with all that never changes."""
        self.texts: dict[str, Callable[[RosRobot], str]] = {}
        self.steps: list[Step] = []

    def text(self, path: str, of: Callable[[RosRobot], str]) -> None:
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
        for i, row in enumerate(PLANAR_INDICES):
            for j, other in enumerate(PLANAR_INDICES):
                self.cell(path, source, column, 3 * i + j, 6 * row + other)

    def line(self, path: str, source: int, column: str, step: str, count: int) -> None:
        """A column and so many times another one."""
        more = self._place_of(source, step)
        self._special(LINE, source, column, self._place(path), count=count, more=more)

    def share(self, path: str, source: int, column: str, count: int) -> None:
        """A column divided by a number."""
        self._special(SHARE, source, column, self._place(path), count=count)

    def limited(self, path: str, source: int, near: str, far: str) -> None:
        """A whole array, infinite beyond limits that stand side by side in the first table."""
        more, count = self._place_of(0, near), _values(self._find(source, "")[0])
        assert self._place_of(0, far) == more + 8
        self._special(LIMITED, source, "", self._place(path), count=count, more=more)

    def turn_rate(self, path: str, source: int, rate: str, curvature: str, speed: str) -> None:
        """A rate of turn, or where a curvature is given, that with the speed."""
        count, more = (self._place_of(source, column) for column in (speed, rate))
        to = self.layout.place(path)[1]
        self._special(BENT, source, curvature, to, count=count, more=more)

    def _special(
        self,
        action: int,
        source: int,
        column: str,
        to: int,
        at: int = 0,
        count: int = 1,
        more: int = 0,
    ) -> None:
        start = self._place_of(source, column) + 8 * at
        self.steps.append((action, source, start, to, count, more))

    def _place(self, path: str) -> int:
        """Where a field of numbers of 32 bits is in a message."""
        kind, to = self.layout.place(path)
        assert kind.base == np.float32
        return to

    def _place_of(self, source: int, column: str) -> int:
        """Where a column of numbers of 64 bits is in a record."""
        given, at = self._find(source, column)
        assert given.base == np.float64
        return at

    def _put(self, path: str, source: int, column: str, span: tuple[int, int, int]) -> None:
        """Some values of a column: from which, to which, and how many."""
        kind, to = self.layout.place(path)
        given, at = self._find(source, column)
        kind, given = kind.base, given.base
        at, to, count = at + span[0] * given.itemsize, to + span[1] * kind.itemsize, span[2]
        if (given.kind == "f", given.itemsize) == (kind.kind == "f", kind.itemsize):
            step = (COPY, source, at, to, count * kind.itemsize, 0)
        elif given == np.float64 and kind == np.float32 and count == 1:
            step = (NARROW, source, at, to, 1, 0)
        elif given == np.float64 and kind.kind in "iu" and kind.itemsize == count == 1:
            step = (SMALL, source, at, to, 1, 0)
        else:
            raise TypeError(f"{path}: {given} does not become {kind}")
        self.steps.append(step)

    def _find(self, source: int, column: str) -> tuple[np.dtype[Any], int]:
        """The type of a column, and where it is in a record."""
        table = self.sources[source]
        if column:
            return table.dtype[column], _offset(table.dtype, column)
        return np.dtype((table.dtype, table.shape[1:])), 0


class MessageTemplate:
    """Messages to be filled in: what is the same in all of a robot, and the steps for the rest.

    Before each may stand bytes of a container, which differ by robot as well.
    """

    def __init__(self, words: Words, before: Array | None = None) -> None:
        """`before` has a row of bytes for each row of the group, up to the last that speaks."""
        self.lead = 0 if before is None else before.shape[1]
        self.size = self.lead + words.layout.size
        """Bytes of a message and of what stands before it."""
        self.steps = merged(words.steps, self.lead)
        """What to do with the records of the tables."""
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
        every, raw = np.arange(len(rows)), np.empty((len(rows), self.size), np.uint8)
        out, which = (raw.reshape(-1), every * self.size), (np.zeros_like(every), every)
        copy_constants_all(out, self.rest, self.heads.reshape(-1), self.heads.shape[1], rows)
        if len(self.steps):
            memory, where = side_by_side(tables)
            copy_fields_all(out, self.steps, memory, where, which, make_scratch())
        return raw


def _offset(record: np.dtype[Any], column: str) -> int:
    fields: Any = record.fields
    return int(fields[column][1])


def _values(kind: np.dtype[Any]) -> int:
    return int(np.prod(kind.shape)) if kind.shape else 1
