"""Message templates: for each field of a message type, where its value comes from.

    TEMPLATE = MessageTemplate(
        "geometry_msgs/msg/TwistStamped",
        {
            "header.stamp": Stamp(),
            "header.frame_id": RobotText(lambda robot: robot.frame("base_link")),
            "twist.linear.x": FromColumn("vx"),
            "twist.angular.z": FromColumn("wz"),
        },
    )

Fields are named by their path; a field that is not named is zero or empty. Each kind of field is a
class below. A template is compiled for the tables of a group (`MessageSerializer`): a field that
changes from message to message becomes instructions of `serializer_kernels`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from astray.ros.messages import serializer_kernels as ops
from astray.ros.messages.layout import MessageLayout
from astray.ros.names import RosRobot
from astray.tables import Array

PLANAR_INDICES = (0, 1, 5)  # of x, y and yaw among x, y, z, roll, pitch, yaw
HORIZONTAL_INDICES = (0, 1)  # of east and north among east, north, up

ReadColumn = Callable[[str], Array]
"""Returns a column of the main table, one value per message."""


class Instruction(NamedTuple):
    """A row of `serializer_kernels.INSTRUCTION`."""

    op: int
    table: int
    source: int
    target: int
    length: int = 1
    second: int = 0
    third: int = 0


class Location(NamedTuple):
    """Where a value is: its type and byte offset in a message, or in the records of a table."""

    dtype: np.dtype[Any]
    offset: int
    table: int = 0

    @property
    def length(self) -> int:
        """How many numbers it has."""
        return int(np.prod(self.dtype.shape)) if self.dtype.shape else 1

    def element(self, index: int) -> Location:
        """One of its numbers."""
        base = self.dtype.base
        return self._replace(dtype=base, offset=self.offset + index * base.itemsize)


class TemplateCompiler:
    """Finds the fields of a message and the columns of tables; the first table is the main one."""

    def __init__(self, layout: MessageLayout, tables: Mapping[str, Array]) -> None:
        self._layout, self._tables = layout, tables

    def target(self, path: str) -> Location:
        """A field of the message."""
        return Location(*self._layout.locate(path))

    def table(self, name: str) -> Array:
        """A table; "" is the main table."""
        return self._tables[name or next(iter(self._tables))]

    def source(self, column: str, table: str = "") -> Location:
        """A column of a table; without a column, the whole record of a row."""
        number = [*self._tables].index(table) if table else 0
        given = self.table(table)
        if not column:
            return Location(np.dtype((given.dtype, given.shape[1:])), 0, number)
        fields: Any = given.dtype.fields
        return Location(given.dtype[column], int(fields[column][1]), number)

    def float64(self, column: str, table: str = "") -> Location:
        """A column of numbers with 64 bits."""
        found = self.source(column, table)
        assert found.dtype.base == np.float64, f"{table}.{column} is {found.dtype}"
        return found

    def float32_target(self, path: str) -> int:
        """The offset of a field of numbers with 32 bits."""
        found = self.target(path)
        assert found.dtype.base == np.float32, f"{path} is {found.dtype}"
        return found.offset


@dataclass(frozen=True)
class Constant:
    """A value that is the same in all messages.

    Args:
        value: A number, a list of numbers or a text.
    """

    value: Any


@dataclass(frozen=True)
class RobotText:
    """A text of each robot, such as a frame.

    Args:
        of: Returns the text of a robot; all robots of a publisher have texts of one length.
    """

    of: Callable[[RosRobot], str]


class CompiledField(ABC):
    """A value that is read from a table for each message."""

    @abstractmethod
    def compile(self, path: str, compiler: TemplateCompiler) -> Iterator[Instruction]:
        """The instructions that fill the field at a path."""


@dataclass(frozen=True)
class FromColumn(CompiledField):
    """The values of a column, as many as the field and `count` allow.

    Where a row of the table is several records (the tracks of a robot), the column of each record
    follows that of the last.

    Args:
        column: The column; without one it is the record itself, the numbers of an array.
        table: The table, by its name; the main table unless given.
        count: How many values, if not all.
    """

    column: str = ""
    table: str = ""
    count: int | None = None

    def compile(self, path: str, compiler: TemplateCompiler) -> Iterator[Instruction]:
        """One copy, or one for each record of a row."""
        return self.compile_from(0, path, compiler)

    def compile_from(
        self, index: int, path: str, compiler: TemplateCompiler
    ) -> Iterator[Instruction]:
        """The same, beginning at one of the field's values."""
        target, source = compiler.target(path), compiler.source(self.column, self.table)
        table = compiler.table(self.table)
        if not self.column or table.ndim == 1:
            count = min(target.length - index, source.length, self.count or source.length)
            yield _copy(path, source, target.element(index), count)
            return
        for k in range(table.shape[1]):
            of = source._replace(offset=source.offset + k * table.dtype.itemsize)
            yield _copy(path, of, target.element(index + k * source.length), source.length)


@dataclass(frozen=True)
class Concatenated(CompiledField):
    """Several columns behind each other in one sequence.

    Args:
        parts: The columns; all but the last have a count.
    """

    parts: tuple[FromColumn, ...]

    def compile(self, path: str, compiler: TemplateCompiler) -> Iterator[Instruction]:
        """The copies of all parts."""
        index = 0
        for part in self.parts:
            yield from part.compile_from(index, path, compiler)
            index += part.count or 0


@dataclass(frozen=True)
class Stamp(CompiledField):
    """A time as builtin_interfaces/Time.

    Args:
        column: The column of the time, s.
        table: The table, by its name; the main table unless given.
    """

    column: str = "stamp"
    table: str = ""

    def compile(self, path: str, compiler: TemplateCompiler) -> Iterator[Instruction]:
        """Seconds and nanoseconds."""
        source, target = compiler.float64(self.column, self.table), compiler.target(f"{path}.sec")
        yield Instruction(ops.WRITE_STAMP, source.table, source.offset, target.offset)


@dataclass(frozen=True)
class YawQuaternion(CompiledField):
    """A yaw angle as geometry_msgs/Quaternion.

    Args:
        column: The column of the angle, rad.
        table: The table, by its name; the main table unless given.
    """

    column: str = "yaw"
    table: str = ""

    def compile(self, path: str, compiler: TemplateCompiler) -> Iterator[Instruction]:
        """Z and w; x and y stay 0."""
        source, target = compiler.float64(self.column, self.table), compiler.target(f"{path}.z")
        yield Instruction(ops.WRITE_YAW_QUATERNION, source.table, source.offset, target.offset)


@dataclass(frozen=True)
class CovarianceBlock(CompiledField):
    """A covariance of some coordinates within the matrix of all; the rest of it stays 0.

    Args:
        indices: The indices of these coordinates among all.
        size: The number of all coordinates.
        column: The column of the covariance, (len(indices), len(indices)).
    """

    indices: tuple[int, ...]
    size: int
    column: str = "cov"

    def compile(self, path: str, compiler: TemplateCompiler) -> Iterator[Instruction]:
        """One copy for each element."""
        source, target = compiler.source(self.column), compiler.target(path)
        for i, row in enumerate(self.indices):
            for j, column in enumerate(self.indices):
                of = source.element(len(self.indices) * i + j)
                yield _copy(path, of, target.element(self.size * row + column), 1)


def planar_covariance(column: str = "cov") -> CovarianceBlock:
    """A covariance of (x, y, yaw) as one of (x, y, z, roll, pitch, yaw)."""
    return CovarianceBlock(PLANAR_INDICES, 6, column)


def horizontal_covariance(column: str = "cov") -> CovarianceBlock:
    """A covariance of (east, north) as one of (east, north, up)."""
    return CovarianceBlock(HORIZONTAL_INDICES, 3, column)


@dataclass(frozen=True)
class SteppedValue(CompiledField):
    """A value some steps after another, such as the angle of the last ray.

    Args:
        column: The column of the first value.
        step: The column of the step.
        steps: How many steps.
    """

    column: str
    step: str
    steps: int

    def compile(self, path: str, compiler: TemplateCompiler) -> Iterator[Instruction]:
        """As float32."""
        source, step = (compiler.float64(name).offset for name in (self.column, self.step))
        target = compiler.float32_target(path)
        yield Instruction(ops.WRITE_STEPPED, 0, source, target, self.steps, step)


@dataclass(frozen=True)
class Quotient(CompiledField):
    """A column, divided by a number.

    Args:
        column: The column.
        divisor: The number.
    """

    column: str
    divisor: int

    def compile(self, path: str, compiler: TemplateCompiler) -> Iterator[Instruction]:
        """As float32."""
        source, target = compiler.float64(self.column).offset, compiler.float32_target(path)
        yield Instruction(ops.WRITE_QUOTIENT, 0, source, target, self.divisor)


@dataclass(frozen=True)
class ClippedRanges(CompiledField):
    """An array of ranges: +inf from range_max on, -inf below range_min (REP 117).

    Args:
        table: The array of ranges, m.
        range_min: The column of the main table with the nearest range, m.
        range_max: The column of the main table with the farthest range, m.
    """

    table: str
    range_min: str
    range_max: str

    def compile(self, path: str, compiler: TemplateCompiler) -> Iterator[Instruction]:
        """As float32."""
        source, target = compiler.float64("", self.table), compiler.float32_target(path)
        near, far = (compiler.float64(c).offset for c in (self.range_min, self.range_max))
        op, length = ops.WRITE_CLIPPED_RANGES, source.length
        yield Instruction(op, source.table, source.offset, target, length, near, far)


@dataclass(frozen=True)
class TurnRate(CompiledField):
    """A commanded yaw rate; speed · curvature where the command has a curvature.

    Args:
        rate: The column of the yaw rate, rad/s.
        curvature: The column of the curvature, 1/m; nan where none is commanded.
        speed: The column of the speed, m/s.
    """

    rate: str
    curvature: str
    speed: str

    def compile(self, path: str, compiler: TemplateCompiler) -> Iterator[Instruction]:
        """As float64."""
        columns = (self.rate, self.curvature, self.speed)
        rate, curvature, speed = (compiler.float64(column).offset for column in columns)
        target = compiler.target(path)
        yield Instruction(ops.WRITE_TURN_RATE, 0, rate, target.offset, 1, curvature, speed)


@dataclass(frozen=True)
class Computed:
    """A number that is computed for all messages at once.

    Args:
        function: Is given a function that returns a column of the main table, (n,), and returns
            the numbers, (n,).
    """

    function: Callable[[ReadColumn], Array]


FieldSource: TypeAlias = Constant | RobotText | Computed | CompiledField
"""Where the value of a message field comes from."""


@dataclass(frozen=True)
class MessageTemplate:
    """A message type and where the values of its fields come from.

    Args:
        type: The message type, such as "sensor_msgs/msg/Imu".
        fields: The source of each field, by the field's path such as "header.stamp".
        lengths: The number of values of each sequence, by its path.
    """

    type: str
    fields: Mapping[str, FieldSource]
    lengths: Mapping[str, int] = field(default_factory=dict)

    def constants(self) -> dict[str, Any]:
        """The values of all constant fields."""
        return {path: f.value for path, f in self.fields.items() if isinstance(f, Constant)}

    def robot_texts(self) -> dict[str, Callable[[RosRobot], str]]:
        """The texts that differ by robot."""
        return {path: f.of for path, f in self.fields.items() if isinstance(f, RobotText)}

    def computed(self) -> dict[str, Callable[[ReadColumn], Array]]:
        """The functions of all computed fields."""
        return {path: f.function for path, f in self.fields.items() if isinstance(f, Computed)}

    def layout(self, robot: RosRobot) -> MessageLayout:
        """The layout of its messages, for robots with names as long as this one's."""
        texts = {path: of(robot) for path, of in self.robot_texts().items()}
        texts |= {path: text for path, text in self.constants().items() if isinstance(text, str)}
        return MessageLayout(self.type, self.lengths, texts)

    def instructions(
        self, layout: MessageLayout, tables: Mapping[str, Array]
    ) -> Iterator[Instruction]:
        """What is read from tables; behind the named ones is the table of computed values."""
        compiler = TemplateCompiler(layout, tables)
        for path, source in self.fields.items():
            if isinstance(source, CompiledField):
                yield from source.compile(path, compiler)
        for k, path in enumerate(self.computed()):
            number = Location(np.dtype(np.float64), 8 * k, len(tables))
            yield _copy(path, number, compiler.target(path), 1)


def _copy(path: str, source: Location, target: Location, count: int) -> Instruction:
    """Copy some values, or convert one; TypeError if the field has a type that is not offered."""
    given, wanted = source.dtype.base, target.dtype.base
    if (given.kind == "f", given.itemsize) == (wanted.kind == "f", wanted.itemsize):
        op, count = ops.COPY_BYTES, count * wanted.itemsize
    elif given == np.float64 and wanted == np.float32 and count == 1:
        op = ops.WRITE_FLOAT32
    elif given == np.float64 and wanted.kind in "iu" and wanted.itemsize == count == 1:
        op = ops.WRITE_UINT8
    else:
        raise TypeError(f"{path}: {given} does not become {wanted}")
    return Instruction(op, source.table, source.offset, target.offset, count)


def quaternion_yaw(x: Any, y: Any, z: Any, w: Any) -> Any:
    """The yaw of quaternions that may tilt and be of any length, rad; of zeros, 0."""
    return np.arctan2(2.0 * (w * z + x * y), w * w + x * x - y * y - z * z)
