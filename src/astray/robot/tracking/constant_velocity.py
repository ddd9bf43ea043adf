"""The Kalman filter of one track: nearly constant velocity, measured in range and bearing.

Prediction. The velocity walks with the density q of white acceleration. In blocks of position and
velocity, A = cov(p), B = cov(p, v), C = cov(v), over a time t

    A ← A + t (B + Bᵀ) + t² C + q² t³ / 3        B ← B + t C + q² t² / 2        C ← C + q² t

Measurement. Range r and bearing b with normal errors, as a position. The mean of cos(b + e) is
λ cos b with λ = e^(−bearing_sd² / 2), so the plain conversion is too short; divided by λ it is
unbiased. Its covariance given the measurement is diagonal along and across the line of sight (Mo et
al., 1998),

    along  = (λ⁻² − 2) r² + ½ (r² + range_sd²) (1 + λ⁴)
    across = ½ (r² + range_sd²) (1 − λ⁴)

which is range_sd² and (r bearing_sd)² where the bearing is good.

Update. A detection z of the position with the covariance R has the innovation ν = z − p with
S = A + R, and

    p ← p + A S⁻¹ ν        v ← v + Bᵀ S⁻¹ ν        P ← P − (A B)ᵀ S⁻¹ (A B)
"""

from __future__ import annotations

from typing import NamedTuple

from astray.numerics import Pose, inlined_kernel, sincos
from astray.tables import Array, Column, Row, columns

TRACK_FILTER = columns(
    Column("number", "", "i8"),  # 0 until confirmed
    Column("identity", "", "i4"),  # of the robot, −1 if unknown
    Column("source", "", "i4"),  # the sensor that detected it last
    Column("looks", "", "i2"),
    Column("hits", "", "i2"),  # detections in those looks
    Column("votes", "", "i2"),  # for the identity
    Column("status", "", "i2"),  # FREE, TENTATIVE or CONFIRMED: track_lifecycle.py
    "first_seen s",
    "last_seen s",
    Column("missed", "", "i8"),  # looks since
    "candidate_stamp s",  # the detection that may end a time in which it was hidden
    "candidate_x m",
    "candidate_y m",
    "x m",
    "y m",
    "map_vx m/s",
    "map_vy m/s",
    Column("cov", "m², m²/s, m²/s²", "f8", (10,)),  # upper triangle, without the observer's own
)
"""A track in the tracker. Kept small: it is read from one end to the other."""
XX, XY, YY, XU, XV, YU, YV, UU, UV, VV = range(10)
"""The entries of `cov`: x, y, and the velocities u and v."""

DETECTION_ROWS = 8
DET_X, DET_Y, DET_XX, DET_XY, DET_YY, IDENTITY, TRACK, CANDIDATES = range(DETECTION_ROWS)
"""The rows of an array of detections, a column each: position, covariance, identity, the track that
it is assigned to; the last row lists the candidates of the track that is looked at."""

MIN_VARIANCE = 1e-8  # m²; a sensor that claims to be perfect is trusted to a tenth of a millimetre


class DetectionSensor(NamedTuple):
    """A sensor of other robots, by its datasheet."""

    mount: Pose
    range_sd: float
    range_sd_per_m: float
    unbias: float
    """1 / λ."""
    shrink_4: float
    """λ⁴."""
    wrong_identity_cost: float
    """−2 log of how likely a detection has another identity than its track."""
    false_alarm_cost: float
    """−2 log of how many false alarms there are per m², less a constant."""
    source: int
    """Its number among the sensors of the tracker."""


class PositionDetection(NamedTuple):
    """A detected position in the map, m, and its covariance, m²."""

    x: float
    y: float
    xx: float
    xy: float
    yy: float


@inlined_kernel
def polar_to_map(
    distance: float, bearing: float, mount: Pose, sensor: DetectionSensor
) -> PositionDetection:
    """The unbiased position of what was detected from a mount in the map."""
    range_sd, shrink_4 = sensor.range_sd + sensor.range_sd_per_m * distance, sensor.shrink_4
    unbias = sensor.unbias
    square, spread = distance * distance, distance * distance + range_sd * range_sd
    along = (unbias * unbias - 2.0) * square + 0.5 * spread * (1.0 + shrink_4) + MIN_VARIANCE
    across = 0.5 * spread * (1.0 - shrink_4) + MIN_VARIANCE
    s, c = sincos(mount[2] + bearing)
    x, y = mount[0] + distance * unbias * c, mount[1] + distance * unbias * s
    xx, yy = c * c * along + s * s * across, s * s * along + c * c * across
    return PositionDetection(x, y, xx, c * s * (along - across), yy)


@inlined_kernel
def start_track(track: Row, detections: Array, j: int, speed_sd: float) -> None:
    """Start a track at a detection, with an unknown velocity."""
    track.x, track.y = detections[DET_X, j], detections[DET_Y, j]
    track.map_vx, track.map_vy = 0.0, 0.0
    p = track.cov
    for m in range(10):
        p[m] = 0.0
    p[XX], p[XY], p[YY] = detections[DET_XX, j], detections[DET_XY, j], detections[DET_YY, j]
    p[UU] = p[VV] = speed_sd * speed_sd


@inlined_kernel
def predict(track: Row, t: float, q: float) -> None:
    """Propagate a track over a time t."""
    p, qq = track.cov, q * q
    track.x += t * track.map_vx
    track.y += t * track.map_vy
    tt = t * t
    p[XX] += 2.0 * t * p[XU] + tt * p[UU] + qq * tt * t / 3.0
    p[XY] += t * (p[XV] + p[YU]) + tt * p[UV]
    p[YY] += 2.0 * t * p[YV] + tt * p[VV] + qq * tt * t / 3.0
    p[XU] += t * p[UU] + 0.5 * qq * tt
    p[XV] += t * p[UV]
    p[YU] += t * p[UV]
    p[YV] += t * p[VV] + 0.5 * qq * tt
    p[UU] += qq * t
    p[VV] += qq * t


@inlined_kernel
def compute_nis(track: Row, detections: Array, j: int) -> tuple[float, float]:
    """The normalised innovation squared νᵀ S⁻¹ ν of a detection, and |S|."""
    p = track.cov
    sxx, sxy = p[XX] + detections[DET_XX, j], p[XY] + detections[DET_XY, j]
    syy = p[YY] + detections[DET_YY, j]
    determinant = sxx * syy - sxy * sxy
    ex, ey = detections[DET_X, j] - track.x, detections[DET_Y, j] - track.y
    return (syy * ex * ex - 2.0 * sxy * ex * ey + sxx * ey * ey) / determinant, determinant


@inlined_kernel
def kalman_update(track: Row, detections: Array, j: int) -> None:
    """Update a track by a detection."""
    p = track.cov
    sxx, sxy = p[XX] + detections[DET_XX, j], p[XY] + detections[DET_XY, j]
    syy = p[YY] + detections[DET_YY, j]
    scale = 1.0 / (sxx * syy - sxy * sxy)
    ixx, ixy, iyy = syy * scale, -sxy * scale, sxx * scale  # S⁻¹
    ex, ey = detections[DET_X, j] - track.x, detections[DET_Y, j] - track.y
    # The columns of (A B): those of x, y, u and v; each with its row of the gain.
    x0, x1, y0, y1 = p[XX], p[XY], p[XY], p[YY]
    u0, u1, v0, v1 = p[XU], p[YU], p[XV], p[YV]
    gx0, gx1 = x0 * ixx + x1 * ixy, x0 * ixy + x1 * iyy
    gy0, gy1 = y0 * ixx + y1 * ixy, y0 * ixy + y1 * iyy
    gu0, gu1 = u0 * ixx + u1 * ixy, u0 * ixy + u1 * iyy
    gv0, gv1 = v0 * ixx + v1 * ixy, v0 * ixy + v1 * iyy
    track.x += gx0 * ex + gx1 * ey
    track.y += gy0 * ex + gy1 * ey
    track.map_vx += gu0 * ex + gu1 * ey
    track.map_vy += gv0 * ex + gv1 * ey
    p[XX] -= gx0 * x0 + gx1 * x1
    p[XY] -= gx0 * y0 + gx1 * y1
    p[YY] -= gy0 * y0 + gy1 * y1
    p[XU] -= gx0 * u0 + gx1 * u1
    p[XV] -= gx0 * v0 + gx1 * v1
    p[YU] -= gy0 * u0 + gy1 * u1
    p[YV] -= gy0 * v0 + gy1 * v1
    p[UU] -= gu0 * u0 + gu1 * u1
    p[UV] -= gu0 * v0 + gu1 * v1
    p[VV] -= gv0 * v0 + gv1 * v1
