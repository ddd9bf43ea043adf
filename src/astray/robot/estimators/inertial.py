"""Position from an IMU alone: rates to heading, forces to velocity, velocity to position.

For a reading that came dt after the last one, in this order:

    yaw += w dt                          wrapped to (−π, π]
    a = Rot(yaw) (ax, ay)                into the map, with the new heading
    v += a dt        vz += (az − g) dt   gravity is taken off the vertical
    p += v dt        z += vz dt          with the new velocity

A dt of zero or less, or of more than a second, is skipped: the reading after a gap tells nothing
of what happened in it. The stamp is kept then, so that the next one counts again; only a single
late reading, one that is at most a second old, does not set it back.

A real unit feels the centripetal term v w by itself. Made-up signals often leave it out; it is
then put in: a += w × v. What integrates is the point where the unit is mounted; the belief is of
the body's reference point.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from astray.numerics import (
    CHUNK,
    NAN,
    inlined_kernel,
    kernel,
    rotation_matrix,
    sincos,
    sincos_all,
    wrap,
)
from astray.plugin import Datasheets, Estimator, Known, NonNegative, Positive, sensor_that_measures
from astray.tables import IMU, Array, Column, Row, Rows, Table, columns

MEMORY = columns(
    Column("started", "", "?"),
    Column("synthesize", "", "?"),
    Column("axes", "", "f8", (3, 3)),
    "x m",
    "y m",
    "stamp s",
    "u m/s",
    "v m/s",
    "up m/s",
)
"""The mount by the datasheet, the stamp of the last reading, the mount's velocity in the map."""

Tables = tuple[Table, Table, Table]
"""Belief, memory and parameters."""
Heading = tuple[float, float, float]
"""A yaw, rad, its sine and its cosine."""


@inlined_kernel
def rate(m: Row, o: Row) -> float:
    """The rate about the vertical that a reading tells of."""
    r = m.axes
    return float(r[2, 0] * o.wx + r[2, 1] * o.wy + r[2, 2] * o.wz)


@kernel
def integrate(b: Row, m: Row, p: Row, o: Row, heading: Heading) -> None:
    """Advance one belief by one reading, given its new heading."""
    r, dt, wz = m.axes, o.stamp - m.stamp, rate(m, o)
    ax = r[0, 0] * o.ax + r[0, 1] * o.ay + r[0, 2] * o.az
    ay = r[1, 0] * o.ax + r[1, 1] * o.ay + r[1, 2] * o.az
    az = r[2, 0] * o.ax + r[2, 1] * o.ay + r[2, 2] * o.az
    if m.x != 0.0 or m.y != 0.0:  # from the reference point to the mount
        s, c = sincos(b.yaw)
        b.x, b.y = b.x + c * m.x - s * m.y, b.y + s * m.x + c * m.y
    b.yaw, s, c = heading
    a, e = c * ax - s * ay, s * ax + c * ay
    if m.synthesize:
        a, e = a - wz * m.v, e + wz * m.u
    m.u += a * dt
    m.v += e * dt
    m.up += (az - p.gravity) * dt
    b.x += m.u * dt - (c * m.x - s * m.y)
    b.y += m.v * dt - (s * m.x + c * m.y)
    b.z += m.up * dt
    b.vx = c * m.u + s * m.v + wz * m.y
    b.vy = -s * m.u + c * m.v - wz * m.x
    b.vz, b.wz, b.ax, b.ay = m.up, wz, ax, ay
    m.stamp = b.stamp = o.stamp


@kernel
def estimate(b: Row, m: Row, p: Row, o: Row, heading: Heading) -> None:
    """Take in one reading, if the time since the last one makes sense."""
    dt = o.stamp - m.stamp
    if not m.started:
        m.started = True
        m.stamp = b.stamp = o.stamp
    elif 0.0 < dt <= p.longest:
        integrate(b, m, p, o, heading)
    elif abs(dt) > p.longest:
        m.stamp = b.stamp = o.stamp


@kernel
def estimate_all(tables: Tables, imu: Table, rows: Rows, w: Array) -> None:
    """Take in the fresh readings of these rows; w is room for three numbers of some of them."""
    belief, memory, params = tables
    for start in range(0, len(rows), CHUNK):
        some = rows[start : start + CHUNK]
        for j in range(len(some)):
            m, o = memory[some[j]], imu[some[j]]
            w[0, j] = w[2, j] = wrap(belief[some[j]].yaw + rate(m, o) * (o.stamp - m.stamp))
        sincos_all(w, len(some))
        for j in range(len(some)):
            i, heading = some[j], (w[2, j], w[0, j], w[1, j])
            if imu[i].fresh:
                estimate(belief[i], memory[i], params[i], imu[i], heading)


class Inertial(Estimator, kind="inertial"):
    """Integrates rates and forces of an IMU to heading, velocity and position."""

    remembers = MEMORY
    fixed = ("initial_x", "initial_y", "initial_z", "initial_theta")
    centripetal: Literal["auto", "measured", "synthesize"] = "auto"  # by datasheet; in it; put in
    gravity: NonNegative = 9.81  # m/s²
    longest: Positive = 1.0  # s between readings that are still believed
    initial_x: float | None = None  # m; where the robot starts unless given
    initial_y: float | None = None  # m
    initial_z: float | None = None  # m
    initial_theta: float | None = None  # rad

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Find the unit and read its datasheet."""
        self.imu = sensor_that_measures(IMU, sheets, "inertial")
        unit = sheets[self.imu].values
        angles = [np.array([unit.get(name, 0.0)]) for name in ("roll", "pitch", "yaw")]
        # It starts at rest, with the mount of the datasheet.
        self.at_first["axes"] = rotation_matrix(angles[0], angles[1], angles[2])[0]
        for name in ("x", "y"):
            self.at_first[name] = unit.get(name, 0.0)
        auto = self.centripetal == "auto" and not unit.get("centripetal", True)
        self.at_first["synthesize"] = auto or self.centripetal == "synthesize"

    def start(self, rows: Rows, belief: Table) -> None:
        """Begin at the initial pose if one is given; how wrong it will be is not known."""
        names = {"x": "initial_x", "y": "initial_y", "z": "initial_z", "yaw": "initial_theta"}
        for column, name in names.items():
            if getattr(self, name) is not None:
                belief[column][rows] = self.params[name][rows]
        belief["cov"][rows] = NAN

    def believe(self, rows: Rows, belief: Table) -> None:
        """Start over at rest from a belief that was set from outside."""
        for column in ("u", "v", "up"):
            self.memory[column][rows] = 0.0
        for column in ("vx", "vy", "vz"):
            belief[column][rows] = 0.0
        belief["cov"][rows] = NAN

    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Take in the fresh readings of these rows."""
        tables = belief, self.memory, self.params
        estimate_all(tables, known.readings[self.imu].table, rows, self.scratch(3))
