"""Where each value of a message lies in its bytes, so that whole columns are written at once.

CDR, the encoding of ROS 2, aligns every number to its own size, counted from behind a header of
four bytes. Strings and sequences make the places of what follows depend on their lengths; but a
topic's frame names and number of rays stay as they are, so once those are fixed a message is a
record with known offsets, and many messages are one NumPy array. Texts are columns as well: others
of the same length may be written in their place.

    layout = Layout("sensor_msgs/msg/Imu", texts={"header.frame_id": "imu_link"})
    messages = layout.blank(1000)
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

HEADER = bytes((0, 1, 0, 0))  # plain CDR, little endian


class MessageLayout:
    """The bytes of one message type with these lengths of sequences and these texts."""

    def __init__(
        self,
        type: str,
        sizes: Mapping[str, int] | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        self.type = type
        self._sizes, self._texts = dict(sizes or {}), dict(texts or {})
        self._places: dict[str, tuple[Any, int]] = {}
        self._blank = bytearray(HEADER)
        self._add(type, "")
        left = [*self._sizes, *self._texts]
        if left:
            raise WrongInput(f"{type} has no sequence or text {left[0]!r}")
        self.size = len(self._blank)
        """Bytes of one message, header included."""
        self.dtype = np.dtype(
            {
                "names": list(self._places),
                "formats": [kind for kind, _ in self._places.values()],
                "offsets": [at for _, at in self._places.values()],
                "itemsize": self.size,
            }
        )

    def place(self, path: str) -> tuple[np.dtype[Any], int]:
        """The type of a value, and at which byte of a message it is."""
        kind, at = self._places[path]
        return np.dtype(kind), at

    def blank(self, count: int) -> Array:
        """Messages that say nothing yet: all numbers are zero."""
        made = np.empty((count, self.size), np.uint8)
        made[:] = np.frombuffer(bytes(self._blank), np.uint8)
        return made.reshape(-1).view(self.dtype)

    def _add(self, type: str, path: str) -> None:
        from rosbags.interfaces import Nodetype

        fields: list[tuple[str, Any]] = list(typestore().fielddefs[type][1])
        for name, (kind, about) in fields:
            where = f"{path}{name}"
            if kind == Nodetype.NAME:
                self._add(about, f"{where}.")
            elif kind == Nodetype.BASE:
                self._add_base(about[0], where)
            else:
                inner, size = about
                if kind == Nodetype.SEQUENCE:
                    size = self._sizes.pop(where, 0)
                    self._append(np.dtype("<u4"), size)
                self._add_many(inner, size, where)

    def _add_many(self, inner: Any, size: int, where: str) -> None:
        from rosbags.interfaces import Nodetype

        kind, about = inner
        if kind == Nodetype.BASE and about[0] != "string":
            if size:
                self._add_number(np.dtype(NUMBERS[about[0]]), where, size)
            return
        for k in range(size):
            if kind == Nodetype.NAME:
                self._add(about, f"{where}.{k}.")
            else:
                self._add_base(about[0], f"{where}.{k}")

    def _add_base(self, base: str, where: str) -> None:
        if base != "string":
            self._add_number(np.dtype(NUMBERS[base]), where)
            return
        text = self._texts.pop(where, "").encode()
        self._append(np.dtype("<u4"), len(text) + 1)
        if text:
            self._places[where] = (np.dtype(f"S{len(text)}"), len(self._blank))
        self._blank += text + b"\0"

    def _add_number(self, number: np.dtype[Any], where: str, size: int | None = None) -> None:
        at = self._align(number.itemsize)
        self._places[where] = ((number, (size,)) if size is not None else number, at)
        self._blank += bytes(number.itemsize * (1 if size is None else size))

    def _append(self, number: np.dtype[Any], value: int) -> None:
        self._align(number.itemsize)
        self._blank += np.array(value, number).tobytes()

    def _align(self, size: int) -> int:
        body = len(self._blank) - len(HEADER)
        self._blank += bytes(-body % size)
        return len(self._blank)
