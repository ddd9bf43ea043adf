"""Trajectory errors: absolute (ATE) and relative (RPE), as root mean squares so far.

ATE is the root mean square distance of the believed from the true path. With `align: se2` the
believed path is first moved and rotated onto the true one with the least squared distance, as is
usual without a common frame (Umeyama, 1991). Running sums suffice: with the centred moments of
believed points p and true points q,

    S = Σ p qᵀ        the best rotation has (cos, sin) ∝ (S_xx + S_yy, S_xy − S_yx)
    Σ |q − R p|² = Σ |p|² + Σ |q|² − 2 √((S_xx + S_yy)² + (S_xy − S_yx)²)

RPE is the error of relative poses along segments of the path. A segment starts at a true pose and
ends once the true path since has grown to `over` metres; then the next one starts. With the true
poses q and the believed poses p at its ends,

    E = (q₀⁻¹ q₁)⁻¹ (p₀⁻¹ p₁)        RPE = √(mean |translation of E|²) over the segments so far

so a belief that is merely shifted or rotated as a whole has none.
"""

from __future__ import annotations

import math
from typing import Literal

from astray.numerics import NAN, kernel, relative_pose
from astray.plugin import Metric, Positive
from astray.tables import Array, Column, Row, Rows, Table, columns

# Absolute trajectory error.

ATE_MEMORY = columns(
    "points",  # how many there are
    Column("aligned", "", "?"),
    Column("centre", "m", "f8", (4,)),  # means of the points: PX, PY, QX, QY
    Column("moments", "m²", "f8", (5,)),  # centred: PP, QQ, COS, SIN; the last one is unused
    "squares m²",  # Σ of the squared distances
)
"""The running sums of ATE."""
PX, PY, QX, QY = range(4)
"""The entries of `centre`: believed and true."""
PP, QQ, COS, SIN = range(4)
"""The entries of `moments`: Σ |p|², Σ |q|², S_xx + S_yy, S_xy − S_yx."""


@kernel
def add_points(m: Row, px: float, py: float, qx: float, qy: float) -> None:
    """Add a believed and a true point to the sums; Welford's update keeps their digits."""
    c, s = m.centre, m.moments
    m.points += 1.0
    m.squares += (px - qx) * (px - qx) + (py - qy) * (py - qy)
    px, py, qx, qy = px - c[PX], py - c[PY], qx - c[QX], qy - c[QY]
    weight = (m.points - 1.0) / m.points
    s[PP] += weight * (px * px + py * py)
    s[QQ] += weight * (qx * qx + qy * qy)
    s[COS] += weight * (px * qx + py * qy)
    s[SIN] += weight * (px * qy - py * qx)
    c[PX] += px / m.points
    c[PY] += py / m.points
    c[QX] += qx / m.points
    c[QY] += qy / m.points


@kernel
def ate_all(out: Array, memory: Table, truth: Table, belief: Table, rows: Rows) -> None:
    """The absolute trajectory error of these rows so far, m."""
    for i in rows:
        m = memory[i]
        add_points(m, belief[i].x, belief[i].y, truth[i].x, truth[i].y)
        square = m.squares
        if m.aligned:
            s = m.moments
            rotated = math.sqrt(s[COS] * s[COS] + s[SIN] * s[SIN])
            square = max(0.0, s[PP] + s[QQ] - 2.0 * rotated)
        out[i] = math.sqrt(square / m.points)


class Ate(Metric, kind="ate"):
    """Root mean square distance between the believed and the true path so far."""

    unit = "m"
    remembers = ATE_MEMORY
    align: Literal["none", "se2"] = "none"  # move and rotate the believed path onto the true one

    def reset(self, rows: Rows) -> None:
        """Start without points."""
        self.memory["aligned"][rows] = self.align == "se2"

    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """Write the absolute trajectory error of these rows so far, m."""
        ate_all(out, self.memory, truth, belief, rows)


# Relative pose error.

RPE_MEMORY = columns(
    Column("started", "", "?"),
    Column("segments", "", "i8"),  # that ended
    Column("start_poses", "m, m, rad", "f8", (2, 3)),  # true and believed, of this segment
    Column("last_point", "m", "f8", (2,)),  # true
    "path m",  # since the start of this segment
    "squares m²",  # Σ of the squared errors
)
"""The segment of RPE that is under way, and the sum over those before."""
TRUE, BELIEVED = range(2)


@kernel
def start_segment(m: Row, truth: Row, belief: Row) -> None:
    """Start a segment."""
    p = m.start_poses
    p[TRUE, 0], p[TRUE, 1], p[TRUE, 2] = truth.x, truth.y, truth.yaw
    p[BELIEVED, 0], p[BELIEVED, 1], p[BELIEVED, 2] = belief.x, belief.y, belief.yaw
    m.path = 0.0


@kernel
def extend_segment(m: Row, truth: Row, belief: Row, over: float) -> None:
    """Extend the segment to the next poses; add its error if it is long enough."""
    if not m.started:
        start_segment(m, truth, belief)
    else:
        dx, dy = truth.x - m.last_point[0], truth.y - m.last_point[1]
        m.path += math.sqrt(dx * dx + dy * dy)
    m.started = True
    m.last_point[0], m.last_point[1] = truth.x, truth.y
    if m.path >= over:
        q, p = m.start_poses[TRUE], m.start_poses[BELIEVED]
        true = relative_pose((q[0], q[1], q[2]), (truth.x, truth.y, truth.yaw))
        believed = relative_pose((p[0], p[1], p[2]), (belief.x, belief.y, belief.yaw))
        error = relative_pose(true, believed)
        m.segments += 1
        m.squares += error[0] * error[0] + error[1] * error[1]
        start_segment(m, truth, belief)


@kernel
def rpe_all(
    out: Array, memory: Table, truth: Table, belief: Table, params: Table, rows: Rows
) -> None:
    """The relative pose error of these rows so far, m."""
    for i in rows:
        m = memory[i]
        extend_segment(m, truth[i], belief[i], params[i].over)
        out[i] = math.sqrt(m.squares / m.segments) if m.segments > 0 else NAN


class Rpe(Metric, kind="rpe"):
    """Root mean square error of believed displacements over segments of some length."""

    unit = "m"
    remembers = RPE_MEMORY
    over: Positive = 10.0  # m of true path per segment

    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """Write the relative pose error of these rows so far, m."""
        rpe_all(out, self.memory, truth, belief, self.params, rows)
