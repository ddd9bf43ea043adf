"""Wheel readings with relative errors of distance and turn, as simple simulators have them.

Between two readings the wheels of the truth have turned by Δ. With t the part of it that is of the
body's turn, −t on the left and +t on the right, a reading grows by

    (Δ − t) (1 + way_error + way_jitter u) + t (1 + turn_error + turn_jitter v)

with u and v uniform in [−1, 1), drawn anew for each reading. An error that is given as a
distribution is drawn once per episode. The jitter averages out with the root of the number of
readings, so it depends on the rate: for errors of real wheels and floors see `wheels`.
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
    "way_error",
    "turn_error",
)
"""How many wheels, whether they have rollers, and of the last reading true and read angles and the
errors of distance and turn."""


@kernel
def sense(o: Row, m: Row, p: Row, s: Row, key: np.uint64) -> None:
    """Read the wheels of one robot."""
    elapsed = s.stamp - o.stamp
    u, v = uniform_pair(s, key, 0)
    distance_factor = 1.0 + p.way_error + p.way_jitter * (2.0 * u - 1.0)
    turn_factor = 1.0 + p.turn_error + p.turn_jitter * (2.0 * v - 1.0)
    m.way_error, m.turn_error = distance_factor - 1.0, turn_factor - 1.0
    around = 0.0
    if m.rollers:
        for k in range(WHEELS_PER_ROBOT):
            change = 0.25 * (s.wheel[k] - m.rolled[k])
            around += change if k % 2 else -change
    for side in range(0, m.wheels, 2):
        left, right = s.wheel[side] - m.rolled[side], s.wheel[side + 1] - m.rolled[side + 1]
        turn = around if m.rollers else 0.5 * (right - left)
        m.angle[side] += (left + turn) * distance_factor - turn * turn_factor
        m.angle[side + 1] += (right - turn) * distance_factor + turn * turn_factor
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
    """Wheel readings with relative errors of distance and turn, constant or new in each reading."""

    measures = WHEELS
    remembers = MEMORY
    way_error: float = 0.0  # relative error of distances; positive: read too long
    turn_error: float = 0.0  # relative error of turns; positive: read too large
    way_jitter: NonNegative = 0.0  # relative, largest error of each reading's distance, uniform
    turn_jitter: NonNegative = 0.0  # relative, largest error of each reading's turn, uniform

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Refuse a robot that has no wheels."""
        self.body = sheets["motion"]
        if not self.body.wheels:
            raise PluginError(f"a robot that moves as {self.body.kind!r} has no wheels")

    def reset(self, rows: Rows) -> None:
        """Take the wheels from the datasheet of the motion."""
        self.memory["wheels"][rows] = self.body.wheels
        self.memory["rollers"][rows] = self.body.kind == "omni"

    def odometry_error(self, row: int) -> tuple[float, float, float]:
        """The relative errors of the last reading of a row: distance along x, along y, and turn."""
        way, turn = float(self.memory["way_error"][row]), float(self.memory["turn_error"][row])
        return way, way if self.memory["rollers"][row] else 0.0, turn

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the wheels of these rows."""
        sense_all(out.table, self.memory, self.params, scene.truth, rows, self.key)
