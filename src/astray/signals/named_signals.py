"""Signals by name, as users hold them and as a parameter of a plugin.

A plugin declares the names that its signals may have, for pydantic and for editors:

    VelocitySignals = Annotated[Signals, Channels(("vx", "wz"))]

    class Mine(Autonomy, kind="mine"):
        signals: VelocitySignals = field(default_factory=Signals)  # m/s, rad/s
"""

from __future__ import annotations

import typing
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from astray.errors import SignalError, SignalWarning, unknown_attribute
from astray.signals.read import ALLOWED_KEYS, SignalFaults, read_signals
from astray.signals.signal import Signal

_INTERVAL_SCHEMA = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"enum": list(ALLOWED_KEYS)},
        **{key: {"type": "number"} for kind in ALLOWED_KEYS for key in ALLOWED_KEYS[kind]},
        **{key: {"type": "string"} for key in ("file", "time", "value", "digest")},
        "points": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
    },
    "additionalProperties": False,
}
_SIGNAL_SCHEMA = {
    "anyOf": [
        {"type": "number"},
        _INTERVAL_SCHEMA,
        {"type": "array", "items": _INTERVAL_SCHEMA},
        {
            "type": "object",
            "properties": {
                "gap": {"enum": ["hold", "zero"]},
                "intervals": {"type": "array", "items": _INTERVAL_SCHEMA},
                "num_intervals": {"type": "integer", "minimum": 0},
            },
            "patternProperties": {"^interval_[0-9]+$": _INTERVAL_SCHEMA},
            "additionalProperties": False,
        },
    ]
}
_SETTINGS_SCHEMA = {
    "max_intervals": {"type": "integer", "minimum": 0},
    "strict": {"type": "boolean"},
}


class Signals(Mapping[str, Signal]):
    """Named signals: `signals["vx"](2.5)` is a value, an unknown name a KeyError."""

    def __init__(self, signals: Mapping[str, Signal] | None = None) -> None:
        self._signals = dict(signals or {})
        self._warned: set[str] = set()

    @classmethod
    def read(
        cls,
        spec: object,
        names: Sequence[str] | None = None,
        *,
        max_intervals: int | None = None,
        strict: bool = False,
    ) -> Signals:
        """Read signals from plain data, as a scenario or a parameter file has them.

        Args:
            spec: A mapping of names to signals.
            names: The names that are allowed; None allows all.
            max_intervals: The number of intervals above which the rest of a signal is left out.
            strict: Whether what was probably not meant is a fault instead of a SignalWarning.

        Returns:
            The signals.

        Raises:
            SignalError: With every fault.
        """
        faults = SignalFaults(strict)
        if max_intervals is not None and isinstance(spec, Mapping):
            spec = {"max_intervals": max_intervals, **spec}
        found = read_signals(spec, faults, names)
        if faults.faults:
            raise SignalError(faults.faults)
        for warning in faults.warnings:
            warnings.warn(str(warning), SignalWarning, stacklevel=2)
        return cls(found)

    def __getitem__(self, name: str) -> Signal:
        return self._signals[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signals)

    def __len__(self) -> int:
        return len(self._signals)

    def __repr__(self) -> str:
        return f"Signals({self._signals})"

    def get_object_value(self, object: str, t: float) -> float:
        """The value of a signal at a time, as the document on the signal simulator asks for it.

        Args:
            object: The name of the signal.
            t: The time, s.

        Returns:
            The value; 0.0 and one SignalWarning if there is no signal of this name.
        """
        if object in self._signals:
            return self._signals[object](t)
        if object not in self._warned:  # once, since a caller may ask at every tick
            self._warned.add(object)
            known = ", ".join(self._signals) or "none"
            message = f"unknown signal {object!r} ({known}): 0.0 is given"
            warnings.warn(message, SignalWarning, stacklevel=2)
        return 0.0

    def plain(self) -> dict[str, Any]:
        """The signals as plain data, as in a scenario."""
        return {name: signal.plain() for name, signal in self._signals.items()}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name, {"written": "plain"})

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema  # late: signals work without pydantic

        serializer = core_schema.plain_serializer_function_ser_schema(cls.plain)
        return core_schema.is_instance_schema(cls, serialization=serializer)


@dataclass(frozen=True)
class Channels:
    """The names of the signals that a plugin takes; stands beside `Signals` in an annotation."""

    names: tuple[str, ...]

    def validate(self, spec: object) -> Signals:
        """Signals as they are, or read from plain data; ValueError if they are wrong."""
        if isinstance(spec, Signals):
            return spec
        try:
            return Signals.read(spec, self.names)
        except SignalError as wrong:
            raise ValueError(str(wrong)) from None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self.validate)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": _SETTINGS_SCHEMA,
            "patternProperties": {f"^({'|'.join(self.names)})$": _SIGNAL_SCHEMA},
            "additionalProperties": False,
        }


def channel_names(hint: Any) -> tuple[str, ...]:
    """The names of the signals that a parameter takes; empty if it takes no signals.

    Args:
        hint: The annotation of the parameter.

    Returns:
        The names in the `Channels` of the annotation.
    """
    if typing.get_origin(hint) is typing.Annotated:
        for metadata in typing.get_args(hint)[1:]:
            if isinstance(metadata, Channels):
                return metadata.names
    return ()
