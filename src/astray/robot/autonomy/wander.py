"""Wander: drives about at random, and turns away from obstacles in its ranges.

The turn rate r is a Gauss-Markov process of standard deviation `turn_sd` and correlation time
`turn_tau`, exact between any two decisions that are Δ seconds apart, so that neither dt nor the
rate of decisions changes its statistics:

    r' = f r + turn_sd √(1 − f²) n        f = exp(−Δ / turn_tau), n a standard normal

Any sensor whose readings have an array `ranges` (n, rays) shows obstacles. Those ahead, within a
right angle of the heading, and nearer than `keep`, make the robot turn away and slow down:

    near = 1 − range / keep        wz = ± dodge · near        vx = speed · (1 − near)

of the nearest, so that a robot that can turn on the spot never touches a static obstacle. A car
needs a `keep` above its turning circle. The side is chosen once, away from the side with more
obstacles, and kept until none is near, so that the robot does not oscillate in corners.

The directions of rays are on the sensor's datasheet: `mounts`, or `angle_min` and `angle_max`, or
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
"""Time of the last decision, random turn rate, side that the robot turns to; how near the nearest
obstacle is (0 to 1), and the sum of that over all obstacles on the left and on the right."""

AHEAD = 0.5 * math.pi  # rad to either side
FULL_CIRCLE_GAP = 1e-6  # rad by which a full circle may be short


@kernel
def propagate_turn_rate(m: Row, p: Row, address: Row, now: float, key: np.uint64) -> None:
    """Propagate the random turn rate of one robot to the present."""
    keep = exp(-(now - m.time) / p.turn_tau) if m.begun else 0.0
    random, _ = normal_pair(address, key, 0)
    m.turn = keep * m.turn + p.turn_sd * math.sqrt(1.0 - keep * keep) * random
    m.begun, m.time = True, now
    m.near, m.left, m.right = 0.0, 0.0, 0.0


@kernel
def propagate_turn_rates_all(
    memory: Table, params: Table, address: Table, time: Array, rows: Rows, key: np.uint64
) -> None:
    """Propagate the random turn rates of these rows to the present."""
    for i in rows:
        propagate_turn_rate(memory[i], params[i], address[i], time[i], key)


@kernel
def add_obstacles(m: Row, p: Row, ranges: Array, bearings: Array) -> None:
    """Add the obstacles that one sensor of a robot shows ahead."""
    for k in range(len(bearings)):
        if abs(bearings[k]) < AHEAD and ranges[k] < p.keep:
            near = 1.0 - max(ranges[k], 0.0) / p.keep  # below the shortest range it is −inf
            m.near = max(m.near, near)
            if bearings[k] > 0.0:
                m.left += near
            elif bearings[k] < 0.0:
                m.right += near


@kernel
def add_obstacles_all(
    memory: Table, params: Table, ranges: Array, stamp: Array, bearings: Array, rows: Rows
) -> None:
    """Add the obstacles of these rows where a reading has arrived."""
    for i in rows:
        if not math.isnan(stamp[i]):
            add_obstacles(memory[i], params[i], ranges[i], bearings)


@kernel
def decide(c: Row, m: Row, p: Row) -> None:
    """Choose speed and turn rate for one robot."""
    c.mode, c.vx, c.vy, c.wz, c.curvature = TWIST, p.speed, 0.0, m.turn, 0.0
    if m.near == 0.0:
        m.side = 0.0
        return
    if m.side == 0.0:
        balance = m.right - m.left
        m.side = math.copysign(1.0, m.turn if balance == 0.0 else balance)
    c.wz = m.side * p.dodge * m.near
    c.vx = p.speed * (1.0 - m.near)


@kernel
def decide_all(command: Table, memory: Table, params: Table, rows: Rows) -> None:
    """Choose speed and turn rate for these rows."""
    for i in rows:
        decide(command[i], memory[i], params[i])


def ray_bearings(sheet: Datasheet, rays: int) -> Array:
    """The direction of each ray in the body, (rays,) rad."""
    if "mounts" in sheet.values:  # each ray has its own
        return np.asarray(sheet["mounts"], float)[:, 2]
    view, yaw = (float(sheet.values.get(k, d)) for k, d in (("field_of_view", TAU), ("yaw", 0.0)))
    first = float(sheet.values.get("angle_min", yaw - 0.5 * view))
    last = float(sheet.values.get("angle_max", first + view))
    gaps = rays if last - first > TAU - FULL_CIRCLE_GAP else max(rays - 1, 1)
    bearings = first + (last - first) / gaps * np.arange(rays)
    return np.asarray((bearings + math.pi) % TAU - math.pi)


class Wander(Autonomy, kind="wander"):
    """Drives about at random and turns away from obstacles in its ranges."""

    remembers = MEMORY
    speed: Positive = 0.4  # m/s
    turn_sd: NonNegative = 0.4  # rad/s, of the random turn rate
    turn_tau: Positive = 2.0  # s, its correlation time
    keep: Positive = 0.8  # m; it turns away from obstacles nearer than this
    dodge: Positive = 1.5  # rad/s, turn rate away from an obstacle that it touches

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Keep the datasheets, which have the directions of rays."""
        self.sheets = sheets
        self.bearings: dict[str, Array] = {}

    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Choose speed and turn rate for these rows."""
        propagate_turn_rates_all(self.memory, self.params, self.address, known.time, rows, self.key)
        m, p = self.memory, self.params
        for name, reading in known.readings.items():
            if "ranges" in reading.arrays:
                ranges = reading.arrays["ranges"]
                if name not in self.bearings:
                    self.bearings[name] = ray_bearings(self.sheets[name], ranges.shape[1])
                add_obstacles_all(m, p, ranges, reading.stamp, self.bearings[name], rows)
        decide_all(command, m, p, rows)
