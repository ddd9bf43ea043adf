"""Whoever says one kind of message for all robots of a group, a topic for each of them.

Saying has two halves, so that a tick costs little: `take` copies what the messages need, `fill`
writes any number of messages of any number of moments at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from astray.ros.layout import Layout
from astray.ros.names import Robot
from astray.table import Array, Rows

if TYPE_CHECKING:
    from astray.sim import Sim

Taken = tuple[Array, ...]
"""What the messages of some rows need: the rows, then arrays with a leading axis of rows."""


@dataclass(frozen=True)
class Topic:
    """A name, a type, and whether those who come late are told the last message."""

    name: str
    type: str
    latched: bool = False


class Speaker(ABC):
    """Says one kind of message for some rows of a group, all of one layout.

    Robots whose names differ in length have other layouts, and so another speaker.
    """

    def __init__(self, robots: Sequence[Robot], topic: str, layout: Layout) -> None:
        self.robots = robots
        self.rows: Rows = np.array([robot.row for robot in robots], np.int64)
        self.layout = layout
        self.topics = {r.row: Topic(r.topic(topic), layout.type) for r in robots}
        """The topic of each row that it speaks for."""

    @abstractmethod
    def next_due(self, step: int, ahead: int) -> int:
        """The first step from this one on at which it may have something to say.

        Clocks of worlds are `ahead` ticks of the count of steps: a reset sets them back.
        """

    @abstractmethod
    def due(self, sim: Sim) -> Rows:
        """The rows for which there is something to say now."""

    @abstractmethod
    def take(self, rows: Rows) -> Taken:
        """Copies of what their messages need; the rows themselves come first."""

    @abstractmethod
    def fill(self, out: Array, taken: Taken) -> None:
        """Write messages; `out` is an array of the layout, or of one behind other columns."""

    def texts(self, frame: Callable[[Robot], str]) -> Array:
        """A text of each row of the group, to be written by row."""
        made = {robot.row: frame(robot).encode() for robot in self.robots}
        length = max(len(text) for text in made.values())
        table = np.zeros(int(self.rows.max()) + 1, f"S{length}")
        for row, text in made.items():
            table[row] = text
        return table

    def say(self, rows: Rows) -> list[tuple[Topic, bytes]]:
        """The messages of these rows, now."""
        out = self.layout.make(len(rows))
        self.fill(out, self.take(rows))
        return [(self.topics[int(row)], out[k].tobytes()) for k, row in enumerate(rows)]


def copied(table: Array, rows: Rows) -> Array:
    """These rows of a table, to keep.

    NumPy copies records column by column, which takes ten times as long as copying their bytes.
    """
    if len(rows) < len(table):
        return table[rows]
    if table.dtype.names is None or not table.flags.c_contiguous:
        return table.copy()
    return np.frombuffer(table.tobytes(), table.dtype)


NOBODY: Rows = np.zeros(0, np.int64)


def stamp(out: Array, seconds: Array, path: str = "header.stamp") -> None:
    """Write times."""
    ns = nanoseconds(seconds)
    out[f"{path}.sec"], out[f"{path}.nanosec"] = ns // 1_000_000_000, ns % 1_000_000_000


def nanoseconds(seconds: Array) -> Array:
    """Times as ROS 2 counts them; before zero there is none."""
    return np.maximum(np.rint(np.nan_to_num(seconds) * 1e9), 0.0).astype(np.int64)


def turn(out: Array, yaw: Array, path: str) -> None:
    """Write a heading as a quaternion."""
    out[f"{path}.z"], out[f"{path}.w"] = np.sin(yaw / 2), np.cos(yaw / 2)


def planar_covariance(out: Array, cov: Array, path: str) -> None:
    """Write a covariance of (x, y, yaw) into one of (x, y, z, roll, pitch, yaw)."""
    places = (0, 1, 5)
    for i, row in enumerate(places):
        for j, column in enumerate(places):
            out[path][:, 6 * row + column] = cov[:, i, j]
