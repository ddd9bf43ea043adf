"""Whoever says one kind of message for all robots of a group, a topic for each of them.

A speaker names the tables that its messages are made of, and which column goes where. Saying has
two halves, so that a tick costs little: `take` copies rows of the tables, `write` makes any number
of messages of any number of moments at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from astray.engine import Run
from astray.numerics import Schedule
from astray.ros.messages import MessageLayout, MessageTemplate, Words
from astray.ros.names import RosRobot
from astray.tables import Array, Rows, copied

if TYPE_CHECKING:
    pass

Sample = tuple[Array, ...]
"""What the messages of some rows need: the rows, then those rows of each table."""
Find = Callable[[int, str], Array]
"""Finds a column of one of a speaker's tables, or the whole of it, for the messages at hand."""

NOBODY: Rows = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Topic:
    """A name, a type, and whether those who come late are told the last message."""

    name: str
    type: str
    latched: bool = False


class Publisher(ABC):
    """Says one kind of message for some rows of a group, all of one layout.

    Robots whose names differ in length have other layouts, and so another speaker. `sources` are
    the tables, as they are in the run.
    """

    schedule: Schedule
    """The ticks at which it may have something to say, by the clock of the worlds."""

    def __init__(
        self,
        robots: Sequence[RosRobot],
        topic: str,
        layout: MessageLayout,
        sources: Sequence[Array],
    ) -> None:
        self.robots = robots
        self.rows: Rows = np.array([robot.row for robot in robots], np.int64)
        self.layout, self.sources = layout, tuple(sources)
        self.topics = {r.row: Topic(r.topic(topic), layout.type) for r in robots}
        """The topic of each row that it speaks for."""
        self.index = 0
        """Its place among all who speak."""
        extra = [np.empty((len(sources[0]), width)) for width in self.widths()]
        self.tables = (*self.sources, *extra)
        """The sources, and behind them room for what is worked out."""
        self.words = Words(layout, robots, self.tables)

    def is_due(self, sim: Run) -> bool:
        """Whether this is one of its beats; by the steps of the run if worlds have other clocks."""
        tick = sim.steps if sim.tick is None else sim.tick
        return (tick - self.schedule.offset) % self.schedule.period == 0

    @abstractmethod
    def now(self, sim: Run) -> Rows:
        """The rows for which there is something to say, if this is one of its beats."""

    def due(self, sim: Run) -> Rows:
        """The rows for which there is something to say now."""
        return self.now(sim) if self.is_due(sim) else NOBODY

    def widths(self) -> Sequence[int]:
        """How many numbers a row has of each array that it works out."""
        return ()

    def compute(self, find: Find) -> tuple[Array, ...]:
        """Values that no column has, (n, width) each; they are tables behind the others."""
        return ()

    @cached_property
    def form(self) -> MessageTemplate:
        """Its messages, to be filled in."""
        return MessageTemplate(self.words)

    def sample(self, rows: Rows) -> Sample:
        """Copies of what their messages need."""
        return rows, *(copied(table, rows) for table in self.sources)

    def serialize(self, taken: Sample) -> Messages:
        """The messages of all that was taken."""
        rows, *tables = taken
        tables += self.compute(lambda k, column: tables[k][column] if column else tables[k])
        return Messages(self, rows, self.form.fill(rows, tables))

    def messages(self, rows: Rows) -> list[tuple[Topic, bytes]]:
        """The messages of these rows, now."""
        said = self.serialize(self.sample(rows)).as_bytes()
        return [(self.topics[row], data) for row, data in zip(rows.tolist(), said, strict=True)]


class Messages:
    """Messages of one speaker, each for one row."""

    def __init__(self, speaker: Publisher, rows: Rows, raw: Array) -> None:
        self.rows, self._raw, self._layout = rows, raw, speaker.layout

    @property
    def columns(self) -> Array:
        """Every value by its path, to be read and written."""
        return self._raw.reshape(-1).view(self._layout.dtype)

    def as_bytes(self) -> list[bytes]:
        """The bytes of each."""
        data, size = self._raw.tobytes(), self._layout.size
        return [data[start : start + size] for start in range(0, len(data), size)]


def concatenate_samples(taken: Sequence[Sample]) -> Sample:
    """What was taken at several moments, one behind the other."""
    return taken[0] if len(taken) == 1 else tuple(map(_joined, zip(*taken, strict=True)))


def _joined(parts: Sequence[Array]) -> Array:
    """Arrays one behind the other; NumPy's own way is slow for records, whose types it compares."""
    if parts[0].dtype.names is None:
        return np.concatenate(parts)
    return np.concatenate([part.view(np.uint8) for part in parts]).view(parts[0].dtype)
