"""Monte Carlo localisation: a particle filter over wheel odometry and scans.

    odometry_buffer.py    dead reckoning at the stamp of a scan, late ones too
    particle_set.py       motion model, statistics and resampling of the particles
    scan_likelihood.py    measurement model, tempered weights, and particles injected from a scan
    relocalisation.py     the decision between the track and a pose elsewhere
    update.py             one update by a scan
    filter.py             the belief between scans, the loop over robots, and the class

A scan is used once the robot has moved: the same walls from the same pose give no new information.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from astray.numerics import PI, compose, kernel, relative_pose, sincos
from astray.plugin import Datasheets, Estimator, Known, NonNegative, Positive, find_sensor
from astray.robot.estimators.mcl.odometry_buffer import (
    LENGTH,
    ODOMETRY,
    OdometryPose,
    append_odometry,
    covers,
    latest_odometry,
    odometry_at,
    write_velocity,
)
from astray.robot.estimators.mcl.particle_set import (
    draw_particles,
    sample_motion,
)
from astray.robot.estimators.mcl.relocalisation import (
    CANDIDATE,
    EXPECTED_Q,
    UpdateMotion,
)
from astray.robot.estimators.mcl.scan_likelihood import (
    TABLES,
    Beams,
    MapField,
    beam_endpoints,
    tabulate_log_q,
)
from astray.robot.estimators.mcl.update import ParticleTables, Settings, update
from astray.robot.estimators.odometry import body_displacement, wheel_kinematics
from astray.tables import SCAN, WHEELS, WHEELS_PER_ROBOT, Array, Column, Row, Rows, Table, columns
from astray.world.planning import MAX_STEPS, LikelihoodFieldArrays, LikelihoodFieldCache

MIN_BEAMS = 5  # that ended at something
MAX_PARTICLES = 10_000
POSE_SIZE = 3
UNKNOWN_SD = 100.0  # m: standard deviation of an unknown position

MEMORY = columns(
    Column("lost", "", "?"),  # without any idea of the pose
    Column("updated", "", "?"),  # by a scan
    Column("settled", "", "?"),  # on a track, which takes evidence to leave
    Column("searching", "", "?"),  # for a pose elsewhere
    ODOMETRY,  # which must be no prefix of it: numba would take one for the other, with a warning
    "w_fast",  # the averages of augmented MCL
    "w_slow",
    CANDIDATE,
    "x m",  # the pose at the last update
    "y m",
    "yaw rad",
    Column("cov", "m², m·rad, rad²", "f8", (3, 3)),
    Column("odometry", "m, rad", "f8", (5,)),  # OdometryPose at the last update
    Column("world", "", "i4"),  # from here on the address of the noise
    Column("robot", "", "i4"),
    Column("episode", "", "i4"),
    Column("tick", "", "i8"),  # counts draws
)
"""What a particle filter keeps of a robot beside its arrays."""


class SensorReadings(NamedTuple):
    """The newest readings of wheels and scanner, by row."""

    wheels: Table
    scans: Table
    ranges: Array
    """(n, rays) m."""


@kernel
def take_wheels(belief: Row, memory: Row, wheels: Row, buffer: Array) -> None:
    """Append a wheel reading to the odometry buffer."""
    for k in range(WHEELS_PER_ROBOT):
        distance = (wheels.angle[k] - memory.angle[k]) * memory.radius
        memory.distance[k] = distance if memory.readings > 0 else 0.0
    step = body_displacement(memory)
    append_odometry(buffer, memory, wheels, step)
    write_velocity(belief, buffer, memory, wheels, step)
    if memory.readings == 1:
        for k in range(5):
            memory.odometry[k] = 0.0


@kernel
def odometry_at_update(memory: Row) -> OdometryPose:
    """Dead reckoning at the last update."""
    o = memory.odometry
    return OdometryPose(o[0], o[1], o[2], o[3], o[4])


@kernel
def publish_belief(belief: Row, memory: Row, p: Row, now: OdometryPose) -> None:
    """Write the pose of the last update, propagated by dead reckoning, to the belief.

    The errors of that are spread evenly over the path: a heading whose variance grows by V turns
    the displacement by a variance of V / 3.
    """
    then = odometry_at_update(memory)
    step = relative_pose((then.x, then.y, then.yaw), (now.x, now.y, now.yaw))
    belief.x, belief.y, belief.yaw = compose((memory.x, memory.y, memory.yaw), step)
    path, rotation = now.path - then.path, now.rotation - then.rotation
    slip = p.slip_density * p.slip_density * path + p.shift_density * p.shift_density * rotation
    veer = p.veer_density * p.veer_density * path + p.turn_density * p.turn_density * rotation
    tx, ty = -(belief.y - memory.y), belief.x - memory.x  # Jacobians of x and y by the yaw
    s, c = sincos(belief.yaw)
    cov, out = memory.cov, belief.cov
    xx = cov[0, 0] + 2.0 * tx * cov[0, 2] + tx * tx * (cov[2, 2] + veer / 3.0)
    yy = cov[1, 1] + 2.0 * ty * cov[1, 2] + ty * ty * (cov[2, 2] + veer / 3.0)
    xy = cov[0, 1] + ty * cov[0, 2] + tx * cov[1, 2]
    xy += tx * ty * (cov[2, 2] + veer / 3.0)
    out[0, 0], out[1, 1] = xx + slip * c * c, yy + slip * s * s
    out[0, 1] = out[1, 0] = xy + slip * s * c
    out[0, 2] = out[2, 0] = cov[0, 2] + tx * (cov[2, 2] + 0.5 * veer)
    out[1, 2] = out[2, 1] = cov[1, 2] + ty * (cov[2, 2] + 0.5 * veer)
    out[2, 2] = cov[2, 2] + veer


# One update by a scan.


@kernel
def has_moved(memory: Row, p: Row, now: OdometryPose) -> bool:
    """Whether the robot has moved enough since the last update for another."""
    then = odometry_at_update(memory)
    path, rotation = now.path - then.path, now.rotation - then.rotation
    return bool(not memory.updated or path >= p.update_way or rotation >= p.update_turn)


@kernel
def take_scan(
    belief: Row,
    tables: ParticleTables,
    i: int,
    readings: SensorReadings,
    field: MapField,
    settings: Settings,
) -> None:
    """Update the belief of a row by a fresh scan, if the robot has moved since the last update."""
    memory, p, scan = tables.memory[i], tables.params[i], readings.scans[i]
    buffer, ends = tables.buffers[i], tables.ends[i]
    if not covers(buffer, memory, scan.stamp):
        return
    now, then = odometry_at(buffer, memory, scan.stamp), odometry_at_update(memory)
    if now.path < then.path or not has_moved(memory, p, now):
        return
    count = beam_endpoints(ends, readings.ranges[i], scan, belief, settings.mount)
    if count < MIN_BEAMS:
        return
    if not memory.lost:
        sample_motion(tables.particles[i], memory, p, then, now, settings.key)
    if memory.searching:
        sample_motion(tables.search[i], memory, p, then, now, settings.key)
    step = relative_pose((then.x, then.y, then.yaw), (now.x, now.y, now.yaw))
    motion = UpdateMotion(step, now.x, now.y, now.path - then.path)
    for k in range(5):
        memory.odometry[k] = now[k]
    memory.updated = True
    update(tables, i, Beams(ends, count, tables.log_q[i]), field, settings, motion)
    if scan.stamp > belief.stamp:
        publish_belief(belief, memory, p, now)
        belief.stamp = scan.stamp
    else:
        publish_belief(belief, memory, p, latest_odometry(buffer, memory))


# All robots.


@kernel
def estimate_all(
    belief: Table,
    tables: ParticleTables,
    readings: SensorReadings,
    fields: LikelihoodFieldArrays,
    worlds: Array,
    rows: Rows,
    settings: Settings,
) -> None:
    """Take the fresh readings of these rows.

    Tables, readings and settings come as plain tuples: those take less time to get into a kernel.
    """
    tables, settings = ParticleTables(*tables), Settings(*settings)
    readings = SensorReadings(*readings)
    for i in rows:
        b, m, wheels = belief[i], tables.memory[i], readings.wheels[i]
        if wheels.fresh:
            take_wheels(b, m, wheels, tables.buffers[i])
            publish_belief(b, m, tables.params[i], latest_odometry(tables.buffers[i], m))
            b.stamp = wheels.stamp
        if readings.scans[i].fresh:
            field = MapField(fields, fields.of_world[worlds[i]])
            take_scan(b, tables, i, readings, field, settings)


@kernel
def gather_all(
    belief: Table,
    memory: Table,
    params: Table,
    particles: Array,
    buffers: Array,
    rows: Rows,
    key: np.uint64,
) -> None:
    """Draw the particles of these rows by their beliefs."""
    for i in rows:
        b, m, p = belief[i], memory[i], params[i]
        m.x, m.y, m.yaw = b.x, b.y, b.yaw
        for j in range(3):
            if not b.cov[j, j] > 0.0:
                start_sd = p.start_sd if j < 2 else p.start_yaw_sd
                b.cov[j, j] = start_sd * start_sd
            for k in range(3):
                m.cov[j, k] = b.cov[j, k]
        m.lost = m.updated = m.searching = False
        m.settled = True
        now = latest_odometry(buffers[i], m)
        for k in range(5):
            m.odometry[k] = now[k]
        sd = (math.sqrt(b.cov[0, 0]), math.sqrt(b.cov[1, 1]), math.sqrt(b.cov[2, 2]))
        draw_particles(particles[i], m, sd, key)


@kernel
def tabulate_all(log_q: Array, params: Table, rows: Rows, max_range: float) -> None:
    """Write the tables of log q of these rows."""
    for i in rows:
        tabulate_log_q(log_q[i], params[i], max_range)


Share = Annotated[float, Gt(0), Le(1)]
ShareOrNone = Annotated[float, Ge(0), Le(1)]


class Particle(Estimator, kind="particle"):
    """Monte Carlo localisation on the map by wheels and lidar, with global localisation."""

    remembers = MEMORY
    needs_map = True
    rows_per_thread = 8
    fixed = ("particles", "beams", "tries", "sigma", "hit")
    initial: Literal["told", "global"] = "told"  # global: the start is unknown
    particles: Annotated[int, Ge(2), Le(MAX_PARTICLES)] = 500  # number of particles
    beams: Annotated[int, Ge(MIN_BEAMS), Le(10_000)] = 90  # number of rays used per scan
    tries: Annotated[int, Ge(1), Le(10_000)] = 300  # poses tried for a particle that is injected
    sigma: Positive = 0.1  # m, standard deviation of beam ends about walls
    hit: Annotated[float, Gt(0), Lt(1)] = 0.9  # share of beams that end at a wall of the map
    temper: Share = 0.6  # power of the likelihood of a scan: its beams have correlated errors
    slip_density: NonNegative = 0.1  # m/√m; error of the translation over the path
    shift_density: NonNegative = 0.05  # m/√rad; error of the translation over the rotation
    veer_density: NonNegative = 0.09  # rad/√m; error of the turn over the path
    turn_density: NonNegative = 0.1  # rad/√rad; error of the turn over the rotation
    update_way: NonNegative = 0.1  # m of path before the next update
    update_turn: NonNegative = 0.1  # rad of rotation before the next update
    doubt: ShareOrNone = 0.5  # relative fit of scans below which it searches; 0: never
    start_sd: Positive = 0.1  # m, in place of a start uncertainty of 0
    start_yaw_sd: Positive = 0.05  # rad, in place of a start uncertainty of 0

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Find wheels and scanner, and allocate the particles.

        Raises:
            PluginError: The robot has no wheel encoders, no scanner, or a motion of unknown wheel
                kinematics.
        """
        self.kinematics = wheel_kinematics(sheets["motion"], "particle")
        self.wheels = find_sensor(WHEELS, sheets, "particle")
        self.scan = find_sensor(SCAN, sheets, "particle")
        scanner = sheets[self.scan]
        self.max_range = float(scanner["max_range"])
        mount = (float(scanner["x"]), float(scanner["y"]), float(scanner["yaw"]))
        # The best bandwidth of a normal kernel for so many samples (Silverman, 1986).
        bandwidth = (4.0 / (self.particles * (POSE_SIZE + 2))) ** (1.0 / (POSE_SIZE + 4))
        self.settings: Any = (self.key, mount, self.tries, bandwidth)
        a = self.arrays
        a["cloud"] = np.zeros((n, self.particles, 4))
        a["search"] = np.zeros((n, self.particles, 4))
        a["trail"] = np.zeros((n, LENGTH, 6))
        a["log_q"] = np.zeros((n, TABLES, MAX_STEPS + 1))
        spare, log_weights = np.zeros((n, self.particles, 4)), np.zeros((n, self.particles))
        ends = np.zeros((n, min(self.beams, scanner["rays"]), 2))
        self.workspaces: Any = (
            a["cloud"],
            a["search"],
            spare,
            log_weights,
            ends,
            a["trail"],
            a["log_q"],
        )
        self.fields = LikelihoodFieldCache()

    def reset(self, rows: Rows) -> None:
        """Write what the datasheets say."""
        memory = self.memory
        self.kinematics.write(memory, rows)
        memory["w_fast"][rows] = memory["w_slow"][rows] = EXPECTED_Q
        for name in ("world", "robot", "episode"):
            memory[name][rows] = self.address[name][rows]
        tabulate_all(self.arrays["log_q"], self.params, rows, self.max_range)

    def start(self, rows: Rows, belief: Table) -> None:
        """Draw the particles around the belief; with `initial: global` anywhere on the map."""
        if self.initial == "told":
            self.believe(rows, belief)
            return
        for name in ("x", "y", "yaw"):
            belief[name][rows] = 0.0
        unknown = np.diag([UNKNOWN_SD**2, UNKNOWN_SD**2, PI**2 / 3.0])
        belief["cov"][rows] = self.memory["cov"][rows] = unknown
        self.memory["lost"][rows] = True
        self.memory["settled"][rows] = self.memory["searching"][rows] = False

    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Take the fresh readings of these rows."""
        wheels, scan = known.readings[self.wheels], known.readings[self.scan]
        tables: Any = (self.memory, self.params, *self.workspaces)
        readings: Any = (wheels.table, scan.table, scan.arrays["ranges"])
        fields = self.fields.of(known.map)
        estimate_all(belief, tables, readings, fields, known.worlds, rows, self.settings)

    def believe(self, rows: Rows, belief: Table) -> None:
        """Draw the particles around a pose that was set from outside."""
        cloud, buffers = self.arrays["cloud"], self.arrays["trail"]
        gather_all(belief, self.memory, self.params, cloud, buffers, rows, self.key)
