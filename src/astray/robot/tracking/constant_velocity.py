"""A track between detections, and through one: nearly constant velocity, and Kalman's update.

The velocity walks with the density q of white acceleration. In blocks of position and velocity,
A = cov(p), B = cov(p, v), C = cov(v), over a time t

    A ← A + t (B + Bᵀ) + t² C + q² t³ / 3        B ← B + t C + q² t² / 2        C ← C + q² t

A detection z of the position with the covariance R has the innovation z − p with S = A + R, and

    p ← p + A S⁻¹ (z − p)        v ← v + Bᵀ S⁻¹ (z − p)        P ← P − (A B)ᵀ S⁻¹ (A B)
"""

from __future__ import annotations

from astray.numerics import inlined_kernel
from astray.tables import Array, Column, Row, columns

KEPT = columns(
    Column("number", "", "i8"),
    Column("identity", "", "i4"),
    Column("source", "", "i4"),
    Column("looks", "", "i2"),
    Column("hits", "", "i2"),
    Column("votes", "", "i2"),
    Column("state", "", "i2"),
    "born s",
    "last s",
    Column("missed", "", "i8"),
    "back s",
    "back_x m",
    "back_y m",
    "x m",
    "y m",
    "map_vx m/s",
    "map_vy m/s",
    Column("p", "m², m²/s, m²/s²", "f8", (10,)),
)
"""A track as the tracker keeps it: when it was first and last seen, in how many of how many looks,
and how many it missed since; when and where it may have come `back`; whom it was taken for how
often, and its covariance without that of the believer, as the upper triangle xx xy yy, xu xv yu yv,
uu uv vv. Kept small: it is read from one end to the other."""

X, Y, XX, XY, YY, IDENTITY, TRACK, ALIKE = range(8)
FIELDS = 8
"""The lines of what is noted of detections, which are its columns: place, variances, identity, and
the track that takes it; the last one lists those that may be of the track that is looked at."""


@inlined_kernel
def coast(k: Row, t: float, q: float) -> None:
    """Let a track go on for some time."""
    p, qq = k.p, q * q
    k.x += t * k.map_vx
    k.y += t * k.map_vy
    tt = t * t
    p[0] += 2.0 * t * p[3] + tt * p[7] + qq * tt * t / 3.0
    p[1] += t * (p[4] + p[5]) + tt * p[8]
    p[2] += 2.0 * t * p[6] + tt * p[9] + qq * tt * t / 3.0
    p[3] += t * p[7] + 0.5 * qq * tt
    p[4] += t * p[8]
    p[5] += t * p[8]
    p[6] += t * p[9] + 0.5 * qq * tt
    p[7] += qq * t
    p[9] += qq * t


@inlined_kernel
def surprise(k: Row, found: Array, j: int) -> tuple[float, float]:
    """The innovation of a detection squared by its covariance, and the determinant of that."""
    sxx, sxy, syy = k.p[0] + found[XX, j], k.p[1] + found[XY, j], k.p[2] + found[YY, j]
    area = sxx * syy - sxy * sxy
    ex, ey = found[X, j] - k.x, found[Y, j] - k.y
    return (syy * ex * ex - 2.0 * sxy * ex * ey + sxx * ey * ey) / area, area


@inlined_kernel
def correct(k: Row, found: Array, j: int) -> None:
    """Take a detection into a track."""
    p = k.p
    sxx, sxy, syy = p[0] + found[XX, j], p[1] + found[XY, j], p[2] + found[YY, j]
    per = 1.0 / (sxx * syy - sxy * sxy)
    ixx, ixy, iyy = syy * per, -sxy * per, sxx * per
    ex, ey = found[X, j] - k.x, found[Y, j] - k.y
    # The columns of (A B): those of x, y, u and v; each with its gain.
    x0, x1, y0, y1 = p[0], p[1], p[1], p[2]
    u0, u1, v0, v1 = p[3], p[5], p[4], p[6]
    gx0, gx1 = x0 * ixx + x1 * ixy, x0 * ixy + x1 * iyy
    gy0, gy1 = y0 * ixx + y1 * ixy, y0 * ixy + y1 * iyy
    gu0, gu1 = u0 * ixx + u1 * ixy, u0 * ixy + u1 * iyy
    gv0, gv1 = v0 * ixx + v1 * ixy, v0 * ixy + v1 * iyy
    k.x += gx0 * ex + gx1 * ey
    k.y += gy0 * ex + gy1 * ey
    k.map_vx += gu0 * ex + gu1 * ey
    k.map_vy += gv0 * ex + gv1 * ey
    p[0] -= gx0 * x0 + gx1 * x1
    p[1] -= gx0 * y0 + gx1 * y1
    p[2] -= gy0 * y0 + gy1 * y1
    p[3] -= gx0 * u0 + gx1 * u1
    p[4] -= gx0 * v0 + gx1 * v1
    p[5] -= gy0 * u0 + gy1 * u1
    p[6] -= gy0 * v0 + gy1 * v1
    p[7] -= gu0 * u0 + gu1 * u1
    p[8] -= gu0 * v0 + gu1 * v1
    p[9] -= gv0 * v0 + gv1 * v1


@inlined_kernel
def begin(k: Row, found: Array, j: int, speed_sd: float) -> None:
    """Start a track at a detection, with no idea of its velocity."""
    k.x, k.y, k.map_vx, k.map_vy = found[X, j], found[Y, j], 0.0, 0.0
    for m in range(10):
        k.p[m] = 0.0
    k.p[0], k.p[1], k.p[2] = found[XX, j], found[XY, j], found[YY, j]
    k.p[7] = k.p[9] = speed_sd * speed_sd
