"""Errors that sensors are made of, as laws over time: neither dt nor the rate changes them.

A Gauss-Markov error with the stationary standard deviation sd and the time constant tau forgets
itself as e^(−t / tau). Over a time t it goes exactly by

    b ← k b + sd √(1 − k²) n        k = e^(−t / tau),  n a standard normal

and it starts as sd n, so that it is as wrong at the start as ever after.

A state such as having a fix, left at the rate 1 / stay and entered at the rate 1 / away, holds
for the share p = stay / (stay + away) of time. If it holds now, it does after a time t

    with the probability p + (1 − p) e^(−t (1 / stay + 1 / away))
"""

from __future__ import annotations

import math

from astray.numerics import exp, kernel


@kernel
def gauss_markov(value: float, sd: float, tau: float, elapsed: float, n: float) -> float:
    """A Gauss-Markov error some time later; one that does not vary in time stays as it is."""
    if not sd > 0.0 or not elapsed > 0.0 or tau == math.inf:
        return value
    keep = exp(-elapsed / tau)
    return keep * value + sd * math.sqrt(1.0 - keep * keep) * n


@kernel
def switch(there: bool, stay: float, away: float, elapsed: float, luck: float) -> bool:
    """Whether a state that is left and entered at random holds some time later.

    It lasts `stay` seconds and is gone for `away` seconds on average; luck is uniform in [0, 1).
    """
    share = stay / (stay + away)
    keep = exp(-elapsed * (1.0 / stay + 1.0 / away))
    return luck < (share + (1.0 - share) * keep if there else share * (1.0 - keep))


@kernel
def saturate(value: float, limit: float) -> float:
    """A value kept between −limit and limit; a limit of 0 is none."""
    return min(max(value, -limit), limit) if limit > 0.0 else value


@kernel
def quantise(value: float, step: float) -> float:
    """A value rounded to whole steps; a step of 0 is none."""
    return math.floor(value / step + 0.5) * step if step > 0.0 else value
