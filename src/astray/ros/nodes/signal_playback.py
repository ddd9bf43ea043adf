"""Signals played as readings: what the two data simulators have in common.

The time of the signals is 0 when the node starts, and reading k is of the time k / rate exactly,
whenever it gets said; a node that was held up says what it owes. With `use_sim_time` the time of
the signals is that of the topic /clock.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from astray.engine import SensorPipeline
from astray.errors import WrongInput
from astray.plugin import Scene, Sensor
from astray.ros.dds import LOOK, Node
from astray.ros.names import RosRobot
from astray.ros.publishers import CLOCK, Publisher
from astray.tables import ADDRESS, STATE, table

SECOND = 1_000_000_000  # ns
ROW = np.zeros(1, np.int64)


@dataclass(frozen=True)
class Playing:
    """The parameters of a node that plays signals."""

    rate: float = 100.0  # Hz
    frame_id: str = ""
    use_sim_time: bool = False
    wait_for_subscriber: bool = False
    """Whether the time of the signals begins only when someone listens."""

    def __post_init__(self) -> None:
        if not self.rate > 0.0:
            raise WrongInput(f"rate: it must be above 0, not {self.rate:g}")


def alone(frame: str) -> RosRobot:
    """The robot that a node is about: it has no name, and its frames are what they are called."""
    return RosRobot("", 0, 0, 0, frame, "")


class Unit:
    """One sensor without a robot: its readings at any time."""

    def __init__(self, sensor: Sensor, rate: float) -> None:
        bound = sensor.attach(table(ADDRESS, 1), {}, 1.0 / rate, 0, "")
        bound.begin(ROW)
        self.channel = SensorPipeline(bound, 1)
        state = table(STATE, 1)
        self._scene = Scene(state, state, state).read_only()
        self.read(0.0)  # compiles or loads every kernel before anyone waits for it

    def read(self, seconds: float) -> None:
        """Let a reading of this time arrive."""
        self._scene.truth["stamp"] = seconds
        self.channel.sense(ROW, self._scene)
        self.channel.send(ROW, np.array([seconds]))


class Player(ABC):
    """Says a reading at every beat."""

    def __init__(self, node: Node, unit: Unit, settings: Playing) -> None:
        self.node, self.unit, self.settings = node, unit, settings
        self.writer: Any = None
        self._next = 0
        self._begun = 0
        if settings.use_sim_time:
            node.hear("/clock", CLOCK, self._hear_clock)

    @abstractmethod
    def message(self, ns: int) -> bytes:
        """The reading that has just arrived, stamped."""

    def run(self) -> None:
        """Play until stopped."""
        while self.settings.wait_for_subscriber and not self.writer.readers:
            if self.node.stopped:
                return
            self.node.listen(0.01)
        self._begun, start = time.time_ns(), time.monotonic()
        while not self.node.stopped:
            if self.settings.use_sim_time:
                self.node.listen()
                continue
            now = time.monotonic() - start
            due = self._next / self.settings.rate
            if due > now:
                self.node.listen(min(LOOK, due - now))
            else:
                self._say(self._begun)

    def _say(self, begun: int) -> None:
        seconds = self._next / self.settings.rate
        self.unit.read(seconds)
        self.writer.write(self.message(begun + round(seconds * SECOND)))
        self._next += 1

    def _hear_clock(self, message: Any) -> None:
        now = int(message.clock.sec) + int(message.clock.nanosec) * 1e-9
        reached = int(now * self.settings.rate + 1e-6)
        if reached + 1 < self._next:  # the clock went back
            self._next = reached
        if reached - self._next > self.settings.rate:  # no more than a second is made up for
            self._next = reached
        while self._next <= reached:
            self._say(0)


def restamped(speaker: Publisher, ns: int) -> bytes:
    """What a speaker says of its one robot, with a time that no float could hold."""
    messages = speaker.serialize(speaker.sample(ROW))
    columns = messages.columns
    columns["header.stamp.sec"], columns["header.stamp.nanosec"] = ns // SECOND, ns % SECOND
    return messages.as_bytes()[0]
