"""What is true of the sensors, beside their readings: biases, scales, slips, as they really are.

A message has a field for each column of what the sensor remembers, and is said ten times a second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from astray.channel import Channel
from astray.group import Group
from astray.plugin import NEVER
from astray.ros.layout import Layout
from astray.ros.names import BASE, Robot, ros_name
from astray.ros.poses import Paced
from astray.ros.readings import fields_of
from astray.ros.speaker import Taken, copied, stamp
from astray.ros.types import OWN_PACKAGE, declare
from astray.table import Array, Rows, Table

RATE = 10.0  # Hz


class SensorTruth(Paced):
    """Says what a sensor remembers, which no estimator is told."""

    def __init__(
        self, robots: Sequence[Robot], channel: Channel, truth: Table, period: int
    ) -> None:
        self.memory, self._stamps = channel.sensor.memory, truth["stamp"]
        self.columns = fields_of(self.memory.dtype)
        texts = {"header.frame_id": robots[0].frame(BASE)}
        layout = Layout(self._type(channel), texts=texts)
        topic = f"ground_truth/{ros_name(channel.sensor.name)}"
        super().__init__(robots, topic, layout, period, truth["alive"])
        self._frames = self.texts(lambda robot: robot.frame(BASE))

    def _type(self, channel: Channel) -> str:
        kind = "".join(part.capitalize() for part in ros_name(channel.sensor.kind).split("_"))
        lines = [f"{base}{many} {_field(column)}" for column, base, many in self.columns]
        return declare(
            f"{OWN_PACKAGE}/msg/{kind}Truth", "\n".join(["std_msgs/Header header", *lines]) + "\n"
        )

    def take(self, rows: Rows) -> Taken:
        """What the sensors of these rows remember, and the time."""
        return rows, copied(self.memory, rows), copied(self._stamps, rows)

    def fill(self, out: Array, taken: Taken) -> None:
        """Write every column."""
        rows, memory, now = taken
        stamp(out, now)
        out["header.frame_id"] = self._frames[rows]
        for column, _, many in self.columns:
            values = memory[column]
            out[_field(column)] = values.reshape(len(out), -1) if many else values


def _field(column: str) -> str:
    """The name of a field: ROS 2 wants lower case."""
    return column.lower()


def sensor_truths(group: Group, robots: Sequence[Robot], dt: float) -> Iterator[SensorTruth]:
    """Whoever says what is true of the sensors of a group, for robots with names of one length."""
    period = max(1, round(1.0 / (RATE * dt)))
    for channel in group.channels.values():
        sensor = channel.sensor
        if sensor.remembers is None or channel.taking.offset == NEVER:
            continue
        if fields_of(sensor.memory.dtype):
            yield SensorTruth(robots, channel, group.truth, period)
