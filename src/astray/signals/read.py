"""Signals from plain data, as scenarios and ROS 2 parameter files have them; every fault at once.

A signal is a number, one interval, a list of intervals, or a mapping in one of two forms:

    {gap: zero, intervals: [{type: linear, t_start: 0, t_end: 5, y_start: 0, y_end: 10}]}
    {num_intervals: 1, interval_0: {type: linear, t_start: 0, t_end: 5, y_start: 0, y_end: 10}}

The second form may be flat, wholly or in part, as the parameters of a ROS 2 node are:

    {a.num_intervals: 1, a.interval_0.type: linear, a.interval_0.t_start: 0, …}
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path as File
from typing import Any, TypeAlias

import numpy as np

from astray.errors import Path, Problem, SignalError, suggest
from astray.signals.csv import file_digest, read_points
from astray.signals.interval import (
    Interval,
    IntervalConfig,
    Samples,
    SimType,
    Sine,
    sim_type,
    unknown_type_message,
)
from astray.signals.signal import GAPS, Signal, constant, overlap_message, overlaps

INTERVAL_KEY = re.compile(r"interval_(0|[1-9][0-9]{0,8})\Z")
FLAT_KEY = re.compile(r"(.+)\.(num_intervals|gap|interval_[0-9]+(?:\..+)?)\Z")
"""A dotted parameter of a signal, whose name may have dots, too."""
FLAT_LEVELS = 3  # of the name of a parameter: signal, interval, field
SETTING_KEYS = ("max_intervals", "strict")
NODE_KEYS = ("use_sim_time", "start_type_description_service")
"""Parameters that every ROS 2 node has; they are no signals."""
MAX_MISSING = 10  # intervals that a fault lists; a count with a digit too many would list millions
POINT_KEYS = ("t_start", "t_end", "y_start", "y_end", "t_mid", "y_mid")
REQUIRED_KEYS = {
    "constant": ("t_start", "t_end", "y_start"),
    "linear": ("t_start", "t_end", "y_start", "y_end"),
    "quadratic": ("t_start", "t_end", "y_start", "y_end", "y_mid"),
    "step": ("t_start", "t_end", "y_start", "y_end"),
    "sine": ("amplitude", "frequency"),
    "samples": ("points",),
    "csv": ("file",),
}
"""The keys that an interval of each type must have."""
ALLOWED_KEYS = {
    **{kind.value: POINT_KEYS for kind in SimType},
    "sine": ("amplitude", "frequency", "phase", "offset", "t_start", "t_end"),
    "samples": ("points",),
    "csv": ("file", "time", "value", "t_start", "digest"),
}
"""The keys that an interval of each type may have."""
NUMBER_KEYS = {*POINT_KEYS, *ALLOWED_KEYS["sine"]}

Parts: TypeAlias = list[tuple[Path, object]]
"""The descriptions of intervals, each with its path."""


class SignalFaults:
    """The faults and warnings of signal descriptions, each with its path.

    Attributes:
        faults: What is wrong.
        warnings: What was probably not meant.
    """

    def __init__(self, strict: bool = False) -> None:
        """Make an empty collection; with `strict`, warnings are faults."""
        self.strict = strict
        self.faults: list[Problem] = []
        self.warnings: list[Problem] = []

    def fault(self, path: Path, message: str, of_key: bool = False) -> None:
        """Add a fault; `of_key` if the last key of the path is wrong, not its value."""
        self.faults.append(Problem(path, message, of_key))

    def warn(self, path: Path, message: str, of_key: bool = False) -> None:
        """Add a warning; `of_key` if the last key of the path is wrong, not its value."""
        found = self.faults if self.strict else self.warnings
        found.append(Problem(path, message, of_key))

    def number(self, value: object, path: Path) -> float | None:
        """A finite number; None and a fault if it is not one."""
        if not _is_number(value):
            self.fault(path, f"a number is needed, not {shorten(value)}")
            return None
        try:
            number = float(value)  # type: ignore[arg-type]
        except OverflowError:  # an integer of hundreds of digits
            number = math.inf
        if math.isfinite(number):
            return number
        self.fault(path, f"a finite number is needed, not {shorten(value)}")
        return None

    def count(self, spec: Mapping[Any, object], key: str, path: Path = ()) -> int | None:
        """An integer from 0 on; None if the key is missing, None and a fault if it is wrong."""
        if key not in spec:
            return None
        value = spec[key]
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        self.fault((*path, key), f"a whole number from 0 on is needed, not {shorten(value)}")
        return None

    def refuse_unknown(self, spec: Mapping[Any, object], known: Sequence[str], path: Path) -> None:
        """Add a fault for every key that is not known."""
        for key in spec:
            if key not in known:
                listed = f"{suggest(str(key), known)} ({', '.join(known)})"
                self.fault((*path, key), f"unknown key {key!r}{listed}", of_key=True)


def shorten(value: object) -> str:
    """The repr of a value for a message, cut where it gets long."""
    text = repr(value)
    return text if len(text) < 40 else text[:37] + "..."


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def read_signals(
    spec: object, faults: SignalFaults, names: Sequence[str] | None = None
) -> dict[str, Signal]:
    """Read signals by name.

    Args:
        spec: A mapping of names to signals, and the settings max_intervals and strict.
        faults: Faults and warnings are added to it.
        names: The names that are allowed; None allows all.

    Returns:
        The signals that have no fault.
    """
    if not isinstance(spec, Mapping):
        faults.fault((), f"a mapping of names to signals is needed, not {shorten(spec)}")
        return {}
    if isinstance(strict := spec.get("strict", faults.strict), bool):
        faults.strict = strict
    else:
        faults.fault(("strict",), f"true or false, not {shorten(strict)}")
    limit = faults.count(spec, "max_intervals")
    spec = _nest(spec, faults)
    found = {}
    for name, value in spec.items():
        if name in SETTING_KEYS:
            continue
        if names is not None and name not in names:
            known = f"{suggest(str(name), names)} ({', '.join(names)})"
            faults.fault((name,), f"unknown signal {name!r}{known}", of_key=True)
            continue
        signal = read_signal(value, faults, (name,), limit)
        if signal is not None:
            found[name] = signal
    return found


def _nest(spec: Mapping[Any, object], faults: SignalFaults) -> Mapping[Any, object]:
    """The same signals without dotted parameters; the node's own parameters are left out."""
    flat = {key: FLAT_KEY.match(key) for key in spec if isinstance(key, str)}
    inner = [key for value in spec.values() if isinstance(value, Mapping) for key in value]
    if not any(flat.values()) and not any("." in str(key) for key in inner):
        return spec
    nested: dict[Any, object] = {}
    for key, value in spec.items():
        if match := flat.get(key):
            _put(nested, (match[1], *match[2].split(".", 1)), value, faults)
        elif key not in NODE_KEYS and not str(key).startswith("qos_overrides."):
            _put(nested, (key,), value, faults)
    return nested


def _put(nested: dict[Any, object], path: Path, value: object, faults: SignalFaults) -> None:
    """Put a parameter at (signal, interval, field); two mappings merge, nothing else repeats."""
    place = nested
    for depth, key in enumerate(path[:-1], 1):
        inner = place.setdefault(key, {})
        if not isinstance(inner, dict):
            faults.fault(path[:depth], "is given as a whole and in parts")
            return
        place = inner
    is_mapping = isinstance(value, Mapping) and len(path) < FLAT_LEVELS
    existing = place.setdefault(path[-1], {} if is_mapping else value)
    if is_mapping and isinstance(existing, dict):
        for key, part in value.items():  # type: ignore[attr-defined]
            levels = key.split(".", FLAT_LEVELS - 1 - len(path)) if isinstance(key, str) else [key]
            _put(nested, (*path, *levels), part, faults)
    elif existing is not value:
        faults.fault(path, "is given twice")


def read_signal(
    spec: object, faults: SignalFaults, path: Path = (), limit: int | None = None
) -> Signal | None:
    """One signal of at most `limit` intervals; None and faults if something is wrong."""
    if isinstance(spec, Signal):
        return spec
    if _is_number(spec):
        value = faults.number(spec, path)
        return None if value is None else constant(value)
    before = len(faults.faults)
    gap, parts = _parts(spec, faults, path, limit)
    intervals, paths = [], []
    for part_path, part in parts:
        interval = read_interval(part, faults, part_path)
        if interval is not None:
            intervals.append(interval)
            paths.append(part_path)
    for earlier, later in overlaps(intervals):
        name = str(paths[earlier][-1])
        name = f"interval {name}" if name.isdigit() else name
        message = overlap_message(intervals[later], intervals[earlier], name)
        faults.fault(paths[later], message)
    return Signal(intervals, gap) if len(faults.faults) == before else None


def _parts(spec: object, faults: SignalFaults, path: Path, limit: int | None) -> tuple[Any, Parts]:
    """The value in gaps, and the descriptions of the intervals."""
    if isinstance(spec, (list, tuple)):
        return "hold", _listed(spec, faults, path, limit)
    if not isinstance(spec, Mapping):
        faults.fault(path, f"a signal is needed, not {shorten(spec)}")
        return "hold", []
    if "type" in spec:
        return "hold", [(path, spec)]
    gap = spec.get("gap", "hold")
    if gap not in GAPS:
        faults.fault((*path, "gap"), f"hold or zero, not {shorten(gap)}")
    if "intervals" not in spec:
        return gap, _numbered(spec, faults, path, limit)
    faults.refuse_unknown(spec, ("gap", "intervals"), path)
    listed, path = spec["intervals"], (*path, "intervals")
    if isinstance(listed, (list, tuple)):
        return gap, _listed(listed, faults, path, limit)
    faults.fault(path, f"a list of intervals is needed, not {shorten(listed)}")
    return gap, []


def _listed(spec: Sequence[object], faults: SignalFaults, path: Path, limit: int | None) -> Parts:
    """The intervals of a list."""
    parts: Parts = [((*path, k), part) for k, part in enumerate(spec)]
    return parts[: _limited(len(parts), limit, faults, path)]


def _numbered(
    spec: Mapping[Any, object], faults: SignalFaults, path: Path, limit: int | None
) -> Parts:
    """The intervals interval_0, interval_1, …; num_intervals is their number."""
    given = [key for key in spec if INTERVAL_KEY.match(str(key))]
    given.sort(key=_interval_index)
    faults.refuse_unknown(spec, ("num_intervals", "gap", "interval_0", *given), path)
    count = faults.count(spec, "num_intervals", path)
    wanted = given
    if count is not None:
        for key in given:
            if _interval_index(key) >= count:
                message = f"is left out: num_intervals is {count}"
                faults.warn((*path, key), message, of_key=True)
        most = min(_limited(count, limit, faults, path), len(given) + MAX_MISSING)
        wanted = [f"interval_{k}" for k in range(most)]
        if missing := ", ".join(repr(key) for key in wanted if key not in spec):
            faults.fault(path, f"needs {missing}: num_intervals is {count}")
    elif "num_intervals" not in spec:
        if given:
            faults.warn(path, f"no num_intervals; {len(given)} are given and taken")
        else:
            faults.fault(path, "needs 'num_intervals' or 'intervals'")
        wanted = given[: _limited(len(given), limit, faults, path)]
    return [((*path, key), spec[key]) for key in wanted if key in spec]


def _interval_index(key: str) -> int:
    return int(key.partition("_")[2])


def _limited(count: int, limit: int | None, faults: SignalFaults, path: Path) -> int:
    """The number of intervals that are read; a warning if that is less than all."""
    if limit is None or count <= limit:
        return count
    message = f"has {count} intervals, and max_intervals is {limit}: the rest is left out"
    faults.warn(path, message)
    return limit


def read_interval(spec: object, faults: SignalFaults, path: Path) -> Interval | None:
    """One interval; None and faults if something is wrong."""
    if isinstance(spec, IntervalConfig | Sine | Samples):
        return spec
    if not isinstance(spec, Mapping):
        faults.fault(path, f"an interval is needed, not {shorten(spec)}")
        return None
    before = len(faults.faults)
    if "type" not in spec:
        faults.fault(path, f"needs 'type' ({', '.join(REQUIRED_KEYS)})")
        return None
    kind, unknown = str(spec["type"]).lower(), ""
    if kind not in REQUIRED_KEYS:
        kind, unknown = "constant", unknown_type_message(str(spec["type"]), REQUIRED_KEYS)
    if missing := ", ".join(repr(key) for key in REQUIRED_KEYS[kind] if key not in spec):
        faults.fault(path, f"needs {missing}")
    faults.refuse_unknown(spec, ("type", *ALLOWED_KEYS[kind]), path)
    values = {key: spec[key] for key in ALLOWED_KEYS[kind] if key in spec}
    for key in values.keys() & NUMBER_KEYS:
        values[key] = faults.number(values[key], (*path, key))
    if unknown:  # if the keys do not even make a constant, the type is wrong
        report = faults.fault if len(faults.faults) > before else faults.warn
        report((*path, "type"), unknown)
    if len(faults.faults) > before:
        return None
    try:
        return _make_interval(kind, values)
    except SignalError as wrong:
        faults.faults += [problem.under(*path) for problem in wrong.problems]
    except ValueError as wrong:  # its text begins with the file
        faults.fault((*path, "file"), str(wrong))
    return None


def _make_interval(kind: str, values: dict[str, Any]) -> Interval:
    if found := sim_type(kind):
        return IntervalConfig(found, **values)
    if kind == "sine":
        return Sine(**values)
    if kind == "samples":
        return _samples(values["points"])
    return _samples_from_file(**values)


def _samples(points: object) -> Samples:
    """Samples from points; texts and booleans are not converted to numbers."""
    if isinstance(points, np.ndarray):
        return Samples(points)
    problems = []
    rows = list(points) if isinstance(points, (list, tuple)) else []
    for k, row in enumerate(rows):
        pair = isinstance(row, (list, tuple)) and len(row) == 2
        if not pair or not all(_is_number(cell) for cell in row):
            problems.append(Problem(("points", k), f"[t, y] is needed, not {shorten(row)}"))
    if not rows or problems:
        raise SignalError(problems or [Problem(("points",), "a list of [t, y] is needed")])
    return Samples(rows)  # type: ignore[arg-type]  # it makes an array of them


def _samples_from_file(
    file: object,
    time: str | None = None,
    value: str | None = None,
    t_start: float | None = None,
    digest: str | None = None,
) -> Samples:
    """Samples from a text file; with a digest, its content must not have changed."""
    for key, text in (("file", file), ("time", time), ("value", value), ("digest", digest)):
        if not isinstance(text, str) and (text is not None or key == "file"):
            raise SignalError([Problem((key,), f"a text is needed, not {shorten(text)}")])
    path = File(str(file)).resolve()
    now = file_digest(path)
    if digest is not None and now != digest:
        raise ValueError(f"{path}: has changed: its digest is {now}, not {digest}")
    points = read_points(path, time, value)
    if t_start is not None:
        points[:, 0] += t_start - points[0, 0]
    source: dict[str, Any] = {"type": "csv", "file": str(path), "time": time, "value": value}
    source |= {"t_start": t_start, "digest": now}
    return Samples(points, {key: value for key, value in source.items() if value is not None})
