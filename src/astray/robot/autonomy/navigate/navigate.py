"""Navigate: plans paths over the known map, tracks them by the belief, and stops before obstacles.

For each goal there is a navigation function, the length of the path to it from everywhere
(`world/planning/navigation_function.py`), computed once per map and goal for all robots. A robot
descends it from its believed position: the carrot lies `lookahead` metres on. With the carrot at
(x, y) in the body frame, at the bearing b,

    curvature = 2 y / (x² + y²)            of a car, at most that of its turning circle
    wz = max(2 vx / lookahead, 1) · b      of others, which turn on the spot if b is large

It brakes for the gap that ranges show on the arc ahead, so that it stops `stop_distance` before:

    vx ≤ √(2 decel (gap − stop_distance))

A car that has no space to turn sharply enough goes back, steering the other way. A robot that
should move but believes that it does not is stuck: it escapes straight to the side with the larger
gap. A goal that cannot be reached is skipped, and so is one that was blocked for `patience`
seconds; with no other goal left, the robot waits. Without ranges it does not brake for obstacles. A
goal that comes by event replaces all others.
"""

from __future__ import annotations

import math
from dataclasses import field

import numpy as np

from astray.errors import PluginError
from astray.numerics import kernel, sincos
from astray.plugin import Autonomy, Datasheets, DrawnParameter, Known, NonNegative, Positive
from astray.robot.autonomy.navigate.path_tracking import (
    MEMORY,
    SAME_POSITION,
    beams_of,
    decide_all,
    next_goal,
    update_gaps_all,
)
from astray.robot.autonomy.navigate.plan_cache import Goal, NavigationFields, PlanCache
from astray.tables import Array, Row, Rows, Table
from astray.world.geometry import Footprint
from astray.world.planning import descend, value_and_gradient

MARGIN = 0.05  # m kept clear beyond what the body sweeps over


@kernel
def has_reached(m: Row, p: Row, b: Row, f: Row) -> bool:
    """Whether a robot is at its goal; a car that just passed it need not come back."""
    dx, dy = f.goal_x - b.x, f.goal_y - b.y
    square = dx * dx + dy * dy
    if square <= p.tolerance * p.tolerance:
        return True
    s, c = sincos(b.yaw)
    passed: bool = square < p.lookahead * p.lookahead and c * dx + s * dy < 0.0
    return passed and m.tightest < math.inf


@kernel
def choose_carrot(m: Row, p: Row, b: Row, lengths: Array, fields: Table) -> None:
    """Choose goal and carrot of one robot; fields are those of its map, one per goal."""
    m.waits = False
    for _ in range(len(fields)):
        if m.done:
            return
        f = fields[m.goal]
        if has_reached(m, p, b, f):
            m.reached += 1
            next_goal(m, p, len(fields))
            continue
        if f.first < 0:
            m.waits = True
            return
        m.rest = value_and_gradient(lengths, f, b.x, b.y)[0]
        if m.rest < math.inf:
            x, y = descend(lengths, f, b.x, b.y, p.lookahead)
            s, c = sincos(b.yaw)
            m.x, m.y = c * (x - b.x) + s * (y - b.y), -s * (x - b.x) + c * (y - b.y)
            return
        m.skipped += 1
        next_goal(m, p, len(fields))
    m.rest = math.inf  # all were reached or skipped at once: wait


@kernel
def choose_carrots_all(
    memory: Table,
    params: Table,
    belief: Table,
    field_arrays: tuple[Array, Table, Array],
    goals: int,
    rows: Rows,
) -> int:
    """Choose goals and carrots of these rows; returns how many wait for a field."""
    lengths, fields, first_field = NavigationFields(*field_arrays)
    waiting = 0
    for i in rows:
        m = memory[i]
        first, own_goals = first_field[i], 1 if m.told else goals
        choose_carrot(m, params[i], belief[i], lengths, fields[first : first + own_goals])
        waiting += 1 if m.waits else 0
        square = m.x * m.x + m.y * m.y
        curvature = 2.0 * m.y / square if square > SAME_POSITION else 0.0
        if m.x < 0.0:  # the carrot is behind: as sharply as possible
            curvature = math.copysign(math.inf, m.y)
        sharpest = min(m.tightest, 2.0 / params[i].lookahead)
        m.bend = min(max(curvature, -sharpest), sharpest)
        m.gap, m.gap_behind = math.inf, math.inf
    return waiting


class Navigate(Autonomy, kind="navigate"):
    """Drives to goals around the obstacles of its map, and stops before those in its ranges."""

    remembers = MEMORY
    fixed = ("clearance", "keep", "resolution")
    goals: list[Goal] = field(default_factory=list)  # [x, y] m, or names of places on the map
    loop: bool = False  # start again after the last goal
    speed: Positive = 0.4  # m/s
    turn: Positive = 1.5  # rad/s, on the spot
    decel: Positive = 0.5  # m/s², towards obstacles and the last goal
    lookahead: Positive = 0.5  # m
    tolerance: Positive = 0.15  # m from a goal at which it counts as reached
    clearance: Positive | None = None  # m from obstacles; by default what the body sweeps + 0.05
    keep: NonNegative = 0.3  # m of additional clearance where there is space
    resolution: Positive = 0.1  # m, of the cells of the plan
    stop_distance: NonNegative = 0.15  # m between the body and an obstacle when it stops
    patience: Positive = 10.0  # s before a goal that is blocked is skipped

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Take the size of the body and its turning circle from the datasheets."""
        for name in ("clearance", "keep", "resolution"):
            if isinstance(getattr(self, name), DrawnParameter):
                raise PluginError(f"{name} of navigate must be one number for all robots")
        sheet, motion = sheets.get("footprint"), sheets["motion"].values
        self.outline = (Footprint(**sheet.values) if sheet else Footprint()).outline()
        self.tightest = math.inf
        if "wheelbase" in motion:
            self.tightest = math.tan(float(motion["max_steer"])) / float(motion["wheelbase"])
        clearance = self.clearance or swept_reach(self.outline, self.tightest) + MARGIN
        self.plans = PlanCache(self.goals, self.resolution, clearance, self.keep)
        self.sheets = sheets
        self.beams: dict[str, Array] = {}

    def reset(self, rows: Rows) -> None:
        """Write the size of the body."""
        self.memory["tightest"][rows] = self.tightest
        self.memory["half"][rows] = np.abs(self.outline[:, 1]).max()
        self.memory["front"][rows] = self.outline[:, 0].max()
        self.memory["back"][rows] = -self.outline[:, 0].min()
        self.memory["mark_time"][rows] = self.address["tick"][rows] * self.dt

    def go_to(self, rows: Rows, x: Array, y: Array) -> None:
        """Head for a goal that came by event.

        Args:
            rows: Indices, (k,).
            x: m, one for all of these rows, or (k,).
            y: m, one for all of these rows, or (k,).
        """
        m = self.memory
        m["told"][rows], m["told_x"][rows], m["told_y"][rows] = True, x, y
        m["goal"][rows], m["done"][rows], m["escape"][rows] = 0, False, 0.0
        m["mark_time"][rows] = self.address["tick"][rows] * self.dt

    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Choose speed and turn of these rows."""
        goals, m, p, belief = len(self.goals), self.memory, self.params, known.belief
        while choose_carrots_all(m, p, belief, self.plans.arrays(known, m), goals, rows):
            waiting = rows[m["waits"][rows]]
            fields = self.plans.fields.first_field[waiting] + m["goal"][waiting]
            self.plans.compute(np.unique(fields))
        for name, reading in known.readings.items():
            if "ranges" in reading.arrays:
                if name not in self.beams:
                    if np.isnan(reading.stamp).all():
                        continue
                    self.beams[name] = beams_of(self.sheets[name], reading)
                ranges, beams = reading.arrays["ranges"], self.beams[name]
                update_gaps_all(m, p, ranges, reading.stamp, beams, rows)
        decide_all(command, m, p, belief, known.time, goals, rows)


def swept_reach(outline: Array, tightest: float) -> float:
    """How far a body reaches beyond its path, m, on its tightest turn; outline (n, 2)."""
    radius = 1.0 / tightest
    x, y = outline[:, 0], np.abs(outline[:, 1]) + radius
    return float(np.sqrt(x * x + y * y).max() - radius)
