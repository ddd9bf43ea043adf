"""Signals by name, and the interface that the document on the signal simulator describes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from astray.errors import SignalError, SignalWarning
from astray.signals.faults import SignalFaults
from astray.signals.read import read_signals
from astray.signals.signal import Signal


class Signals(Mapping[str, Signal]):
    """Named signals: `signals["vx"](2.5)` is a value, an unknown name a KeyError."""

    def __init__(self, signals: Mapping[str, Signal] | None = None) -> None:
        self._signals = dict(signals or {})
        self._missed: set[str] = set()

    @classmethod
    def read(
        cls,
        written: object,
        names: Sequence[str] | None = None,
        *,
        max_intervals: int | None = None,
        strict: bool = False,
    ) -> Signals:
        """Read signals as a scenario or a parameter file spells them; SignalError has all faults.

        `names` are those that there may be. What may not have been meant is a warning, with
        `strict` a fault.
        """
        findings = SignalFaults(strict)
        if max_intervals is not None and isinstance(written, Mapping):
            written = {"max_intervals": max_intervals, **written}
        found = read_signals(written, findings, names)
        if findings.faults:
            raise SignalError(findings.faults)
        for remark in findings.remarks:
            warnings.warn(str(remark), SignalWarning, stacklevel=2)
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
        """The value of a signal at t; 0.0 for one that does not exist, with a warning."""
        if object in self._signals:
            return self._signals[object](t)
        if object not in self._missed:  # once: this may be asked for at every tick
            self._missed.add(object)
            known = ", ".join(self._signals) or "none"
            message = f"no signal {object!r} ({known}): 0.0 is given"
            warnings.warn(message, SignalWarning, stacklevel=2)
        return 0.0

    def written(self) -> dict[str, Any]:
        """These signals as a scenario spells them."""
        return {name: signal.written() for name, signal in self._signals.items()}

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema  # late: signals do without pydantic

        spelt = core_schema.plain_serializer_function_ser_schema(cls.written)
        return core_schema.is_instance_schema(cls, serialization=spelt)
