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

from astray.numerics import inlined_kernel, kernel, log
from astray.robot.tracking.constant_velocity import ALIKE, IDENTITY, TRACK, XX, YY, X, Y, surprise
from astray.tables import Array, Table

NOBODY = -1.0
Bounds = tuple[float, float, float]
"""The gate of νᵀ S⁻¹ ν, the cost of another identity than expected, and that of a false alarm."""


@inlined_kernel
def list_alike(found: Array, count: int, identity: float) -> int:
    """List the detections that may be of an identity, NOBODY if all may; how many they are."""
    identities, alike, n = found[IDENTITY], found[ALIKE], 0
    for j in range(count):  # without a branch, for no one can tell which it will be
        alike[n] = j
        n += int((identities[j] == identity) | (identities[j] < 0.0) | (identity < 0.0))
    return n


@kernel
def possible_pairs(
    pairs: Array, mine: Table, used: int, found: Array, count: int, bounds: Bounds
) -> int:
    """List the pairs of a track and a detection inside the gate, track by track: both numbers, the
    innovation squared, and |S|. The cheapest questions come first, for most pairs fail them.
    """
    n = 0
    gate, strange, most = bounds
    for k in range(used):
        t = mine[k]
        if t.state == 0:
            continue
        identity = float(t.identity)
        alike = list_alike(found, count, identity if strange > gate else NOBODY)
        for m in range(alike):
            j = int(found[ALIKE, m])
            limit = gate
            if identity >= 0.0 and found[IDENTITY, j] >= 0.0 and identity != found[IDENTITY, j]:
                limit -= strange
            # A bound that needs no inverse, since S is at most its trace.
            ex, ey = found[X, j] - t.x, found[Y, j] - t.y
            if ex * ex + ey * ey > limit * (t.p[0] + t.p[2] + found[XX, j] + found[YY, j]):
                continue
            square, area = surprise(t, found, j)
            if square > limit:
                continue
            square += gate - limit
            # A logarithm is at most its argument less one: most need none.
            if square + area - 1.0 <= most or square + log(area) <= most:
                pairs[n, 0], pairs[n, 1], pairs[n, 2], pairs[n, 3] = k, j, square, area
                n += 1
    return n


@inlined_kernel
def take_all(pairs: Array, n: int, found: Array) -> bool:
    """Give each detection its track, if no track and no detection is in two pairs."""
    for m in range(n):
        j = int(pairs[m, 1])
        if found[TRACK, j] != NOBODY or (m > 0 and pairs[m - 1, 0] == pairs[m, 0]):
            for i in range(m):
                found[TRACK, int(pairs[i, 1])] = NOBODY
            return False
        found[TRACK, j] = pairs[m, 0]
    return True


@kernel
def choose(pairs: Array, n: int, found: Array) -> None:
    """Give each detection the track that it belongs to, the likeliest pair first."""
    if take_all(pairs, n, found):
        return
    for m in range(n):
        pairs[m, 2] += log(pairs[m, 3])
    while True:
        best = -1
        for m in range(n):
            if best < 0 or pairs[m, 2] < pairs[best, 2]:
                best = m
        if best < 0:
            return
        k, j = pairs[best, 0], pairs[best, 1]
        found[TRACK, int(j)] = k
        left = 0
        for m in range(n):  # what is left are the pairs with neither of the two
            if pairs[m, 0] != k and pairs[m, 1] != j:
                pairs[left, 0], pairs[left, 1], pairs[left, 2] = (
                    pairs[m, 0],
                    pairs[m, 1],
                    pairs[m, 2],
                )
                left += 1
        n = left
