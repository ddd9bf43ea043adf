"""Consistency: whether the covariance of a belief is that of its error.

NEES = eᵀ P⁻¹ e, with the error e of (x, y, yaw) and the covariance P of the belief. If P is the
covariance of e, NEES is chi-square with 3 degrees of freedom: 3 on average. Above that the belief
is overconfident, below it underconfident. It is computed by Cholesky's factorisation; where P is
zero or not positive definite NEES is nan and not counted.

NIS = νᵀ S⁻¹ ν of each measurement that a filter accepts, with the innovation ν and its covariance
S, is chi-square with as many degrees of freedom as the measurement has numbers. The metric is the
sum over the measurements of one time, divided by its degrees of freedom: 1 on average. It is nan
and not counted without a measurement, and for estimators that do not report innovations. A filter
may be overconfident at an NIS of 1 and less: NEES needs the truth, and shows it.

Time outside: a belief is outside if its error in any of x, y and yaw exceeds `sigmas` of its own
standard deviations. At 3 sigmas a consistent, Gaussian belief is outside for 0.27 % of the time in
each of the three. A belief without a covariance, or with one of zero, is not counted.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import NAN, kernel, wrap
from astray.plugin import Estimator, Metric, Positive
from astray.tables import Array, Column, Row, Rows, Table, columns

OUTSIDE_MEMORY = columns(Column("counted", "", "i8"), Column("outside", "", "i8"))
"""How many beliefs were counted, and how many of them were outside."""


@kernel
def nees(belief: Row, truth: Row) -> float:
    """NEES of one belief: the squared norm of L⁻¹ e, with P = L Lᵀ."""
    e0, e1, e2 = belief.x - truth.x, belief.y - truth.y, wrap(belief.yaw - truth.yaw)
    cov = belief.cov
    if not cov[0, 0] > 0.0:
        return NAN
    l00 = math.sqrt(cov[0, 0])
    l10, l20 = cov[1, 0] / l00, cov[2, 0] / l00
    pivot = cov[1, 1] - l10 * l10
    if not pivot > 0.0:
        return NAN
    l11 = math.sqrt(pivot)
    l21 = (cov[2, 1] - l20 * l10) / l11
    pivot = cov[2, 2] - l20 * l20 - l21 * l21
    if not pivot > 0.0:
        return NAN
    z0 = e0 / l00
    z1 = (e1 - l10 * z0) / l11
    z2 = (e2 - l20 * z0 - l21 * z1) / math.sqrt(pivot)
    square: float = z0 * z0 + z1 * z1 + z2 * z2
    return square


@kernel
def nees_all(out: Array, truth: Table, belief: Table, rows: Rows) -> None:
    """NEES of these rows."""
    for i in rows:
        out[i] = nees(belief[i], truth[i])


@kernel
def nis_all(out: Array, innovations: Array, rows: Rows) -> None:
    """NIS per degree of freedom of these rows, from NIS and degrees of freedom, (n, 2)."""
    for i in rows:
        out[i] = innovations[i, 0] / innovations[i, 1] if innovations[i, 1] > 0.0 else NAN


@kernel
def largest_sigma(belief: Row, truth: Row) -> float:
    """The largest error of one belief in standard deviations; nan if it has none."""
    largest = 0.0
    for k in range(3):
        if not belief.cov[k, k] > 0.0:
            return NAN
        if k == 0:
            error = belief.x - truth.x
        elif k == 1:
            error = belief.y - truth.y
        else:
            error = wrap(belief.yaw - truth.yaw)
        largest = max(largest, abs(error) / math.sqrt(belief.cov[k, k]))
    return largest


@kernel
def time_outside_all(
    out: Array, memory: Table, truth: Table, belief: Table, params: Table, rows: Rows
) -> None:
    """The share of time outside so far of these rows."""
    for i in rows:
        m, sigma = memory[i], largest_sigma(belief[i], truth[i])
        if not math.isnan(sigma):
            m.counted += 1
            if sigma > params[i].sigmas:
                m.outside += 1
        out[i] = m.outside / m.counted if m.counted > 0 else NAN


class Nees(Metric, kind="nees"):
    """Normalised estimation error squared of the pose: 3 on average for a consistent belief."""

    average = "mean"

    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """Write NEES of these rows."""
        nees_all(out, truth, belief, rows)


class Nis(Metric, kind="nis"):
    """Normalised innovation squared per degree of freedom: 1 on average for a consistent filter."""

    average = "mean"

    def watch(self, estimator: Estimator) -> None:
        """Keep the estimator whose innovations are measured."""
        self.estimator = estimator

    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """Write NIS of the last measurements of these rows."""
        estimator = getattr(self, "estimator", None)
        innovations = estimator.innovations() if estimator is not None else None
        if innovations is None:
            innovations = np.zeros((len(out), 2))
        nis_all(out, innovations, rows)


class TimeOutside(Metric, kind="time_outside"):
    """Share of the time so far in which an error exceeded three of its own standard deviations."""

    remembers = OUTSIDE_MEMORY
    sigmas: Positive = 3.0  # standard deviations: the limit of an error

    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """Write the share of time outside so far of these rows."""
        time_outside_all(out, self.memory, truth, belief, self.params, rows)
