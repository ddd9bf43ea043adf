"""A GNSS receiver: the position of its antenna in the map, with correlated and white errors.

The antenna is at l in the body frame. A fix is

    z = p + Rot(yaw) l + drift + jump + white        velocity: Rot(yaw) (v + w × l) + white

where drift is a Gauss-Markov error (atmosphere, orbits), white is new in every fix, and a jump is a
multipath error that starts and ends at random. Rarely a single fix is far off: an outlier. There is
no fix during outages, which start and end at random, nor in `denied` zones of the map.

The device reports claim² times the covariance of drift and white noise. Its report does not include
jumps and outliers.
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from astray.numerics import NAN, kernel, normal_pair, sincos, uniform_pair
from astray.plugin import Datasheets, NonNegative, Positive, Reading, Scene, Sensor
from astray.robot.sensors.error_models import (
    Polygon,
    Probability,
    Zones,
    gauss_markov,
    in_zones,
    make_zones,
    random_switch,
)
from astray.tables import FIX, Array, Column, Row, Rows, Table, columns

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
def propagate_errors(m: Row, p: Row, s: Row, key: np.uint64) -> None:
    """Propagate drift, outage and multipath jump of one receiver to the present."""
    elapsed = s.stamp - m.stamp if m.started else 0.0
    a, b = normal_pair(s, key, 1)
    m.drift[0] = gauss_markov(m.drift[0], p.drift_sd, p.drift_tau, elapsed, a)
    m.drift[1] = gauss_markov(m.drift[1], p.drift_sd, p.drift_tau, elapsed, b)
    outage, multipath = uniform_pair(s, key, 2)
    if not m.started:
        m.up = outage * (p.mean_up + p.mean_down) < p.mean_up
    elif p.mean_down > 0.0:
        m.up = random_switch(m.up, p.mean_up, p.mean_down, elapsed, outage)
    if p.jump_sd > 0.0 and m.started:
        jumped_before = m.jumped
        m.jumped = random_switch(m.jumped, p.jump_stay, p.jump_every, elapsed, multipath)
        if m.jumped and not jumped_before:
            c, d = normal_pair(s, key, 3)
            m.jump[0], m.jump[1] = p.jump_sd * c, p.jump_sd * d
        elif not m.jumped:
            m.jump[0] = m.jump[1] = 0.0
    m.started, m.stamp = True, s.stamp


@kernel
def sense(o: Row, m: Row, p: Row, s: Row, key: np.uint64, zones: Zones) -> None:
    """Take one fix."""
    propagate_errors(m, p, s, key)
    sine, cosine = sincos(s.yaw)
    x, y = s.x + cosine * p.x - sine * p.y, s.y + sine * p.x + cosine * p.y
    o.lost = not m.up or in_zones(zones, x, y)
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
    out: Table,
    memory: Table,
    params: Table,
    truth: Table,
    rows: Rows,
    key: np.uint64,
    zone_arrays: tuple[Array, Array],
) -> None:
    """Take the fixes of these rows."""
    zones = Zones(*zone_arrays)
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
    drift_tau: Positive = 60.0  # s, time constant of the correlated error
    velocity_sd: NonNegative = 0.0  # m/s, white, of the Doppler velocity; 0 if there is none
    mean_up: Positive = 60.0  # s with a fix, on average, where there are outages
    mean_down: NonNegative = 0.0  # s without, on average; 0 for no outages
    denied: list[Polygon] = field(default_factory=list)  # m, zones [[x, y], …] without a fix
    jump_sd: NonNegative = 0.0  # m, of a multipath jump in x and in y; 0 for none
    jump_every: Positive = 60.0  # s without a jump, on average
    jump_stay: Positive = 2.0  # s that a jump lasts, on average
    outlier: Probability = 0.0  # probability that a single fix is far off
    outlier_sd: NonNegative = 20.0  # m, by which it is in x and in y
    claim: Positive = 1.0  # reported over true standard deviation; below 1 it is overconfident

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Prepare the zones for the kernel."""
        self.zones = make_zones(self.denied)

    def reset(self, rows: Rows) -> None:
        """Draw the initial drift of these rows."""
        sd = self.params["drift_sd"][rows]
        self.memory["drift"][rows] = sd[:, None] * self.episode_normals(rows, 2)

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Take the fixes of these rows."""
        tables = out.table, self.memory, self.params, scene.truth
        sense_all(*tables, rows, self.key, self.zones)
