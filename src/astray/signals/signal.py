"""A value over time: intervals, what holds between them, and the table that kernels read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from astray.errors import Problem, SignalError
from astray.numerics import TAU
from astray.signals import evaluate
from astray.signals.evaluate import CONSTANT, LINEAR, QUADRATIC, SEGMENT, SINE
from astray.signals.interval import Interval, IntervalConfig, Samples, SimType, Sine
from astray.tables import Array, Table, table

Gap = Literal["hold", "zero"]
GAPS: tuple[Gap, ...] = ("hold", "zero")
FORMS = {SimType.CONSTANT: CONSTANT, SimType.LINEAR: LINEAR, SimType.QUADRATIC: QUADRATIC}


class Signal:
    """A value over time, made of intervals.

    Inside an interval it has the interval's value; where two touch, the later one counts. In a gap
    it holds the value that the interval before had at its end, or is zero. After the last interval
    it holds, before the first it is 0.
    """

    def __init__(self, intervals: Iterable[Interval] = (), gap: Gap = "hold") -> None:
        given = tuple(intervals)
        problems = [
            Problem((later,), overlap_message(given[later], given[earlier], f"interval_{earlier}"))
            for earlier, later in overlaps(given)
        ]
        if gap not in GAPS:
            problems.append(Problem(("gap",), f"hold or zero, not {gap!r}"))
        if problems:
            raise SignalError(problems)
        self.intervals = tuple(given[k] for k in in_time(given))
        self.gap = gap

    def __repr__(self) -> str:
        return f"Signal({list(self.intervals)}, gap={self.gap!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Signal) and self.written() == other.written()

    __hash__ = None  # type: ignore[assignment]

    @property
    def t_end(self) -> float:
        """When the last interval ends, s; 0 without any, infinite for an endless sine."""
        return self.intervals[-1].t_end if self.intervals else 0.0

    @overload
    def __call__(self, t: float) -> float: ...
    @overload
    def __call__(self, t: Array) -> Array: ...
    def __call__(self, t: float | Array) -> float | Array:
        """The value at one time, or at each of an array of times, s."""
        if isinstance(t, np.ndarray):
            return _each(evaluate.value_all, self.compiled, t)
        return float(evaluate.value(self.compiled, float(t)))

    @overload
    def integral(self, t: float) -> float: ...
    @overload
    def integral(self, t: Array) -> Array: ...
    def integral(self, t: float | Array) -> float | Array:
        """The integral from time 0 to one time, or to each of an array of times, s."""
        if isinstance(t, np.ndarray):
            return _each(evaluate.integral_all, self._accumulated, t)
        return float(evaluate.integral(self._accumulated, float(t)))

    @cached_property
    def compiled(self) -> Table:
        """The segments for `evaluate.value`, (segments,); compiling nothing yet."""
        parts = []
        for k, interval in enumerate(self.intervals):
            parts.append(segments(interval))
            following = self.intervals[k + 1].t_start if k + 1 < len(self.intervals) else None
            if self.gap == "zero" and following is not None and interval.t_end < following:
                nothing = table(SEGMENT, 1)  # an interval includes its end: zero begins after it
                nothing["t_start"] = np.nextafter(interval.t_end, np.inf)
                nothing["t_end"] = following
                parts.append(nothing)
        return _joined(parts)

    @cached_property
    def _accumulated(self) -> Table:
        segments = self.compiled.copy()
        evaluate.accumulate(segments, 0, len(segments))
        return segments

    def written(self) -> Any:
        """This signal as a scenario spells it."""
        made = [interval.written() for interval in self.intervals]
        return made if self.gap == "hold" else {"gap": self.gap, "intervals": made}


def constant(value: float) -> Signal:
    """A signal that has this value from time 0 on."""
    return Signal([IntervalConfig(SimType.CONSTANT, 0.0, 0.0, value)])


def compute_value(t: float, interval: IntervalConfig | Sine) -> float:
    """The value of one interval at t by its formula, also where t is outside of it."""
    parts = segments(interval)
    part = parts[-1 if len(parts) > 1 and t >= parts["t_start"][-1] else 0]
    return float(evaluate.segment_value(part, float(t)))


def in_time(intervals: Sequence[Interval]) -> list[int]:
    """The order of intervals in time; of those that begin together, the shortest comes first."""
    return sorted(range(len(intervals)), key=lambda k: (intervals[k].t_start, intervals[k].t_end))


def overlaps(intervals: Sequence[Interval]) -> Iterator[tuple[int, int]]:
    """Which intervals begin before an earlier one has ended; touching is no overlap."""
    order = in_time(intervals)
    last = order[0] if order else 0  # of those so far, the one that ends last
    for later in order[1:]:
        if intervals[later].t_start < intervals[last].t_end:
            yield last, later
        if intervals[later].t_end > intervals[last].t_end:
            last = later


def overlap_message(later: Interval, earlier: Interval, name: str) -> str:
    """What to say of an interval that begins before an earlier one, of this name, has ended."""
    end = f"ends at {earlier.t_end:g} s" if np.isfinite(earlier.t_end) else "ends, which is never"
    return f"begins at {later.t_start:g} s, before {name} {end}"


def segments(interval: Interval) -> Table:
    """One interval for kernels."""
    if isinstance(interval, Samples):
        return _between(interval.points)
    if isinstance(interval, Sine):
        made = table(SEGMENT, 1)
        made["form"], made["y_start"] = SINE, interval.offset
        made["phase"] = interval.phase / TAU
        for name in ("t_start", "t_end", "amplitude", "frequency"):
            made[name] = getattr(interval, name)
        return made
    if interval.type is SimType.STEP:
        made = table(SEGMENT, 2)
        made["t_start"] = interval.t_start, interval.t_mid
        made["t_end"] = interval.t_mid, interval.t_end
        made["y_start"] = interval.y_start, interval.y_end
        return made
    made = table(SEGMENT, 1)
    made["form"] = FORMS[interval.type]
    for name in ("t_start", "t_mid", "t_end", "y_start", "y_mid", "y_end"):
        made[name] = getattr(interval, name)
    return made


def _between(points: Array) -> Table:
    """The lines between points; a last point that stands alone is a constant."""
    t, y = points.T
    lines = np.flatnonzero(np.diff(t) > 0.0)
    alone = len(points) == 1 or t[-1] == t[-2]
    made = table(SEGMENT, len(lines) + alone)
    part = made[: len(lines)]
    part["form"] = LINEAR
    part["t_start"], part["y_start"] = t[lines], y[lines]
    part["t_end"], part["y_end"] = t[lines + 1], y[lines + 1]
    made["t_start"][len(lines) :], made["t_end"][len(lines) :] = t[-1], t[-1]
    made["y_start"][len(lines) :] = y[-1]
    return made


def _each(kernel: Any, compiled: Table, times: Array) -> Array:
    flat = np.ascontiguousarray(times, float).ravel()
    out: npt.NDArray[np.float64] = np.empty(len(flat))
    kernel(out, compiled, flat)
    return out.reshape(times.shape)


class Bank(NamedTuple):
    """Several signals in one table: number k is the segments first[k] to first[k + 1] − 1."""

    table: Table
    first: Array


def bank(signals: Sequence[Signal]) -> Bank:
    """Put signals into one table."""
    tables = [signal.compiled for signal in signals]
    first = np.cumsum([0, *map(len, tables)])
    return Bank(_joined(tables), first.astype(np.int64))


def _joined(tables: Sequence[Table]) -> Table:
    """Tables one after the other; NumPy's concatenate may forget that rows are records."""
    made = table(SEGMENT, sum(map(len, tables)))
    first = 0
    for part in tables:
        made[first : first + len(part)] = part
        first += len(part)
    return made
