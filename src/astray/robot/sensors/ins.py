"""An inertial navigation system as a black box: a pose with drift and noise, and its covariance.

The error of the pose is a random walk plus white noise, in x, y and yaw alike:

    drift changes by walk · √dt n between readings        noise is density / √dt n per reading

so that after a time t the variance is walk² t + density² / dt, which is what the system reports.

A system with `cep` is aided by satellites, which bound its drift: the error of the position has the
standard deviation cep / 1.1774 in x and in y, so that without the white noise half of all positions
lie within a circle of the radius cep (circular error probable), and it is correlated over
`hold_tau`. There are no satellites in `denied` zones of the map. There the drift continues as a
random walk, whose variance is

    sd² + walk² t        t the time since satellites were lost

until `reacquire` seconds after it left the zone. Then the drift decays as a Gauss-Markov error,

    b ← k b + sd √(1 − k²) n        k = e^(−t / hold_tau)        variance: k² v + sd² (1 − k²)

which with `hold_tau: 0` happens at once: the position jumps.
"""

from __future__ import annotations

import math
from dataclasses import field

import numpy as np

from astray.numerics import exp, kernel, normal_pair, wrap
from astray.plugin import Datasheets, NonNegative, Reading, Scene, Sensor
from astray.robot.sensors.error_models import (
    Polygon,
    Zones,
    in_zones,
    make_zones,
    random_walk_scale,
    white_noise_scale,
)
from astray.tables import INS, Array, Column, Row, Rows, Table, columns

CEP_PER_SD = 1.17741002251547469  # √(2 ln 2), of a circular normal distribution
MEMORY = columns(
    Column("started", "", "?"),
    "period s",
    "stamp s",
    Column("held", "", "?"),
    "outside s",
    Column("drift", "m, m, rad", "f8", (3,)),
    Column("variance", "m², m², rad²", "f8", (3,)),
)
"""The true drift and its variance, and the stamp of the last reading; whether satellites bound the
drift, and for how long the system has been outside denied zones if they do not."""


@kernel
def update_reception(m: Row, p: Row, s: Row, elapsed: float, zones: Zones) -> None:
    """Update whether satellites bound the drift."""
    if in_zones(zones, s.x, s.y):
        m.held, m.outside = False, 0.0
    elif not m.held:
        m.outside += elapsed
        m.held = m.outside >= p.reacquire


@kernel
def propagate_drift(m: Row, p: Row, axis: int, elapsed: float, n: float) -> None:
    """Propagate the drift of one axis and its variance; n is a standard normal."""
    walk = p.position_walk if axis < 2 else p.yaw_walk
    if axis == 2 or math.isnan(p.cep) or not m.held:
        m.drift[axis] += walk * random_walk_scale(elapsed) * n
        m.variance[axis] += walk * walk * elapsed
        return
    sd = p.cep / CEP_PER_SD
    keep = exp(-elapsed / p.hold_tau) if p.hold_tau > 0.0 else 0.0
    m.drift[axis] = keep * m.drift[axis] + sd * math.sqrt(1.0 - keep * keep) * n
    m.variance[axis] = keep * keep * m.variance[axis] + sd * sd * (1.0 - keep * keep)


@kernel
def sense(o: Row, m: Row, p: Row, s: Row, key: np.uint64, zones: Zones) -> None:
    """Read one system."""
    elapsed = 0.0
    walk_x, walk_y = normal_pair(s, key, 0)
    walk_yaw, noise_yaw = normal_pair(s, key, 1)
    noise_x, noise_y = normal_pair(s, key, 2)
    noise_vx, noise_vy = normal_pair(s, key, 3)
    noise_wz = normal_pair(s, key, 4)[0]
    if m.started:
        elapsed = s.stamp - m.stamp
    if not math.isnan(p.cep):
        update_reception(m, p, s, elapsed, zones)
    if m.started:
        propagate_drift(m, p, 0, elapsed, walk_x)
        propagate_drift(m, p, 1, elapsed, walk_y)
        propagate_drift(m, p, 2, elapsed, walk_yaw)
    m.started, m.stamp = True, s.stamp
    per_root_dt = white_noise_scale(m.period)
    o.x = s.x + m.drift[0] + p.position_density * per_root_dt * noise_x
    o.y = s.y + m.drift[1] + p.position_density * per_root_dt * noise_y
    o.yaw = wrap(s.yaw + m.drift[2] + p.yaw_density * per_root_dt * noise_yaw)
    o.vx = s.vx + p.velocity_density * per_root_dt * noise_vx
    o.vy = s.vy + p.velocity_density * per_root_dt * noise_vy
    o.wz = s.wz + p.rate_density * per_root_dt * noise_wz
    for k in range(3):
        white = p.position_density if k < 2 else p.yaw_density
        o.cov[k, k] = m.variance[k] + white * white * per_root_dt * per_root_dt


@kernel
def sense_all(
    out: Table,
    memory: Table,
    params: Table,
    truth: Table,
    rows: Rows,
    key: np.uint64,
    zone_arrays: tuple[Array, Array],
) -> None:
    """Read the systems of these rows."""
    zones = Zones(*zone_arrays)
    for i in rows:
        sense(out[i], memory[i], params[i], truth[i], key, zones)


class Ins(Sensor, kind="ins"):
    """The true state with drift and noise, and the covariance of its error."""

    measures = INS
    remembers = MEMORY
    position_walk: NonNegative = 0.05  # m/√s, drift of x and of y
    position_density: NonNegative = 0.01  # m/√Hz, white noise of x and of y
    yaw_walk: NonNegative = 0.001  # rad/√s, drift
    yaw_density: NonNegative = 0.0005  # rad/√Hz, white noise
    velocity_density: NonNegative = 0.005  # m/s/√Hz, white noise of vx and of vy
    rate_density: NonNegative = 0.001  # rad/s/√Hz, white noise of wz
    cep: NonNegative | None = None  # m, circular error probable; unaided by default
    hold_tau: NonNegative = 10.0  # s, time constant of the drift with satellites
    reacquire: NonNegative = 0.0  # s after a denied zone until satellites are acquired
    denied: list[Polygon] = field(default_factory=list)  # m, zones [[x, y], …] without satellites

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Prepare the zones for the kernel."""
        self.zones = make_zones(self.denied)

    def reset(self, rows: Rows) -> None:
        """Start without drift, but for the error that satellites leave."""
        self.memory["period"][rows] = 1.0 / self.rate if self.rate else self.dt
        sd = np.nan_to_num(self.params["cep"][rows]) / CEP_PER_SD
        self.memory["held"][rows] = True
        self.memory["drift"][rows, :2] = sd[:, None] * self.episode_normals(rows, 2)
        self.memory["variance"][rows, :2] = (sd * sd)[:, None]

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the systems of these rows."""
        tables = out.table, self.memory, self.params, scene.truth
        sense_all(*tables, rows, self.key, self.zones)
