"""Wheels that are wrong by a share of the way and of the turn, as simple simulators have it.

Between two readings the wheels of the truth have turned by Δ. With t the part of it that is of the
body's turn, −t on the left and +t on the right, a reading grows by

    (Δ − t) (1 + way_error + way_jitter u) + t (1 + turn_error + turn_jitter v)

with u and v uniform in [−1, 1) and drawn anew for each reading. An error that is given as a
distribution is drawn once per life. What jitters cancels in the long run, by the root of the number
of readings: nothing of it is a property of wheels and floor, as it is in `wheels`.
"""

from __future__ import annotations

import numpy as np

from astray.errors import PluginError
from astray.numerics import kernel, uniform_pair
from astray.plugin import Datasheets, NonNegative, Reading, Scene, Sensor
from astray.tables import WHEELS, WHEELS_PER_ROBOT, Column, Row, Rows, Table, columns

MEMORY = columns(
    Column("wheels", "", "i8"),
    Column("rollers", "", "?"),
    Column("rolled", "rad", "f8", (WHEELS_PER_ROBOT,)),
    Column("angle", "rad", "f8", (WHEELS_PER_ROBOT,)),
)
"""What there is to read, how far the wheels had turned at the last reading, and what was read."""


@kernel
def sense(o: Row, m: Row, p: Row, s: Row, key: np.uint64) -> None:
    """Read the wheels of one robot."""
    elapsed = s.stamp - o.stamp
    u, v = uniform_pair(s, key, 0)
    along = 1.0 + p.way_error + p.way_jitter * (2.0 * u - 1.0)
    about = 1.0 + p.turn_error + p.turn_jitter * (2.0 * v - 1.0)
    around = 0.0
    if m.rollers:
        for k in range(WHEELS_PER_ROBOT):
            change = 0.25 * (s.wheel[k] - m.rolled[k])
            around += change if k % 2 else -change
    for side in range(0, m.wheels, 2):
        left, right = s.wheel[side] - m.rolled[side], s.wheel[side + 1] - m.rolled[side + 1]
        turn = around if m.rollers else 0.5 * (right - left)
        m.angle[side] += (left + turn) * along - turn * about
        m.angle[side + 1] += (right - turn) * along + turn * about
    for k in range(m.wheels):
        m.rolled[k] = s.wheel[k]
        o.rate[k] = (m.angle[k] - o.angle[k]) / elapsed if elapsed > 0.0 else 0.0
        o.angle[k] = m.angle[k]
    o.steer = s.steer


@kernel
def sense_all(
    out: Table, memory: Table, params: Table, truth: Table, rows: Rows, key: np.uint64
) -> None:
    """Read the wheels of these rows."""
    for i in rows:
        sense(out[i], memory[i], params[i], truth[i], key)


class Odometer(Sensor, kind="odometer"):
    """Wheels with shares of error of the way and of the turn, for life or anew at each reading."""

    measures = WHEELS
    remembers = MEMORY
    way_error: float = 0.0  # share by which ways come out too long
    turn_error: float = 0.0  # share by which turns come out too large
    way_jitter: NonNegative = 0.0  # share by which each reading's way is wrong at most, uniformly
    turn_jitter: NonNegative = 0.0  # share by which each reading's turn is wrong at most, uniformly

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Refuse a robot that has no wheels."""
        self.body = sheets["motion"]
        if not self.body.wheels:
            raise PluginError(f"a robot that moves as {self.body.kind!r} has no wheels")

    def reset(self, rows: Rows) -> None:
        """Look at what there is to read."""
        self.memory["wheels"][rows] = self.body.wheels
        self.memory["rollers"][rows] = self.body.kind == "omni"

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the wheels of these rows."""
        sense_all(out.table, self.memory, self.params, scene.truth, rows, self.key)
