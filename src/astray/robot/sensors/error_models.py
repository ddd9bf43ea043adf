"""Error models that sensors share, as laws over time: neither dt nor the rate changes them.

White noise and random walk. A datasheet or an Allan variance plot (IEEE Std 952) gives the angle
random walk N of a gyro, rad/s/√Hz, or the velocity random walk of an accelerometer, m/s²/√Hz, and
the random walk K of their biases. Readings that are dt apart have

    white noise of the standard deviation N / √dt        a bias that changes by K √dt n

A Gauss-Markov error with the stationary standard deviation sd and the time constant tau is
correlated over time by e^(−t / tau). Over a time t it changes exactly by

    b ← k b + sd √(1 − k²) n        k = e^(−t / tau),  n a standard normal

and it starts as sd n, so that it is as large at the start as at any later time.

Bias instability B is flicker noise, whose spectrum goes as 1 / f: its Allan deviation has a floor.
A sum of Gauss-Markov errors of the same standard deviation s, whose time constants grow by a ratio
ρ, has that spectrum between these constants:

    Σ 2 s² τ / (1 + ω² τ²) ≈ π s² / (ω ln ρ)

With s = B √(ln ρ / π) the Allan deviation is √(2 ln 2 / π) B = 0.664 B at any averaging time. Six
of them are used, from 0.5 s to 1562 s. The first and the last have 1.36 times the variance, for the
shorter and longer time constants that are left out. The Allan deviation is then within 1 % of its
floor from 2 s to 1000 s.

A random switch is a state such as having a fix. It is left at the rate 1 / stay and entered at the
rate 1 / away, and it is on for the share p = stay / (stay + away) of the time. If it is on now, it
is on after a time t

    with the probability p + (1 − p) e^(−t (1 / stay + 1 / away))

A denied zone is a polygon of the map in which a sensor gets nothing.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Ge, Le

from astray.errors import PluginError
from astray.numerics import exp, inlined_kernel, kernel
from astray.tables import Array

Probability = Annotated[float, Ge(0), Le(1)]
Polygon = list[tuple[float, float]]

TAU_RATIO, FLICKER_TERMS = 5.0, 6  # ρ, and how many Gauss-Markov errors make up an instability
FLICKER_TAU = tuple(0.5 * TAU_RATIO**k for k in range(FLICKER_TERMS))  # s
_INNER_SD = math.sqrt(math.log(TAU_RATIO) / math.pi)
_OUTER_SD = math.sqrt(1.36) * _INNER_SD
FLICKER_SD = (_OUTER_SD, *(FLICKER_TERMS - 2) * (_INNER_SD,), _OUTER_SD)  # s / B


@inlined_kernel
def white_noise_scale(dt: float) -> float:
    """The standard deviation of white noise per unit of its density: 1 / √dt."""
    return 1.0 / math.sqrt(dt)


@inlined_kernel
def random_walk_scale(dt: float) -> float:
    """The standard deviation of a random walk's step per unit of its density: √dt."""
    return math.sqrt(dt)


@kernel
def gauss_markov(value: float, sd: float, tau: float, elapsed: float, n: float) -> float:
    """Propagate a Gauss-Markov error; it stays as it is if it has no sd or an infinite tau."""
    if not sd > 0.0 or not elapsed > 0.0 or tau == math.inf:
        return value
    keep = exp(-elapsed / tau)
    return keep * value + sd * math.sqrt(1.0 - keep * keep) * n


@kernel
def random_switch(on: bool, stay: float, away: float, elapsed: float, uniform: float) -> bool:
    """Whether a state that is left and entered at random is on some time later.

    It is on for `stay` seconds and off for `away` seconds on average; uniform is in [0, 1).
    """
    share = stay / (stay + away)
    keep = exp(-elapsed * (1.0 / stay + 1.0 / away))
    return uniform < (share + (1.0 - share) * keep if on else share * (1.0 - keep))


@kernel
def saturate(value: float, limit: float) -> float:
    """Clamp a value to ±limit; a limit of 0 is none."""
    return min(max(value, -limit), limit) if limit > 0.0 else value


@kernel
def quantise(value: float, step: float) -> float:
    """Round a value to whole steps; a step of 0 is none."""
    return math.floor(value / step + 0.5) * step if step > 0.0 else value


class Zones(NamedTuple):
    """Polygons of the map as kernels read them."""

    edges: Array
    """The ends (x, y, x, y) of the edges of all polygons, (edges, 4), m."""
    first_edges: Array
    """Where the edges of each polygon begin, (polygons + 1,)."""


@kernel
def zone_at(zones: Zones, x: float, y: float) -> int:
    """The index of the first polygon that contains a point, −1 if none does.

    A ray to the right crosses a polygon around the point an odd number of times.
    """
    edges, first = zones.edges, zones.first_edges
    for k in range(len(first) - 1):
        odd = False
        for e in range(first[k], first[k + 1]):
            ax, ay, bx, by = edges[e, 0], edges[e, 1], edges[e, 2], edges[e, 3]
            if (ay > y) != (by > y) and x < ax + (y - ay) / (by - ay) * (bx - ax):
                odd = not odd
        if odd:
            return k
    return -1


@kernel
def in_zones(zones: Zones, x: float, y: float) -> bool:
    """Whether any of the polygons contains a point."""
    return zone_at(zones, x, y) >= 0


def make_zones(polygons: list[Polygon]) -> tuple[Array, Array]:
    """The fields of Zones; a plain tuple takes less time to enter a kernel than a named one."""
    for polygon in polygons:
        if len(polygon) < 3:
            raise PluginError(f"a zone needs at least three corners [x, y], not {len(polygon)}")
    corners = [np.array(polygon, float) for polygon in polygons]
    edges = [np.hstack([c, np.roll(c, -1, axis=0)]) for c in corners]
    first_edges = np.cumsum([0, *(len(c) for c in corners)]).astype(np.int64)
    return np.vstack([np.zeros((0, 4)), *edges]), first_edges
