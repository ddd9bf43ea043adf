"""Dead reckoning from wheel encoders, with the covariance that the datasheets imply.

Between two readings wheel k rolled d_k metres (fl, fr, rl, rr), and the body moved along, across
and around by u, v and w:

    differential   u = (fl + fr) / 2             v = 0    w = (fr − fl) / baseline
    ackermann      u = (rl + rr) / 2             v = 0    w = (rr − rl) / track
    omni           u = (fl + fr + rl + rr) / 4   v = (fr − fl + rl − rr) / 4
                   w = (fr − fl + rr − rl) / (4 (half_length + half_width))

Where a differential robot lags behind in turns, v = −lag · w · u / t. Differential and omni
followed the arc of (u, v, w), a car the curve of (u, w) whose curvature tan(steer) / wheelbase is
read at both ends: arc and bend of `se2.py`. The covariance is that of `spread.py`.
"""

from __future__ import annotations

import numpy as np

from astray.errors import PluginError
from astray.numerics import TAU, arc, clothoid_step, kernel, tan
from astray.plugin import Datasheet, Datasheets, Estimator, Known, sensor_that_measures
from astray.robot.estimators.odometry.covariance import ERRORS, SPREAD, moved, spread
from astray.tables import WHEELS, WHEELS_PER_ROBOT, Column, Row, Rows, Table, columns

MEMORY = columns(
    "radius m",
    "wheelbase m",
    "lag s",
    Column("started", "", "?"),
    Column("angle", "rad", "f8", (WHEELS_PER_ROBOT,)),
    "steer rad",
    SPREAD,
)
"""The datasheet (wheelbase 0 where nothing steers), the last reading, and the spread of errors."""

ALONG = {
    "differential": (0.5, 0.5, 0.0, 0.0),
    "ackermann": (0.0, 0.0, 0.5, 0.5),
    "omni": (0.25, 0.25, 0.25, 0.25),
}
ACROSS = {"omni": (-0.25, 0.25, 0.25, -0.25)}
AROUND = {
    "differential": (-1.0, 1.0, 0.0, 0.0),
    "ackermann": (0.0, 0.0, -1.0, 1.0),
    "omni": (-1.0, 1.0, -1.0, 1.0),
}


def arm_of(body: Datasheet) -> float:
    """What the sum of the wheels' ways around is divided by to give the turn, m."""
    if body.kind == "omni":
        return float(4.0 * (body["half_length"] + body["half_width"]))
    return float(body["track" if body.kind == "ackermann" else "baseline"])


@kernel
def estimate(b: Row, m: Row, o: Row) -> None:
    """Move one belief by what its wheels rolled since the last reading."""
    if m.started:
        for k in range(WHEELS_PER_ROBOT):
            m.rolled[k] = (o.angle[k] - m.angle[k]) * m.radius
        u, v, w = moved(m)
        spread(b, m, (u, v, w))
        if m.lag > 0.0 and o.stamp > b.stamp:
            v = 0.0 - m.lag * u * w / (o.stamp - b.stamp)
        if m.wheelbase > 0.0:
            change = (tan(o.steer) - tan(m.steer)) / m.wheelbase
            b.x, b.y, b.yaw = clothoid_step((b.x, b.y, b.yaw), u, w, change)
        else:
            b.x, b.y, b.yaw = arc((b.x, b.y, b.yaw), u, v, w)
        elapsed = o.stamp - b.stamp
        if elapsed > 0.0:
            vx, vy, wz = u / elapsed, v / elapsed, w / elapsed
            b.ax = (vx - b.vx) / elapsed - wz * vy
            b.ay = (vy - b.vy) / elapsed + wz * vx
            b.alpha = (wz - b.wz) / elapsed
            b.vx, b.vy, b.wz = vx, vy, wz
            b.steer_rate = (o.steer - m.steer) / elapsed
    for k in range(WHEELS_PER_ROBOT):
        m.angle[k] = o.angle[k]
        b.wheel[k] = o.angle[k]
        b.wheel_rate[k] = o.rate[k]
    m.steer = o.steer
    b.steer = o.steer
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

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Find the encoders and read the datasheets."""
        self.body = sheets["motion"]
        if self.body.kind not in ALONG:
            kinds = ", ".join(sorted(ALONG))
            why = "" if self.body.wheels else ": it has no wheels"
            raise PluginError(
                f"odometry cannot reckon for motion {self.body.kind!r}{why} ({kinds})"
            )
        self.wheels = sensor_that_measures(WHEELS, sheets, "odometry")
        self.encoders = sheets[self.wheels]

    def reset(self, rows: Rows) -> None:
        """Start from what the datasheets say."""
        kind, memory, said = self.body.kind, self.memory, self.encoders.values
        memory["radius"][rows] = self.body["radius"]
        memory["wheelbase"][rows] = self.body["wheelbase"] if kind == "ackermann" else 0.0
        memory["lag"][rows] = self.body["lag"] if kind == "differential" else 0.0
        memory["arm"][rows] = arm_of(self.body)
        memory["along"][rows] = ALONG[kind]
        memory["across"][rows] = ACROSS.get(kind, 0.0)
        memory["around"][rows] = AROUND[kind]
        memory["slip_density"][rows] = said.get("slip_density", 0.0)
        # A count is too low by anything up to a tick: half a tick on average, a variance of 1/12.
        tick = TAU / said["ticks"] * self.body["radius"] if said.get("ticks") else 0.0
        along, around = np.array(ALONG[kind]), np.array(AROUND[kind]) / arm_of(self.body)
        for name, way in (("rounding", along), ("turn_rounding", around)):
            memory[name][rows] = tick**2 * ((way**2).sum() / 12 + (way.sum() / 2) ** 2)
        radius_sd, baseline_sd = said.get("radius_sd", 0.0), said.get("baseline_sd", 0.0)
        memory["variance"][rows] = [radius_sd**2] * (ERRORS - 1) + [baseline_sd**2]

    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Bring these beliefs up to their fresh wheel readings."""
        estimate_all(belief, self.memory, known.readings[self.wheels].table, rows)

    def believe(self, rows: Rows, belief: Table) -> None:
        """A pose that was set from outside owes nothing to the wheels any more."""
        self.memory["cross"][rows] = 0.0
        self.memory["cov"][rows] = belief["cov"][rows]
