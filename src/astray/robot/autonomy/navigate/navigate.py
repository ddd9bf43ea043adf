"""Finds its way over the map that it was given, by its belief, and stops before what it sees.

For each goal there is a field of the way to it from everywhere (`world/field.py`), made once per
map and goal and shared by all robots. A robot goes down the slope from where it believes to be:
the carrot lies `lookahead` metres on. With the carrot at (x, y) in the body frame, at bearing b,

    curvature = 2 y / (x² + y²)            of a car, at most that of its turning circle
    wz = max(2 vx / lookahead, 1) · b      of others, who turn on the spot if b is large

What ranges show on the arc ahead is braked for, so that it stops `stop_distance` before it:

    vx ≤ √(2 decel (gap − stop_distance))

A car that cannot turn sharply enough in the room that it has goes back, steering the other way.
Whoever wants to move but, as it believes, does not, has run into something: it goes to where there
is more room, straight, for a bit. A goal to which no way leads is skipped, and so is one that was
blocked for `patience` seconds; with no other goal left, the robot waits. Without ranges nothing is
braked for. A goal that comes from outside, by event, takes the place of all others.
"""

from __future__ import annotations

import math
from dataclasses import field

import numpy as np

from astray.errors import PluginError
from astray.numerics import kernel, sincos
from astray.plugin import Autonomy, Datasheets, DrawnParameter, Known, NonNegative, Positive
from astray.robot.autonomy.free_path import along, beams_of
from astray.robot.autonomy.navigate.path_tracking import ESCAPE, MEMORY, SAME, decide_all, move_on
from astray.robot.autonomy.navigate.plan_cache import Fields, Goal, Plans
from astray.tables import Array, Row, Rows, Table
from astray.world.geometry import Footprint
from astray.world.planning import descend, value_and_gradient

MARGIN = 0.05  # m kept clear beyond what the body sweeps over
SIDE = 0.03  # m to either side that what is passed by must be away


@kernel
def reached(m: Row, p: Row, b: Row, f: Row) -> bool:
    """Whether a robot is at its goal; a car that just passed it need not come back."""
    dx, dy = f.goal_x - b.x, f.goal_y - b.y
    away = dx * dx + dy * dy
    if away <= p.tolerance * p.tolerance:
        return True
    s, c = sincos(b.yaw)
    near: bool = away < p.lookahead * p.lookahead and c * dx + s * dy < 0.0
    return near and m.tightest < math.inf


@kernel
def aim(m: Row, p: Row, b: Row, ways: Array, fields: Table) -> None:
    """Choose the goal and the carrot of one robot; fields are those of its map, one per goal."""
    m.waits = False
    for _ in range(len(fields)):
        if m.done:
            return
        f = fields[m.goal]
        if reached(m, p, b, f):
            m.reached += 1
            move_on(m, p, len(fields))
            continue
        if f.first < 0:
            m.waits = True
            return
        m.rest = value_and_gradient(ways, f, b.x, b.y)[0]
        if m.rest < math.inf:
            x, y = descend(ways, f, b.x, b.y, p.lookahead)
            s, c = sincos(b.yaw)
            m.x, m.y = c * (x - b.x) + s * (y - b.y), -s * (x - b.x) + c * (y - b.y)
            return
        m.skipped += 1
        move_on(m, p, len(fields))
    m.rest = math.inf  # all were reached or skipped in one go: wait


@kernel
def aim_all(
    memory: Table, params: Table, belief: Table, found: Fields, goals: int, rows: Rows
) -> int:
    """Choose goals and carrots of these rows; how many have to wait for a field."""
    ways, fields, first = found
    waiting = 0
    for i in rows:
        m = memory[i]
        mine = 1 if m.told else goals
        aim(m, params[i], belief[i], ways, fields[first[i] : first[i] + mine])
        waiting += 1 if m.waits else 0
        square = m.x * m.x + m.y * m.y
        bend = 2.0 * m.y / square if square > SAME else 0.0
        if m.x < 0.0:  # behind: as sharply as it can
            bend = math.copysign(math.inf, m.y)
        sharpest = min(m.tightest, 2.0 / params[i].lookahead)
        m.bend = min(max(bend, -sharpest), sharpest)
        m.gap, m.gap_behind = math.inf, math.inf
    return waiting


@kernel
def look(m: Row, p: Row, ranges: Array, beams: Array) -> None:
    """Note how far the way of one robot is free ahead and, should it have to go back, behind."""
    far = p.speed * p.speed / (2.0 * p.decel) + m.front + m.back + p.stop_distance + ESCAPE
    back = math.copysign(m.tightest, -m.y) if m.tightest < math.inf else 0.0
    half = m.half + SIDE
    for k in range(len(beams)):
        if 0.0 < ranges[k] < far:
            x = beams[k, 0] + ranges[k] * beams[k, 2]
            y = beams[k, 1] + ranges[k] * beams[k, 3]
            m.gap = min(m.gap, along(x, y, m.bend, half, m.front))
            m.gap_behind = min(m.gap_behind, along(-x, y, back, half, m.back))


@kernel
def look_all(
    memory: Table, params: Table, ranges: Array, stamp: Array, beams: Array, rows: Rows
) -> None:
    """Note how far the way of these rows is free, where a reading has arrived."""
    for i in rows:
        if not math.isnan(stamp[i]):
            look(memory[i], params[i], ranges[i], beams)


class Navigate(Autonomy, kind="navigate"):
    """Drives to goals around the obstacles of its map, and stops before those that it sees."""

    remembers = MEMORY
    fixed = ("clearance", "keep", "resolution")
    goals: list[Goal] = field(default_factory=list)  # [x, y] m, or names of places on the map
    loop: bool = False  # begin again after the last goal
    speed: Positive = 0.4  # m/s
    turn: Positive = 1.5  # rad/s, on the spot
    decel: Positive = 0.5  # m/s², towards obstacles and the last goal
    lookahead: Positive = 0.5  # m
    tolerance: Positive = 0.15  # m from a goal at which it counts as reached
    clearance: Positive | None = None  # m kept from obstacles; what the body sweeps over, and 0.05
    keep: NonNegative = 0.3  # m kept beyond that where there is room
    resolution: Positive = 0.1  # m, of the cells that the way is planned on
    stop_distance: NonNegative = 0.15  # m between the body and what it stops before
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
        clear = self.clearance or swept(self.outline, self.tightest) + MARGIN
        self.plans = Plans(self.goals, self.resolution, clear, self.keep)
        self.sheets = sheets
        self.beams: dict[str, Array] = {}

    def reset(self, rows: Rows) -> None:
        """Know the own size."""
        self.memory["tightest"][rows] = self.tightest
        self.memory["half"][rows] = np.abs(self.outline[:, 1]).max()
        self.memory["front"][rows] = self.outline[:, 0].max()
        self.memory["back"][rows] = -self.outline[:, 0].min()
        self.memory["mark_time"][rows] = self.address["tick"][rows] * self.dt

    def go_to(self, rows: Rows, x: Array, y: Array) -> None:
        """Head for a goal that came from outside: one for all of these rows, or one for each."""
        m = self.memory
        m["told"][rows], m["told_x"][rows], m["told_y"][rows] = True, x, y
        m["goal"][rows], m["done"][rows], m["escape"][rows] = 0, False, 0.0
        m["mark_time"][rows] = self.address["tick"][rows] * self.dt

    def decide(self, rows: Rows, known: Known, command: Table) -> None:
        """Choose speed and turn of these rows."""
        goals, m, p = len(self.goals), self.memory, self.params
        while aim_all(m, p, known.belief, self.plans.of(known, m), goals, rows):
            waiting = rows[m["waits"][rows]]
            self.plans.add(np.unique(self.plans.fields[2][waiting] + m["goal"][waiting]))
        for name, reading in known.readings.items():
            if "ranges" in reading.arrays:
                if name not in self.beams:
                    if np.isnan(reading.stamp).all():
                        continue
                    self.beams[name] = beams_of(self.sheets[name], reading)
                look_all(m, p, reading.arrays["ranges"], reading.stamp, self.beams[name], rows)
        decide_all(command, m, p, known.belief, (known.time, goals), rows)


def swept(outline: Array, tightest: float) -> float:
    """How far a body reaches beyond its path, m, on its tightest turn; outline (n, 2)."""
    radius = 1.0 / tightest
    x, y = outline[:, 0], np.abs(outline[:, 1]) + radius
    return float(np.sqrt(x * x + y * y).max() - radius)
