"""Typed access to the fields of a map description; every fault is collected with its path."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from astray.errors import MapError, Path, format_path, suggest
from astray.tables import Array
from astray.world.map import MAX_COORDINATE, MAX_SEGMENTS


class FieldReader:
    """Checks the values of a description and collects faults.

    A check that fails returns a valid value, so that the remaining fields are checked too.
    """

    def __init__(self) -> None:
        self.faults: list[tuple[Path, str]] = []
        """Each fault: the path inside the description, and what is wrong."""

    def fault(self, path: Path, message: str) -> None:
        """Add a fault."""
        self.faults.append((path, message))

    def raise_first(self, file: str | FilePath) -> None:
        """Raise the first fault, if there is one, as the MapError of a file."""
        for path, message in self.faults:
            raise MapError(": ".join(filter(None, (str(file), format_path(path), message))))

    def number(
        self,
        value: object,
        path: Path,
        least: float = -MAX_COORDINATE,
        most: float = MAX_COORDINATE,
        above: bool = False,
    ) -> float:
        """A number from least to most; with `above`, greater than least."""
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            self.fault(path, f"a number is needed, not {shorten(value)}")
            return 1.0
        if least <= value <= most and not (above and value == least):
            return float(value)
        low = f"above {least:g}" if above else f"from {least:g}"
        self.fault(path, f"a number {low} to {most:g} is needed, not {shorten(value)}")
        return 1.0

    def integer(self, value: object, path: Path, least: int = 0, most: int | None = None) -> int:
        """An integer from least to most."""
        right = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if right and least <= value and (most is None or value <= most):  # type: ignore[operator]
            return int(value)  # type: ignore[call-overload, no-any-return]
        upper = "on" if most is None else f"to {most}"
        self.fault(path, f"a whole number from {least} {upper} is needed, not {shorten(value)}")
        return least

    def boolean(self, value: object, path: Path) -> bool:
        """True or false."""
        if not isinstance(value, bool):
            self.fault(path, f"true or false is needed, not {shorten(value)}")
        return value is True

    def string(self, value: object, path: Path) -> str:
        """A string."""
        if not isinstance(value, str):
            self.fault(path, f"a text is needed, not {shorten(value)}")
            return ""
        return value

    def numbers(self, value: object, path: Path, names: str) -> tuple[float, ...]:
        """A list of as many numbers as there are names, such as "x y"."""
        wanted = names.split()
        if not isinstance(value, (list, tuple)) or len(value) != len(wanted):
            self.fault(path, f"[{', '.join(wanted)}] is needed, not {shorten(value)}")
            return (1.0,) * len(wanted)
        return tuple(self.number(v, (*path, k)) for k, v in enumerate(value))

    def points(self, value: object, path: Path, least: int) -> Array:
        """A list of at least `least` points [x, y], as (n, 2) m."""
        if not isinstance(value, (list, tuple, np.ndarray)) or len(value) < least:
            what = f"a list of at least {least} points [x, y]"
            self.fault(path, f"{what} is needed, not {shorten(value)}")
            return np.zeros((0, 2))
        if len(value) > MAX_SEGMENTS:
            self.fault(path, f"more than {MAX_SEGMENTS} points")
            return np.zeros((0, 2))
        points = as_points(value)
        if points is not None and np.all(np.abs(points) < MAX_COORDINATE):
            return points
        rows = [self.numbers(point, (*path, k), "x y") for k, point in enumerate(value)]
        return np.array(rows).reshape(-1, 2)

    def entries(self, value: object, path: Path) -> list[Any]:
        """A list of any values."""
        if isinstance(value, (list, tuple)) and len(value) <= MAX_SEGMENTS:
            return list(value)
        self.fault(path, f"a list is needed, not {shorten(value)}")
        return []

    def refuse_unknown(
        self, spec: Mapping[Any, object], known: Collection[str], path: Path = ()
    ) -> None:
        """Add a fault for every key that is not known."""
        for key in spec:
            if key not in known:
                hint = suggest(str(key), known)
                self.fault((*path, str(key)), f"unknown key {key!r}{hint} ({', '.join(known)})")

    def require(self, spec: Mapping[Any, object], needed: str, path: Path) -> bool:
        """Whether all the keys in `needed` exist; add a fault for every one that does not."""
        missing = [key for key in needed.split() if key not in spec]
        for key in missing:
            self.fault(path, f"needs {key!r}")
        return not missing


def as_points(value: object) -> Array | None:
    """Points [x, y, …] as an array (n, 2), converted at once; None if they are no such points."""
    try:
        array = np.array(value)
    except (ValueError, TypeError, OverflowError):  # ragged, or nested deeper than NumPy allows
        return None
    if array.ndim != 2 or array.shape[1] < 2 or array.dtype.kind not in "if":
        return None
    return array[:, :2].astype(np.float64)


def shorten(value: object) -> str:
    """The repr of a value for a message, cut where it gets long."""
    if isinstance(value, (list, tuple, dict)) and len(value) > 4:
        return f"{len(value)} entries"
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, a list in itself
        return type(value).__name__
    return text if len(text) < 40 else text[:37] + "..."
