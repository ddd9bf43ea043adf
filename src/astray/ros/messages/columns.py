"""Reads many messages of one type as columns: `columns["angular_velocity.z"]`, a value per message.

The messages of a topic nearly always have the same lengths of texts and sequences. Then their bytes
are one NumPy record array and a column is a view of it; else each message is decoded by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from astray.errors import AstrayError
from astray.ros.messages import types
from astray.ros.messages.layout import MessageLayout
from astray.tables import Array

Decode = Callable[[bytes], Any]


class MessageColumns:
    """Messages of one type; a column has the path of its field, "pose.pose.position.x".

    Args:
        type: The message type.
        data: The CDR bytes of each message; an array if all have one size, (n, size).
        times: When each message was written, (n,) ns.
        decode: Decodes a message of a type that is no ROS 2 message, such as one of a ROS 1 bag.
    """

    def __init__(
        self,
        type: str,
        data: Sequence[bytes] | Array,
        times: Sequence[int] | Array,
        decode: Decode | None = None,
    ) -> None:
        self.type = type
        self.times = np.asarray(times, np.int64) / 1e9
        """When each message was written, (n,) s."""
        self._decode = decode or (lambda message: types.decode(type, message))
        self._records = None
        if decode is None and len(data):
            self._records = _as_records(type, data)
        if self._records is None:
            every = [row.tobytes() for row in data] if isinstance(data, np.ndarray) else data
            self._messages = [self._decode(message) for message in every]
        self._count = len(data)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, path: str) -> Array:
        if self._records is not None:
            if path in (self._records.dtype.names or ()):
                return self._records[path]
            return np.array([_field(message, path) for message in self._decoded()])
        return np.array([_field(message, path) for message in self._messages])

    def __contains__(self, path: str) -> bool:
        if self._records is not None:
            return path in (self._records.dtype.names or ())
        return bool(self._messages) and _field(self._messages[0], path) is not None

    def _decoded(self) -> list[Any]:
        assert self._records is not None
        return [types.decode(self.type, self._records[k].tobytes()) for k in range(self._count)]

    @property
    def first(self) -> Any:
        """The first message, decoded."""
        if self._records is not None:
            return types.decode(self.type, self._records[0].tobytes())
        return self._messages[0]

    def stamps(self, path: str = "header.stamp") -> Array:
        """The times in a field of type builtin_interfaces/Time, (n,) s."""
        sec, nanosec = self[f"{path}.sec"], self[f"{path}.nanosec"]
        # One division rounds once: whole nanoseconds give the float that is nearest to them.
        return np.asarray((sec.astype(np.int64) * 1_000_000_000 + nanosec.astype(np.int64)) / 1e9)


def _field(message: Any, path: str) -> Any:
    """The value at a path of a decoded message; None if there is none."""
    for part in path.split("."):
        if part.isdigit():
            message = message[int(part)] if int(part) < len(message) else None
        else:
            message = getattr(message, part, None)
        if message is None:
            return None
    return message


def _as_records(type: str, data: Sequence[bytes] | Array) -> Array | None:
    """The messages as one array of records; None if they do not all have the same layout."""
    if isinstance(data, np.ndarray):
        raw = data
    else:
        if len({len(message) for message in data}) > 1:
            return None
        raw = np.frombuffer(b"".join(data), np.uint8).reshape(len(data), -1)
    try:
        first = types.decode(type, raw[0].tobytes())
        layout = MessageLayout(type, *_lengths_and_texts(first))
    except AstrayError:
        return None
    if not layout.size <= raw.shape[1] < layout.size + 4:  # encoders may pad to whole words
        return None
    raw = np.ascontiguousarray(raw[:, : layout.size])
    zeros = layout.zeros(1).view(np.uint8)
    fixed = _bytes_in_no_column(layout)
    if not (raw[:, fixed] == zeros[fixed]).all():
        return None
    return raw.reshape(-1).view(layout.dtype)


def _bytes_in_no_column(layout: MessageLayout) -> Array:
    """A mask of the bytes of a message that are in no column: header, lengths and padding."""
    mask = np.ones(layout.size, bool)
    fields: Mapping[str, Any] = layout.dtype.fields or {}
    for dtype, offset, *_ in fields.values():
        mask[offset : offset + dtype.itemsize] = False
    return mask


def _lengths_and_texts(message: Any, prefix: str = "") -> tuple[dict[str, int], dict[str, str]]:
    """The lengths of all sequences and all texts of a decoded message, by their paths."""
    from rosbags.interfaces import Nodetype

    lengths: dict[str, int] = {}
    texts: dict[str, str] = {}
    for name, (kind, about) in types.typestore().fielddefs[message.__msgtype__][1]:
        value, path = getattr(message, name), f"{prefix}{name}"
        if kind == Nodetype.BASE:
            parts = [(path, value)] if about[0] == "string" else []
        elif kind == Nodetype.NAME:
            parts = [(path, value)]
        else:
            if kind == Nodetype.SEQUENCE and len(value):
                lengths[path] = len(value)
            numbers = about[0][0] == Nodetype.BASE and about[0][1][0] != "string"
            parts = [] if numbers else [(f"{path}.{k}", each) for k, each in enumerate(value)]
        for part_path, part in parts:
            if isinstance(part, str):
                if part:
                    texts[part_path] = part
            else:
                inner_lengths, inner_texts = _lengths_and_texts(part, f"{part_path}.")
                lengths |= inner_lengths
                texts |= inner_texts
    return lengths, texts
