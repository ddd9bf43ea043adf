"""Signals inside kernels: a table of segments, found by binary search and evaluated by a formula.

Segments are ordered by `t_start`; the last one that has started counts. After its `t_end` it holds
the value that it has there, so that holding needs no segment of its own. Before the first segment
the value is 0. With t from the start of a segment and s = (t − t_start) / (t_end − t_start):

    constant    y_start
    linear      y_start + (y_end − y_start) s
    quadratic   Lagrange's parabola through the points at t_start, t_mid and t_end
    sine        y_start + amplitude sin(2π (frequency (t − t_start) + phase))

Linear and quadratic segments pass through their points to the last bit.
"""

from __future__ import annotations

import math

from astray.numerics import NAN, PI, kernel, sincos_turns
from astray.tables import Array, Column, Row, Table, columns

SEGMENT = columns(
    Column("form", "", "i8"),
    "t_start s",
    "t_mid s",
    "t_end s",
    "y_start",
    "y_mid",
    "y_end",
    "amplitude",
    "frequency Hz",
    "phase turns",
    "before",
)
"""One formula over a time interval; `before` is the integral from time 0 to its start."""

CONSTANT, LINEAR, QUADRATIC, SINE = range(4)
MAX_TURNS = 2.0**50  # a larger phase is not resolved by a double


@kernel
def segment_value(s: Row, t: float) -> float:
    """The value of a segment's formula at t, also where t is outside of the segment."""
    y: float = s.y_start
    if s.form == SINE:
        turns = s.frequency * (t - s.t_start) + s.phase
        if not abs(turns) < MAX_TURNS:
            return NAN
        y += s.amplitude * sincos_turns(turns)[0]
    elif s.form == LINEAR:
        rise, length = s.y_end - s.y_start, s.t_end - s.t_start
        since, until = t - s.t_start, s.t_end - t
        if since < until:  # from the nearer end, so that both ends and level lines are exact
            y += rise * (since / length)
        else:
            y = s.y_end - rise * (until / length)
    elif s.form == QUADRATIC:
        a, b, c = t - s.t_start, t - s.t_mid, t - s.t_end
        ab, bc, ac = s.t_start - s.t_mid, s.t_mid - s.t_end, s.t_start - s.t_end
        y = s.y_start * (b * c / (ab * ac)) - s.y_mid * (a * c / (ab * bc))
        y += s.y_end * (a * b / (ac * bc))
    return y


@kernel
def sine_integral(s: Row, u: float) -> float:
    """The integral of a sine without its offset over the time u from its start.

    cos a − cos b = 2 sin((a + b) / 2) sin((b − a) / 2): the difference cancels where a and b are
    close, the product does not.
    """
    half = 0.5 * s.frequency * u  # (b − a) / 2, turns
    if not (abs(s.phase) < MAX_TURNS and abs(s.phase + 2.0 * half) < MAX_TURNS):
        return NAN
    product = sincos_turns(s.phase + half)[0] * sincos_turns(half)[0]
    integral: float = s.amplitude * product / (PI * s.frequency)
    return integral


@kernel
def segment_integral(s: Row, t: float) -> float:
    """The integral of a segment's formula from its start to t."""
    u = t - s.t_start
    total: float = s.y_start * u
    if s.form == SINE:
        total += sine_integral(s, u)
    elif s.form == LINEAR:
        total += 0.5 * (s.y_end - s.y_start) * u * (u / (s.t_end - s.t_start))
    elif s.form == QUADRATIC:
        # Newton's form of the parabola: y_start + u (slope + curvature (u − m))
        m, length = s.t_mid - s.t_start, s.t_end - s.t_start
        slope = (s.y_mid - s.y_start) / m
        curvature = ((s.y_end - s.y_start) / length - slope) / (length - m)
        total += u * u * (0.5 * slope + curvature * (u / 3.0 - 0.5 * m))
    return total


@kernel
def held_integral(s: Row, t: float) -> float:
    """The integral of a segment from its start to t, with its last value held."""
    end: float = s.t_end
    if t <= end:
        return segment_integral(s, t)
    return segment_integral(s, end) + segment_value(s, end) * (t - end)


@kernel
def find_segment(table: Table, low: int, high: int, t: float) -> int:
    """The last of the segments low to high − 1 that has started at t; low − 1 if none has."""
    while low < high:
        middle = (low + high) // 2
        if table[middle].t_start <= t:
            low = middle + 1
        else:
            high = middle
    return low - 1


@kernel
def value_among(table: Table, low: int, high: int, t: float) -> float:
    """The value of a signal at a time.

    Args:
        table: Segments of one signal or of a bank of signals.
        low: The index of the signal's first segment.
        high: The index after its last segment.
        t: The time, s.

    Returns:
        The value; 0 before the first segment, nan at nan.
    """
    if math.isnan(t):
        return t
    k = find_segment(table, low, high, t)
    if k < low:
        return 0.0
    return segment_value(table[k], min(t, table[k].t_end))


@kernel
def value(table: Table, t: float) -> float:
    """The value at t of the signal whose segments are the whole table."""
    return value_among(table, 0, len(table), t)


@kernel
def integral_among(table: Table, low: int, high: int, t: float) -> float:
    """The integral of a signal from time 0 to a time; `accumulate` must have been called.

    Args:
        table: Segments of one signal or of a bank of signals.
        low: The index of the signal's first segment.
        high: The index after its last segment.
        t: The time, s.

    Returns:
        The integral; nan at nan.
    """
    if math.isnan(t):
        return t
    k = find_segment(table, low, high, t)
    total = 0.0
    if k >= low:
        total = table[k].before + held_integral(table[k], t)
    elif low < high:
        total = table[low].before
    return total


@kernel
def integral(table: Table, t: float) -> float:
    """The integral from 0 to t of the signal whose segments are the whole table."""
    return integral_among(table, 0, len(table), t)


@kernel
def accumulate(table: Table, low: int, high: int) -> None:
    """Compute the column `before` of the segments low to high − 1 of a signal."""
    total = 0.0
    for k in range(low, high):
        table[k].before = total
        if k + 1 < high:
            total += held_integral(table[k], table[k + 1].t_start)
    at_zero = integral_among(table, low, high, 0.0)
    for k in range(low, high):
        table[k].before -= at_zero


@kernel
def value_all(out: Array, table: Table, times: Array) -> None:
    """The value of a signal at all times, (n,)."""
    for i in range(len(times)):
        out[i] = value(table, times[i])


@kernel
def integral_all(out: Array, table: Table, times: Array) -> None:
    """The integral of a signal from 0 to all times, (n,)."""
    for i in range(len(times)):
        out[i] = integral(table, times[i])
