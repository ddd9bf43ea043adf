"""Publisher: one message type for the robots of a group, on a topic for each of them.

A publisher has a message template and the tables that it reads. It works in two steps, so that a
tick costs little: `sample` copies rows of the tables in the tick; `serialize` makes the messages of
any number of samples at once, later and in any thread.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from astray.engine import Run
from astray.numerics import Schedule, compiled_for, kernel
from astray.ros.messages import MessageSerializer, MessageTemplate, ReadColumn
from astray.ros.names import RosRobot
from astray.tables import Array, Rows, copy_rows

NO_ROWS: Rows = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Topic:
    """A topic.

    Args:
        name: Its full name.
        type: Its message type.
        latched: Whether late subscribers get the last message (transient local).
    """

    name: str
    type: str
    latched: bool = False


class Sample(NamedTuple):
    """Copies of what the messages of some rows are made of."""

    rows: Rows
    tables: Sequence[Array]
    """Of each source table, the records of these rows."""


class Publisher(ABC):
    """Publishes one message type for some rows of a group.

    All messages have one layout: robots whose names differ in length have publishers of their own.

    Args:
        robots: The robots, as ROS 2 names them.
        topic: The topic, in the namespace of each robot unless it begins with a slash.
        template: The message type and where its fields come from.
        tables: The tables of the group that the template reads, the main table first. They are
            those of the run, not copies.
        schedule: The ticks at which messages may be due, by the clock of the worlds.
        polls_every_step: Whether messages may be due at any step where worlds differ in their
            clocks; else the schedule goes by the steps of the run.
    """

    is_steady = False
    """Whether every robot that is alive has a message at each tick of the schedule."""

    def __init__(
        self,
        robots: Sequence[RosRobot],
        topic: str,
        template: MessageTemplate,
        tables: Mapping[str, Array],
        schedule: Schedule,
        polls_every_step: bool = False,
    ) -> None:
        self.robots, self.schedule, self._polls = robots, schedule, polls_every_step
        self.rows: Rows = np.array([robot.row for robot in robots], np.int64)
        self.template, self.layout = template, template.layout(robots[0])
        self.topics = {r.row: Topic(r.topic(topic), template.type) for r in robots}
        """The topic of each row."""
        self.index = 0
        """Its index among all publishers of a run."""
        self.named_tables = tables
        """The source tables by name, the main table first."""
        self.sources = tuple(tables.values())
        self._computed = tuple(template.computed().values())
        size = len(self.sources[0]), len(self._computed)
        self.tables = (*self.sources, *([np.empty(size)] if self._computed else []))
        """The source tables, and behind them the table of computed values if there are any."""

    @abstractmethod
    def fresh_rows(self, sim: Run) -> Rows:
        """The rows that have a message at a tick of the schedule."""

    def is_due(self, sim: Run) -> bool:
        """Whether the schedule has this tick."""
        if sim.tick is None and self._polls:
            return True
        tick = sim.steps if sim.tick is None else sim.tick
        return (tick - self.schedule.offset) % self.schedule.period == 0

    def due_rows(self, sim: Run) -> Rows:
        """The rows that have a message now."""
        return self.fresh_rows(sim) if self.is_due(sim) else NO_ROWS

    def sample(self, rows: Rows) -> Sample:
        """Copy what the messages of these rows are made of.

        Args:
            rows: Rows of the group, a subset of `self.rows`.
        """
        return Sample(rows, [copy_rows(table, rows) for table in self.sources])

    def compute(self, read: ReadColumn) -> tuple[Array, ...]:
        """The table of computed values, (n, fields), if there are any.

        Args:
            read: Returns a column of the main table, a value for each of n messages.
        """
        if not self._computed:
            return ()
        return (np.stack([function(read) for function in self._computed], axis=-1),)

    def make_serializer(self, headers: Array | None = None) -> MessageSerializer:
        """A serializer of its messages, behind the headers of a container file."""
        return MessageSerializer(
            self.template, self.layout, self.robots, self.named_tables, headers
        )

    @cached_property
    def _serializer(self) -> MessageSerializer:
        return self.make_serializer()

    def serialize(self, sample: Sample) -> Messages:
        """The messages of a sample."""
        main = sample.tables[0]
        tables = [*sample.tables, *self.compute(lambda column: np.asarray(main[column]))]
        raw = self._serializer.serialize(sample.rows, tables)
        return Messages(self, sample.rows, raw)

    def messages(self, rows: Rows) -> list[tuple[Topic, bytes]]:
        """Sample and serialize the messages of these rows as they are now.

        Args:
            rows: Rows of the group, a subset of `self.rows`.

        Returns:
            The topic and the CDR bytes of each message.
        """
        data = self.serialize(self.sample(rows)).as_bytes()
        return [
            (self.topics[row], message) for row, message in zip(rows.tolist(), data, strict=True)
        ]


class PeriodicPublisher(Publisher):
    """Publishes at a fixed period for each robot that is alive.

    Args:
        robots: As of Publisher.
        topic: As of Publisher.
        template: As of Publisher.
        tables: As of Publisher.
        period: Ticks from message to message.
        alive: Whether each row of the group is alive, (rows,).
        stamps: The time of each row's values, (rows,) s. If given, a row has a message only when
            its stamp has changed.
    """

    def __init__(
        self,
        robots: Sequence[RosRobot],
        topic: str,
        template: MessageTemplate,
        tables: Mapping[str, Array],
        *,
        period: int,
        alive: Array,
        stamps: Array | None = None,
    ) -> None:
        super().__init__(robots, topic, template, tables, Schedule(period))
        self._alive = alive
        self._new = None if stamps is None else NewStamps(stamps)
        self.is_steady = self._new is None

    def fresh_rows(self, sim: Run) -> Rows:
        """The robots that are alive; with stamps, those whose stamp has changed."""
        rows = alive_rows(self, sim, self._alive)
        return rows if self._new is None else self._new.among(rows)


def alive_rows(publisher: Publisher, sim: Run, alive: Array) -> Rows:
    """The rows of a publisher that are alive; its own array if all are."""
    group = sim.robots[publisher.robots[0].group]
    if len(group.rows) == len(alive):
        return publisher.rows
    return publisher.rows[alive[publisher.rows]]


class Messages:
    """Serialized messages of one publisher, each of one row."""

    def __init__(self, publisher: Publisher, rows: Rows, raw: Array) -> None:
        self.rows, self._raw, self._layout = rows, raw, publisher.layout

    @property
    def columns(self) -> Array:
        """The messages as records: a column for each field, by its path; can be written."""
        return self._raw.reshape(-1).view(self._layout.dtype)

    def as_bytes(self) -> list[bytes]:
        """The CDR bytes of each message."""
        data, size = self._raw.tobytes(), self._layout.size
        return [data[start : start + size] for start in range(0, len(data), size)]


def concatenate_samples(samples: Sequence[Sample]) -> Sample:
    """Samples of one publisher as one."""
    if len(samples) == 1:
        return samples[0]
    tables = zip(*(sample.tables for sample in samples), strict=True)
    rows = np.concatenate([sample.rows for sample in samples])
    return Sample(rows, [_concatenated(parts) for parts in tables])


def _concatenated(parts: Sequence[Array]) -> Array:
    """Joined arrays; records as bytes, since np.concatenate is slow to compare record types."""
    if parts[0].dtype.names is None:
        return np.concatenate(parts)
    return np.concatenate([part.view(np.uint8) for part in parts]).view(parts[0].dtype)


class PublishedStamps(NamedTuple):
    """The stamp of each row that was published last, and space for the rows with new ones."""

    stamps: Array
    new_rows: Rows


@kernel
def is_new_stamp(row: int, stamp: float, published: Array) -> bool:
    """Whether a stamp differs from the one published last, which it replaces; nan never does."""
    if stamp == published[row] or math.isnan(stamp):
        return False
    published[row] = stamp
    return True


@kernel
def find_new_stamps_all(rows: Rows, stamps: Array, published: PublishedStamps) -> int:
    """Collect the rows with new stamps; their number."""
    count = 0
    for i in rows:
        if is_new_stamp(i, stamps[i], published.stamps):
            published.new_rows[count] = i
            count += 1
    return count


class NewStamps:
    """Finds the rows whose stamp has changed since they were published.

    Args:
        stamps: The stamps of all rows, as they are in the run, (rows,) s.
    """

    def __init__(self, stamps: Array) -> None:
        self._stamps = stamps
        self.published = PublishedStamps(
            np.full(len(stamps), np.nan), np.empty(len(stamps), np.int64)
        )
        self._find = compiled_for(
            find_new_stamps_all, self.published.new_rows, stamps, self.published
        )

    def among(self, rows: Rows) -> Rows:
        """Those of these rows whose stamp is new."""
        return self.first(self._find(rows, self._stamps, self.published), rows)

    def first(self, count: int, rows: Rows) -> Rows:
        """The first `count` new rows; `rows` itself if they are all of it."""
        return rows if count == len(rows) else self.published.new_rows[:count].copy()
