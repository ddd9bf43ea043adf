"""Signals inside kernels: a signal is a table of segments, and its value a search and a formula.

Segments are ordered by `t_start`; the last one that has begun counts. After its `t_end` it keeps
the value that it has there, so holding needs no segment of its own. Before the first one the value
is 0.

    constant    y_start
    linear      y_start + (y_end − y_start) share,  share = (t − t_start) / (t_end − t_start)
    quadratic   Lagrange's parabola through the points of t_start, t_mid and t_end
    sine        y_start + amplitude sin(2π (frequency (t − t_start) + phase))

Linear and quadratic ones pass through their points to the last bit.
"""

from __future__ import annotations

import math

from astray.numerics import NAN, TAU, kernel, sincos_turns
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
"""One formula over a stretch of time; `before` is the integral from time 0 to its start."""

CONSTANT, LINEAR, QUADRATIC, SINE = range(4)
MOST_TURNS = 2.0**50  # above it a double no longer knows its own phase


@kernel
def wave(s: Row, t: float) -> tuple[float, float]:
    """Sine and cosine of the phase of a sine at t."""
    turns = s.frequency * (t - s.t_start) + s.phase
    if not abs(turns) < MOST_TURNS:
        return NAN, NAN
    return sincos_turns(turns)


@kernel
def formula(s: Row, t: float) -> float:
    """The value of one segment at t by its formula, also where t is outside of it."""
    y: float = s.y_start
    if s.form == SINE:
        y += s.amplitude * wave(s, t)[0]
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
def area(s: Row, t: float) -> float:
    """The integral of one segment's formula from its start to t."""
    u = t - s.t_start
    total: float = s.y_start * u
    if s.form == SINE:
        swing = wave(s, s.t_start)[1] - wave(s, t)[1]
        total += s.amplitude * swing / (TAU * s.frequency)
    elif s.form == LINEAR:
        total += 0.5 * (s.y_end - s.y_start) * u * (u / (s.t_end - s.t_start))
    elif s.form == QUADRATIC:
        # Newton's form of the parabola: y_start + u (slope + bend (u − m))
        m, length = s.t_mid - s.t_start, s.t_end - s.t_start
        slope = (s.y_mid - s.y_start) / m
        bend = ((s.y_end - s.y_start) / length - slope) / (length - m)
        total += u * u * (0.5 * slope + bend * (u / 3.0 - 0.5 * m))
    return total


@kernel
def held_area(s: Row, t: float) -> float:
    """The integral of one segment from its start to t, with its last value held."""
    end: float = s.t_end
    if t <= end:
        return area(s, t)
    return area(s, end) + formula(s, end) * (t - end)


@kernel
def find(table: Table, low: int, high: int, t: float) -> int:
    """The last of the segments low to high − 1 that has begun at t; low − 1 if none has."""
    while low < high:
        middle = (low + high) // 2
        if table[middle].t_start <= t:
            low = middle + 1
        else:
            high = middle
    return low - 1


@kernel
def value_among(table: Table, low: int, high: int, t: float) -> float:
    """The value at t of the signal that is the segments low to high − 1."""
    if math.isnan(t):
        return t
    k = find(table, low, high, t)
    if k < low:
        return 0.0
    return formula(table[k], min(t, table[k].t_end))


@kernel
def value(table: Table, t: float) -> float:
    """The value of a compiled signal at t."""
    return value_among(table, 0, len(table), t)


@kernel
def integral_among(table: Table, low: int, high: int, t: float) -> float:
    """The integral from 0 to t of the signal that is the segments low to high − 1."""
    if math.isnan(t):
        return t
    k = find(table, low, high, t)
    total = 0.0
    if k >= low:
        total = table[k].before + held_area(table[k], t)
    elif low < high:
        total = table[low].before
    return total


@kernel
def integral(table: Table, t: float) -> float:
    """The integral of a compiled signal from 0 to t; `accumulate` has been called."""
    return integral_among(table, 0, len(table), t)


@kernel
def accumulate(table: Table, low: int, high: int) -> None:
    """Note in the segments low to high − 1 what the integral is where they begin."""
    total = 0.0
    for k in range(low, high):
        table[k].before = total
        if k + 1 < high:
            total += held_area(table[k], table[k + 1].t_start)
    at_zero = integral_among(table, low, high, 0.0)
    for k in range(low, high):
        table[k].before -= at_zero


@kernel
def value_all(out: Array, table: Table, times: Array) -> None:
    """The value of a compiled signal at all these times."""
    for i in range(len(times)):
        out[i] = value(table, times[i])


@kernel
def integral_all(out: Array, table: Table, times: Array) -> None:
    """The integral of a compiled signal from 0 to all these times."""
    for i in range(len(times)):
        out[i] = integral(table, times[i])
