"""Whoever says the readings of a sensor as they arrive."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from astray.engine import Run, SensorPipeline
from astray.ros.messages import MessageLayout, Words
from astray.ros.names import RosRobot
from astray.ros.publishers.publisher import NOBODY, Publisher
from astray.tables import Rows

if TYPE_CHECKING:
    pass


class ReadingPublisher(Publisher):
    """Says every reading that arrives; `frame` is where the sensor sits.

    The table of the readings is its first source, behind it are the arrays.
    """

    topic = ""
    type = ""

    def __init__(
        self, robots: Sequence[RosRobot], channel: SensorPipeline, topic: str, frame: str
    ) -> None:
        self.channel, self.schedule = channel, channel.arrival_schedule
        sizes, texts = self.shape(channel, robots[0])
        texts = {"header.frame_id": self.frame_of(robots[0], frame), **texts}
        layout, arrived = MessageLayout(self.type_of(channel), sizes, texts), channel.arrived
        sources = [arrived.table, *arrived.arrays.values()]
        super().__init__(robots, topic, layout, sources)
        self.words.text("header.frame_id", lambda robot: self.frame_of(robot, frame))
        self.words.stamp(0)
        self.say_values(self.words)

    @classmethod
    def type_of(cls, channel: SensorPipeline) -> str:
        """The message type."""
        return cls.type

    def shape(
        self, channel: SensorPipeline, robot: RosRobot
    ) -> tuple[Mapping[str, int], Mapping[str, str]]:
        """Lengths of sequences and texts that stay as they are."""
        return {}, {}

    def frame_of(self, robot: RosRobot, frame: str) -> str:
        """The frame that the values are in."""
        return robot.frame(frame)

    def is_due(self, sim: Run) -> bool:
        """Whether one may arrive; at any time if worlds have clocks of their own."""
        return sim.tick is None or super().is_due(sim)

    def now(self, sim: Run) -> Rows:
        """Those for whom one has just arrived."""
        if not self.channel.any_fresh:
            return NOBODY
        if self.channel.all_fresh:
            return self.rows
        return self.rows[self.channel.arrived.fresh[self.rows]]

    @abstractmethod
    def say_values(self, words: Words) -> None:
        """Let messages tell what is measured."""
