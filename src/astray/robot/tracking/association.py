"""Data association: which detection belongs to which track.

A pair is possible if the detection is inside the gate of the track. The most likely pair is
assigned, then the most likely of those that are left, and so on (greedy nearest neighbour):
−2 log of its likelihood is

    cost = νᵀ S⁻¹ ν + log |S| + cost of the identity

up to a constant. It has to be less than that of a false alarm, −2 log of their density per square
metre by the datasheet: where there are many, a track that is uncertain of its position takes none
of them. A global optimum differs only where several robots are in each other's gates, and there an
identity decides if the sensor has one.
"""

from __future__ import annotations

from astray.numerics import inlined_kernel, kernel, log
from astray.robot.tracking.constant_velocity import (
    CANDIDATES,
    DET_X,
    DET_XX,
    DET_Y,
    DET_YY,
    IDENTITY,
    TRACK,
    XX,
    YY,
    DetectionSensor,
    compute_nis,
)
from astray.tables import Array, Table

UNASSIGNED = -1.0  # track of a detection
UNKNOWN = -1.0  # identity
SLOT, DETECTION, COST, DETERMINANT = range(4)
"""The columns of a list of pairs: the slot of the track, the detection, the NIS with the cost of
the identity, and |S|."""


@inlined_kernel
def list_candidates(detections: Array, count: int, identity: float) -> int:
    """List the detections that may have an identity, all for an UNKNOWN one; how many they are."""
    identities, candidates, n = detections[IDENTITY], detections[CANDIDATES], 0
    for j in range(count):  # without a branch, since it could not be predicted
        candidates[n] = j
        n += int((identities[j] == identity) | (identities[j] < 0.0) | (identity < 0.0))
    return n


@kernel
def gated_pairs(
    pairs: Array,
    tracks: Table,
    used: int,
    detections: Array,
    count: int,
    gate: float,
    sensor: DetectionSensor,
) -> int:
    """List the possible pairs of tracks and detections, track by track; how many they are.

    The cheapest tests come first, since most pairs fail them.
    """
    n = 0
    identity_cost, most = sensor.wrong_identity_cost, sensor.false_alarm_cost
    for k in range(used):
        t = tracks[k]
        if t.status == 0:
            continue
        identity = float(t.identity)
        wanted = identity if identity_cost > gate else UNKNOWN
        for m in range(list_candidates(detections, count, wanted)):
            j = int(detections[CANDIDATES, m])
            limit = gate
            other = detections[IDENTITY, j]
            if identity >= 0.0 and other >= 0.0 and identity != other:
                limit -= identity_cost
            # A bound that needs no inverse, since S is at most its trace.
            ex, ey = detections[DET_X, j] - t.x, detections[DET_Y, j] - t.y
            trace = t.cov[XX] + t.cov[YY] + detections[DET_XX, j] + detections[DET_YY, j]
            if ex * ex + ey * ey > limit * trace:
                continue
            cost, determinant = compute_nis(t, detections, j)
            if cost > limit:
                continue
            cost += gate - limit
            # A logarithm is at most its argument less one: most pairs need none.
            if cost + determinant - 1.0 <= most or cost + log(determinant) <= most:
                pairs[n, SLOT], pairs[n, DETECTION] = k, j
                pairs[n, COST], pairs[n, DETERMINANT] = cost, determinant
                n += 1
    return n


@inlined_kernel
def assign_unambiguous(pairs: Array, n: int, detections: Array) -> bool:
    """Assign all pairs if no track and no detection is in two of them; whether it was so."""
    for m in range(n):
        j = int(pairs[m, DETECTION])
        if detections[TRACK, j] != UNASSIGNED or (m > 0 and pairs[m - 1, SLOT] == pairs[m, SLOT]):
            for i in range(m):
                detections[TRACK, int(pairs[i, DETECTION])] = UNASSIGNED
            return False
        detections[TRACK, j] = pairs[m, SLOT]
    return True


@kernel
def assign(pairs: Array, n: int, detections: Array) -> None:
    """Assign each detection to its track, the most likely pair first."""
    if assign_unambiguous(pairs, n, detections):
        return
    for m in range(n):
        pairs[m, COST] += log(pairs[m, DETERMINANT])
    while True:
        best = -1
        for m in range(n):
            if best < 0 or pairs[m, COST] < pairs[best, COST]:
                best = m
        if best < 0:
            return
        slot, j = pairs[best, SLOT], pairs[best, DETECTION]
        detections[TRACK, int(j)] = slot
        left = 0
        for m in range(n):  # the pairs with neither of the two are left
            if pairs[m, SLOT] != slot and pairs[m, DETECTION] != j:
                for column in range(DETERMINANT):
                    pairs[left, column] = pairs[m, column]
                left += 1
        n = left
