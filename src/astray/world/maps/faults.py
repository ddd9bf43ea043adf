"""What is found while the description of a map is read: every fault, with its path inside."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from astray.errors import Path, suggest
from astray.tables import Array
from astray.world.map import FARTHEST, MOST_SEGMENTS

"""A map of more is a mistake, and would take all memory."""


class MapFaults:
    """The faults of a description. A check that fails returns a value to go on with."""

    def __init__(self) -> None:
        self.faults: list[tuple[Path, str]] = []

    def fault(self, path: Path, message: str) -> None:
        """Note what is wrong."""
        self.faults.append((path, message))

    def number(
        self,
        value: object,
        path: Path,
        least: float = -FARTHEST,
        most: float = FARTHEST,
        above: bool = False,
    ) -> float:
        """A number from least to most; `above` leaves out the least itself."""
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            self.fault(path, f"a number is needed, not {short(value)}")
            return 1.0
        if least <= value <= most and not (above and value == least):
            return float(value)
        low = f"above {least:g}" if above else f"from {least:g}"
        self.fault(path, f"a number {low} to {most:g} is needed, not {short(value)}")
        return 1.0

    def whole(self, value: object, path: Path, least: int = 0, most: int | None = None) -> int:
        """A whole number from least to most."""
        right = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if right and least <= value and (most is None or value <= most):  # type: ignore[operator]
            return int(value)  # type: ignore[call-overload, no-any-return]
        upper = "on" if most is None else f"to {most}"
        self.fault(path, f"a whole number from {least} {upper} is needed, not {short(value)}")
        return least

    def truth(self, value: object, path: Path) -> bool:
        """A yes or no."""
        if not isinstance(value, bool):
            self.fault(path, f"true or false is needed, not {short(value)}")
        return value is True

    def word(self, value: object, path: Path) -> str:
        """A text."""
        if not isinstance(value, str):
            self.fault(path, f"a text is needed, not {short(value)}")
            return ""
        return value

    def numbers(self, value: object, path: Path, names: str) -> tuple[float, ...]:
        """As many numbers as there are names, such as "x y"."""
        wanted = names.split()
        if not isinstance(value, (list, tuple)) or len(value) != len(wanted):
            self.fault(path, f"[{', '.join(wanted)}] is needed, not {short(value)}")
            return (1.0,) * len(wanted)
        return tuple(self.number(v, (*path, k)) for k, v in enumerate(value))

    def points(self, value: object, path: Path, least: int) -> Array:
        """At least so many points [x, y], (n, 2) m."""
        if not isinstance(value, (list, tuple, np.ndarray)) or len(value) < least:
            what = f"a list of at least {least} points [x, y]"
            self.fault(path, f"{what} is needed, not {short(value)}")
            return np.zeros((0, 2))
        if len(value) > MOST_SEGMENTS:
            self.fault(path, f"more than {MOST_SEGMENTS} points")
            return np.zeros((0, 2))
        made = as_points(value)
        if made is not None and np.all(np.abs(made) < FARTHEST):
            return made
        rows = [self.numbers(point, (*path, k), "x y") for k, point in enumerate(value)]
        return np.array(rows).reshape(-1, 2)

    def entries(self, value: object, path: Path) -> list[Any]:
        """A list of anything."""
        if isinstance(value, (list, tuple)) and len(value) <= MOST_SEGMENTS:
            return list(value)
        self.fault(path, f"a list is needed, not {short(value)}")
        return []

    def refuse_unknown(
        self, written: Mapping[Any, object], known: Collection[str], path: Path = ()
    ) -> None:
        """Note every key that means nothing here."""
        for key in written:
            if key not in known:
                hint = suggest(str(key), known)
                self.fault((*path, str(key)), f"no key {key!r} here{hint} ({', '.join(known)})")

    def require(self, written: Mapping[Any, object], needed: str, path: Path) -> bool:
        """Whether all these keys are there; those that are not are noted."""
        missing = [key for key in needed.split() if key not in written]
        for key in missing:
            self.fault(path, f"needs {key!r}")
        return not missing


def as_points(value: object) -> Array | None:
    """Points [x, y, …] as an array (n, 2) if that is what they are, at no cost per point."""
    try:
        made = np.array(value)
    except (ValueError, TypeError, OverflowError):  # of all lengths, or deeper than NumPy goes
        return None
    if made.ndim != 2 or made.shape[1] < 2 or made.dtype.kind not in "if":
        return None
    return made[:, :2].astype(np.float64)


def short(value: object) -> str:
    """A value as it was written, cut where it gets long."""
    if isinstance(value, (list, tuple, dict)) and len(value) > 4:
        return f"{len(value)} entries"
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, a list in itself
        return type(value).__name__
    return text if len(text) < 40 else text[:37] + "..."
