"""Monte-Carlo localisation: a cloud of poses, moved by wheels, weighed by how a scan fits the map.

    move       each pose as dead reckoning moved, a little differently      particle_cloud.py
    weigh      each by the likelihood of the scan                           particle_match.py
    report     mean and covariance, carried on by dead reckoning            particle_trail.py
    resample   where few poses have most of the weight                      particle_update.py

A scan counts once the robot has moved: looking twice at the same walls tells nothing new. A robot
that is not told where it starts throws poses onto the floor of the map where its first scan fits.

So does a robot that was carried away. How well scans fit is averaged over few of them and over
many; where the first, F, falls below a share `doubt` of the second, S, as it does where the robot
is not where it believes, a part 1 − F / (doubt · S) of the poses is thrown anew.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from astray.errors import PluginError
from astray.numerics import PI, kernel
from astray.plugin import Datasheets, Estimator, Known, NonNegative, Positive, sensor_that_measures
from astray.robot.estimators.mcl.odometry_buffer import LENGTH, latest
from astray.robot.estimators.mcl.particle_set import scatter
from astray.robot.estimators.mcl.scan_likelihood import tabulate
from astray.robot.estimators.mcl.update import FEWEST, MEMORY, How, Room, Tables, look, report, take
from astray.robot.estimators.odometry import ACROSS, ALONG, AROUND, arm_of
from astray.tables import SCAN, WHEELS, Array, Rows, Table
from astray.world.planning import MAX_STEPS, LikelihoodFieldArrays, LikelihoodFieldCache

MOST = 10_000  # particles
AXES = 3  # of a pose
EXPECTED = 0.5  # q of a beam before any scan was seen
NOWHERE = 100.0  # m: standard deviation of a belief that knows nothing

Share = Annotated[float, Gt(0), Le(1)]
Placing = tuple[Table, Table, Table]
"""Beliefs, memory and parameters."""


@kernel
def estimate_all(
    tables: Tables, room: Room, ranges: Array, fields: LikelihoodFieldArrays, rows: Rows, how: How
) -> None:
    """Bring these beliefs up to their fresh readings."""
    belief, memory, params, wheels, scans, worlds = tables
    for i in rows:
        if wheels[i].fresh:
            b, m = belief[i], memory[i]
            take(b, m, wheels[i], room[4][i])
            report(b, m, params[i], latest(room[4][i], m))
            b.stamp = wheels[i].stamp
        if scans[i].fresh:
            ground = (fields, fields.of_world[worlds[i]])
            look(tables, room, i, (ranges[i], scans[i]), ground, how)


@kernel
def place_all(tables: Placing, clouds: Array, trails: Array, rows: Rows, key: np.uint64) -> None:
    """Put the clouds of these rows where their beliefs are, as wide as those are unsure."""
    belief, memory, params = tables
    for i in rows:
        b, m, p = belief[i], memory[i], params[i]
        m.x, m.y, m.yaw = b.x, b.y, b.yaw
        for j in range(3):
            if not b.cov[j, j] > 0.0:
                sd = p.start_sd if j < 2 else p.start_yaw_sd
                b.cov[j, j] = sd * sd
            for k in range(3):
                m.cov[j, k] = b.cov[j, k]
        m.lost = m.looked = False
        here = latest(trails[i], m)
        for k in range(5):
            m.spot[k] = here[k]
        sds = (math.sqrt(b.cov[0, 0]), math.sqrt(b.cov[1, 1]), math.sqrt(b.cov[2, 2]))
        scatter(clouds[i], m, sds, key)


@kernel
def tabulate_all(q: Array, params: Table, rows: Rows, max_range: float) -> None:
    """Make the tables of log q of these rows."""
    for i in rows:
        tabulate(q[i], params[i], max_range)


class Particle(Estimator, kind="particle"):
    """Monte-Carlo localisation on the map by wheels and lidar; finds itself, and again."""

    remembers = MEMORY
    needs_map = True
    rows_per_thread = 8
    fixed = ("particles", "beams", "tries", "sigma", "hit")
    initial: Literal["told", "global"] = "told"  # global: it is not told where it starts
    particles: Annotated[int, Ge(2), Le(MOST)] = 500  # poses in the cloud
    beams: Annotated[int, Ge(FEWEST), Le(10_000)] = 90  # of a scan that are looked at
    tries: Annotated[int, Ge(1), Le(10_000)] = 300  # places looked at for a pose thrown anew
    sigma: Positive = 0.1  # m, of the end of a beam from the wall that it met
    hit: Annotated[float, Gt(0), Lt(1)] = 0.9  # share of beams that end at a wall of the map
    temper: Share = 0.6  # power of the likelihood of a scan: beams of one scan err together
    slip_density: NonNegative = 0.1  # m/√m; error of the way over the way
    shift_density: NonNegative = 0.05  # m/√rad; error of the way over the turn
    veer_density: NonNegative = 0.09  # rad/√m; error of the turn over the way
    turn_density: NonNegative = 0.1  # rad/√rad; error of the turn over the turn
    update_way: NonNegative = 0.1  # m to go before a scan counts
    update_turn: NonNegative = 0.1  # rad to turn before a scan counts
    doubt: Share = 0.5  # of how well scans fit in the long run; below it, poses are thrown anew
    start_sd: Positive = 0.1  # m, of a start that claims to be exact
    start_yaw_sd: Positive = 0.05  # rad, of a start that claims to be exact

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Find wheels and scanner, and make room for the clouds."""
        self.body = sheets["motion"]
        if self.body.kind not in ALONG:
            kinds = ", ".join(sorted(ALONG))
            raise PluginError(f"particle cannot reckon for motion {self.body.kind!r} ({kinds})")
        self.wheels = sensor_that_measures(WHEELS, sheets, "particle")
        self.scan = sensor_that_measures(SCAN, sheets, "particle")
        scanner = sheets[self.scan]
        self.max_range = float(scanner["max_range"])
        mount = (float(scanner["x"]), float(scanner["y"]), float(scanner["yaw"]))
        # The width of a kernel that smooths so many samples of a normal law best (Silverman).
        part = (4.0 / (self.particles * (AXES + 2))) ** (1.0 / (AXES + 4))
        self.how = (self.key, mount, self.tries, part)
        self.arrays["cloud"] = np.zeros((n, self.particles, 4))
        self.arrays["trail"] = np.zeros((n, LENGTH, 6))
        self.arrays["log_q"] = np.zeros((n, 2, MAX_STEPS + 1))
        beams = min(self.beams, scanner["rays"])
        spare, fits = np.zeros((n, self.particles, 4)), np.zeros((n, self.particles))
        a = self.arrays
        self.room = (a["cloud"], spare, fits, np.zeros((n, beams, 2)), a["trail"], a["log_q"])
        self.fields = LikelihoodFieldCache()

    def reset(self, rows: Rows) -> None:
        """Start from what the datasheets say."""
        kind, memory = self.body.kind, self.memory
        memory["radius"][rows] = self.body["radius"]
        memory["wheelbase"][rows] = self.body["wheelbase"] if kind == "ackermann" else 0.0
        memory["arm"][rows] = arm_of(self.body)
        memory["along"][rows] = ALONG[kind]
        memory["across"][rows] = ACROSS.get(kind, 0.0)
        memory["around"][rows] = AROUND[kind]
        memory["few"][rows] = memory["many"][rows] = EXPECTED
        for name in ("world", "robot", "episode"):
            memory[name][rows] = self.address[name][rows]
        tabulate_all(self.arrays["log_q"], self.params, rows, self.max_range)

    def start(self, rows: Rows, belief: Table) -> None:
        """Begin around the belief; or anywhere, and then know nothing."""
        if self.initial == "told":
            self.believe(rows, belief)
            return
        for name in ("x", "y", "yaw"):
            belief[name][rows] = 0.0
        unsure = np.diag([NOWHERE**2, NOWHERE**2, PI**2 / 3.0])
        belief["cov"][rows] = self.memory["cov"][rows] = unsure
        self.memory["lost"][rows] = True

    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Bring these beliefs up to their fresh readings."""
        scan = known.readings[self.scan]
        wheels = known.readings[self.wheels].table
        tables = (belief, self.memory, self.params, wheels, scan.table, known.worlds)
        fields = self.fields.of(known.map)
        estimate_all(tables, self.room, scan.arrays["ranges"], fields, rows, self.how)

    def believe(self, rows: Rows, belief: Table) -> None:
        """Gather around a pose that was set from outside."""
        tables = (belief, self.memory, self.params)
        place_all(tables, self.arrays["cloud"], self.arrays["trail"], rows, self.key)
