"""Messages of types of our own: a field for each column and array of a reading."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from astray.engine import SensorPipeline
from astray.ros.messages import OWN_PACKAGE, Words, declare
from astray.ros.names import RosRobot, ros_name
from astray.ros.publishers.reading_publisher import ReadingPublisher
from astray.tables import Columns


class GenericReadingPublisher(ReadingPublisher):
    """Anything else: a message whose fields are the columns and arrays of the reading."""

    @classmethod
    def type_of(cls, channel: SensorPipeline) -> str:
        """A type of our own, named after the sensor's kind."""
        kind = "".join(part.capitalize() for part in ros_name(channel.sensor.kind).split("_"))
        name = f"{OWN_PACKAGE}/msg/{kind}"
        lines = ["std_msgs/Header header"]
        lines += [f"{base}{many} {column}" for column, base, many in _columns(channel)]
        return declare(name, "\n".join(lines) + "\n")

    def shape(
        self, channel: SensorPipeline, robot: RosRobot
    ) -> tuple[Mapping[str, int], Mapping[str, str]]:
        """Arrays as long as they are."""
        arrays = channel.arrived.arrays
        return {name: int(np.prod(a.shape[1:])) for name, a in arrays.items() if a[:1].size}, {}

    def say_values(self, words: Words) -> None:
        """Every column and array."""
        arrays = self.channel.arrived.arrays
        for column, _, _ in fields_of(self.channel.sensor.measures):
            words.column(column, 0, column)
        for k, (name, array) in enumerate(arrays.items(), start=1):
            if array[:1].size:
                words.column(name, k)


def _columns(channel: SensorPipeline) -> list[tuple[str, str, str]]:
    """Name, base type and length of each field of a reading; arrays are sequences."""
    fields = fields_of(channel.sensor.measures)
    return fields + [(name, "float64", "[]") for name in channel.arrived.arrays]


def fields_of(layout: Columns) -> list[tuple[str, str, str]]:
    """Name, base type and length of a field for each column but those that every reading has."""
    fields: list[tuple[str, str, str]] = []
    for name in layout.names or ():
        if name in ("fresh", "stamp"):
            continue
        size = int(np.prod(layout[name].shape)) if layout[name].shape else 0
        fields.append((name, base_of(layout[name]), f"[{size}]" if size else ""))
    return fields


def base_of(kind: Columns) -> str:
    """What ROS 2 calls the numbers of a column."""
    base = {"f": "float64", "i": "int64", "u": "uint64", "b": "bool"}[kind.base.kind]
    return base.replace("64", str(8 * kind.base.itemsize))
