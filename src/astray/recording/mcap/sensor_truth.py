"""The true errors of the sensors, beside their readings: biases, scales, slips.

A message has a field for each column of the sensor's memory, which no estimator is given, and is
published ten times per second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from astray.engine import Robots, SensorPipeline
from astray.numerics import NEVER
from astray.ros import BASE_FRAME, RosRobot, ros_name
from astray.ros.messages import FromColumn, MessageTemplate, RobotText, Stamp, declare_type
from astray.ros.publishers import PeriodicPublisher, message_fields, own_type
from astray.tables import Table

RATE = 10.0  # Hz


def sensor_truths(
    group: Robots, robots: Sequence[RosRobot], dt: float
) -> Iterator[PeriodicPublisher]:
    """The publishers of the true sensor errors of a group, for robots with names of one length."""
    period = max(1, round(1.0 / (RATE * dt)))
    for pipeline in group.pipelines.values():
        sensor = pipeline.sensor
        if sensor.remembers is None or pipeline.sample_schedule.offset == NEVER:
            continue
        if message_fields(sensor.memory.dtype):
            yield _sensor_truth(robots, pipeline, group.truth, period)


def _sensor_truth(
    robots: Sequence[RosRobot], pipeline: SensorPipeline, truth: Table, period: int
) -> PeriodicPublisher:
    memory = pipeline.sensor.memory
    columns = [name for name, _, _ in message_fields(memory.dtype)]
    template = MessageTemplate(
        _declare_truth_type(pipeline),
        {
            "header.stamp": Stamp(table="truth"),
            "header.frame_id": RobotText(lambda robot: robot.frame(BASE_FRAME)),
            **{_field(column): FromColumn(column) for column in columns},
        },
    )
    topic = f"ground_truth/{ros_name(pipeline.sensor.name)}"
    tables = {"memory": memory, "truth": truth}
    return PeriodicPublisher(robots, topic, template, tables, period=period, alive=truth["alive"])


def _declare_truth_type(pipeline: SensorPipeline) -> str:
    """A type of our own, named after the sensor's kind."""
    lines = ["std_msgs/Header header"]
    lines += [
        f"{b}{n} {_field(name)}" for name, b, n in message_fields(pipeline.sensor.memory.dtype)
    ]
    return declare_type(f"{own_type(pipeline.sensor.kind)}Truth", "\n".join(lines) + "\n")


def _field(column: str) -> str:
    """The name of a field: ROS 2 wants lower case."""
    return column.lower()
