"""Signals as a key of a plugin: which names there may be, for pydantic and for editors.

Course = Annotated[Signals, Channels(("vx", "wz"))]

class Mine(Autonomy, kind="mine"):
    signals: Course = field(default_factory=Signals)  # m/s, rad/s
"""

from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import Any

from astray.errors import SignalError
from astray.signals.read import ALLOWED
from astray.signals.signals import Signals

_INTERVAL = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"enum": list(ALLOWED)},
        **{key: {"type": "number"} for kind in ALLOWED for key in ALLOWED[kind]},
        **{key: {"type": "string"} for key in ("file", "time", "value", "digest")},
        "points": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
    },
    "additionalProperties": False,
}
_SIGNAL = {
    "anyOf": [
        {"type": "number"},
        _INTERVAL,
        {"type": "array", "items": _INTERVAL},
        {
            "type": "object",
            "properties": {
                "gap": {"enum": ["hold", "zero"]},
                "intervals": {"type": "array", "items": _INTERVAL},
                "num_intervals": {"type": "integer", "minimum": 0},
            },
            "patternProperties": {"^interval_[0-9]+$": _INTERVAL},
            "additionalProperties": False,
        },
    ]
}
_SETTINGS = {
    "max_intervals": {"type": "integer", "minimum": 0},
    "strict": {"type": "boolean"},
}


@dataclass(frozen=True)
class Channels:
    """The signals that a plugin has a use for; stands beside `Signals` in its annotation."""

    names: tuple[str, ...]

    def validate(self, written: object) -> Signals:
        """Signals as they are, or as a scenario spells them."""
        if isinstance(written, Signals):
            return written
        try:
            return Signals.read(written, self.names)
        except SignalError as wrong:
            raise ValueError(str(wrong)) from None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self.validate)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": _SETTINGS,
            "patternProperties": {f"^({'|'.join(self.names)})$": _SIGNAL},
            "additionalProperties": False,
        }


def channel_names(hint: Any) -> tuple[str, ...]:
    """The names of the signals that a parameter of this type takes; none if it takes no signals."""
    if typing.get_origin(hint) is typing.Annotated:
        for about in typing.get_args(hint)[1:]:
            if isinstance(about, Channels):
                return about.names
    return ()
