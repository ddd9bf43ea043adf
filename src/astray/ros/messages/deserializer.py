"""Messages of one type as columns: layouts in reverse.

Where all messages have the same lengths of texts and sequences, which is nearly always so on one
topic, their bytes are one NumPy record and a column is a view of them; else they are decoded one
by one. Either way `columns["angular_velocity.z"]` is an array with one value per message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from astray.errors import AstrayError
from astray.ros.messages import types
from astray.ros.messages.serializer import MessageLayout
from astray.tables import Array

Decode = Callable[[bytes], Any]


class MessageColumns:
    """Messages of one type; a column is known by its path, "pose.pose.position.x"."""

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
        self._decode = decode or (lambda one: types.decode(type, one))
        self._records = None
        if decode is None and len(data):
            self._records = _as_records(type, data)
        if self._records is None:
            some = [row.tobytes() for row in data] if isinstance(data, np.ndarray) else data
            self._messages = [self._decode(one) for one in some]
        self._count = len(data)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, path: str) -> Array:
        if self._records is not None:
            if path in (self._records.dtype.names or ()):
                return self._records[path]
            return np.array([_follow(one, path) for one in self._decoded()])
        return np.array([_follow(one, path) for one in self._messages])

    def __contains__(self, path: str) -> bool:
        if self._records is not None:
            return path in (self._records.dtype.names or ())
        return bool(self._messages) and _follow(self._messages[0], path) is not None

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
        """Times, (n,) s."""
        return _seconds(self[f"{path}.sec"], self[f"{path}.nanosec"])


def _seconds(sec: Array, nanosec: Array) -> Array:
    # One division rounds once: whole nanoseconds come back as the float that is nearest to them.
    return np.asarray((sec.astype(np.int64) * 1_000_000_000 + nanosec.astype(np.int64)) / 1e9)


def _follow(message: Any, path: str) -> Any:
    for part in path.split("."):
        if part.isdigit():
            message = message[int(part)] if int(part) < len(message) else None
        else:
            message = getattr(message, part, None)
        if message is None:
            return None
    return message


def _as_records(type: str, data: Sequence[bytes] | Array) -> Array | None:
    """The messages as one array of records; None if they are not all laid out alike."""
    if isinstance(data, np.ndarray):
        raw = data
    else:
        if len({len(one) for one in data}) > 1:
            return None
        raw = np.frombuffer(b"".join(data), np.uint8).reshape(len(data), -1)
    try:
        first = types.decode(type, raw[0].tobytes())
        layout = MessageLayout(type, *_lengths(first))
    except AstrayError:
        return None
    if not layout.size <= raw.shape[1] < layout.size + 4:  # encoders may fill up the last word
        return None
    raw = np.ascontiguousarray(raw[:, : layout.size])
    blank = layout.blank(1).view(np.uint8)
    fixed = _fixed(layout)
    if not (raw[:, fixed] == blank[fixed]).all():
        return None
    return raw.reshape(-1).view(layout.dtype)


def _fixed(layout: MessageLayout) -> Array:
    """Which bytes of a message are in no column: the lengths, above all."""
    fixed = np.ones(layout.size, bool)
    fields: Mapping[str, Any] = layout.dtype.fields or {}
    for kind, at, *_ in fields.values():
        fixed[at : at + kind.itemsize] = False
    return fixed


def _lengths(message: Any, path: str = "") -> tuple[dict[str, int], dict[str, str]]:
    """Lengths of all sequences and all texts of a message, by their paths."""
    from rosbags.interfaces import Nodetype

    sizes: dict[str, int] = {}
    texts: dict[str, str] = {}
    for name, (kind, about) in types.typestore().fielddefs[message.__msgtype__][1]:
        value, where = getattr(message, name), f"{path}{name}"
        if kind == Nodetype.BASE:
            parts = [(where, value)] if about[0] == "string" else []
        elif kind == Nodetype.NAME:
            parts = [(where, value)]
        else:
            if kind == Nodetype.SEQUENCE and len(value):
                sizes[where] = len(value)
            plain = about[0][0] == Nodetype.BASE and about[0][1][0] != "string"
            parts = [] if plain else [(f"{where}.{k}", one) for k, one in enumerate(value)]
        for place, part in parts:
            if isinstance(part, str):
                if part:
                    texts[place] = part
            else:
                more = _lengths(part, f"{place}.")
                sizes |= more[0]
                texts |= more[1]
    return sizes, texts
