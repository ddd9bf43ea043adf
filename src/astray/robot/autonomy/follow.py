"""Follows a robot of another group, or of its own, to where that robot says it is.

What a robot says of itself is its belief, right or wrong. With the target d metres away, at (x, y)
in the body as believed, and going away at the speed w along the line of sight,

    vx = gain (d − distance) + w        between 0 and speed
    curvature = 2 y / d²                of the circle that leads from the heading to the target

so that behind a steady target the distance is kept without a lag. A robot that is its own target,
or whose target sleeps, stands still.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from annotated_types import Ge

from astray.errors import PluginError
from astray.numerics import kernel, sincos
from astray.plugin import Autonomy, Datasheets, Known, Positive
from astray.tables import CURVATURE, TWIST, Row, Rows, Table

SAME = 1e-9  # m; robots that are nearer have no direction to each other


@kernel
def decide(c: Row, p: Row, b: Row, t: Row) -> None:
    """Choose speed and curvature for one robot behind its target."""
    dx, dy = t.x - b.x, t.y - b.y
    away = math.sqrt(dx * dx + dy * dy)
    if not t.alive or away < SAME:
        return
    s, k = sincos(t.yaw)
    going = ((t.vx * k - t.vy * s) * dx + (t.vx * s + t.vy * k) * dy) / away
    s, k = sincos(b.yaw)
    ahead, aside = k * dx + s * dy, -s * dx + k * dy
    sharpest = 2.0 / p.distance
    bend = 2.0 * aside / (away * away)
    if ahead < 0.0:  # it is behind: turn as sharply as allowed
        bend = math.copysign(sharpest, aside)
    c.mode = CURVATURE
    c.curvature = min(max(bend, -sharpest), sharpest)
    c.vx = min(max(p.gain * (away - p.distance) + going, 0.0), p.speed)


@kernel
def decide_all(
    command: Table,
    params: Table,
    belief: Table,
    others: Table,
    per_world: tuple[int, int],
    rows: Rows,
) -> None:
    """Choose for these rows; per_world are the rows of a world among our own and the others."""
    mine, theirs = per_world
    for i in rows:
        c, p = command[i], params[i]
        c.mode, c.vx, c.vy, c.wz, c.curvature = TWIST, 0.0, 0.0, 0.0, 0.0
        if p.robot < theirs:
            decide(c, p, belief[i], others[i // mine * theirs + p.robot])


class Follow(Autonomy, kind="follow"):
    """Drives behind another robot, to where that one believes to be, and keeps a distance."""

    fixed = ("robot",)
    target: str  # name of a group of robots
    robot: Annotated[int, Ge(0)] = 0  # its number in that group
    distance: Positive = 1.0  # m
    speed: Positive = 0.6  # m/s, at most
    gain: Positive = 1.0  # 1/s

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Count the worlds: tables have the same in the same order, with rows of their own each."""
        self.worlds = max(1, len(np.unique(self.address["world"])))

    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Choose speed and curvature for these rows."""
        others = known.group_beliefs.get(self.target)
        if others is None:
            names = ", ".join(known.group_beliefs)
            raise PluginError(f"{self.name} finds no robots {self.target!r} ({names})")
        mine, theirs = len(known.belief) // self.worlds, len(others) // self.worlds
        if self.robot >= theirs:
            raise PluginError(
                f"{self.name} finds no robot {self.robot} of {self.target!r}, which has {theirs}"
            )
        decide_all(command, self.params, known.belief, others, (mine, theirs), rows)
