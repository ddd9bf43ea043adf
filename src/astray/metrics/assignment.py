"""The cheapest way to give each row of a matrix a column of its own.

Rows are added one by one, each along the shortest path that lets the others give way; potentials u
of the rows and v of the columns keep all reduced costs a − u − v from being negative (Kuhn, 1955;
Jonker and Volgenant, 1987).
"""

from __future__ import annotations

import math

from astray.numerics import kernel
from astray.tables import Array

U, V, ROW, WAY, LEAST, USED = range(6)
LINES = 6
"""What is needed for each row and column; number 0 is nobody, so there is one more of each."""


@kernel
def lengthen(w: Array, a: Array, row: int, columns: int) -> int:
    """Find the shortest path from a row to a free column; the column where it ends."""
    for j in range(columns + 1):
        w[LEAST, j], w[USED, j] = math.inf, 0.0
    w[ROW, 0] = row
    here = 0
    while w[ROW, here] > 0.0:
        w[USED, here] = 1.0
        i, delta, best = int(w[ROW, here]), math.inf, 0
        for j in range(1, columns + 1):
            if w[USED, j] > 0.0:
                continue
            reduced = a[i - 1, j - 1] - w[U, i] - w[V, j]
            if reduced < w[LEAST, j]:
                w[LEAST, j], w[WAY, j] = reduced, here
            if w[LEAST, j] < delta:
                delta, best = w[LEAST, j], j
        for j in range(columns + 1):
            if w[USED, j] > 0.0:
                w[U, int(w[ROW, j])] += delta
                w[V, j] -= delta
            else:
                w[LEAST, j] -= delta
        here = best
    return here


@kernel
def assign(w: Array, a: Array, rows: int, columns: int) -> None:
    """Give each row a column, of which there are as many or more: w[ROW, j + 1] − 1 is j's row."""
    for k in range(max(rows, columns) + 1):
        w[U, k] = w[V, k] = w[ROW, k] = w[WAY, k] = 0.0
    for i in range(1, rows + 1):
        here = lengthen(w, a, i, columns)
        while here != 0:  # all on the path give way
            before = int(w[WAY, here])
            w[ROW, here] = w[ROW, before]
            here = before
