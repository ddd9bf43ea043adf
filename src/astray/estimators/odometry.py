"""Dead reckoning from wheel encoders, with the covariance that the datasheets imply.

Between two readings the wheels rolled l and r metres. The body followed the arc of

    ds = (l + r) / 2        turn = (r − l) / baseline

The error of the pose is driven by three errors that stay (the radii and the baseline) and by
random slip. To first order, with c and s the cosine and sine of the mean heading,

    F = [[1, 0, −ds s], [0, 1, ds c], [0, 0, 1]]       of the pose
    G = [c, s, 0]ᵀ δs + [−ds s / 2, ds c / 2, 1]ᵀ δt   of the wheels

where δs = (l e_l + r e_r) / 2 and δt = (r e_r − l e_l) / baseline − turn e_b. The covariance of
pose and errors together is carried along: errors that stay are not white, and a filter that takes
them for white is sure of itself where it should not be.
"""

from __future__ import annotations

from astray.errors import PluginError
from astray.kernel import kernel
from astray.maths import sincos
from astray.plugin import Estimator, Known, Sheets, sensor_that_measures
from astray.se2 import arc
from astray.table import WHEELS, WHEELS_PER_ROBOT, Column, Row, Rows, Table, columns

MEMORY = columns(
    "radius m",
    "baseline m",
    "slip_density m/√m",
    Column("started", "", "?"),
    Column("angle", "rad", "f8", (WHEELS_PER_ROBOT,)),
    Column("variance", "", "f8", (3,)),
    Column("cross", "m, rad", "f8", (3, 3)),
    Column("gain", "m, rad", "f8", (3, 3)),
)
"""The datasheet, the last reading, and how pose and lasting errors vary together."""


@kernel
def spread(b: Row, m: Row, left: float, right: float, turn: float) -> None:
    """Carry the covariance of one belief along an arc that starts at its present pose."""
    ds = 0.5 * (left + right)
    s, c = sincos(b.yaw + 0.5 * turn)
    to_x, to_y = -ds * s, ds * c
    for k in range(3):  # left radius, right radius, baseline
        dl, dr = left if k == 0 else 0.0, right if k == 1 else 0.0
        along = 0.5 * (dl + dr)
        around = -turn if k == 2 else (dr - dl) / m.baseline
        m.gain[0, k] = c * along + 0.5 * to_x * around
        m.gain[1, k] = s * along + 0.5 * to_y * around
        m.gain[2, k] = around
        # F · cross, in place: only the first two rows of F differ from the identity
        m.cross[0, k] += to_x * m.cross[2, k]
        m.cross[1, k] += to_y * m.cross[2, k]
    for i in range(2):  # F · cov · Fᵀ, in place
        to = to_x if i == 0 else to_y
        for j in range(3):
            b.cov[i, j] += to * b.cov[2, j]
    for j in range(2):
        to = to_x if j == 0 else to_y
        for i in range(3):
            b.cov[i, j] += to * b.cov[i, 2]
    slip = m.slip_density * m.slip_density
    for i in range(3):
        unit_along = c if i == 0 else (s if i == 1 else 0.0)
        unit_around = 0.5 * to_x if i == 0 else (0.5 * to_y if i == 1 else 1.0)
        for j in range(i + 1):
            other_along = c if j == 0 else (s if j == 1 else 0.0)
            other_around = 0.5 * to_x if j == 0 else (0.5 * to_y if j == 1 else 1.0)
            grown = b.cov[i, j]
            for k in range(3):
                grown += m.cross[i, k] * m.gain[j, k] + m.gain[i, k] * m.cross[j, k]
                grown += m.variance[k] * m.gain[i, k] * m.gain[j, k]
            for k in range(2):  # random slip of the left and the right wheel
                turning = (1.0 if k == 1 else -1.0) / m.baseline
                way = abs(left) if k == 0 else abs(right)
                grown += (
                    slip
                    * way
                    * (0.5 * unit_along + turning * unit_around)
                    * (0.5 * other_along + turning * other_around)
                )
            b.cov[i, j] = grown
            b.cov[j, i] = grown
    for i in range(3):
        for k in range(3):
            m.cross[i, k] += m.variance[k] * m.gain[i, k]


@kernel
def estimate(b: Row, m: Row, o: Row) -> None:
    """Move one belief by what its wheels rolled since the last reading."""
    if m.started:
        left = (o.angle[0] - m.angle[0]) * m.radius
        right = (o.angle[1] - m.angle[1]) * m.radius
        ds = 0.5 * (left + right)
        turn = (right - left) / m.baseline
        spread(b, m, left, right, turn)
        b.x, b.y, b.yaw = arc((b.x, b.y, b.yaw), ds, 0.0, turn)
        elapsed = o.stamp - b.stamp
        if elapsed > 0.0:
            vx, wz = ds / elapsed, turn / elapsed
            b.ax, b.alpha = (vx - b.vx) / elapsed, (wz - b.wz) / elapsed
            b.ay = vx * wz
            b.vx, b.wz = vx, wz
    for k in range(WHEELS_PER_ROBOT):
        m.angle[k] = o.angle[k]
        b.wheel[k] = o.angle[k]
        b.wheel_rate[k] = o.rate[k]
    m.started = True
    b.stamp = o.stamp


@kernel
def estimate_all(belief: Table, memory: Table, wheels: Table, rows: Rows) -> None:
    """Bring these beliefs up to their fresh wheel readings."""
    for i in rows:
        if wheels[i].fresh:
            estimate(belief[i], memory[i], wheels[i])


class Odometry(Estimator, kind="odometry"):
    """Dead reckoning from wheel encoders, with an honest covariance."""

    remembers = MEMORY

    def bind(self, n: int, sheets: Sheets) -> None:
        """Find the encoders and read the datasheets."""
        self.wheels = sensor_that_measures(WHEELS, sheets, "odometry")
        self.body, self.encoders = sheets["motion"], sheets[self.wheels]
        if self.body.kind != "differential":
            raise PluginError(f"odometry cannot reckon for motion {self.body.kind!r}")

    def reset(self, rows: Rows) -> None:
        """Start from what the datasheets say."""
        self.memory["radius"][rows] = self.body["radius"]
        self.memory["baseline"][rows] = self.body["baseline"]
        radius_sd = self.encoders.values.get("radius_sd", 0.0)
        baseline_sd = self.encoders.values.get("baseline_sd", 0.0)
        self.memory["slip_density"][rows] = self.encoders.values.get("slip_density", 0.0)
        self.memory["variance"][rows] = [radius_sd**2, radius_sd**2, baseline_sd**2]

    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Bring these beliefs up to their fresh wheel readings."""
        estimate_all(belief, self.memory, known.readings[self.wheels].table, rows)
