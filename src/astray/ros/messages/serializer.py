"""Serializes the rows of tables as the messages of one template."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from astray.ros.messages.layout import MessageLayout
from astray.ros.messages.serializer_kernels import (
    COPY_BYTES,
    INSTRUCTION,
    ConstantBytes,
    MessageBuffer,
    RecordSelection,
    copy_constants_all,
    make_scratch,
    place_tables,
    write_fields_all,
)
from astray.ros.messages.templates import Instruction, MessageTemplate
from astray.ros.names import RosRobot
from astray.tables import Array, Rows, Table


class MessageSerializer:
    """A template, compiled for some robots of a group and their tables.

    Args:
        template: The message type and its fields.
        layout: The layout of its messages; the same for all of these robots.
        robots: The robots that have such a message.
        tables: The tables of the group by name, the main table first.
        headers: Bytes that stand before each message, a row for each row of the group: the record
            header of a container file.
    """

    def __init__(
        self,
        template: MessageTemplate,
        layout: MessageLayout,
        robots: Sequence[RosRobot],
        tables: Mapping[str, Array],
        headers: Array | None = None,
    ) -> None:
        self.header_size = 0 if headers is None else headers.shape[1]
        self.size = self.header_size + layout.size
        """Bytes of a message and its header."""
        self.instructions = merge_copies(template.instructions(layout, tables), self.header_size)
        """What is read from tables, a row of INSTRUCTION each."""
        self.constants = self._constant_bytes(template, layout, robots, headers)

    def _constant_bytes(
        self,
        template: MessageTemplate,
        layout: MessageLayout,
        robots: Sequence[RosRobot],
        headers: Array | None,
    ) -> ConstantBytes:
        """What all messages of a row share: up to the last text of a robot, and the rest."""
        message, lead = layout.zeros(1), self.header_size
        for path, value in template.constants().items():
            if not isinstance(value, str):
                message[path] = value
        whole = np.zeros(self.size, np.uint8)
        whole[lead:] = message.view(np.uint8)
        places = {path: layout.locate(path) for path in template.robot_texts()}
        prefix_size = max([lead, *(lead + at + kind.itemsize for kind, at in places.values())])
        prefixes = np.zeros((1 + max(robot.row for robot in robots), prefix_size), np.uint8)
        prefixes[:] = whole[:prefix_size]
        for path, of in template.robot_texts().items():
            kind, at = places[path]
            for robot in robots:
                text = np.frombuffer(of(robot).encode(), np.uint8)
                prefixes[robot.row, lead + at : lead + at + kind.itemsize] = text
        if headers is not None:
            prefixes[: len(headers), :lead] = headers
        return ConstantBytes(prefixes.reshape(-1), prefix_size, whole[prefix_size:].copy())

    def serialize(self, rows: Rows, tables: Sequence[Array]) -> Array:
        """The message of each row.

        Args:
            rows: Rows of the group.
            tables: The tables, with one record for each of these rows; the table of computed
                values is the last one.

        Returns:
            Bytes, (n, size).
        """
        every, raw = np.arange(len(rows)), np.empty((len(rows), self.size), np.uint8)
        messages = MessageBuffer(raw.reshape(-1), every * self.size)
        copy_constants_all(messages, self.constants, rows)
        if len(self.instructions):
            memory, placements = place_tables(tables)
            records = RecordSelection(np.zeros_like(every), every)
            scratch = make_scratch()
            write_fields_all(messages, self.instructions, memory, placements, records, scratch)
        return raw


def merge_copies(instructions: Iterable[Instruction], shift: int) -> Table:
    """Instructions in reading order, shifted in the message; adjacent copies become one."""
    merged: list[Instruction] = []
    for step in sorted(instructions, key=lambda s: (s.table, s.source, s.target)):
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.op == step.op == COPY_BYTES
            and (last.table, last.source + last.length) == (step.table, step.source)
            and last.target + last.length == step.target + shift
        ):
            merged[-1] = last._replace(length=last.length + step.length)
        else:
            merged.append(step._replace(target=step.target + shift))
    return np.array([tuple(step) for step in merged], INSTRUCTION)
