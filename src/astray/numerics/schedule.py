"""Whole ticks: which rates fit them, and on which of them a plugin is due.

Time is an integer tick times dt, never a sum. A plugin with a rate is due on every so-manieth
tick, so its rate has to divide the tick rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

MAX_TICK_RATE = 1_000_000  # Hz; ticks shorter than a microsecond are a mistake
MAX_DT = 1e6  # s; a tick of more is one, too
COARSEST = 100  # Hz; the tick rate that is chosen is at least this
CLOSE = 1e-5  # relative; people write a third of a hundred as 33.3333
NEVER = 1 << 62  # a tick that does not come
TICK_ROUNDING = 1e-6  # of a tick; dt = 0.01 is not exactly a hundredth


class Schedule(NamedTuple):
    """Due at the tick `offset` and every `period` ticks from there on."""

    period: int = 1
    offset: int = 0

    def is_due(self, tick: int) -> bool:
        """Whether this tick is one of them."""
        late = tick - self.offset
        return late >= 0 and (self.period == 1 or late % self.period == 0)

    def from_(self, tick: int) -> int:
        """The first due tick that is not before the given one."""
        if tick <= self.offset:
            return self.offset
        return tick + (self.offset - tick) % self.period

    def delayed(self, ticks: int) -> Schedule:
        """The same beat, some ticks later."""
        return Schedule(self.period, self.offset + ticks)


def first_due(beats: Iterable[Schedule], tick: int) -> int:
    """The first tick that is not before the given one and due by any of these beats."""
    first = NEVER
    for beat in beats:
        due = beat.from_(tick)
        if due == tick:
            return tick
        first = min(first, due)
    return first


def make_schedule(rate: float | None, offset: float, dt: float) -> Schedule:
    """The beat of a plugin; its rate has been checked to divide the tick rate, 0 is never."""
    if rate == 0.0:
        return Schedule(1, NEVER)
    period = 1 if rate is None else round(1.0 / (rate * dt))
    return Schedule(period, ticks_in(offset, dt))


def ticks_in(seconds: float, dt: float) -> int:
    """The number of ticks after which this much time has passed."""
    ticks = seconds / dt
    whole = round(ticks)
    return whole if abs(ticks - whole) <= TICK_ROUNDING * (1.0 + 1e-9 * ticks) else math.ceil(ticks)


def divides_tick_rate(rate: float, dt: float) -> bool:
    """Whether something with this rate is due on whole ticks."""
    period = 1.0 / (rate * dt)
    return round(period) >= 1 and abs(period - round(period)) <= CLOSE * period


def nearest_rates(rate: float, dt: float) -> list[float]:
    """The rates that divide the tick rate, next to the one asked for, the nearest first."""
    period = 1.0 / (rate * dt)
    near = {max(1, math.floor(period)), max(1, math.ceil(period))}
    return sorted((1.0 / (p * dt) for p in near), key=lambda r: abs(r - rate))


def common_dt(rates: Iterable[float]) -> float | None:
    """The largest dt of at most 10 ms on whose ticks all these rates are due; None if too fine."""
    together = Fraction(1)
    exact = [Fraction(str(rate)) for rate in rates]
    if exact:
        below = math.lcm(*(rate.denominator for rate in exact))
        together = Fraction(math.lcm(*(int(rate * below) for rate in exact)), below)
    together *= math.ceil(COARSEST / together)
    return None if together > MAX_TICK_RATE else float(1 / together)
