"""Quantiles of the chi-square and Student's t distributions, and a check of covariances.

A few lines replace a dependency on SciPy. The distribution function of chi-square is the
regularised incomplete gamma function P(k/2, x/2): a series for small x, a continued fraction for
large x.
"""

from __future__ import annotations

import math

import numpy as np

from astray.tables import Array

MAX_TERMS = 500
TINY = 1e-300
RELATIVE_ROUNDING, ROUNDING = 1e-9, 1e-15  # by which an eigenvalue may be negative


def chi_square_cdf(x: float, freedom: float) -> float:
    """The probability of a value below x."""
    a, z = 0.5 * freedom, 0.5 * x
    if z <= 0.0:
        return 0.0
    scale = math.exp(a * math.log(z) - z - math.lgamma(a))
    if z < a + 1.0:
        total = term = 1.0 / a
        for k in range(1, MAX_TERMS):
            term *= z / (a + k)
            total += term
            if term < 1e-16 * total:
                break
        return scale * total
    # The continued fraction of 1 − P, by Lentz's algorithm.
    b = z + 1.0 - a
    c, d = 1.0 / TINY, 1.0 / b
    h = d
    for k in range(1, MAX_TERMS):
        step = -k * (k - a)
        b += 2.0
        d = 1.0 / (step * d + b or TINY)
        c = b + step / c or TINY
        h *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return 1.0 - scale * h


def chi_square_quantile(probability: float, freedom: float) -> float:
    """The value with this probability of a smaller one, by bisection."""
    low, high = 0.0, freedom + 20.0 * math.sqrt(2.0 * freedom) + 50.0
    while high - low > 1e-9 * high:
        middle = 0.5 * (low + high)
        if chi_square_cdf(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def nees_band(robots: int, probability: float = 0.95) -> tuple[float, float]:
    """The interval of the mean NEES of consistent beliefs of a pose (Bar-Shalom et al., 2001)."""
    tail = 0.5 * (1.0 - probability)
    low, high = (chi_square_quantile(p, 3.0 * robots) / robots for p in (tail, 1.0 - tail))
    return low, high


def student_t_95(freedom: int) -> float:
    """The two-sided 95 % quantile of Student's t, by bisection on its distribution function."""
    low, high = 0.0, 13.0  # 12.7 is that of a single degree of freedom
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    scale /= math.sqrt(freedom * math.pi)
    while high - low > 1e-9:
        middle = (low + high) / 2
        grid = np.linspace(0.0, middle, 2001)
        density = scale * (1.0 + grid * grid / freedom) ** (-(freedom + 1) / 2)
        simpson = density[0] + 4 * density[1::2].sum() + 2 * density[2:-1:2].sum() + density[-1]
        below = simpson * middle / 6000 < 0.475
        low, high = (middle, high) if below else (low, middle)
    return (low + high) / 2


def has_negative_eigenvalue(matrices: Array) -> bool:
    """Whether a symmetric matrix, or any of several (..., n, n), has a negative eigenvalue."""
    eigenvalues = np.linalg.eigvalsh(matrices)
    least, most = eigenvalues[..., 0], eigenvalues[..., -1]
    return bool((least < -RELATIVE_ROUNDING * np.maximum(most, 0.0) - ROUNDING).any())
