"""What is true of the sensors, beside their readings: biases, scales, slips, as they really are.

A message has a field for each column of what the sensor remembers, and is said ten times a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from astray.engine import Robots, SensorPipeline
from astray.plugin import NEVER
from astray.ros import BASE, RosRobot, ros_name
from astray.ros.messages import OWN_PACKAGE, MessageLayout, declare
from astray.ros.publishers import PeriodicPublisher, fields_of
from astray.tables import Table

RATE = 10.0  # Hz


class SensorTruth(PeriodicPublisher):
    """Says what a sensor remembers, which no estimator is told."""

    def __init__(
        self, robots: Sequence[RosRobot], channel: SensorPipeline, truth: Table, period: int
    ) -> None:
        memory = channel.sensor.memory
        columns = fields_of(memory.dtype)
        texts = {"header.frame_id": robots[0].frame(BASE)}
        layout = MessageLayout(_type_of(channel, columns), texts=texts)
        topic, tables = f"ground_truth/{ros_name(channel.sensor.name)}", [memory, truth]
        super().__init__(robots, topic, layout, tables, period=period, alive=truth["alive"])
        self.words.text("header.frame_id", lambda robot: robot.frame(BASE))
        self.words.stamp(1)
        for column, _, _ in columns:
            self.words.column(_field(column), 0, column)


def _type_of(channel: SensorPipeline, columns: Sequence[tuple[str, str, str]]) -> str:
    """A type of our own, named after the sensor's kind."""
    kind = "".join(part.capitalize() for part in ros_name(channel.sensor.kind).split("_"))
    lines = [f"{base}{many} {_field(column)}" for column, base, many in columns]
    return declare(
        f"{OWN_PACKAGE}/msg/{kind}Truth", "\n".join(["std_msgs/Header header", *lines]) + "\n"
    )


def _field(column: str) -> str:
    """The name of a field: ROS 2 wants lower case."""
    return column.lower()


def sensor_truths(group: Robots, robots: Sequence[RosRobot], dt: float) -> Iterator[SensorTruth]:
    """Whoever says what is true of the sensors of a group, for robots with names of one length."""
    period = max(1, round(1.0 / (RATE * dt)))
    for channel in group.pipelines.values():
        sensor = channel.sensor
        if sensor.remembers is None or channel.sample_schedule.offset == NEVER:
            continue
        if fields_of(sensor.memory.dtype):
            yield SensorTruth(robots, channel, group.truth, period)
