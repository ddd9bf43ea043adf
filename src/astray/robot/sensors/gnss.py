"""Satellite positioning: where the antenna is in the map, wrong mostly in the same way for a while.

The antenna is at l in the body frame. A fix is

    z = p + Rot(yaw) l + drift + jump + white        velocity: Rot(yaw) (v + w × l) + white

where drift is a Gauss-Markov error, white is new in every fix, and a jump is a multipath error that
comes and goes. Rarely a single fix is far off: an outlier. There is no fix during outages, which
come and go at random, nor in `denied` zones of the map.

The device claims the covariance of drift and white, (claim)² times it; it does not know of jumps
and outliers.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le

from astray.numerics import NAN, kernel, normal_pair, sincos, uniform_pair
from astray.plugin import Datasheets, NonNegative, Positive, Reading, Scene, Sensor
from astray.robot.sensors.denied_zones import Polygon, inside, make_zones
from astray.robot.sensors.error_models import gauss_markov, switch
from astray.tables import FIX, Array, Column, Row, Rows, Table, columns

Share = Annotated[float, Ge(0), Le(1)]
Zones = tuple[Array, Array]
MEMORY = columns(
    Column("started", "", "?"),
    Column("up", "", "?"),
    Column("jumped", "", "?"),
    "stamp s",
    Column("drift", "m", "f8", (2,)),
    Column("jump", "m", "f8", (2,)),
)
"""Whether there is a fix and a jump, and the true drift and jump."""


@kernel
def drift(m: Row, p: Row, s: Row, key: np.uint64) -> None:
    """Let the errors that last go on until now."""
    elapsed = s.stamp - m.stamp if m.started else 0.0
    a, b = normal_pair(s, key, 1)
    m.drift[0] = gauss_markov(m.drift[0], p.drift_sd, p.drift_tau, elapsed, a)
    m.drift[1] = gauss_markov(m.drift[1], p.drift_sd, p.drift_tau, elapsed, b)
    luck, other = uniform_pair(s, key, 2)
    if not m.started:
        m.up = luck * (p.mean_up + p.mean_down) < p.mean_up
    elif p.mean_down > 0.0:
        m.up = switch(m.up, p.mean_up, p.mean_down, elapsed, luck)
    if p.jump_sd > 0.0 and m.started:
        before = m.jumped
        m.jumped = switch(m.jumped, p.jump_stay, p.jump_every, elapsed, other)
        if m.jumped and not before:
            c, d = normal_pair(s, key, 3)
            m.jump[0], m.jump[1] = p.jump_sd * c, p.jump_sd * d
        elif not m.jumped:
            m.jump[0] = m.jump[1] = 0.0
    m.started, m.stamp = True, s.stamp


@kernel
def sense(o: Row, m: Row, p: Row, s: Row, key: np.uint64, zones: Zones) -> None:
    """Take one fix."""
    drift(m, p, s, key)
    sine, cosine = sincos(s.yaw)
    x, y = s.x + cosine * p.x - sine * p.y, s.y + sine * p.x + cosine * p.y
    o.lost = not m.up or inside(zones[0], zones[1], x, y)
    if o.lost:
        o.x = o.y = o.map_vx = o.map_vy = NAN
        return
    a, b = normal_pair(s, key, 0)
    o.x = x + m.drift[0] + m.jump[0] + p.position_sd * a
    o.y = y + m.drift[1] + m.jump[1] + p.position_sd * b
    if p.outlier > 0.0 and uniform_pair(s, key, 4)[0] < p.outlier:
        c, d = normal_pair(s, key, 5)
        o.x += p.outlier_sd * c
        o.y += p.outlier_sd * d
    variance = p.claim * p.claim * (p.position_sd * p.position_sd + p.drift_sd * p.drift_sd)
    o.cov[0, 0] = o.cov[1, 1] = variance
    o.velocity_sd = p.claim * p.velocity_sd
    if p.velocity_sd > 0.0:
        e, f = normal_pair(s, key, 6)
        along, across = s.vx - s.wz * p.y, s.vy + s.wz * p.x
        o.map_vx = cosine * along - sine * across + p.velocity_sd * e
        o.map_vy = sine * along + cosine * across + p.velocity_sd * f


@kernel
def sense_all(
    out: Table, memory: Table, tables: tuple[Table, Table], rows: Rows, key: np.uint64, zones: Zones
) -> None:
    """Take the fixes of these rows, of their parameters and truth."""
    params, truth = tables
    for i in rows:
        sense(out[i], memory[i], params[i], truth[i], key, zones)


class Gnss(Sensor, kind="gnss"):
    """Satellite fixes: correlated and white errors, outages, multipath jumps, Doppler velocity."""

    measures = FIX
    remembers = MEMORY
    x: float = 0.0  # m, of the antenna in the body frame
    y: float = 0.0  # m, of the antenna in the body frame
    position_sd: NonNegative = 0.1  # m, white, of each fix in x and in y
    drift_sd: NonNegative = 0.3  # m, stationary, of the correlated error in x and in y
    drift_tau: Positive = 60.0  # s, after which that error has forgotten itself
    velocity_sd: NonNegative = 0.0  # m/s, white, of the Doppler velocity; 0 if there is none
    mean_up: Positive = 60.0  # s with a fix, on average, where there are outages
    mean_down: NonNegative = 0.0  # s without, on average; 0 for no outages
    denied: list[Polygon] = field(default_factory=list)  # zones [[x, y], …] without a fix, m
    jump_sd: NonNegative = 0.0  # m, of a multipath jump in x and in y; 0 for none
    jump_every: Positive = 60.0  # s without a jump, on average
    jump_stay: Positive = 2.0  # s that a jump lasts, on average
    outlier: Share = 0.0  # probability that a single fix is far off
    outlier_sd: NonNegative = 20.0  # m, by which it is in x and in y
    claim: Positive = 1.0  # claimed over true standard deviation: below 1 it claims too much

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Lay out the zones."""
        self.zones = make_zones(self.denied)

    def reset(self, rows: Rows) -> None:
        """Draw the drift with which these rows start."""
        sd = self.params["drift_sd"][rows]
        self.memory["drift"][rows] = sd[:, None] * self.episode_normals(rows, 2)

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Take the fixes of these rows."""
        tables = (self.params, scene.truth)
        sense_all(out.table, self.memory, tables, rows, self.key, self.zones)
