"""Which detection belongs to which track.

A pair is possible where the innovation is inside the gate. Of the possible pairs the most likely is
taken, then the most likely of those that are left, and so on: −2 log of its likelihood is

    cost = νᵀ S⁻¹ ν + log |S| + cost of the identity

up to a constant. It has to be less than that of a false alarm, −2 log of how many there are per
square metre as the datasheet has it: where there are many, a track that is not sure where it is
takes none of them for its own. The choice is greedy, not optimal over all pairs at once; the two
differ where several robots are within each other's gates, and there an identity decides, if the
sensor has one.
"""

from __future__ import annotations

from astray.kernel import kernel
from astray.maths import log
from astray.table import Array, Table
from astray.trackers.moving import FAR, IDENTITY, TRACK, XX, YY, X, Y, surprise

NOBODY = -1.0
Bounds = tuple[float, float, float]
"""The gate of νᵀ S⁻¹ ν, the cost of another identity than expected, and that of a false alarm."""


@kernel
def possible_pairs(
    pairs: Array, mine: Table, used: int, found: Array, count: int, bounds: Bounds
) -> int:
    """List the pairs of a track and a detection inside the gate, each with its cost."""
    n = 0
    gate, strange, most = bounds
    for k in range(used):
        t = mine[k]
        if t.state == 0:
            continue
        x, y, wide = t.x, t.y, t.p[0] + t.p[2]
        # A bound that needs no inverse, since S is at most its trace; without a branch in it, so
        # that several are done at a time.
        for j in range(count):
            ex, ey = found[X, j] - x, found[Y, j] - y
            found[FAR, j] = ex * ex + ey * ey - gate * (wide + found[XX, j] + found[YY, j])
        for j in range(count):
            if found[FAR, j] > 0.0:
                continue
            square, area = surprise(t, found, j)
            identity = found[IDENTITY, j]
            if t.identity >= 0 and identity >= 0.0 and t.identity != identity:
                square += strange
            if square <= gate and square + log(area) <= most:
                pairs[n, 0], pairs[n, 1], pairs[n, 2] = square + log(area), k, j
                n += 1
    return n


@kernel
def choose(pairs: Array, n: int, found: Array) -> None:
    """Give each detection the track that it belongs to, the likeliest pair first."""
    while True:
        best = -1
        for m in range(n):
            if best < 0 or pairs[m, 0] < pairs[best, 0]:
                best = m
        if best < 0:
            return
        k, j = pairs[best, 1], pairs[best, 2]
        found[TRACK, int(j)] = k
        left = 0
        for m in range(n):  # what is left are the pairs with neither of the two
            if pairs[m, 1] != k and pairs[m, 2] != j:
                pairs[left, 0], pairs[left, 1], pairs[left, 2] = (
                    pairs[m, 0],
                    pairs[m, 1],
                    pairs[m, 2],
                )
                left += 1
        n = left
