"""Relative pose error: how wrong a believed move is, whatever the pose it began with.

A move begins at a true pose and ends once the true way since has grown to `over` metres; then the
next begins. With the true poses q and the believed poses p at its ends,

    E = (q₀⁻¹ q₁)⁻¹ (p₀⁻¹ p₁)        RPE = √(mean |translation of E|²) over the moves so far

so a belief that is merely displaced or turned as a whole has none.
"""

from __future__ import annotations

import math

from astray.numerics import NAN, kernel, relative_pose
from astray.plugin import Metric, Positive
from astray.tables import Array, Column, Row, Rows, Table, columns

MEMORY = columns(
    Column("started", "", "?"),
    Column("moves", "", "i8"),
    Column("begun", "m, m, rad", "f8", (2, 3)),
    Column("last", "m", "f8", (2,)),
    "way m",
    "squares m²",
)
"""The true and the believed pose where the move began, the last true point, the way since, and the
sum over the moves so far."""


@kernel
def begin(m: Row, s: Row, b: Row) -> None:
    """Begin a move."""
    m.begun[0, 0], m.begun[0, 1], m.begun[0, 2] = s.x, s.y, s.yaw
    m.begun[1, 0], m.begun[1, 1], m.begun[1, 2] = b.x, b.y, b.yaw
    m.way = 0.0


@kernel
def follow(m: Row, s: Row, b: Row, over: float) -> None:
    """Go on to the next pair of poses; end the move if it is long enough."""
    if not m.started:
        begin(m, s, b)
    else:
        dx, dy = s.x - m.last[0], s.y - m.last[1]
        m.way += math.sqrt(dx * dx + dy * dy)
    m.started = True
    m.last[0], m.last[1] = s.x, s.y
    if m.way >= over:
        q, p = m.begun[0], m.begun[1]
        true = relative_pose((q[0], q[1], q[2]), (s.x, s.y, s.yaw))
        believed = relative_pose((p[0], p[1], p[2]), (b.x, b.y, b.yaw))
        error = relative_pose(true, believed)
        m.moves += 1
        m.squares += error[0] * error[0] + error[1] * error[1]
        begin(m, s, b)


@kernel
def measure_all(
    out: Array, memory: Table, tables: tuple[Table, Table], params: Table, rows: Rows
) -> None:
    """The relative pose error so far, m, of these rows of truth and belief."""
    truth, belief = tables
    for i in rows:
        m = memory[i]
        follow(m, truth[i], belief[i], params[i].over)
        out[i] = math.sqrt(m.squares / m.moves) if m.moves > 0 else NAN


class Rpe(Metric, kind="rpe"):
    """Root mean square error of believed moves of some length, whatever they began with."""

    unit = "m"
    remembers = MEMORY
    over: Positive = 10.0  # m of true way that a move has

    def measure(self, rows: Rows, truth: Table, belief: Table, out: Array) -> None:
        """The relative pose error of these rows so far."""
        measure_all(out, self.memory, (truth, belief), self.params, rows)
