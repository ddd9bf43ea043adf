"""Monte-Carlo localisation: a cloud of poses, moved by wheels, weighed by how a scan fits the map.

    move       each pose as dead reckoning moved, a little differently      particle_cloud.py
    weigh      each by the likelihood of the scan                           particle_match.py
    report     mean and covariance, carried on by dead reckoning            particle_trail.py
    resample   where few poses have most of the weight

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
from astray.estimators.odometry import ACROSS, ALONG, AROUND, arm_of
from astray.estimators.particle_cloud import (
    Spot,
    effective,
    middle_of,
    resample,
    root,
    scatter,
    shake,
    stir,
    summarise,
)
from astray.estimators.particle_match import (
    SHARP,
    Ground,
    Mount,
    Shot,
    aim,
    bearable,
    fit,
    fit_all,
    tabulate,
    throw,
    weigh,
)
from astray.estimators.particle_trail import (
    LENGTH,
    TRAIL,
    latest,
    reaches,
    roll,
    speeds,
    spot_at,
)
from astray.estimators.spread import moved
from astray.kernel import kernel
from astray.maths import PI, exp, sincos
from astray.plugin import Estimator, Known, NonNegative, Positive, Sheets, sensor_that_measures
from astray.se2 import between, compose
from astray.table import SCAN, WHEELS, WHEELS_PER_ROBOT, Array, Column, Row, Rows, Table, columns
from astray.world.likelihood import FAR, Fields, Likelihoods

MOST = 10_000  # particles
STAGES = 6  # in which a scan is taken into account, at most
AXES = 3  # of a pose
FEWEST = 5  # beams that have to end somewhere
FAST = 0.2  # share of the newest scan in what is averaged over few
RISE, FALL = 0.02, 0.002  # and over many: good scans soon tell what to expect, bad ones hardly
EXPECTED = 0.5  # q of a beam before any scan was seen
MOST_THROWN = 0.5  # of the particles at once
NOWHERE = 100.0  # m: standard deviation of a belief that knows nothing

MEMORY = columns(
    TRAIL,
    Column("lost", "", "?"),
    Column("looked", "", "?"),
    "few",
    "many",
    "x m",
    "y m",
    "yaw rad",
    Column("cov", "m², m·rad, rad²", "f8", (3, 3)),
    Column("spot", "m, rad", "f8", (5,)),
    Column("world", "", "i4"),
    Column("robot", "", "i4"),
    Column("life", "", "i4"),
    Column("tick", "", "i8"),
)
"""The trail; whether the cloud has no idea or has looked; how well scans fit; the pose
at the last look, with dead reckoning's then; and who draws noise, for the how-manieth time."""

Share = Annotated[float, Gt(0), Le(1)]
Tables = tuple[Table, Table, Table, Table, Table, Array]
"""Beliefs, memory, parameters, wheel readings, scans, and the world of each row."""
Room = tuple[Array, Array, Array, Array, Array, Array]
"""Clouds, room to resample, fits, ends of beams, trails and tables of log q, by row."""
How = tuple[np.uint64, Mount, int, float]
"""The key of the noise, where the scanner is mounted, the places tried for a pose, and how much
poses part when they are stirred."""
Task = tuple[Shot, Ground, How]
Scan = tuple[Array, Row]
Placing = tuple[Table, Table, Table]


@kernel
def take(b: Row, m: Row, o: Row, trail: Array) -> None:
    """Note a wheel reading."""
    for k in range(WHEELS_PER_ROBOT):
        m.rolled[k] = (o.angle[k] - m.angle[k]) * m.radius if m.noted > 0 else 0.0
    move = moved(m)
    roll(trail, m, o, move)
    speeds(b, trail, m, o, move)
    if m.noted == 1:
        for k in range(5):
            m.spot[k] = 0.0


@kernel
def last_spot(m: Row) -> Spot:
    """Where dead reckoning was at the last look."""
    return m.spot[0], m.spot[1], m.spot[2], m.spot[3], m.spot[4]


@kernel
def report(b: Row, m: Row, p: Row, spot: Spot) -> None:
    """Write the belief: the pose of the last look, carried on by dead reckoning to a spot.

    The errors of that are spread evenly over the way: a heading that drifts by a variance V turns
    what was gone by V / 3.
    """
    a = last_spot(m)
    gone = between((a[0], a[1], a[2]), (spot[0], spot[1], spot[2]))
    b.x, b.y, b.yaw = compose((m.x, m.y, m.yaw), gone)
    way, turned = spot[3] - a[3], spot[4] - a[4]
    slip = p.slip_density * p.slip_density * way + p.shift_density * p.shift_density * turned
    veer = p.veer_density * p.veer_density * way + p.turn_density * p.turn_density * turned
    to_x, to_y = -(b.y - m.y), b.x - m.x
    s, c = sincos(b.yaw)
    xx = m.cov[0, 0] + 2.0 * to_x * m.cov[0, 2] + to_x * to_x * (m.cov[2, 2] + veer / 3.0)
    yy = m.cov[1, 1] + 2.0 * to_y * m.cov[1, 2] + to_y * to_y * (m.cov[2, 2] + veer / 3.0)
    xy = m.cov[0, 1] + to_y * m.cov[0, 2] + to_x * m.cov[1, 2]
    xy += to_x * to_y * (m.cov[2, 2] + veer / 3.0)
    b.cov[0, 0], b.cov[1, 1] = xx + slip * c * c, yy + slip * s * s
    b.cov[0, 1] = b.cov[1, 0] = xy + slip * s * c
    b.cov[0, 2] = b.cov[2, 0] = m.cov[0, 2] + to_x * (m.cov[2, 2] + 0.5 * veer)
    b.cov[1, 2] = b.cov[2, 1] = m.cov[1, 2] + to_y * (m.cov[2, 2] + 0.5 * veer)
    b.cov[2, 2] = m.cov[2, 2] + veer


@kernel
def moved_enough(m: Row, p: Row, spot: Spot) -> bool:
    """Whether a scan is worth a look."""
    way, turned = spot[3] - m.spot[3], spot[4] - m.spot[4]
    return bool(not m.looked or way >= p.update_way or turned >= p.update_turn)


@kernel
def throw_all(cloud: Array, m: Row, first: int, task: Task) -> None:
    """Throw the poses from the first one on anew."""
    shot, ground, how = task
    for k in range(first, len(cloud)):
        throw(cloud[k], m, shot, ground, how[2], how[0])


@kernel
def thrown_share(m: Row, p: Row, q: float) -> float:
    """The part of the poses that is thrown anew after a scan of which beams have the mean q."""
    m.few += FAST * (q - m.few)
    m.many += (RISE if q > m.many else FALL) * (q - m.many)
    share: float = 1.0 - m.few / (p.doubt * m.many)
    return min(max(share, 0.0), MOST_THROWN)


@kernel
def weigh_by_and_by(room: Room, i: int, m: Row, temper: float, task: Task) -> None:
    """Weigh a cloud by a scan in steps, each of which leaves enough poses to speak of.

    Between them it is resampled and stirred: a cloud that is wide after a long way would else be
    left with a few poses.
    """
    shot, ground, how = task
    cloud, spare, fits = room[0][i], room[1][i], room[2][i]
    left = temper
    for stage in range(STAGES):
        if stage > 0 or effective(cloud) < 0.5 * len(cloud):
            at = middle_of(cloud)
            spread = root(cloud, at)
            resample(cloud, spare, m, len(cloud), how[0])
            stir(cloud, m, at, spread, (how[3], how[0]))
        fit_all(fits, cloud, shot, ground)
        power = bearable(cloud, fits, left) if stage < STAGES - 1 else left
        weigh(cloud, fits, power)
        left -= power
        if left <= 0.0:
            break


@kernel
def update(room: Room, i: int, m: Row, p: Row, task: Task) -> None:
    """Take a scan into the cloud of one robot, which was moved to where it was taken."""
    shot, ground, how = task
    f = ground[0].fields[ground[1]]
    cloud = room[0][i]
    if m.lost:
        if f.floors == 0:
            return
        throw_all(cloud, m, 0, task)
        for k in range(len(cloud)):
            cloud[k, 3] = 1.0 / len(cloud)
        m.lost = False
    weigh_by_and_by(room, i, m, p.temper, task)
    summarise(m, cloud, f.cell * f.cell / 12.0)
    q = exp(fit(m.x, m.y, m.yaw, shot, ground, SHARP) / shot[1])
    thrown = int(thrown_share(m, p, q) * len(cloud)) if f.floors > 0 else 0
    if thrown > 0:
        resample(cloud, room[1][i], m, len(cloud) - thrown, how[0])
        throw_all(cloud, m, len(cloud) - thrown, task)


@kernel
def look(tables: Tables, room: Room, i: int, scan: Scan, ground: Ground, how: How) -> None:
    """Take one robot's fresh scan into account, if it has moved since it last looked."""
    belief, memory, params, _, _, _ = tables
    b, m, p = belief[i], memory[i], params[i]
    ranges, o = scan
    trail, ends = room[4][i], room[3][i]
    if not reaches(trail, m, o.stamp):
        return
    spot = spot_at(trail, m, o.stamp)
    if spot[3] < m.spot[3] or not moved_enough(m, p, spot):
        return
    count = aim(ends, ranges, o, b, how[1])
    if count < FEWEST:
        return
    if not m.lost:
        shake(room[0][i], m, p, (last_spot(m), spot), how[0])
    for k in range(5):
        m.spot[k] = spot[k]
    m.looked = True
    update(room, i, m, p, ((ends, count, room[5][i]), ground, how))
    if o.stamp > b.stamp:
        report(b, m, p, spot)
        b.stamp = o.stamp
    else:
        report(b, m, p, latest(trail, m))


@kernel
def estimate_all(
    tables: Tables, room: Room, ranges: Array, fields: Likelihoods, rows: Rows, how: How
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
    rows_per_thread = 8
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

    def bind(self, n: int, sheets: Sheets) -> None:
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
        self.arrays["log_q"] = np.zeros((n, 2, FAR + 1))
        beams = min(self.beams, scanner["rays"])
        spare, fits = np.zeros((n, self.particles, 4)), np.zeros((n, self.particles))
        a = self.arrays
        self.room = (a["cloud"], spare, fits, np.zeros((n, beams, 2)), a["trail"], a["log_q"])
        self.fields = Fields()

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
        for name in ("world", "robot", "life"):
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
