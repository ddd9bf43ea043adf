"""Whether measurements surprise a filter as much as it expects: normalised innovations squared.

NIS = νᵀ S⁻¹ ν of each measurement that a filter takes in, with the innovation ν and its covariance
S, is chi-square with as many degrees of freedom as the measurement has numbers. What is reported is
the sum over the measurements of a moment, divided by its degrees of freedom: 1 on average. It is
nan, and not counted, where nothing was measured, or for a belief whose estimator does not tell.

A filter may be too sure of itself at an NIS of 1 and less: see NEES, where the truth is known.
"""

from __future__ import annotations

import numpy as np

from astray.numerics import NAN, kernel
from astray.plugin import Estimator, Metric
from astray.tables import Array, Rows, Table


@kernel
def measure_all(out: Array, innovations: Array, rows: Rows) -> None:
    """NIS per degree of freedom of these rows; innovations (n, 2) are squares and freedom."""
    for i in rows:
        out[i] = innovations[i, 0] / innovations[i, 1] if innovations[i, 1] > 0.0 else NAN


class Nis(Metric, kind="nis"):
    """Normalised innovations squared per degree of freedom: 1 on average for an honest filter."""

    average = "mean"

    def watch(self, estimator: Estimator) -> None:
        """Look at what an estimator tells of its innovations."""
        self.estimator = estimator

    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """NIS of the last measurements of these rows."""
        estimator = getattr(self, "estimator", None)
        told = estimator.innovations() if estimator is not None else None
        if told is None:
            told = np.zeros((len(out), 2))
        measure_all(out, told, rows)
