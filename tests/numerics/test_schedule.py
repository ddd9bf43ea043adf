import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astray.numerics.schedule import (
    Schedule,
    common_dt,
    divides_tick_rate,
    make_schedule,
    nearest_rates,
    ticks_in,
)

LONG = 200
DTS = [0.01, 0.001, 0.005, 0.02, 0.1, 1 / 30, 1 / 120, 1 / 3]
RATES = [0.1, 0.5, 1, 2.5, 5, 7, 10, 12.5, 15, 20, 25, 30, 50, 60, 100, 120, 128, 250, 1000]
schedules = st.builds(Schedule, st.integers(1, 30), st.integers(0, 60))
ticks = st.integers(0, LONG // 2)


def due(periodic: Schedule) -> list[int]:
    return [periodic.offset + k * periodic.period for k in range(LONG)]


@given(schedules, ticks)
def test_beat_is_due_at_its_offset_and_every_period_from_there(
    periodic: Schedule, tick: int
) -> None:
    assert periodic.is_due(tick) == (tick in due(periodic))


@given(schedules, ticks)
def test_from_is_the_first_due_tick_that_is_not_before(periodic: Schedule, tick: int) -> None:
    assert periodic.next_due(tick) == min(t for t in due(periodic) if t >= tick)


@given(schedules, ticks)
def test_delayed_beat_is_due_that_much_later(periodic: Schedule, by: int) -> None:
    assert due(periodic.delayed(by)) == [t + by for t in due(periodic)]


def test_beat_follows_from_rate_and_offset() -> None:
    assert make_schedule(None, 0.0, 0.01) == Schedule(1, 0)
    assert make_schedule(50, 0.05, 0.01) == Schedule(2, 5)
    assert make_schedule(12.5, 0.0, 0.01) == Schedule(8, 0)
    assert make_schedule(10, 0.001, 0.01) == Schedule(10, 1)


@pytest.mark.parametrize("rate", [100, 50, 25, 12.5, 20, 10, 1, 0.1, 100 / 3, 100 / 7])
def test_rates_that_divide_are_accepted(rate: float) -> None:
    assert divides_tick_rate(rate, 0.01)


@pytest.mark.parametrize("rate", [30, 99, 101, 200, 1000, 0.3, 12.4, 33.3])
def test_rates_that_do_not_divide_are_refused(rate: float) -> None:
    assert not divides_tick_rate(rate, 0.01)


@given(st.floats(0.01, 2000.0), st.sampled_from(DTS))
def test_nearest_rates_really_divide(rate: float, dt: float) -> None:
    near = nearest_rates(rate, dt)
    assert all(divides_tick_rate(found, dt) for found in near)
    periods = range(1, math.ceil(1.0 / (rate * dt)) + 2)
    assert abs(near[0] - rate) == min(abs(1.0 / (p * dt) - rate) for p in periods)


def test_nearest_rates_lie_on_both_sides() -> None:
    assert nearest_rates(30, 0.01) == pytest.approx([100 / 3, 25])
    assert nearest_rates(45, 0.01) == pytest.approx([50, 100 / 3])
    assert nearest_rates(300, 0.01) == [100]


@given(st.lists(st.sampled_from(RATES), max_size=4))
def test_common_dt_is_the_largest_that_fits_all_rates(rates: list[float]) -> None:
    dt = common_dt(rates)
    assert dt is not None
    assert 0.0 < dt <= 0.01
    assert all(divides_tick_rate(rate, dt) for rate in rates)
    exact = [Fraction(str(rate)) for rate in rates] or [Fraction(100)]
    coarser, step = Fraction(0), max(exact)
    while (coarser := coarser + step) < 100 or any((coarser / r).denominator > 1 for r in exact):
        pass
    assert dt == float(1 / coarser)


def test_common_dt_of_nothing_is_ten_milliseconds() -> None:
    assert common_dt([]) == 0.01


@pytest.mark.parametrize("rates", [[999_983, 2], [2_000_000], [1 / 3, 100], [math.pi, 1]])
def test_rates_that_only_fit_a_tick_below_a_microsecond_have_no_common_dt(
    rates: list[float],
) -> None:
    assert common_dt(rates) is None


@pytest.mark.parametrize(
    ("seconds", "dt", "count"),
    [
        (0.1, 0.01, 10),
        (0.3, 0.1, 3),
        (0.7, 0.1, 7),
        (1.1, 0.1, 11),
        (60.0, 0.001, 60_000),
        (1.0, 1 / 3, 3),
        (0.0, 0.01, 0),
        (0.011, 0.01, 2),
        (1e-6, 0.01, 1),
    ],
)
def test_ticks_are_counted_up_to_the_end(seconds: float, dt: float, count: int) -> None:
    assert ticks_in(seconds, dt) == count


@given(st.integers(1, 1_000_000), st.sampled_from(DTS))
def test_whole_ticks_are_neither_lost_nor_added(count: int, dt: float) -> None:
    assert ticks_in(count * dt, dt) == count
    assert ticks_in((count - 0.5) * dt, dt) == count


@pytest.mark.parametrize("count", [1_000_000_000, 2_000_000_000, 10_000_000_000])
def test_long_runs_lose_no_tick(count: int) -> None:
    assert ticks_in(count * 1e-6, 1e-6) == count
