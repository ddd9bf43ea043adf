"""Planar rigid motions SE(2): poses (x, y, yaw) in the map frame, composed on the right.

A twist (u, v, w) held for unit time moves a body along a circular arc: the exponential map. With h
= w / 2 and sinc(h) = sin(h) / h the chord of the arc is exactly sinc(h) · Rot(h) · (u, v), so there
is no case for straight lines, no cancellation, one sine and one cosine.

A car steers while it drives, so its curvature k changes over a distance u: its path is a clothoid
if it changes linearly. Yaw as the cubic that has the right value and slope at both ends is
yaw + w / 2 − (k1 − k0) u / 8 in the middle, and Simpson's rule over the distance then gives the
position, with an error that falls with the fifth power of u.
"""

from __future__ import annotations

from astray.numerics.elementary import atan2, sincos, wrap
from astray.numerics.kernels import inlined_kernel, kernel

SMALL = 0.25  # rad; below it seven terms of the series of sin(h)/h give every digit

Pose = tuple[float, float, float]


@kernel
def sinc(h: float) -> float:
    """sin(h) / h, 1 at 0."""
    if abs(h) < SMALL:
        z = h * h
        p = 1.0 / 362880.0 - z * (1.0 / 39916800.0 - z / 6227020800.0)
        return 1.0 - z * (1.0 / 6.0 - z * (1.0 / 120.0 - z * (1.0 / 5040.0 - z * p)))
    return sincos(h)[0] / h


@kernel
def sinc_slope(h: float) -> float:
    """(sin(h) / h − cos(h)) / 2h, which is −sinc′(h) / 2; 0 at 0.

    It is the integral of x sin(2 h x) over −½ ≤ x ≤ ½: how far a vector that grows along x gets
    sideways while it turns by 2 h.
    """
    if abs(h) < SMALL:
        z = h * h
        p = 1.0 / 90720.0 - z * (1.0 / 7983360.0 - z / 1037836800.0)
        return h * (1.0 / 6.0 - z * (1.0 / 60.0 - z * (1.0 / 1680.0 - z * p)))
    s, c = sincos(h)
    return (s / h - c) / (2.0 * h)


@kernel
def compose(a: Pose, b: Pose) -> Pose:
    """The pose b, given in the frame of a, in the frame that a is given in."""
    s, c = sincos(a[2])
    return a[0] + c * b[0] - s * b[1], a[1] + s * b[0] + c * b[1], wrap(a[2] + b[2])


@kernel
def inverse(a: Pose) -> Pose:
    """The inverse: composed with a it gives the origin."""
    s, c = sincos(a[2])
    return -c * a[0] - s * a[1], s * a[0] - c * a[1], wrap(-a[2])


@kernel
def relative_pose(a: Pose, b: Pose) -> Pose:
    """The pose b in the frame of a."""
    s, c = sincos(a[2])
    dx, dy = b[0] - a[0], b[1] - a[1]
    return c * dx + s * dy, -s * dx + c * dy, wrap(b[2] - a[2])


@kernel
def arc(a: Pose, u: float, v: float, w: float) -> Pose:
    """The pose reached from a along the arc of the body-frame displacement (u, v) and turn w."""
    return arc_given_heading(a, u, v, w, sincos(a[2] + 0.5 * w))


@inlined_kernel
def arc_given_heading(a: Pose, u: float, v: float, w: float, middle: tuple[float, float]) -> Pose:
    """`arc`, given sine and cosine of the heading in the middle of it."""
    (s, c), k = middle, sinc(0.5 * w)
    return a[0] + k * (c * u - s * v), a[1] + k * (s * u + c * v), wrap(a[2] + w)


@inlined_kernel
def sincos_of_small(h: float) -> tuple[float, float]:
    """Sine and cosine of an angle that is usually small."""
    if abs(h) < SMALL:
        z = h * h
        p = 1.0 / 40320.0 - z * (1.0 / 3628800.0 - z / 479001600.0)
        return h * sinc(h), 1.0 - z * (0.5 - z * (1.0 / 24.0 - z * (1.0 / 720.0 - z * p)))
    return sincos(h)


@inlined_kernel
def clothoid_chord(u: float, w: float, change: float) -> tuple[float, float]:
    """The chord (along, across) of a distance u with turn w; the curvature grows by `change`."""
    s1, c1 = sincos_of_small(0.5 * w - 0.125 * change * u)
    s2, c2 = sincos_of_small(w)
    sixth = u / 6.0
    return sixth * (1.0 + 4.0 * c1 + c2), sixth * (4.0 * s1 + s2)


@inlined_kernel
def displace(a: Pose, along: float, across: float, w: float) -> Pose:
    """The pose reached from a by a displacement in the frame of a and a turn w."""
    s, c = sincos(a[2])
    return a[0] + c * along - s * across, a[1] + s * along + c * across, wrap(a[2] + w)


@kernel
def clothoid_step(a: Pose, u: float, w: float, change: float) -> Pose:
    """The pose after a distance u with turn w from a; the curvature grows by `change`, 1/m."""
    along, across = clothoid_chord(u, w, change)
    return displace(a, along, across, w)


@kernel
def exp_se2(u: float, v: float, w: float) -> Pose:
    """The pose reached from the origin along the arc (u, v, w): the exponential map."""
    return arc((0.0, 0.0, 0.0), u, v, w)


@kernel
def log_se2(a: Pose) -> Pose:
    """The arc (u, v, w) with |w| ≤ π from the origin to a: the logarithm of a."""
    h = 0.5 * a[2]
    s, c = sincos(h)
    k = 1.0 / sinc(h)
    return k * (c * a[0] + s * a[1]), k * (-s * a[0] + c * a[1]), a[2]


@kernel
def bearing_to(a: Pose, x: float, y: float) -> float:
    """The direction of the point (x, y) in the frame of a, in (−π, π]."""
    return wrap(atan2(y - a[1], x - a[0]) - a[2])
