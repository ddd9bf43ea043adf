"""How an error-state filter takes in a measurement: gate, gain, and Joseph's form.

With the innovation ν, its derivative H by the state, and the noise R of the measurement

    S = H P Hᵀ + R        NIS = νᵀ S⁻¹ ν        K = P Hᵀ S⁻¹
    P ← (I − K H) P (I − K H)ᵀ + K R Kᵀ

which holds for any gain: states that are not to learn from a measurement have a K of 0 (Schmidt).

A measurement whose NIS is beyond the gate is refused. If a source has been refused for longer than
the patience, it is the filter that is wrong, for it was moved or misled: the variance of what it
may be wrong about is blown up until the measurement is likely, and taken in. As long as one source
of the pose is refused, what others say of the pose teaches nothing but the pose: it may be that of
a robot that was moved, which happens to look right, and is no reason to think ill of the sensors.
"""

from __future__ import annotations

import math

from astray.numerics import kernel, wrap
from astray.robot.estimators.ekf.state import (
    ACROSS,
    ALONG,
    COMPASS_EVENT,
    FIX_EVENT,
    LANDMARK_EVENT,
    TURN,
    VELOCITY,
    VX,
    VY,
    WHEELS_EVENT,
    YAW,
    X,
    Y,
)
from astray.tables import Row

LEAST_REFUSED = 5  # in a row, before a source may be believed against the filter
MOST_BLOWN, MOST_TIMES = 8, 1e6  # how often, and how many times at once, a variance grows
LEAST_LOST = 1e-6  # m² or m²/s², at least, of a filter that was misled
LOST_YAW, MOST_YAW = 0.25, 1.0  # rad², at least and at most, of such a filter


@kernel
def aim(w: Row) -> None:
    """Begin a measurement: nothing is measured yet."""
    for a in range(2):
        for i in range(w.states):
            w.h[a, i] = 0.0
        w.noise[a, 0] = w.noise[a, 1] = 0.0
    w.taught = w.states


@kernel
def weigh(f: Row, w: Row, m: int) -> float:
    """P Hᵀ, S and the NIS of a measurement of m numbers."""
    for i in range(w.states):
        for a in range(m):
            total = 0.0
            for j in range(w.states):
                if w.h[a, j] != 0.0:
                    total += f.cov[i, j] * w.h[a, j]
            w.ph[i, a] = total
    for a in range(m):
        for b in range(m):
            total = w.noise[a, b]
            for i in range(w.states):
                if w.h[a, i] != 0.0:
                    total += w.h[a, i] * w.ph[i, b]
            w.s[a, b] = total
    if m == 1:
        return float(w.nu[0] * w.nu[0] / w.s[0, 0]) if w.s[0, 0] > 0.0 else math.inf
    area = w.s[0, 0] * w.s[1, 1] - w.s[0, 1] * w.s[1, 0]
    if not area > 0.0:
        return math.inf
    square = w.nu[0] * w.nu[0] * w.s[1, 1] + w.nu[1] * w.nu[1] * w.s[0, 0]
    return float((square - 2.0 * w.nu[0] * w.nu[1] * w.s[0, 1]) / area)


@kernel
def correct(f: Row, w: Row, i: int, by: float) -> None:
    """Move one state."""
    if i == X:
        f.x += by
    elif i == Y:
        f.y += by
    elif i == YAW:
        f.yaw = wrap(f.yaw + by)
    elif i >= w.moved:
        f.error[i] += by
    elif i == VX:
        f.vx += by
    elif i == VY:
        f.vy += by
    elif i == ALONG:
        f.along += by
    elif i == ACROSS:
        f.across += by
    elif i == TURN:
        f.turn += by


@kernel
def apply(f: Row, w: Row, m: int) -> None:
    """Take in a measurement that was weighed."""
    n = w.states
    for i in range(n):
        if i >= w.taught:
            w.gain[i, 0] = w.gain[i, 1] = 0.0
        elif m == 1:
            w.gain[i, 0] = w.ph[i, 0] / w.s[0, 0]
        else:
            area = w.s[0, 0] * w.s[1, 1] - w.s[0, 1] * w.s[1, 0]
            w.gain[i, 0] = (w.ph[i, 0] * w.s[1, 1] - w.ph[i, 1] * w.s[1, 0]) / area
            w.gain[i, 1] = (w.ph[i, 1] * w.s[0, 0] - w.ph[i, 0] * w.s[0, 1]) / area
    for i in range(n):
        by = 0.0
        for a in range(m):
            by += w.gain[i, a] * w.nu[a]
        correct(f, w, i, by)
        for j in range(n):
            kept = f.cov[i, j]
            for a in range(m):
                kept -= w.gain[i, a] * w.ph[j, a]
            w.left[i, j] = kept
    for i in range(n):
        for a in range(m):  # (I − K H) P Hᵀ, in place of P Hᵀ
            total = 0.0
            for j in range(n):
                if w.h[a, j] != 0.0:
                    total += w.left[i, j] * w.h[a, j]
            w.ph[i, a] = total
    for i in range(n):
        for j in range(i + 1):
            kept = w.left[i, j]
            for a in range(m):
                kept -= w.ph[i, a] * w.gain[j, a]
                for b in range(m):
                    kept += w.gain[i, a] * w.noise[a, b] * w.gain[j, b]
            f.cov[i, j] = kept
            f.cov[j, i] = kept


@kernel
def is_doubted(w: Row, i: int, source: int) -> bool:
    """Whether a state may be to blame for what a source says: the speed for the wheels, the pose
    for all others as far as they measure it, and the speed if they do; and the heading where a fix
    has come to be far off.
    """
    if source == WHEELS_EVENT:
        return i > YAW
    measured = w.h[0, i] != 0.0 or w.h[1, i] != 0.0
    return bool(measured or (i <= YAW and source == FIX_EVENT))


@kernel
def blow_up(f: Row, w: Row, source: int, times: float) -> None:
    """Be less sure of what may be to blame: variances grow so many times.

    It no longer varies with anything else, least of all with the errors of the sensors: what misled
    the filter is not their fault.
    """
    for i in range(min(w.moved, VY + 1)):
        if is_doubted(w, i, source):
            variance = max(f.cov[i, i] * times, LEAST_LOST)
            if i == YAW:
                variance = min(max(variance, LOST_YAW), MOST_YAW)
            for j in range(w.states):
                f.cov[i, j] = 0.0
                f.cov[j, i] = 0.0
            f.cov[i, i] = variance


@kernel
def is_tired(f: Row, w: Row, source: int, times: float) -> bool:
    """Whether a source has been refused for so many times the patience."""
    waited = f.stamp - f.refused_since[source]
    return bool(f.refused[source] >= LEAST_REFUSED and waited >= times * w.patience)


@kernel
def refuse(f: Row, source: int) -> None:
    """Note that a measurement of a source was refused."""
    if f.refused[source] == 0:
        f.refused_since[source] = f.stamp
    f.refused[source] += 1


@kernel
def in_doubt(f: Row, source: int) -> bool:
    """Whether a source tells of the pose while another one that does is being refused."""
    if source == WHEELS_EVENT:
        return False
    for other in (COMPASS_EVENT, FIX_EVENT, LANDMARK_EVENT, VELOCITY):
        if other != source and f.refused[other] > 0:
            return True
    return False


@kernel
def yield_to(f: Row, w: Row, m: int, source: int) -> None:
    """Doubt what may be to blame until it explains all of a measurement, and take that in."""
    nis = weigh(f, w, m)
    for _ in range(MOST_BLOWN):
        if nis > 1.0:
            blow_up(f, w, source, min(nis, MOST_TIMES))
            nis = weigh(f, w, m)
    f.refused[source] = 0
    if nis < math.inf:
        apply(f, w, m)


@kernel
def admit(f: Row, w: Row, m: int, source: int, nis: float) -> None:
    """Take in a measurement that was weighed and is likely enough."""
    if w.counts:
        f.squares += nis
        f.freedom += m
    f.refused[source] = 0
    if in_doubt(f, source):
        w.taught = YAW + 1
    apply(f, w, m)


@kernel
def fuse(f: Row, w: Row, m: int, source: int) -> None:
    """Take in a measurement of m numbers, unless it is too unlikely."""
    nis = weigh(f, w, m)
    if nis <= w.gate[m]:
        admit(f, w, m, source, nis)
        return
    refuse(f, source)
    # One beacon tells little of where a lost filter is: it waits longer, for two at a time.
    if is_tired(f, w, source, 2.0 if source == LANDMARK_EVENT else 1.0):
        yield_to(f, w, m, source)
