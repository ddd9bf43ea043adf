"""An inertial measurement unit: angular rates and specific force at its mount, in its own axes.

The mount is at r in the body frame. This point moves with the velocity v + w × r and has the
acceleration

    a = a_body + alpha × r − w² r                                                      (lever arm)

and the unit measures specific force, which is a with +g upwards. A reading is the mean over the
time since the last one, as a device gives that integrates increments: the change of the true
velocity of the mount, rotated to the middle heading, and the change of heading. So it contains
all motion between two readings. `sampling: instant` gives the values at the stamp instead.

The axes of the unit are rotated by roll, pitch and yaw. With u what an ideal unit would read there,

    y = quantise(saturate((I + S + M) u + turn-on bias + walking bias + drift + white noise))

where S has the scale factor errors, M the misalignment of the axes, and drift is a
Gauss-Markov error. White noise (angle and velocity random walk), the random walk of the biases and
the bias instability are given by their Allan coefficients; `error_models.py` has their models.
Turn-on bias, scale and axes are drawn once per episode. A `grade` gives typical errors.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from astray.numerics import (
    CHUNK,
    NoiseWorkspace,
    WorkspaceFields,
    draw_normals,
    inlined_kernel,
    kernel,
    normal_pair,
    rotation_from_euler,
    sincos_all,
    wrap,
)
from astray.plugin import Datasheets, DrawnParameter, NonNegative, Positive, Reading, Scene, Sensor
from astray.robot.sensors.error_models import (
    FLICKER_SD,
    FLICKER_TAU,
    FLICKER_TERMS,
    gauss_markov,
    quantise,
    random_walk_scale,
    saturate,
    white_noise_scale,
)
from astray.robot.sensors.imu_grades import GRADES
from astray.tables import IMU, Array, Column, Row, Rows, Table, columns

MEMORY = columns(
    Column("started", "", "?"),
    Column("instant", "", "?"),
    "period s",
    Column("errs", "", "?"),
    Column("turn_axes", "", "f8", (3,)),
    Column("axes", "", "f8", (3, 3)),
    Column("bias", "rad/s, m/s²", "f8", (6,)),
    Column("drift", "rad/s, m/s²", "f8", (6,)),
    "stamp s",
    "yaw rad",
    "wz rad/s",
    "along m/s",
    "across m/s",
)
"""`turn_axes` and `axes` are (I + S + M) Rᵀ, of the rates (its last column) and of the forces; the
true biases and drifts of rates (0 to 2) and forces (3 to 5); whether there are drift, saturation or
quantisation (`errs`); heading, rate and velocity of the mount at the last reading."""

AXES = 6  # three rates, three forces
MAX_PAIRS = 9  # of standard normals that a reading takes
EPISODE_NORMALS = 30  # turn-on biases 6, initial drift 6, scale and axes 18
FLICKER_DRAW = 64  # the first draw for bias instability; those before it are for the other noise


class ImuNoise(NamedTuple):
    """White noise of one reading."""

    wx: float
    wy: float
    wz: float
    ax: float
    ay: float
    az: float


# Motion of the mount.


@kernel
def remember_motion(m: Row, s: Row, p: Row) -> None:
    """Keep heading, rate and the velocity of the mount in the body frame."""
    m.along, m.across = s.vx - s.wz * p.y, s.vy + s.wz * p.x
    m.yaw, m.wz, m.stamp = s.yaw, s.wz, s.stamp


@kernel
def remember_motion_all(memory: Table, truth: Table, params: Table, rows: Rows) -> None:
    """Keep the present motion of these rows."""
    for i in rows:
        remember_motion(memory[i], truth[i], params[i])


@inlined_kernel
def turn_since_last(m: Row, s: Row) -> float:
    """The turn of a robot since the last reading, rad; it may be more than one full turn."""
    predicted = 0.5 * (m.wz + s.wz) * (s.stamp - m.stamp)
    return float(predicted + wrap(s.yaw - m.yaw - predicted))


@kernel
def mount_motion(
    m: Row, s: Row, p: Row, turn: float, half_turn: tuple[float, float]
) -> tuple[float, float, float]:
    """Rate about the vertical and acceleration of the mount in the body frame.

    `turn` is that since the last reading, and `half_turn` has sine and cosine of half of it.
    """
    elapsed = s.stamp - m.stamp
    if m.instant or not m.started or elapsed <= 0.0:
        remember_motion(m, s, p)
        m.started = True
        ax = s.ax - s.alpha * p.y - s.wz * s.wz * p.x
        ay = s.ay + s.alpha * p.x - s.wz * s.wz * p.y
        return s.wz, ax, ay
    along, across = m.along, m.across
    remember_motion(m, s, p)
    # In the frame of the middle heading, the old velocity is rotated back and the new one forward.
    sine, cosine = half_turn
    ax = cosine * (m.along - along) - sine * (m.across + across)
    ay = cosine * (m.across - across) + sine * (m.along + along)
    per = 1.0 / elapsed
    return turn * per, ax * per, ay * per


# Errors that are drawn once per episode.


@kernel
def scale_and_axes_error(scale: float, misalignment: float, n: Array, i: int, j: int) -> float:
    """Element (i, j) of I + S + M, from standard normals (9,)."""
    return float(1.0 + scale * n[4 * i] if i == j else misalignment * n[3 * i + j])


@kernel
def draw_episode_errors(m: Row, p: Row, n: Array) -> None:
    """Draw the axes, turn-on biases and initial drifts of one unit from EPISODE_NORMALS normals."""
    r = rotation_from_euler(p.roll, p.pitch, p.yaw)
    rate_normals, force_normals = n[12:21], n[21:30]
    skew = p.misalignment_sd
    for i in range(3):
        m.bias[i], m.bias[3 + i] = p.gyro_bias_sd * n[i], p.accel_bias_sd * n[3 + i]
        m.drift[i], m.drift[3 + i] = p.gyro_drift_sd * n[6 + i], p.accel_drift_sd * n[9 + i]
        # R rotates from the sensor's axes to the body's; here its transpose is needed.
        m.turn_axes[i] = 0.0
        for k in range(3):
            error = scale_and_axes_error(p.gyro_scale_sd, skew, rate_normals, i, k)
            m.turn_axes[i] += error * r[2][k]
        for j in range(3):
            m.axes[i, j] = 0.0
            for k in range(3):
                error = scale_and_axes_error(p.accel_scale_sd, skew, force_normals, i, k)
                m.axes[i, j] += error * r[j][k]
    if p.planar:
        m.drift[0], m.drift[1], m.drift[5] = 0.0, 0.0, 0.0
    gyro_errs = p.gyro_drift_sd > 0.0 or p.gyro_range > 0.0 or p.gyro_resolution > 0.0
    m.errs = gyro_errs or p.accel_drift_sd > 0.0 or p.accel_range > 0.0 or p.accel_resolution > 0.0


@kernel
def draw_episode_errors_all(
    memory: Table, params: Table, n: Array, rows: Rows, instant: bool, period: float
) -> None:
    """Draw the errors of these rows for an episode, from normals (len(rows), EPISODE_NORMALS)."""
    for j in range(len(rows)):
        m = memory[rows[j]]
        m.instant, m.period = instant, period
        draw_episode_errors(m, params[rows[j]], n[j])


# Errors of each reading.


@inlined_kernel
def is_noisy(p: Row) -> bool:
    """Whether a unit has white noise or biases that walk."""
    return bool(p.gyro_density + p.gyro_walk + p.accel_density + p.accel_walk > 0.0)


@inlined_kernel
def has_walking_bias(p: Row) -> bool:
    """Whether the biases of a unit walk."""
    return bool(p.gyro_walk + p.accel_walk > 0.0)


@kernel
def pairs_needed(m: Row, p: Row) -> int:
    """How many pairs of normals a reading takes, for `draw_noise` and `propagate_drift`."""
    if m.errs:
        return MAX_PAIRS
    if not is_noisy(p):
        return 0
    if p.planar:
        return 3 if has_walking_bias(p) else 2
    return 6 if has_walking_bias(p) else 5


@kernel
def draw_noise(m: Row, p: Row, n: Array, elapsed: float) -> ImuNoise:
    """Draw the white noise of a reading and the random walk of the biases from normals.

    A planar unit has none on the axes that are constant on a level floor.
    """
    white = white_noise_scale(elapsed)
    gyro, accel = p.gyro_density * white, p.accel_density * white
    if has_walking_bias(p):
        root = random_walk_scale(elapsed)
        gyro_walk, accel_walk = p.gyro_walk * root, p.accel_walk * root
        m.bias[2] += gyro_walk * n[3]
        m.bias[3] += accel_walk * n[4]
        m.bias[4] += accel_walk * n[5]
        if not p.planar:
            m.bias[0] += gyro_walk * n[9]
            m.bias[1] += gyro_walk * n[10]
            m.bias[5] += accel_walk * n[11]
    if p.planar:
        return ImuNoise(0.0, 0.0, gyro * n[0], accel * n[1], accel * n[2], 0.0)
    return ImuNoise(gyro * n[6], gyro * n[7], gyro * n[0], accel * n[1], accel * n[2], accel * n[8])


@kernel
def propagate_drift(m: Row, p: Row, n: Array, elapsed: float) -> None:
    """Propagate the Gauss-Markov errors; a planar unit has them on wz, ax and ay alone."""
    for j in range(AXES):
        if p.planar and (j < 2 or j == 5):
            continue
        sd = p.gyro_drift_sd if j < 3 else p.accel_drift_sd
        tau = p.gyro_drift_tau if j < 3 else p.accel_drift_tau
        m.drift[j] = gauss_markov(m.drift[j], sd, tau, elapsed, n[12 + j])


@kernel
def propagate_bias_instability(terms: Array, m: Row, p: Row, s: Row, key: np.uint64) -> None:
    """Propagate the terms (AXES, FLICKER_TERMS) of one unit; the bias contains their sum."""
    elapsed = s.stamp - m.stamp if m.started else 0.0
    for j in range(AXES):
        b = p.gyro_instability if j < 3 else p.accel_instability
        if b == 0.0 or (p.planar and (j < 2 or j == 5)):
            continue
        for k in range(0, FLICKER_TERMS, 2):
            normals = normal_pair(s, key, FLICKER_DRAW + j * FLICKER_TERMS + k)
            for i in range(2):
                sd, tau, before = b * FLICKER_SD[k + i], FLICKER_TAU[k + i], terms[j, k + i]
                terms[j, k + i] = gauss_markov(before, sd, tau, elapsed, normals[i])
                m.bias[j] += terms[j, k + i] - before


@kernel
def propagate_bias_instability_all(
    terms: Array, memory: Table, params: Table, truth: Table, rows: Rows, key: np.uint64
) -> None:
    """Propagate the bias instabilities of these rows."""
    for i in rows:
        propagate_bias_instability(terms[i], memory[i], params[i], truth[i], key)


@kernel
def saturate_and_quantise(o: Row, m: Row, p: Row) -> None:
    """Add the drift, then saturate and quantise."""
    o.wx = quantise(saturate(o.wx + m.drift[0], p.gyro_range), p.gyro_resolution)
    o.wy = quantise(saturate(o.wy + m.drift[1], p.gyro_range), p.gyro_resolution)
    o.wz = quantise(saturate(o.wz + m.drift[2], p.gyro_range), p.gyro_resolution)
    o.ax = quantise(saturate(o.ax + m.drift[3], p.accel_range), p.accel_resolution)
    o.ay = quantise(saturate(o.ay + m.drift[4], p.accel_range), p.accel_resolution)
    o.az = quantise(saturate(o.az + m.drift[5], p.accel_range), p.accel_resolution)


@kernel
def sense(
    o: Row, m: Row, p: Row, s: Row, n: Array, turn: float, half_turn: tuple[float, float]
) -> None:
    """Read one unit, from as many standard normals as it needs and the turn since the last time."""
    first = not m.started
    elapsed = s.stamp - m.stamp if m.started and s.stamp > m.stamp else m.period
    wz, ax, ay = mount_motion(m, s, p, turn, half_turn)
    e = ImuNoise(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if is_noisy(p):
        e = draw_noise(m, p, n, elapsed)
    r, t, up = m.axes, m.turn_axes, p.gravity
    o.wx = t[0] * wz + m.bias[0] + e.wx
    o.wy = t[1] * wz + m.bias[1] + e.wy
    o.wz = t[2] * wz + m.bias[2] + e.wz
    o.ax = r[0, 0] * ax + r[0, 1] * ay + r[0, 2] * up + m.bias[3] + e.ax
    o.ay = r[1, 0] * ax + r[1, 1] * ay + r[1, 2] * up + m.bias[4] + e.ay
    o.az = r[2, 0] * ax + r[2, 1] * ay + r[2, 2] * up + m.bias[5] + e.az
    if m.errs:
        if not first:
            propagate_drift(m, p, n, elapsed)
        saturate_and_quantise(o, m, p)


@kernel
def sense_all(
    out: Table,
    memory: Table,
    params: Table,
    truth: Table,
    rows: Rows,
    workspace: WorkspaceFields,
) -> None:
    """Read the units of these rows: normals, turns and sines for a chunk of rows at a time."""
    noise = NoiseWorkspace(*workspace)
    w, turns = noise.scratch, noise.scratch[2]
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        pairs = 0
        for i in chunk:
            pairs = max(pairs, pairs_needed(memory[i], params[i]))
        if pairs > 0:
            draw_normals(noise, truth, chunk, pairs)
        for j in range(len(chunk)):
            turns[j] = turn_since_last(memory[chunk[j]], truth[chunk[j]])
            w[0, j] = 0.5 * turns[j]
        sincos_all(w, len(chunk))
        for j in range(len(chunk)):
            i = chunk[j]
            half_turn = (w[0, j], w[1, j])
            sense(out[i], memory[i], params[i], truth[i], noise.normals[j], turns[j], half_turn)


class Imu(Sensor, kind="imu"):
    """Three angular rates and three specific forces at a mount, with the errors of an IMU."""

    measures = IMU
    remembers = MEMORY
    fixed = (
        "roll",
        "pitch",
        "yaw",
        "gyro_bias_sd",
        "gyro_scale_sd",
        "accel_bias_sd",
        "accel_scale_sd",
        "misalignment_sd",
    )
    x: float = 0.0  # m, of the mount in the body frame
    y: float = 0.0  # m, of the mount in the body frame
    roll: float = 0.0  # rad, of the mount
    pitch: float = 0.0  # rad, of the mount
    yaw: float = 0.0  # rad, of the mount
    sampling: Literal["mean", "instant"] = "mean"  # mean since the last reading, or instantaneous
    planar: bool = False  # no noise on the axes that are constant on a level floor
    gravity: NonNegative = 9.81  # m/s²
    grade: Literal["consumer", "industrial", "tactical"] | None = (
        None  # typical errors of a class of devices
    )
    gyro_density: NonNegative | None = None  # rad/s/√Hz, angle random walk; by grade, else 0
    gyro_walk: NonNegative | None = None  # rad/s²/√Hz, random walk of the bias; by grade, else 0
    gyro_bias_sd: NonNegative | None = (
        None  # rad/s, turn-on bias, drawn per episode; by grade, else 0
    )
    gyro_drift_sd: NonNegative | None = None  # rad/s, stationary, of the drift; by grade, else 0
    gyro_instability: NonNegative = (
        0.0  # rad/s, bias instability B; the Allan deviation has a floor of 0.664 B
    )
    gyro_drift_tau: Positive = 300.0  # s, time constant of that drift
    gyro_scale_sd: NonNegative | None = None  # relative, drawn per episode; by grade, else 0
    gyro_range: NonNegative | None = None  # rad/s, full scale; by grade, else 0 (none)
    gyro_resolution: NonNegative | None = None  # rad/s, of a digit; by grade, else 0 (none)
    accel_density: NonNegative | None = None  # m/s²/√Hz, velocity random walk; by grade, else 0
    accel_walk: NonNegative | None = None  # m/s³/√Hz, random walk of the bias; by grade, else 0
    accel_bias_sd: NonNegative | None = (
        None  # m/s², turn-on bias, drawn per episode; by grade, else 0
    )
    accel_drift_sd: NonNegative | None = None  # m/s², stationary, of the drift; by grade, else 0
    accel_instability: NonNegative = (
        0.0  # m/s², bias instability B; the Allan deviation has a floor of 0.664 B
    )
    accel_drift_tau: Positive = 300.0  # s, time constant of that drift
    accel_scale_sd: NonNegative | None = None  # relative, drawn per episode; by grade, else 0
    accel_range: NonNegative | None = None  # m/s², full scale; by grade, else 0 (none)
    accel_resolution: NonNegative | None = None  # m/s², of a digit; by grade, else 0 (none)
    misalignment_sd: NonNegative | None = (
        None  # rad, of each axis, drawn per episode; by grade, else 0
    )

    def __post_init__(self) -> None:
        """Take what was not given from the grade."""
        super().__post_init__()
        typical = GRADES[self.grade] if self.grade else {}
        for name in GRADES["consumer"]:
            if getattr(self, name) is None:
                setattr(self, name, typical.get(name, 0.0))

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Find out which errors the units have."""
        self.unstable = self._has_any("gyro_instability", "accel_instability")
        drawn_once = (name for name in GRADES["consumer"] if name.endswith("_sd"))
        self.has_episode_errors = self._has_any(*drawn_once)
        if self.unstable:
            self.arrays["flicker"] = np.zeros((n, AXES, FLICKER_TERMS))

    def _has_any(self, *errors: str) -> bool:
        """Whether some unit may have one of these errors: it is drawn, or not zero."""
        given = (getattr(self, name) for name in errors)
        return any(isinstance(error, DrawnParameter) or error > 0.0 for error in given)

    def reset(self, rows: Rows) -> None:
        """Draw the errors of these rows for an episode."""
        n = np.zeros((len(rows), EPISODE_NORMALS))
        if self.has_episode_errors:
            n = self.episode_normals(rows, EPISODE_NORMALS)
        instant, period = self.sampling == "instant", 1.0 / self.rate if self.rate else self.dt
        draw_episode_errors_all(self.memory, self.params, n, rows, instant, period)
        if self.unstable:
            self._start_bias_instability(rows)

    def _start_bias_instability(self, rows: Rows) -> None:
        """Draw the bias instability from its stationary distribution."""
        p, m = self.params, self.memory
        n = self.episode_normals(rows, EPISODE_NORMALS + AXES * FLICKER_TERMS)[:, EPISODE_NORMALS:]
        sd = np.repeat([p["gyro_instability"][rows], p["accel_instability"][rows]], 3, axis=0).T
        terms = np.array(FLICKER_SD) * sd[:, :, None] * n.reshape(-1, AXES, FLICKER_TERMS)
        terms[p["planar"][rows][:, None] & np.isin(np.arange(AXES), (0, 1, 5))] = 0.0
        self.arrays["flicker"][rows] = terms
        m["bias"][rows] += terms.sum(axis=2)

    def placed(self, rows: Rows, scene: Scene) -> None:
        """Measure no acceleration from being placed by an event."""
        remember_motion_all(self.memory, scene.truth, self.params, rows)

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the units of these rows."""
        m, p, truth = self.memory, self.params, scene.truth
        if self.unstable:
            propagate_bias_instability_all(self.arrays["flicker"], m, p, truth, rows, self.key)
        sense_all(out.table, m, p, truth, rows, self.noise_workspace(MAX_PAIRS))
