"""Messages as the JSON text of rosbridge: what is no number (nan, inf) is null.

The fields of a layout are the same for every message, so where each value goes is found out once,
and the columns of many messages become text without looking at a type again.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from astray.ros.messages import MessageLayout, decode, to_plain
from astray.tables import Array

_dumps = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class Slot:
    """A place in a message that is filled with one of the values of a record."""

    def __init__(self, index: int, kind: np.dtype[Any]) -> None:
        self.index = index
        self.is_text, self.is_list = kind.kind == "S", bool(kind.shape)


class JsonWriter:
    """Writes messages of one layout."""

    def __init__(self, layout: MessageLayout) -> None:
        self._plan = plan_of(layout)

    def write(self, messages: Array) -> list[str]:
        """The JSON text of each message."""
        return [to_text(_fill(self._plan, values)) for values in messages.tolist()]


def plan_of(layout: MessageLayout) -> Any:
    """A message as plain values, with slots for all that change."""
    plan = to_plain(decode(layout.type, layout.blank(1)[0].tobytes()))
    for index, name in enumerate(layout.dtype.names or ()):
        plan = _put(plan, name.split("."), Slot(index, layout.dtype[name]))
    return plan


def to_text(plain: Any) -> str:
    """Plain values as JSON."""
    try:
        return _dumps(plain)
    except ValueError:  # there is something in it that is no number
        return _dumps(_finite(plain))


def _put(plan: Any, path: list[str], slot: Slot) -> Any:
    """A plan with a slot at the end of a path."""
    if not path:
        return slot
    key: Any = int(path[0]) if isinstance(plan, list) else path[0]
    plan[key] = _put(plan[key], path[1:], slot)
    return plan


def _fill(plan: Any, values: tuple[Any, ...]) -> Any:
    if isinstance(plan, dict):
        return {key: _fill(part, values) for key, part in plan.items()}
    if isinstance(plan, Slot):
        value = values[plan.index]
        return value.decode() if plan.is_text else _listed(value) if plan.is_list else value
    return [_fill(part, values) for part in plan] if isinstance(plan, list) else plan


def _listed(values: Array) -> list[Any]:
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return list(values.tolist())
    known = values.astype(object)
    known[~np.isfinite(values)] = None
    return list(known.tolist())


def _finite(plain: Any) -> Any:
    if isinstance(plain, float):
        return plain if math.isfinite(plain) else None
    if isinstance(plain, dict):
        return {key: _finite(value) for key, value in plain.items()}
    return [_finite(value) for value in plain] if isinstance(plain, (list, tuple)) else plain
