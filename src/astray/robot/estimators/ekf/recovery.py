"""How a filter finds back that fixes show to be elsewhere: it compares two ways that it went.

Fixes that are refused say together where the robot went, z_i, and the filter has its own reckoning
of that way, o_i. Was the robot carried away, then one is the other turned and shifted. The turn is
that of Procrustes, and with white errors σ and a drift of s² and τ over the time T

    turn = atan2(Σ (o_i − ō) × (z_i − z̄), Σ (o_i − ō) · (z_i − z̄))
    variance = (σ² + 2 n s² (1 − e^(−T/τ)) / π²) / Σ |o_i − ō|²

since n q T / π² is the most that a walk of density q has in any one direction of its n values. What
the own reckoning may have turned in the meantime is added. The turn and the drift d of the newest
fix err together, which shows as soon as the robot goes on:

    cov(turn, d) = s² ⟂g / Σ |o_i − ō|²        g = Σ e^(−(t − t_i)/τ) (o_i − ō), turned

As soon as fixes were refused for longer than the patience, the place is that of the newest fix. A
compass then tells the heading. Without one the heading is unknown and the filter is lost: it goes
from fix to fix, and learns nothing else of them, until the turn is told well enough. A way d that
it goes meanwhile leads anywhere: along it the error is d (cos − 1) of any angle, of 3/2 d².

A fix that is farther from the one before than the robot can have come is an outlier; after two such
fixes all begins anew.
"""

from __future__ import annotations

import math

from astray.numerics import PI, atan2, exp, kernel, sincos, wrap
from astray.robot.estimators.ekf.state import YAW, X, Y
from astray.robot.estimators.ekf.update import LEAST_REFUSED
from astray.tables import Row

SURE = 4.0  # standard deviations within which all is, as good as surely
TOLD = 0.04  # rad², of a turn that is told well enough to go on by
UNKNOWN = PI * PI / 3.0  # rad², of a heading that may be any
ANYWHERE = 1e6  # m², of a place before a fix is taken in
MOST_ENTANGLED = 0.8  # squared correlation of heading and drift
MOST_STRAYS = 2  # fixes in a row that are taken for outliers

Place = tuple[float, float]


@kernel
def forget_fixes(f: Row) -> None:
    """Nothing was refused, or nothing of it counts any more."""
    f.agreed = f.strays = 0
    f.dot = f.cross = f.spread = 0.0
    f.faded[0] = f.faded[1] = f.fading = 0.0
    f.led[0] = f.led[1] = 0.0
    f.own_mean[0] = f.own_mean[1] = f.said_mean[0] = f.said_mean[1] = 0.0


@kernel
def agrees(f: Row, own: Place, said: Place, variance: float) -> bool:
    """Whether a fix is as far from the one before as the robot went, as good as surely."""
    ax, ay, bx, by = own[0] - f.own[0], own[1] - f.own[1], said[0] - f.said[0], said[1] - f.said[1]
    went, moved = math.sqrt(ax * ax + ay * ay), math.sqrt(bx * bx + by * by)
    return bool(abs(went - moved) <= SURE * math.sqrt(2.0 * variance))


@kernel
def note_fix(f: Row, reckoned: Place, said: Place, variance: float, tau: float) -> bool:
    """Note where a refused fix says that the antenna is, and where it is by the filter's reckoning;
    whether that goes with the fixes before.
    """
    own = (reckoned[0] - f.led[0], reckoned[1] - f.led[1])
    if f.agreed > 0 and not agrees(f, own, said, variance):
        f.strays += 1
        if f.strays < MOST_STRAYS:
            return False
        forget_fixes(f)
        own = reckoned
    if f.agreed == 0:
        f.agreed_since, f.noted, f.yaw_then = f.stamp, f.stamp, f.cov[YAW, YAW]
    keep = exp(-(f.stamp - f.noted) / tau)
    f.noted, f.fading = f.stamp, keep * f.fading + 1.0
    f.faded[0] = keep * f.faded[0] + own[0]
    f.faded[1] = keep * f.faded[1] + own[1]
    f.strays = 0
    f.agreed += 1
    share = 1.0 / f.agreed
    ax, ay = own[0] - f.own_mean[0], own[1] - f.own_mean[1]
    bx, by = said[0] - f.said_mean[0], said[1] - f.said_mean[1]
    f.dot += (1.0 - share) * (ax * bx + ay * by)
    f.cross += (1.0 - share) * (ax * by - ay * bx)
    f.spread += (1.0 - share) * (ax * ax + ay * ay)
    f.own_mean[0] += share * ax
    f.own_mean[1] += share * ay
    f.said_mean[0] += share * bx
    f.said_mean[1] += share * by
    f.own[0], f.own[1] = own
    f.said[0], f.said[1] = said
    return bool(f.agreed >= LEAST_REFUSED)


@kernel
def turn_variance(f: Row, w: Row, white: float, drift: int) -> float:
    """How well the turn is told, rad², by fixes of this white variance and drift."""
    if not f.spread > 0.0:
        return math.inf
    variance = white
    if drift >= 0:
        lasting = 1.0 - exp(-(f.stamp - f.agreed_since) / w.tau[drift])
        variance += 2.0 * f.agreed * w.sd[drift] * w.sd[drift] * lasting / (PI * PI)
    return float(variance / f.spread)


@kernel
def open_up(f: Row, w: Row, yaw_variance: float) -> None:
    """Let the place be anywhere, and the heading as sure as this; neither varies with anything."""
    for i in range(YAW + 1):
        for j in range(w.states):
            f.cov[i, j] = 0.0
            f.cov[j, i] = 0.0
    f.cov[X, X] = f.cov[Y, Y] = ANYWHERE
    f.cov[YAW, YAW] = yaw_variance


@kernel
def go_anywhere(f: Row, way: float) -> None:
    """Add what a way does to the place of a filter that does not know its heading."""
    grown = f.gone + way
    power = 1.5 * (grown * grown - f.gone * f.gone)
    f.gone = grown
    f.cov[X, X] += power
    f.cov[Y, Y] += power


@kernel
def entangle(f: Row, w: Row, drift: int, turn: float) -> None:
    """Let heading and drift vary with each other as far as both come from the same fixes."""
    s, c = sincos(turn)
    gx = f.faded[0] - f.own_mean[0] * f.fading
    gy = f.faded[1] - f.own_mean[1] * f.fading
    per = w.sd[drift] * w.sd[drift] / f.spread
    x, y = per * (s * gx + c * gy), -per * (c * gx - s * gy)
    most = MOST_ENTANGLED * f.cov[YAW, YAW] * min(f.cov[drift, drift], f.cov[drift + 1, drift + 1])
    share = x * x + y * y
    if share > most:
        x, y = x * math.sqrt(most / share), y * math.sqrt(most / share)
    f.cov[YAW, drift] = f.cov[drift, YAW] = x
    f.cov[YAW, drift + 1] = f.cov[drift + 1, YAW] = y


@kernel
def turn_back(f: Row, w: Row, white: float, drift: int) -> None:
    """Make ready for a fix that the filter goes to; with the heading, if that is told by now."""
    grown = max(0.0, f.cov[YAW, YAW] - f.yaw_then)
    variance = turn_variance(f, w, white, drift) + grown
    f.lost, f.gone = variance > TOLD, 0.0
    if f.lost:
        open_up(f, w, UNKNOWN + grown)
        f.yaw_then = UNKNOWN
        return
    open_up(f, w, variance)
    turn = atan2(f.cross, f.dot)
    f.yaw = wrap(f.yaw + turn)
    if drift >= 0:
        entangle(f, w, drift, turn)
