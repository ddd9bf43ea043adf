"""A signal: a value over time, made of intervals, and its table of segments for kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, overload

import numpy as np
import numpy.typing as npt

from astray.errors import Problem, SignalError, unknown_attribute
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

    Inside an interval the signal has the interval's value; where two touch, the later one counts.
    In a gap it holds the end value of the interval before, or is zero. After the last interval it
    holds its end value, before the first it is 0. The end value of a constant is y_start, unless it
    has a y_end of its own.

    Raises:
        SignalError: Intervals overlap, or `gap` is unknown.
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
        return isinstance(other, Signal) and self.plain() == other.plain()

    __hash__ = None  # type: ignore[assignment]

    @property
    def t_end(self) -> float:
        """The end of the last interval, s; 0 without intervals, infinite for an endless sine."""
        return self.intervals[-1].t_end if self.intervals else 0.0

    @overload
    def __call__(self, t: float) -> float: ...
    @overload
    def __call__(self, t: Array) -> Array: ...
    def __call__(self, t: float | Array) -> float | Array:
        """The value at a time t, or at each time of an array, s."""
        if isinstance(t, np.ndarray):
            return _evaluate(evaluate.value_all, self.compiled, t)
        return float(evaluate.value(self.compiled, float(t)))

    @overload
    def integral(self, t: float) -> float: ...
    @overload
    def integral(self, t: Array) -> Array: ...
    def integral(self, t: float | Array) -> float | Array:
        """The integral from time 0 to a time t, or to each time of an array, s."""
        if isinstance(t, np.ndarray):
            return _evaluate(evaluate.integral_all, self._accumulated, t)
        return float(evaluate.integral(self._accumulated, float(t)))

    @cached_property
    def compiled(self) -> Table:
        """The segments for the kernels in `evaluate`, (segments,)."""
        parts = []
        for k, interval in enumerate(self.intervals):
            parts.append(segments(interval))
            next_start = self.intervals[k + 1].t_start if k + 1 < len(self.intervals) else np.inf
            if interval.t_end >= next_start:
                continue
            is_zero = self.gap == "zero" and next_start < np.inf
            if is_zero or (isinstance(interval, IntervalConfig) and interval.jumps_at_end):
                after = table(SEGMENT, 1)  # starts after the end, which belongs to the interval
                after["t_start"] = np.nextafter(interval.t_end, np.inf)
                after["t_end"] = next_start
                after["y_start"] = 0.0 if is_zero else interval.y_end  # type: ignore[union-attr]
                parts.append(after)
        return _concatenated(parts)

    @cached_property
    def _accumulated(self) -> Table:
        segments = self.compiled.copy()
        evaluate.accumulate(segments, 0, len(segments))
        return segments

    def plain(self) -> Any:
        """The signal as plain data, as in a scenario."""
        intervals = [interval.plain() for interval in self.intervals]
        return intervals if self.gap == "hold" else {"gap": self.gap, "intervals": intervals}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise unknown_attribute(self, name, {"written": "plain"})


def constant(value: float) -> Signal:
    """A signal of one value from time 0 on."""
    return Signal([IntervalConfig(SimType.CONSTANT, 0.0, 0.0, value)])


def compute_value(t: float, interval: IntervalConfig | Sine) -> float:
    """The value of an interval's formula at a time.

    Args:
        t: The time, s; it may lie outside of the interval.
        interval: The interval.

    Returns:
        The value.
    """
    parts = segments(interval)
    part = parts[-1 if len(parts) > 1 and t >= parts["t_start"][-1] else 0]
    return float(evaluate.segment_value(part, float(t)))


def in_time(intervals: Sequence[Interval]) -> list[int]:
    """The indices of intervals by start; of those that start together, the shortest first."""
    return sorted(range(len(intervals)), key=lambda k: (intervals[k].t_start, intervals[k].t_end))


def overlaps(intervals: Sequence[Interval]) -> Iterator[tuple[int, int]]:
    """Pairs of indices (earlier, later) of intervals that overlap; touching is no overlap."""
    order = in_time(intervals)
    last = order[0] if order else 0  # the interval so far that ends last
    for later in order[1:]:
        if intervals[later].t_start < intervals[last].t_end:
            yield last, later
        if intervals[later].t_end > intervals[last].t_end:
            last = later


def overlap_message(later: Interval, earlier: Interval, name: str) -> str:
    """The message for an interval that starts before an earlier one, of this name, has ended."""
    end = f"ends at {earlier.t_end:g} s" if np.isfinite(earlier.t_end) else "ends, which is never"
    return f"begins at {later.t_start:g} s, before {name} {end}"


def segments(interval: Interval) -> Table:
    """The segments of an interval, for the kernels in `evaluate`."""
    if isinstance(interval, Samples):
        return _sample_segments(interval.points)
    if isinstance(interval, Sine):
        sine = table(SEGMENT, 1)
        sine["form"], sine["y_start"] = SINE, interval.offset
        sine["phase"] = interval.phase / TAU
        for name in ("t_start", "t_end", "amplitude", "frequency"):
            sine[name] = getattr(interval, name)
        return sine
    if interval.type is SimType.STEP:
        halves = table(SEGMENT, 2)
        halves["t_start"] = interval.t_start, interval.t_mid
        halves["t_end"] = interval.t_mid, interval.t_end
        halves["y_start"] = interval.y_start, interval.y_end
        return halves
    segment = table(SEGMENT, 1)
    segment["form"] = FORMS[interval.type]
    for name in ("t_start", "t_mid", "t_end", "y_start", "y_mid", "y_end"):
        segment[name] = getattr(interval, name)
    return segment


def _sample_segments(points: Array) -> Table:
    """The lines between points; a constant if there is no line to the last point."""
    t, y = points.T
    lines = np.flatnonzero(np.diff(t) > 0.0)
    ends_in_step = len(points) == 1 or t[-1] == t[-2]
    found = table(SEGMENT, len(lines) + ends_in_step)
    part, last = found[: len(lines)], found[len(lines) :]
    part["form"] = LINEAR
    part["t_start"], part["y_start"] = t[lines], y[lines]
    part["t_end"], part["y_end"] = t[lines + 1], y[lines + 1]
    last["t_start"], last["t_end"], last["y_start"] = t[-1], t[-1], y[-1]
    return found


def _evaluate(kernel: Any, compiled: Table, times: Array) -> Array:
    """Call a kernel for an array of times of any shape."""
    flat = np.ascontiguousarray(times, float).ravel()
    out: npt.NDArray[np.float64] = np.empty(len(flat))
    kernel(out, compiled, flat)
    return out.reshape(times.shape)


class Bank(NamedTuple):
    """Several signals in one table: signal k has the segments first[k] to first[k + 1] − 1."""

    table: Table
    first: Array


def bank(signals: Sequence[Signal]) -> Bank:
    """The segments of several signals in one table.

    Args:
        signals: The signals.

    Returns:
        The table, (segments,), and the index of each signal's first segment, (signals + 1,).
    """
    tables = [signal.compiled for signal in signals]
    first = np.cumsum([0, *map(len, tables)])
    return Bank(_concatenated(tables), first.astype(np.int64))


def _concatenated(tables: Sequence[Table]) -> Table:
    """Tables one after the other; np.concatenate may return another dtype than records."""
    joined = table(SEGMENT, sum(map(len, tables)))
    first = 0
    for part in tables:
        joined[first : first + len(part)] = part
        first += len(part)
    return joined
