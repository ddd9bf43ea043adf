"""Wheel encoders, wrong as real ones are: in the wheels, not in the reading.

The wheels of the truth have turned by φ. With the mean m and half the difference h of a left and
a right wheel, and the relative errors e of their radii and b of the baseline, which no datasheet
knows,

    left = (m − h (1 + b)) / (1 + e_left)        right = (m + h (1 + b)) / (1 + e_right)

The two pairs of a car share b, which is the error of its track: exact behind, and in front to first
order of curvature times track. Mecanum wheels have rollers and share one b, the error of half
their length plus half their width; it acts on their common turn t = (fr − fl + rr − rl) / 4 alone,

    left = (m − h − b t) / (1 + e_left)          right = (m + h + b t) / (1 + e_right)

A wheel slips: it turns by a share `slip` more than it rolls, and at random, so that the error of
the distance grows with the root of the distance, `slip_density` metres per root metre. That is a
density over the way, not over time: neither dt nor the rate of the sensor changes what comes out.

Besides, there may be spells of slipping and slippery surfaces: see slipping.py.

The cumulative angle is then counted in whole ticks of the encoder; rounding never adds up.
"""

from __future__ import annotations

import math
from dataclasses import field

import numpy as np

from astray.errors import PluginError
from astray.numerics import CHUNK, TAU, NoiseWorkspace, draw_normals, kernel
from astray.plugin import Datasheets, NonNegative, Reading, Scene, Sensor
from astray.robot.sensors.denied_zones import make_zones
from astray.robot.sensors.wheel_slip import NO_SPELLS, STATE_SIZE, Spells, Surface, slip_all
from astray.tables import WHEELS, WHEELS_PER_ROBOT, Array, Column, Row, Rows, Table, columns

MEMORY = columns(
    Column("wheels", "", "i8"),
    Column("rollers", "", "?"),
    "radius m",
    "baseline_error",
    Column("radius_error", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("rolled", "rad", "f8", (WHEELS_PER_ROBOT,)),
    Column("slipped", "rad", "f8", (WHEELS_PER_ROBOT,)),
)
"""What is true of one robot's wheels, and how far they have rolled and slipped so far."""


@kernel
def sense(o: Row, m: Row, p: Row, s: Row, random: Array) -> None:
    """Read the encoders of one robot; a standard normal for each wheel lets it slip."""
    elapsed = s.stamp - o.stamp
    around = 0.25 * (s.wheel[1] - s.wheel[0] + s.wheel[3] - s.wheel[2])
    for side in range(0, m.wheels, 2):
        mean = 0.5 * (s.wheel[side] + s.wheel[side + 1])
        half = 0.5 * (s.wheel[side + 1] - s.wheel[side])
        half = half + m.baseline_error * around if m.rollers else half * (1.0 + m.baseline_error)
        for k in range(side, side + 2):
            turned = mean - half if k == side else mean + half
            turned = turned / (1.0 + m.radius_error[k]) * (1.0 + p.slip)
            way = abs(turned - m.rolled[k]) * m.radius
            if p.slip_density > 0.0:
                m.slipped[k] += p.slip_density * math.sqrt(way) * random[k] / m.radius
            m.rolled[k] = turned
            angle = turned + m.slipped[k]
            if p.ticks > 0:
                count = math.floor(angle * p.ticks / TAU)
                angle = count * TAU / p.ticks
                o.count[k] = count
            o.rate[k] = (angle - o.angle[k]) / elapsed if elapsed > 0.0 else 0.0
            o.angle[k] = angle
    o.steer = s.steer


@kernel
def sense_all(
    out: Table, memory: Table, params: Table, truth: Table, rows: Rows, deck: NoiseWorkspace
) -> None:
    """Read the encoders of these rows."""
    cards = deck[3]
    for start in range(0, len(rows), CHUNK):
        some = rows[start : start + CHUNK]
        slips, wheels = False, 0
        for i in some:
            slips, wheels = slips or params[i].slip_density > 0.0, max(wheels, memory[i].wheels)
        if slips:
            draw_normals(deck, truth, some, (wheels + 1) // 2)
        for j in range(len(some)):
            i = some[j]
            sense(out[i], memory[i], params[i], truth[i], cards[j])


class Wheels(Sensor, kind="wheels"):
    """Wheel encoders with errors of radius and baseline, slip and quantisation."""

    measures = WHEELS
    remembers = MEMORY
    fixed = ("radius_sd", "baseline_sd")
    ticks: int = 2048  # per turn of the wheel; 0 for no quantisation
    radius_sd: NonNegative = 0.0  # relative; each wheel's own error, drawn once per life
    baseline_sd: NonNegative = 0.0  # relative; drawn once per life
    slip: float = 0.0  # share by which a wheel turns more than it rolls
    slip_density: NonNegative = 0.0  # m/√m; random slip over the way
    spells: Spells | None = None  # of slipping: every, stay (s, on average) and sd (share)
    surfaces: list[Surface] = field(default_factory=list)  # zones [[x, y], …], m, and slip (share)

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Refuse a robot that has no wheels."""
        self.body = sheets["motion"]
        if not self.body.wheels:
            raise PluginError(f"a robot that moves as {self.body.kind!r} has no wheels")

        self.zones = make_zones([surface.zone for surface in self.surfaces])
        self.slips = np.array([surface.slip for surface in self.surfaces], float)
        if self.spells or self.surfaces:
            self.arrays["slipping"] = np.zeros((n, STATE_SIZE))

    def reset(self, rows: Rows) -> None:
        """Draw what is wrong with these wheels."""
        self.memory["wheels"][rows] = self.body.wheels
        self.memory["rollers"][rows] = self.body.kind == "omni"
        self.memory["radius"][rows] = self.body["radius"]
        errors = self.episode_normals(rows, WHEELS_PER_ROBOT + 1)
        radius_sd, baseline_sd = self.params["radius_sd"][rows], self.params["baseline_sd"][rows]
        self.memory["radius_error"][rows] = radius_sd[:, None] * errors[:, :WHEELS_PER_ROBOT]
        self.memory["baseline_error"][rows] = baseline_sd * errors[:, WHEELS_PER_ROBOT]

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the encoders of these rows."""
        if self.spells or self.surfaces:
            ground = (*self.zones, self.slips)
            how = (self.key, *(self.spells or NO_SPELLS).numbers())
            state = self.arrays["slipping"]
            slip_all(self.memory, state, scene.truth, rows, how, ground)
        deck = self.noise_workspace(WHEELS_PER_ROBOT // 2)
        sense_all(out.table, self.memory, self.params, scene.truth, rows, deck)
