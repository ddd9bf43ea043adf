"""A navigation system as a black box: the truth with drift and noise, and what it knows of both.

The error of the pose is a drift plus white noise, in x, y and yaw alike:

    drift grows by walk · √dt between readings        noise is density / √dt per reading

so that after a time t the variance is walk² t + density² / dt, which is what the box reports.
Neither dt nor the rate of the readings changes how far it drifts.

A box with `cep` has satellites to hold on to, which bound its drift: the error of the position has
the standard deviation cep / 1.1774 in x and in y, so that half of all answers lie within a circle
of the radius cep, but for the white noise, and it forgets itself with the time constant `hold_tau`.
There are no satellites in `denied` zones of the map. There the drift goes on from where it was as a
random walk, whose variance is

    sd² + walk² t        t the time since satellites were lost

until `reacquire` seconds after it left the zone. Then the drift forgets itself exactly as

    b ← k b + sd √(1 − k²) n        k = e^(−t / hold_tau)        variance: k² v + sd² (1 − k²)

which with `hold_tau: 0` is at once: the answer snaps.
"""

from __future__ import annotations

import math
from dataclasses import field

import numpy as np

from astray.numerics import exp, kernel, normal_pair, wrap
from astray.plugin import Datasheets, NonNegative, Reading, Scene, Sensor
from astray.robot.sensors.denied_zones import Polygon, inside, make_zones
from astray.tables import INS, Array, Column, Row, Rows, Table, columns

CEP = 1.17741002251547469  # √(2 ln 2): the radius of half of a round normal law over its sd
MEMORY = columns(
    Column("started", "", "?"),
    "period s",
    "stamp s",
    Column("held", "", "?"),
    "outside s",
    Column("drift", "m, m, rad", "f8", (3,)),
    Column("variance", "m², m², rad²", "f8", (3,)),
)
"""How far the box has drifted, how far it may have, and when it last answered; whether satellites
hold it, and for how long it has been out of denied zones if they do not."""
Zones = tuple[Array, Array]


@kernel
def hold(m: Row, p: Row, s: Row, elapsed: float, zones: Zones) -> None:
    """Find out whether satellites hold the box."""
    if inside(zones[0], zones[1], s.x, s.y):
        m.held, m.outside = False, 0.0
    elif not m.held:
        m.outside += elapsed
        m.held = m.outside >= p.reacquire


@kernel
def drift(m: Row, p: Row, axis: int, elapsed: float, n: float) -> None:
    """Let the drift of one axis go on; n is a standard normal."""
    walk = p.position_walk if axis < 2 else p.yaw_walk
    if axis == 2 or math.isnan(p.cep) or not m.held:
        m.drift[axis] += walk * math.sqrt(elapsed) * n
        m.variance[axis] += walk * walk * elapsed
        return
    sd = p.cep / CEP
    keep = exp(-elapsed / p.hold_tau) if p.hold_tau > 0.0 else 0.0
    m.drift[axis] = keep * m.drift[axis] + sd * math.sqrt(1.0 - keep * keep) * n
    m.variance[axis] = keep * keep * m.variance[axis] + sd * sd * (1.0 - keep * keep)


@kernel
def sense(o: Row, m: Row, p: Row, s: Row, key: np.uint64, zones: Zones) -> None:
    """Ask one box where it is."""
    elapsed = 0.0
    walk_x, walk_y = normal_pair(s, key, 0)
    walk_yaw, noise_yaw = normal_pair(s, key, 1)
    noise_x, noise_y = normal_pair(s, key, 2)
    noise_vx, noise_vy = normal_pair(s, key, 3)
    noise_wz = normal_pair(s, key, 4)[0]
    if m.started:
        elapsed = s.stamp - m.stamp
    if not math.isnan(p.cep):
        hold(m, p, s, elapsed, zones)
    if m.started:
        drift(m, p, 0, elapsed, walk_x)
        drift(m, p, 1, elapsed, walk_y)
        drift(m, p, 2, elapsed, walk_yaw)
    m.started, m.stamp = True, s.stamp
    per = 1.0 / math.sqrt(m.period)
    o.x = s.x + m.drift[0] + p.position_density * per * noise_x
    o.y = s.y + m.drift[1] + p.position_density * per * noise_y
    o.yaw = wrap(s.yaw + m.drift[2] + p.yaw_density * per * noise_yaw)
    o.vx = s.vx + p.velocity_density * per * noise_vx
    o.vy = s.vy + p.velocity_density * per * noise_vy
    o.wz = s.wz + p.rate_density * per * noise_wz
    for k in range(3):
        white = p.position_density if k < 2 else p.yaw_density
        o.cov[k, k] = m.variance[k] + white * white * per * per


@kernel
def sense_all(
    out: Table, memory: Table, tables: tuple[Table, Table], rows: Rows, key: np.uint64, zones: Zones
) -> None:
    """Ask the boxes of these rows, of their parameters and truth."""
    params, truth = tables
    for i in rows:
        sense(out[i], memory[i], params[i], truth[i], key, zones)


class Ins(Sensor, kind="ins"):
    """The true state with drift and noise, and an honest covariance: a noisy state."""

    measures = INS
    remembers = MEMORY
    position_walk: NonNegative = 0.05  # m/√s, drift of x and of y
    position_density: NonNegative = 0.01  # m/√Hz, white noise of x and of y
    yaw_walk: NonNegative = 0.001  # rad/√s, drift
    yaw_density: NonNegative = 0.0005  # rad/√Hz, white noise
    velocity_density: NonNegative = 0.005  # m/s/√Hz, white noise of vx and of vy
    rate_density: NonNegative = 0.001  # rad/s/√Hz, white noise of wz
    cep: NonNegative | None = None  # m, of half of all positions with satellites; none unless given
    hold_tau: NonNegative = 10.0  # s, after which satellites have made it forget its drift
    reacquire: NonNegative = 0.0  # s out of a denied zone until there are satellites again
    denied: list[Polygon] = field(default_factory=list)  # zones [[x, y], …] without them, m

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Lay out the zones."""
        self.zones = make_zones(self.denied)

    def reset(self, rows: Rows) -> None:
        """Nothing has drifted yet, but what satellites leave in doubt."""
        self.memory["period"][rows] = 1.0 / self.rate if self.rate else self.dt
        sd = np.nan_to_num(self.params["cep"][rows]) / CEP
        self.memory["held"][rows] = True
        self.memory["drift"][rows, :2] = sd[:, None] * self.episode_normals(rows, 2)
        self.memory["variance"][rows, :2] = (sd * sd)[:, None]

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Ask the boxes of these rows."""
        tables = (self.params, scene.truth)
        sense_all(out.table, self.memory, tables, rows, self.key, self.zones)
