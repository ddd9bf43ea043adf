"""Drives about at random, and turns away from what it sees.

The turn rate r is a Gauss-Markov process of standard deviation `turn_sd` and correlation time
`turn_tau`, exact between any two decisions that are Δ seconds apart, so that neither dt nor the
rate of decisions changes its statistics:

    r' = f r + turn_sd √(1 − f²) n        f = exp(−Δ / turn_tau), n a standard normal

Any sensor whose readings have an array `ranges` (n, rays) shows what is near. What is ahead, within
a right angle of the heading, and nearer than `keep`, is turned away from and slows down:

    near = 1 − range / keep        wz = ± dodge · near        vx = speed · (1 − near)

of the nearest, so that a robot that can turn where it stands never touches what stands still. A car
needs a `keep` above its turning circle. The side is chosen once, away from where more is near, and
kept until the way is free: a robot in a corner does not dither.

Where rays point is on the sensor's datasheet: `mounts`, or `angle_min` and `angle_max`, or
`field_of_view` and `yaw`; without these they are spread over the circle, the first at −π.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import TAU, exp, kernel, normal_pair
from astray.plugin import Autonomy, Datasheet, Datasheets, Known, NonNegative, Positive
from astray.tables import TWIST, Array, Column, Row, Rows, Table, columns

MEMORY = columns(
    Column("begun", "", "?"),
    "time s",
    "turn rad/s",
    "side",
    "near",
    "left",
    "right",
)
"""When a robot last decided, its random turn, the side it dodges to, and what is near to it."""

AHEAD = 0.5 * math.pi  # rad to either side
ROUND = 1e-6  # rad by which a circle may miss being whole


@kernel
def drift(m: Row, p: Row, who: Row, now: float, key: np.uint64) -> None:
    """Let the random turn rate of one robot go on to the present."""
    keeps = exp(-(now - m.time) / p.turn_tau) if m.begun else 0.0
    random, _ = normal_pair(who, key, 0)
    m.turn = keeps * m.turn + p.turn_sd * math.sqrt(1.0 - keeps * keeps) * random
    m.begun, m.time = True, now
    m.near, m.left, m.right = 0.0, 0.0, 0.0


@kernel
def drift_all(
    memory: Table, params: Table, address: Table, time: Array, rows: Rows, key: np.uint64
) -> None:
    """Let the random turn rates of these rows go on to the present."""
    for i in rows:
        drift(memory[i], params[i], address[i], time[i], key)


@kernel
def look(m: Row, p: Row, ranges: Array, bearings: Array) -> None:
    """Note what is near ahead of one robot: how near, and how much of it there is on each side."""
    for k in range(len(bearings)):
        if abs(bearings[k]) < AHEAD and ranges[k] < p.keep:
            near = 1.0 - max(ranges[k], 0.0) / p.keep  # what is too near to measure reads −inf
            m.near = max(m.near, near)
            if bearings[k] > 0.0:
                m.left += near
            elif bearings[k] < 0.0:
                m.right += near


@kernel
def look_all(
    memory: Table, params: Table, ranges: Array, stamp: Array, bearings: Array, rows: Rows
) -> None:
    """Note what is near to these rows, where a reading has arrived."""
    for i in rows:
        if not math.isnan(stamp[i]):
            look(memory[i], params[i], ranges[i], bearings)


@kernel
def decide(c: Row, m: Row, p: Row) -> None:
    """Choose speed and turn rate for one robot."""
    c.mode, c.vx, c.vy, c.wz, c.curvature = TWIST, p.speed, 0.0, m.turn, 0.0
    if m.near == 0.0:
        m.side = 0.0
        return
    if m.side == 0.0:
        more = m.right - m.left
        m.side = math.copysign(1.0, m.turn if more == 0.0 else more)
    c.wz = m.side * p.dodge * m.near
    c.vx = p.speed * (1.0 - m.near)


@kernel
def decide_all(command: Table, memory: Table, params: Table, rows: Rows) -> None:
    """Choose speed and turn rate for these rows."""
    for i in rows:
        decide(command[i], memory[i], params[i])


def bearings_of(sheet: Datasheet, rays: int) -> Array:
    """The direction of each ray in the body, (rays,) rad."""
    if "mounts" in sheet.values:  # each ray has its own
        return np.asarray(sheet["mounts"], float)[:, 2]
    view, yaw = (float(sheet.values.get(k, d)) for k, d in (("field_of_view", TAU), ("yaw", 0.0)))
    first = float(sheet.values.get("angle_min", yaw - 0.5 * view))
    last = float(sheet.values.get("angle_max", first + view))
    gaps = rays if last - first > TAU - ROUND else max(rays - 1, 1)
    bearings = first + (last - first) / gaps * np.arange(rays)
    return np.asarray((bearings + math.pi) % TAU - math.pi)


class Wander(Autonomy, kind="wander"):
    """Drives about at random and turns away from what its range readings show."""

    remembers = MEMORY
    speed: Positive = 0.4  # m/s
    turn_sd: NonNegative = 0.4  # rad/s, of the random turn rate
    turn_tau: Positive = 2.0  # s, over which it forgets itself
    keep: Positive = 0.8  # m; what is nearer than this is turned away from
    dodge: Positive = 1.5  # rad/s, to turn away from what is touched

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Take note of the datasheets, which say where rays point."""
        self.sheets = sheets
        self.bearings: dict[str, Array] = {}

    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Choose speed and turn rate for these rows."""
        drift_all(self.memory, self.params, self.address, known.time, rows, self.key)
        for name, reading in known.readings.items():
            if "ranges" in reading.arrays:
                ranges = reading.arrays["ranges"]
                if name not in self.bearings:
                    self.bearings[name] = bearings_of(self.sheets[name], ranges.shape[1])
                seen = self.bearings[name]
                look_all(self.memory, self.params, ranges, reading.stamp, seen, rows)
        decide_all(command, self.memory, self.params, rows)
