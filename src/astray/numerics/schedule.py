"""Schedules in whole ticks: which rates are possible, and at which ticks a plugin is due.

Time is an integer tick times dt, never a sum. A plugin with a rate is due at every n-th tick, so
its rate has to divide the tick rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

MAX_TICK_RATE = 1_000_000  # Hz; shorter ticks are taken for a mistake
MIN_RATE = 1e-9  # Hz; once in thirty years; a lower one is a mistake as well
MAX_DT = 1e6  # s; longer ticks are taken for a mistake, too
MIN_CHOSEN_TICK_RATE = 100  # Hz, where the scenario gives no dt
RATE_TOLERANCE = 1e-5  # relative; a third of 100 Hz is written as 33.3333
NEVER = 1 << 62  # a tick that is never reached
TICK_ROUNDING = 1e-6  # of a tick; dt = 0.01 is not exactly a hundredth


class Schedule(NamedTuple):
    """Due at the tick `offset` and at every `period` ticks after it."""

    period: int = 1
    offset: int = 0

    def is_due(self, tick: int) -> bool:
        """Whether something is due at this tick."""
        since = tick - self.offset
        return since >= 0 and (self.period == 1 or since % self.period == 0)

    def next_due(self, tick: int) -> int:
        """The first due tick from this one on."""
        if tick <= self.offset:
            return self.offset
        return tick + (self.offset - tick) % self.period

    def delayed(self, ticks: int) -> Schedule:
        """The same schedule, some ticks later."""
        return Schedule(self.period, self.offset + ticks)


def first_due(schedules: Iterable[Schedule], tick: int) -> int:
    """The first tick from this one on that is due by any of these schedules."""
    first = NEVER
    for schedule in schedules:
        due = schedule.next_due(tick)
        if due == tick:
            return tick
        first = min(first, due)
    return first


def make_schedule(rate: float | None, offset: float, dt: float) -> Schedule:
    """The schedule of a plugin, whose rate divides the tick rate; a rate of 0 is never due."""
    if rate == 0.0:
        return Schedule(1, NEVER)
    period = 1 if rate is None else round(1.0 / (rate * dt))
    return Schedule(period, ticks_in(offset, dt))


def ticks_in(seconds: float, dt: float) -> int:
    """The number of ticks after which so many seconds have passed; at most NEVER."""
    ticks = seconds / dt
    if not ticks < NEVER:
        return NEVER
    whole = round(ticks)
    return whole if abs(ticks - whole) <= TICK_ROUNDING * (1.0 + 1e-9 * ticks) else math.ceil(ticks)


def divides_tick_rate(rate: float, dt: float) -> bool:
    """Whether something with this rate, Hz, is due at whole ticks."""
    period = 1.0 / (rate * dt)
    return round(period) >= 1 and abs(period - round(period)) <= RATE_TOLERANCE * period


def nearest_rates(rate: float, dt: float) -> list[float]:
    """The rates next to a given one that divide the tick rate, Hz, the nearest first."""
    period = 1.0 / (rate * dt)
    periods = {max(1, math.floor(period)), max(1, math.ceil(period))}
    return sorted((1.0 / (p * dt) for p in periods), key=lambda r: abs(r - rate))


def common_dt(rates: Iterable[float]) -> float | None:
    """The largest dt of at most 10 ms that fits all these rates; None if it would be too small."""
    tick_rate = Fraction(1)
    exact = [Fraction(str(rate)) for rate in rates]
    if exact:
        denominator = math.lcm(*(rate.denominator for rate in exact))
        tick_rate = Fraction(math.lcm(*(int(rate * denominator) for rate in exact)), denominator)
    tick_rate *= math.ceil(MIN_CHOSEN_TICK_RATE / tick_rate)
    return None if tick_rate > MAX_TICK_RATE else float(1 / tick_rate)
