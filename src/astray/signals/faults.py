"""What is found while signals are read: faults, remarks, and the checks that both come from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from astray.errors import Path, Problem, suggest


class SignalFaults:
    """What is wrong with signals, and what is worth a remark."""

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self.faults: list[Problem] = []
        self.remarks: list[Problem] = []

    def fault(self, path: Path, message: str, of_key: bool = False) -> None:
        """Note what is wrong."""
        self.faults.append(Problem(path, message, of_key))

    def remark(self, path: Path, message: str, of_key: bool = False) -> None:
        """Note what may not have been meant; to the strict, that is wrong."""
        found = self.faults if self.strict else self.remarks
        found.append(Problem(path, message, of_key))

    def number(self, value: object, path: Path) -> float | None:
        """A finite number; None if it is not one."""
        if isinstance(value, bool) or not isinstance(value, Real):
            self.fault(path, f"a number is needed, not {short(value)}")
            return None
        try:
            number = float(value)
        except OverflowError:  # an integer of hundreds of digits
            number = math.inf
        if math.isfinite(number):
            return number
        self.fault(path, f"a finite number is needed, not {short(value)}")
        return None

    def count(self, written: Mapping[Any, object], key: str, path: Path = ()) -> int | None:
        """A whole number from 0 on; None if it is not there, or wrong."""
        if key not in written:
            return None
        value = written[key]
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        self.fault((*path, key), f"a whole number from 0 on is needed, not {short(value)}")
        return None

    def refuse_unknown(
        self, written: Mapping[Any, object], known: Sequence[str], path: Path
    ) -> None:
        """Note every key that means nothing here."""
        for key in written:
            if key not in known:
                listed = f"{suggest(str(key), known)} ({', '.join(known)})"
                self.fault((*path, key), f"no key {key!r} here{listed}", of_key=True)


def short(value: object) -> str:
    """A value as it was written, cut where it gets long."""
    text = repr(value)
    return text if len(text) < 40 else text[:37] + "..."
