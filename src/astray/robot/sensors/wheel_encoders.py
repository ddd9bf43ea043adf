"""Wheel encoders: the angles of the wheels, with errors of the wheels, of slip and of counting.

The wheels of the truth have turned by φ. With the mean m and half the difference h of a left and
a right wheel, and the relative errors e of their radii and b of the baseline, which no datasheet
has,

    left = (m − h (1 + b)) / (1 + e_left)        right = (m + h (1 + b)) / (1 + e_right)

The two pairs of a car share b, which is the error of its track: exact at the rear, and at the front
to first order of curvature times track. Mecanum wheels have rollers and share one b, the error of
half their length plus half their width; it acts on their common turn t = (fr − fl + rr − rl) / 4,

    left = (m − h − b t) / (1 + e_left)          right = (m + h + b t) / (1 + e_right)

A wheel slips: it turns by a share `slip` more than it rolls, and at random, so that the error of
the distance grows with the root of the distance, `slip_density` metres per root metre. That is a
density over distance, not over time: neither dt nor the rate of the sensor changes the result.

Wheels may also slip temporarily (`spells`), each wheel on its own: once in `every` seconds on
average, for `stay` seconds on average, by a relative slip that is drawn each time from a normal
distribution of standard deviation `sd`. On a slippery surface all wheels slip by its `slip`, as
long as the origin of the robot is on it.

The cumulative angle is then counted in whole ticks of the encoder; rounding errors do not add up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Ge, Gt

from astray.errors import PluginError
from astray.numerics import (
    CHUNK,
    TAU,
    NoiseWorkspace,
    WorkspaceFields,
    draw_normals,
    kernel,
    normal_pair,
    uniform_pair,
)
from astray.plugin import Datasheets, NonNegative, Reading, Scene, Sensor
from astray.robot.sensors.error_models import Polygon, Zones, make_zones, random_switch, zone_at
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
"""The wheels as they really are, and how far they have rolled and slipped so far."""

# Columns of the array `slipping`: started, stamp, angle of each wheel, share by which each slips.
STARTED, STAMP, ANGLE, SHARE, SLIP_COLUMNS = 0, 1, 2, 2 + WHEELS_PER_ROBOT, 2 + 2 * WHEELS_PER_ROBOT
# The first draws about slip phases; those before them are for random slip.
SWITCH_DRAW, SHARE_DRAW = 8, 10


@dataclass(frozen=True)
class Spells:
    """Phases in which a wheel slips."""

    every: Annotated[float, Gt(0)] = 60.0  # s without, on average
    stay: Annotated[float, Gt(0)] = 0.5  # s that one lasts, on average
    sd: Annotated[float, Ge(0)] = 0.2  # share by which a wheel slips in one


@dataclass(frozen=True)
class Surface:
    """A zone of the map where wheels slip."""

    zone: Polygon  # m, [[x, y], …]
    slip: float = 0.1  # relative; by which a wheel turns more than it rolls


class SlipPhases(NamedTuple):
    """Spells as kernels read them."""

    key: np.uint64
    every: float
    stay: float
    sd: float


@kernel
def update_slip_phase(state: Array, s: Row, wheel: int, elapsed: float, phases: SlipPhases) -> None:
    """Start or end the slip phase of one wheel."""
    slipped_before = state[SHARE + wheel] != 0.0
    uniforms = uniform_pair(s, phases.key, SWITCH_DRAW + wheel // 2)
    uniform = uniforms[0] if wheel % 2 == 0 else uniforms[1]
    stay, every = phases.stay, phases.every
    if state[STARTED] > 0.0:
        slips = random_switch(slipped_before, stay, every, elapsed, uniform)
    else:
        slips = uniform * (stay + every) < stay
    if slips and not slipped_before:
        normals = normal_pair(s, phases.key, SHARE_DRAW + wheel // 2)
        state[SHARE + wheel] = phases.sd * (normals[0] if wheel % 2 == 0 else normals[1])
    elif not slips:
        state[SHARE + wheel] = 0.0


@kernel
def slip_all(
    memory: Table,
    states: Array,
    truth: Table,
    rows: Rows,
    phase_fields: tuple[np.uint64, float, float, float],
    surfaces: tuple[Array, Array, Array],
) -> None:
    """Let the wheels of these rows slip in proportion to what they rolled since the last reading.

    Surfaces are the fields of Zones, and the share by which wheels slip in each.
    """
    phases = SlipPhases(*phase_fields)
    zones, shares = Zones(surfaces[0], surfaces[1]), surfaces[2]
    for i in rows:
        m, s, state = memory[i], truth[i], states[i]
        zone = zone_at(zones, s.x, s.y)
        share = shares[zone] if zone >= 0 else 0.0
        elapsed = s.stamp - state[STAMP] if state[STARTED] > 0.0 else 0.0
        for k in range(m.wheels):
            if phases.sd > 0.0:
                update_slip_phase(state, s, k, elapsed, phases)
            if state[STARTED] > 0.0:
                m.slipped[k] += (share + state[SHARE + k]) * (s.wheel[k] - state[ANGLE + k])
            state[ANGLE + k] = s.wheel[k]
        state[STARTED], state[STAMP] = 1.0, s.stamp


@kernel
def sense(o: Row, m: Row, p: Row, s: Row, normals: Array) -> None:
    """Read the encoders of one robot; each wheel has a standard normal for its random slip."""
    elapsed = s.stamp - o.stamp
    common_turn = 0.25 * (s.wheel[1] - s.wheel[0] + s.wheel[3] - s.wheel[2])
    for left in range(0, m.wheels, 2):
        mean = 0.5 * (s.wheel[left] + s.wheel[left + 1])
        half = 0.5 * (s.wheel[left + 1] - s.wheel[left])
        if m.rollers:
            half = half + m.baseline_error * common_turn
        else:
            half = half * (1.0 + m.baseline_error)
        for k in range(left, left + 2):
            turned = mean - half if k == left else mean + half
            turned = turned / (1.0 + m.radius_error[k]) * (1.0 + p.slip)
            distance = abs(turned - m.rolled[k]) * m.radius
            if p.slip_density > 0.0:
                m.slipped[k] += p.slip_density * math.sqrt(distance) * normals[k] / m.radius
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
    out: Table,
    memory: Table,
    params: Table,
    truth: Table,
    rows: Rows,
    workspace: WorkspaceFields,
) -> None:
    """Read the encoders of these rows."""
    noise = NoiseWorkspace(*workspace)
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        slips, wheels = False, 0
        for i in chunk:
            slips, wheels = slips or params[i].slip_density > 0.0, max(wheels, memory[i].wheels)
        if slips:
            draw_normals(noise, truth, chunk, (wheels + 1) // 2)
        for j in range(len(chunk)):
            i = chunk[j]
            sense(out[i], memory[i], params[i], truth[i], noise.normals[j])


class Wheels(Sensor, kind="wheels"):
    """Wheel encoders with errors of radius and baseline, slip and quantisation."""

    measures = WHEELS
    remembers = MEMORY
    fixed = ("radius_sd", "baseline_sd")
    ticks: int = 2048  # per turn of the wheel; 0 for no quantisation
    radius_sd: NonNegative = 0.0  # relative, of each wheel, drawn once per episode
    baseline_sd: NonNegative = 0.0  # relative, drawn once per episode
    slip: float = 0.0  # relative; by which a wheel turns more than it rolls
    slip_density: NonNegative = 0.0  # m/√m, random slip over the distance
    spells: Spells | None = None  # periods of slip: every, stay (s, means), sd (relative)
    surfaces: list[Surface] = field(default_factory=list)  # zones [[x, y], …], m, and relative slip

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Refuse a robot that has no wheels, and prepare the surfaces for the kernel."""
        self.body = sheets["motion"]
        if not self.body.wheels:
            raise PluginError(f"a robot that moves as {self.body.kind!r} has no wheels")
        zones = make_zones([surface.zone for surface in self.surfaces])
        self.slippery = *zones, np.array([surface.slip for surface in self.surfaces], float)
        spells = self.spells or Spells(sd=0.0)
        self.phases = self.key, float(spells.every), float(spells.stay), float(spells.sd)
        if self.spells or self.surfaces:
            self.arrays["slipping"] = np.zeros((n, SLIP_COLUMNS))

    def reset(self, rows: Rows) -> None:
        """Draw the errors of these wheels for the episode."""
        self.memory["wheels"][rows] = self.body.wheels
        self.memory["rollers"][rows] = self.body.kind == "omni"
        self.memory["radius"][rows] = self.body["radius"]
        errors = self.episode_normals(rows, WHEELS_PER_ROBOT + 1)
        radius_sd, baseline_sd = self.params["radius_sd"][rows], self.params["baseline_sd"][rows]
        self.memory["radius_error"][rows] = radius_sd[:, None] * errors[:, :WHEELS_PER_ROBOT]
        self.memory["baseline_error"][rows] = baseline_sd * errors[:, WHEELS_PER_ROBOT]

    def odometry_error(self, row: int) -> tuple[float, float, float]:
        """The relative errors of a row: of distances along x, along y, and of turns on the spot.

        They are those of the radii, the baseline and the constant slip; random slip is left out.
        """
        m = self.memory[row]
        radius_errors = m["radius_error"][: m["wheels"]]
        way = float(np.mean((1.0 + self.params["slip"][row]) / (1.0 + radius_errors))) - 1.0
        turn = (1.0 + way) * (1.0 + float(m["baseline_error"])) - 1.0
        return way, way if m["rollers"] else 0.0, turn

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the encoders of these rows."""
        memory, truth = self.memory, scene.truth
        if "slipping" in self.arrays:
            slip_all(memory, self.arrays["slipping"], truth, rows, self.phases, self.slippery)
        workspace = self.noise_workspace(WHEELS_PER_ROBOT // 2)
        sense_all(out.table, memory, self.params, truth, rows, workspace)
