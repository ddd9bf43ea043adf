"""Messages as the JSON text of rosbridge: the fields of the message type, by their names.

This is the `msg` of a publish operation; its envelope is `publish_operation` in compression.py. The
values come from the templates in ros/publishers.

An Odometry is {"header":{"stamp":{"sec":1,"nanosec":0},"frame_id":"odom"},"child_frame_id":
"base_link","pose":{"pose":{"position":{"x":0.5,...},"orientation":{...}},"covariance":[...]},
"twist":{...}}. JSON has no nan and no infinity: they are null.

The fields of a layout are the same for every message, so where each value goes is found once, and
the columns of many messages become text without looking at a type again.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from astray.ros.messages import MessageLayout, decode, to_plain
from astray.tables import Array

_dumps = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class FieldSlot:
    """The place of a field that differs from message to message."""

    def __init__(self, index: int, dtype: np.dtype[Any]) -> None:
        self.index = index
        """Which of the values of a message it is."""
        self.is_text, self.is_list = dtype.kind == "S", bool(dtype.shape)


class JsonWriter:
    """Writes messages of one layout as JSON."""

    def __init__(self, layout: MessageLayout) -> None:
        self._message = message_with_slots(layout)

    def write(self, messages: Array) -> list[str]:
        """The JSON text of each message."""
        return [to_json(_fill(self._message, values)) for values in messages.tolist()]


def message_with_slots(layout: MessageLayout) -> Any:
    """A message as plain values, with slots for the fields that change."""
    message = to_plain(decode(layout.type, layout.zeros(1)[0].tobytes()))
    for index, name in enumerate(layout.dtype.names or ()):
        message = _put(message, name.split("."), FieldSlot(index, layout.dtype[name]))
    return message


def to_json(plain: Any) -> str:
    """Plain values as JSON."""
    try:
        return _dumps(plain)
    except ValueError:  # it holds nan or an infinity
        return _dumps(_without_nan(plain))


def _put(plain: Any, path: list[str], slot: FieldSlot) -> Any:
    """Plain values with a slot at the end of a path."""
    if not path:
        return slot
    key: Any = int(path[0]) if isinstance(plain, list) else path[0]
    plain[key] = _put(plain[key], path[1:], slot)
    return plain


def _fill(plain: Any, values: tuple[Any, ...]) -> Any:
    """Plain values, with the values of one message in the place of slots."""
    if isinstance(plain, dict):
        return {key: _fill(part, values) for key, part in plain.items()}
    if isinstance(plain, FieldSlot):
        value = values[plain.index]
        if plain.is_text:
            return value.decode()
        return _list_without_nan(value) if plain.is_list else value
    if isinstance(plain, list):
        return [_fill(part, values) for part in plain]
    return plain


def _list_without_nan(values: Array) -> list[Any]:
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return list(values.tolist())
    with_none = values.astype(object)
    with_none[~np.isfinite(values)] = None
    return list(with_none.tolist())


def _without_nan(plain: Any) -> Any:
    if isinstance(plain, float):
        return plain if math.isfinite(plain) else None
    if isinstance(plain, dict):
        return {key: _without_nan(value) for key, value in plain.items()}
    return [_without_nan(value) for value in plain] if isinstance(plain, (list, tuple)) else plain
