"""Where each field of a message is in its CDR bytes, so that whole columns are written at once.

CDR, the encoding of ROS 2 (OMG DDSI-RTPS 2.x, plain CDR), aligns each number to its own size,
counted from the end of a header of four bytes. The offsets of fields behind a string or a sequence
depend on its length. The frames and the ray count of a topic do not change, so with these lengths
fixed a message is a record with known offsets, and many messages are one NumPy array. A text is a
column as well: another one of the same length can be written in its place.

    layout = MessageLayout("sensor_msgs/msg/Imu", texts={"header.frame_id": "imu_link"})
    messages = layout.zeros(1000)
    messages["angular_velocity.z"] = rates
    messages[0].tobytes()
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from astray.errors import WrongInput
from astray.ros.messages.types import NUMBERS, typestore
from astray.tables import Array

CDR_HEADER = bytes((0, 1, 0, 0))  # plain CDR, little endian


class MessageLayout:
    """The bytes of a message type with fixed lengths of its sequences and texts.

    Args:
        type: The message type, such as "sensor_msgs/msg/Imu".
        lengths: The number of values of each sequence by its path; 0 unless given.
        texts: The text of each string by its path; empty unless given.

    Raises:
        WrongInput: A path names no sequence or string.
    """

    def __init__(
        self,
        type: str,
        lengths: Mapping[str, int] | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        self.type = type
        self._lengths, self._texts = dict(lengths or {}), dict(texts or {})
        self._fields: dict[str, tuple[Any, int]] = {}
        self._message = bytearray(CDR_HEADER)
        self._add_message(type, "")
        unknown = [*self._lengths, *self._texts]
        if unknown:
            raise WrongInput(f"{type} has no sequence or text {unknown[0]!r}")
        self.size = len(self._message)
        """Bytes of one message, header included."""
        self.dtype = np.dtype(
            {
                "names": list(self._fields),
                "formats": [dtype for dtype, _ in self._fields.values()],
                "offsets": [offset for _, offset in self._fields.values()],
                "itemsize": self.size,
            }
        )
        """A record with a column for each field, named by its path."""

    def locate(self, path: str) -> tuple[np.dtype[Any], int]:
        """The type of a field and its byte offset in a message."""
        dtype, offset = self._fields[path]
        return np.dtype(dtype), offset

    def zeros(self, count: int) -> Array:
        """Messages with these texts, in which all numbers are zero, (count,) records."""
        made = np.empty((count, self.size), np.uint8)
        made[:] = np.frombuffer(bytes(self._message), np.uint8)
        return made.reshape(-1).view(self.dtype)

    def _add_message(self, type: str, prefix: str) -> None:
        from rosbags.interfaces import Nodetype

        fields: list[tuple[str, Any]] = list(typestore().fielddefs[type][1])
        for name, (kind, about) in fields:
            path = f"{prefix}{name}"
            if kind == Nodetype.NAME:
                self._add_message(about, f"{path}.")
            elif kind == Nodetype.BASE:
                self._add_value(about[0], path)
            else:
                element, length = about
                if kind == Nodetype.SEQUENCE:
                    length = self._lengths.pop(path, 0)
                    self._append(np.dtype("<u4"), length)
                self._add_elements(element, length, path)

    def _add_elements(self, element: Any, length: int, path: str) -> None:
        """Numbers are one column; strings and messages have a path each, such as name.0."""
        from rosbags.interfaces import Nodetype

        kind, about = element
        if kind == Nodetype.BASE and about[0] != "string":
            if length:
                self._add_number(np.dtype(NUMBERS[about[0]]), path, length)
            return
        for k in range(length):
            if kind == Nodetype.NAME:
                self._add_message(about, f"{path}.{k}.")
            else:
                self._add_value(about[0], f"{path}.{k}")

    def _add_value(self, base: str, path: str) -> None:
        if base != "string":
            self._add_number(np.dtype(NUMBERS[base]), path)
            return
        text = self._texts.pop(path, "").encode()
        self._append(np.dtype("<u4"), len(text) + 1)
        if text:
            self._fields[path] = (np.dtype(f"S{len(text)}"), len(self._message))
        self._message += text + b"\0"

    def _add_number(self, dtype: np.dtype[Any], path: str, length: int | None = None) -> None:
        offset = self._align(dtype.itemsize)
        self._fields[path] = ((dtype, (length,)) if length is not None else dtype, offset)
        self._message += bytes(dtype.itemsize * (1 if length is None else length))

    def _append(self, dtype: np.dtype[Any], value: int) -> None:
        self._align(dtype.itemsize)
        self._message += np.array(value, dtype).tobytes()

    def _align(self, size: int) -> int:
        body = len(self._message) - len(CDR_HEADER)
        self._message += bytes(-body % size)
        return len(self._message)
