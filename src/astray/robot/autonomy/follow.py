"""Follow: drives behind another robot, to where that robot believes it is.

With the believed target at the distance d, at (x, y) in the believed body frame, and receding at
the speed w along the line of sight,

    vx = gain (d − distance) + w        between 0 and speed
    curvature = 2 y / d²                of the circle that is tangent to the heading (pure pursuit)

so that behind a target of constant speed the distance is kept without a lag. A robot that is its
own target, or whose target is not active, stands still.
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

SAME_POSITION = 1e-9  # m; there is no direction to a target that is nearer


@kernel
def decide(c: Row, p: Row, b: Row, t: Row) -> None:
    """Choose speed and curvature for one robot behind its target."""
    dx, dy = t.x - b.x, t.y - b.y
    distance = math.sqrt(dx * dx + dy * dy)
    if not t.alive or distance < SAME_POSITION:
        return
    s, k = sincos(t.yaw)
    receding = ((t.vx * k - t.vy * s) * dx + (t.vx * s + t.vy * k) * dy) / distance
    s, k = sincos(b.yaw)
    x, y = k * dx + s * dy, -s * dx + k * dy
    max_curvature = 2.0 / p.distance
    curvature = 2.0 * y / (distance * distance)
    if x < 0.0:  # the target is behind
        curvature = math.copysign(max_curvature, y)
    c.mode = CURVATURE
    c.curvature = min(max(curvature, -max_curvature), max_curvature)
    c.vx = min(max(p.gain * (distance - p.distance) + receding, 0.0), p.speed)


@kernel
def decide_all(
    command: Table,
    params: Table,
    belief: Table,
    targets: Table,
    own_count: int,
    target_count: int,
    rows: Rows,
) -> None:
    """Choose for these rows; the counts are the rows that each group has per world."""
    for i in rows:
        c, p = command[i], params[i]
        c.mode, c.vx, c.vy, c.wz, c.curvature = TWIST, 0.0, 0.0, 0.0, 0.0
        if p.robot < target_count:
            decide(c, p, belief[i], targets[i // own_count * target_count + p.robot])


class Follow(Autonomy, kind="follow"):
    """Drives behind another robot, by the belief that this robot shares, and keeps a distance."""

    fixed = ("robot",)
    target: str  # name of a group of robots
    robot: Annotated[int, Ge(0)] = 0  # its number in that group
    distance: Positive = 1.0  # m
    speed: Positive = 0.6  # m/s, at most
    gain: Positive = 1.0  # 1/s

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Count the worlds, which all groups have in the same order."""
        self.worlds = max(1, len(np.unique(self.address["world"])))

    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Choose speed and curvature for these rows."""
        targets = known.group_beliefs.get(self.target)
        if targets is None:
            names = ", ".join(known.group_beliefs)
            raise PluginError(f"{self.name}: there are no robots {self.target!r} ({names})")
        own_count, target_count = len(known.belief) // self.worlds, len(targets) // self.worlds
        if self.robot >= target_count:
            raise PluginError(
                f"{self.name}: there is no robot {self.robot} of {self.target!r}, "
                f"which has {target_count}"
            )
        decide_all(command, self.params, known.belief, targets, own_count, target_count, rows)
