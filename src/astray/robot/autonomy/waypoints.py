"""Waypoints: drives to points of the map one after the other, by pure pursuit on the belief.

The believed position is projected onto the current leg. The carrot lies `lookahead` metres further
along the path, around the corner if need be: corners are cut, and only the last point is reached.
With the carrot at (x, y) in the body frame, the circle that is tangent to the heading and passes
through it has the curvature 2 y / (x² + y²) (Coulter, 1992).
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Annotated

import numpy as np
from annotated_types import Len

from astray.numerics import kernel, sincos
from astray.plugin import Autonomy, Datasheets, Known, Positive
from astray.tables import CURVATURE, Array, Column, Row, Rows, Table, columns

MEMORY = columns(
    Column("leg", "", "i8"),
    Column("begun", "", "?"),
    Column("arrived", "", "?"),
    "x m",
    "y m",
)
"""The index of the waypoint that a robot heads for, and the start of its leg."""

SHORT = 1e-9  # m; a shorter leg or distance has no direction


@kernel
def project(b: Row, a: tuple[float, float], c: tuple[float, float]) -> tuple[float, float, float]:
    """Distance of a robot from the leg a → c, its position along the leg, and the leg's length."""
    dx, dy = c[0] - a[0], c[1] - a[1]
    length = math.sqrt(dx * dx + dy * dy)
    along = ((b.x - a[0]) * dx + (b.y - a[1]) * dy) / length if length > SHORT else 0.0
    share = min(max(along / length, 0.0), 1.0) if length > SHORT else 0.0
    ex, ey = b.x - a[0] - share * dx, b.y - a[1] - share * dy
    return math.sqrt(ex * ex + ey * ey), along, length


@kernel
def next_leg(m: Row, p: Row, b: Row, points: Array) -> None:
    """Change to the next leg once the robot is past the end of its leg, or nearer to the next."""
    last = len(points) - 1
    for _ in range(len(points)):  # at most one lap in one tick
        goal = (points[m.leg, 0], points[m.leg, 1])
        distance, along, length = project(b, (m.x, m.y), goal)
        ends = m.leg == last and not p.loop
        following = 0 if m.leg == last else m.leg + 1
        nearer = False
        if not ends:
            nearer = project(b, goal, (points[following, 0], points[following, 1]))[0] < distance
        if along < length and not nearer:
            return
        if ends:
            m.arrived = True
            return
        m.x, m.y = goal
        m.leg = following


@kernel
def carrot(m: Row, p: Row, b: Row, points: Array) -> tuple[float, float]:
    """The point of the path that is the lookahead further along it."""
    from_x, from_y, leg = m.x, m.y, m.leg
    ahead = max(project(b, (m.x, m.y), (points[leg, 0], points[leg, 1]))[1], 0.0) + p.lookahead
    last = len(points) - 1
    for _ in range(len(points)):
        to_x, to_y = points[leg, 0] - from_x, points[leg, 1] - from_y
        length = math.sqrt(to_x * to_x + to_y * to_y)
        if ahead <= length:
            return from_x + ahead / length * to_x, from_y + ahead / length * to_y
        if leg == last and not p.loop:
            break
        ahead -= length
        from_x, from_y = points[leg, 0], points[leg, 1]
        leg = 0 if leg == last else leg + 1
    return points[leg, 0], points[leg, 1]


@kernel
def decide(c: Row, m: Row, p: Row, b: Row, points: Array) -> None:
    """Choose speed and curvature for one robot."""
    if not m.begun:
        m.begun = True
        m.x, m.y = b.x, b.y
    last = len(points) - 1
    near = project(b, (points[last, 0], points[last, 1]), (points[last, 0], points[last, 1]))[0]
    ends = m.leg == last and not p.loop
    if ends and near <= p.tolerance:
        m.arrived = True
    if not m.arrived:
        next_leg(m, p, b, points)
    c.mode = CURVATURE
    c.vx, c.curvature = 0.0, 0.0
    if m.arrived:
        return
    goal_x, goal_y = carrot(m, p, b, points)
    s, k = sincos(b.yaw)
    dx, dy = goal_x - b.x, goal_y - b.y
    x, y = k * dx + s * dy, -s * dx + k * dy
    square = x * x + y * y
    max_curvature = 2.0 / p.lookahead
    curvature = 2.0 * y / square if square > SHORT else 0.0
    if x < 0.0:  # the carrot is behind
        curvature = max_curvature if y >= 0.0 else -max_curvature
    c.curvature = min(max(curvature, -max_curvature), max_curvature)
    c.vx = p.speed
    if m.leg == last and not p.loop:  # brake so as to stop at the goal
        c.vx = min(p.speed, math.sqrt(2.0 * p.decel * near))


@kernel
def decide_all(
    command: Table, memory: Table, params: Table, belief: Table, points: Array, rows: Rows
) -> None:
    """Choose speed and curvature for these rows."""
    for i in rows:
        decide(command[i], memory[i], params[i], belief[i], points)


class Waypoints(Autonomy, kind="waypoints"):
    """Drives to points of the map one after the other, by pure pursuit on the belief."""

    remembers = MEMORY
    points: Annotated[list[tuple[float, float]], Len(1)] = field(default_factory=list)  # [x, y] m
    speed: Positive = 0.5  # m/s
    lookahead: Positive = 0.5  # m
    tolerance: Positive = 0.05  # m from the last point at which it counts as reached
    decel: Positive = 0.5  # m/s², towards the last point
    loop: bool = False  # start again after the last point

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Prepare the points for the kernel."""
        self.path = np.array(self.points, float).reshape(-1, 2)

    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Choose speed and curvature for these rows."""
        decide_all(command, self.memory, self.params, known.belief, self.path, rows)
