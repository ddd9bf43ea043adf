"""From what people write to signals, every fault at once.

A signal is written as a number, as one interval, as a list of intervals, or as a mapping:

    {gap: zero, intervals: [{type: linear, t_start: 0, t_end: 5, y_start: 0, y_end: 10}]}
    {num_intervals: 1, interval_0: {type: linear, t_start: 0, t_end: 5, y_start: 0, y_end: 10}}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path as File
from typing import Any, TypeAlias

import numpy as np

from astray.errors import Path, Problem, SignalError, suggest
from astray.signals.csv import file_digest, read_points
from astray.signals.faults import SignalFaults, short
from astray.signals.interval import (
    Interval,
    IntervalConfig,
    Samples,
    SimType,
    Sine,
    sim_type,
    unknown_type,
)
from astray.signals.signal import GAPS, Signal, constant, overlap_message, overlaps

INTERVAL_KEY = re.compile(r"interval_(0|[1-9][0-9]{0,8})\Z")
SETTING_KEYS = ("max_intervals", "strict")
MOST_MISSING = 10  # intervals that a fault lists; a count with a digit too many would list millions
POINTS = ("t_start", "t_end", "y_start", "y_end", "t_mid", "y_mid")
NEEDED = {
    "constant": ("t_start", "t_end", "y_start"),
    "linear": ("t_start", "t_end", "y_start", "y_end"),
    "quadratic": ("t_start", "t_end", "y_start", "y_end", "y_mid"),
    "step": ("t_start", "t_end", "y_start", "y_end"),
    "sine": ("amplitude", "frequency"),
    "samples": ("points",),
    "csv": ("file",),
}
"""The keys that an interval of each type must have."""
ALLOWED = {
    **{kind.value: POINTS for kind in SimType},
    "sine": ("amplitude", "frequency", "phase", "offset", "t_start", "t_end"),
    "samples": ("points",),
    "csv": ("file", "time", "value", "t_start", "digest"),
}
"""The keys that it may have."""
NUMBERS = {*POINTS, *ALLOWED["sine"]}

Parts: TypeAlias = list[tuple[Path, object]]
"""Intervals as they are written, each with its place."""


def read_signals(
    written: object, findings: SignalFaults, names: Sequence[str] | None = None
) -> dict[str, Signal]:
    """Signals by name; `names` are those that there may be."""
    if not isinstance(written, Mapping):
        findings.fault((), f"a mapping of names to signals is needed, not {short(written)}")
        return {}
    if isinstance(strict := written.get("strict", findings.strict), bool):
        findings.strict = strict
    else:
        findings.fault(("strict",), f"true or false, not {short(strict)}")
    limit = findings.count(written, "max_intervals")
    found = {}
    for name, value in written.items():
        if name in SETTING_KEYS:
            continue
        if names is not None and name not in names:
            known = f"{suggest(str(name), names)} ({', '.join(names)})"
            findings.fault((name,), f"no signal {name!r} here{known}", of_key=True)
            continue
        signal = read_signal(value, findings, (name,), limit)
        if signal is not None:
            found[name] = signal
    return found


def read_signal(
    written: object, findings: SignalFaults, path: Path = (), limit: int | None = None
) -> Signal | None:
    """One signal of at most `limit` intervals; None if there is something wrong with it."""
    if isinstance(written, Signal):
        return written
    if _is_number(written):
        value = findings.number(written, path)
        return None if value is None else constant(value)
    before = len(findings.faults)
    gap, parts = _parts(written, findings, path, limit)
    intervals, places = [], []
    for place, part in parts:
        interval = read_interval(part, findings, place)
        if interval is not None:
            intervals.append(interval)
            places.append(place)
    for earlier, later in overlaps(intervals):
        name = str(places[earlier][-1])
        name = f"interval {name}" if name.isdigit() else name
        message = overlap_message(intervals[later], intervals[earlier], name)
        findings.fault(places[later], message)
    return Signal(intervals, gap) if len(findings.faults) == before else None


def _parts(
    written: object, findings: SignalFaults, path: Path, limit: int | None
) -> tuple[Any, Parts]:
    """What a signal does in gaps, and its intervals."""
    if isinstance(written, (list, tuple)):
        return "hold", _listed(written, findings, path, limit)
    if not isinstance(written, Mapping):
        findings.fault(path, f"a signal is needed, not {short(written)}")
        return "hold", []
    if "type" in written:
        return "hold", [(path, written)]
    gap = written.get("gap", "hold")
    if gap not in GAPS:
        findings.fault((*path, "gap"), f"hold or zero, not {short(gap)}")
    if "intervals" not in written:
        return gap, _numbered(written, findings, path, limit)
    findings.refuse_unknown(written, ("gap", "intervals"), path)
    inside, path = written["intervals"], (*path, "intervals")
    if isinstance(inside, (list, tuple)):
        return gap, _listed(inside, findings, path, limit)
    findings.fault(path, f"a list of intervals is needed, not {short(inside)}")
    return gap, []


def _listed(
    written: Sequence[object], findings: SignalFaults, path: Path, limit: int | None
) -> Parts:
    parts: Parts = [((*path, k), part) for k, part in enumerate(written)]
    return parts[: _within(len(parts), limit, findings, path)]


def _numbered(
    written: Mapping[Any, object], findings: SignalFaults, path: Path, limit: int | None
) -> Parts:
    """The intervals that num_intervals counts: interval_0, interval_1 and so on."""
    here = [key for key in written if INTERVAL_KEY.match(str(key))]
    here.sort(key=lambda key: int(key.partition("_")[2]))
    findings.refuse_unknown(written, ("num_intervals", "gap", "interval_0", *here), path)
    count = findings.count(written, "num_intervals", path)
    wanted = here
    if count is not None:
        for key in here:
            if int(key.partition("_")[2]) >= count:
                message = f"is left out: num_intervals is {count}"
                findings.remark((*path, key), message, of_key=True)
        most = min(_within(count, limit, findings, path), len(here) + MOST_MISSING)
        wanted = [f"interval_{k}" for k in range(most)]
        if missing := ", ".join(repr(key) for key in wanted if key not in written):
            findings.fault(path, f"needs {missing}: num_intervals is {count}")
    elif "num_intervals" not in written:
        if here:
            findings.remark(path, f"no num_intervals; {len(here)} are given and taken")
        else:
            findings.fault(path, "needs 'num_intervals' or 'intervals'")
        wanted = here[: _within(len(here), limit, findings, path)]
    return [((*path, key), written[key]) for key in wanted if key in written]


def _within(count: int, limit: int | None, findings: SignalFaults, path: Path) -> int:
    """How many of some intervals are read."""
    if limit is None or count <= limit:
        return count
    message = f"has {count} intervals, and max_intervals is {limit}: the rest is left out"
    findings.remark(path, message)
    return limit


def read_interval(written: object, findings: SignalFaults, path: Path) -> Interval | None:
    """One interval; None if there is something wrong with it."""
    if isinstance(written, IntervalConfig | Sine | Samples):
        return written
    if not isinstance(written, Mapping):
        findings.fault(path, f"an interval is needed, not {short(written)}")
        return None
    before = len(findings.faults)
    if "type" not in written:
        findings.fault(path, f"needs 'type' ({', '.join(NEEDED)})")
        return None
    word = str(written["type"]).lower()
    unknown = "" if word in NEEDED else unknown_type(str(written["type"]), NEEDED)
    if unknown:
        word = "constant"
    if missing := ", ".join(repr(key) for key in NEEDED[word] if key not in written):
        findings.fault(path, f"needs {missing}")
    findings.refuse_unknown(written, ("type", *ALLOWED[word]), path)
    values = {key: written[key] for key in ALLOWED[word] if key in written}
    for key in values.keys() & NUMBERS:
        values[key] = findings.number(values[key], (*path, key))
    if unknown:  # where it does not even make a constant, the type is what is wrong
        say = findings.fault if len(findings.faults) > before else findings.remark
        say((*path, "type"), unknown)
    if len(findings.faults) > before:
        return None
    try:
        return _interval(word, values)
    except SignalError as wrong:
        findings.faults += [problem.under(*path) for problem in wrong.problems]
    except ValueError as wrong:  # of a file, which says itself where
        findings.fault((*path, "file"), str(wrong))
    return None


def _interval(word: str, values: dict[str, Any]) -> Interval:
    if kind := sim_type(word):
        return IntervalConfig(kind, **values)
    if word == "sine":
        return Sine(**values)
    if word == "samples":
        return _samples(values["points"])
    return _from_file(**values)


def _samples(points: object) -> Samples:
    """Points as they are written; only numbers are numbers."""
    if isinstance(points, np.ndarray):
        return Samples(points)
    problems = []
    rows = list(points) if isinstance(points, (list, tuple)) else []
    for k, row in enumerate(rows):
        pair = isinstance(row, (list, tuple)) and len(row) == 2
        if not pair or not all(_is_number(cell) for cell in row):
            problems.append(Problem(("points", k), f"[t, y] is needed, not {short(row)}"))
    if not rows or problems:
        raise SignalError(problems or [Problem(("points",), "a list of [t, y] is needed")])
    return Samples(rows)  # type: ignore[arg-type]  # it makes an array of them


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _from_file(
    file: object,
    time: str | None = None,
    value: str | None = None,
    t_start: float | None = None,
    digest: str | None = None,
) -> Samples:
    """The samples of a file; with a digest it must still be the file that it was."""
    for name, word in (("file", file), ("time", time), ("value", value), ("digest", digest)):
        if not isinstance(word, str) and (word is not None or name == "file"):
            raise SignalError([Problem((name,), f"a text is needed, not {short(word)}")])
    path = File(str(file)).resolve()
    now = file_digest(path)
    if digest is not None and now != digest:
        raise ValueError(f"{path}: has changed: its digest is {now}, not {digest}")
    points = read_points(path, time, value)
    if t_start is not None:
        points[:, 0] += t_start - points[0, 0]
    source: dict[str, Any] = {"type": "csv", "file": str(path), "time": time, "value": value}
    source |= {"t_start": t_start, "digest": now}
    return Samples(points, {key: word for key, word in source.items() if word is not None})
