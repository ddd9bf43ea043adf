"""An inertial unit: rates and specific force of the point where it is mounted, in its own axes.

What the point feels is in imu_motion.py, besides it +g upwards, which is specific force; the axes
of the unit are turned by roll, pitch and yaw.

Errors are densities: white noise N gives N / √dt per reading, a bias that walks grows by K √dt
between readings, and a turn-on bias is drawn once per life. With u what a perfect unit would read,

    y = quantise(saturate((I + S + M) u + turn-on + walk + drift + white))

where S holds the errors of scale, M those of axes that are not at right angles, and drift is a
Gauss-Markov error. An unstable bias walks besides, see flicker.py. A `grade` gives all of them but
that values that are typical of a class of devices.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from astray.numerics import CHUNK, NoiseWorkspace, draw_normals, inlined_kernel, kernel, sincos_all
from astray.plugin import Datasheets, DrawnParameter, NonNegative, Positive, Reading, Scene, Sensor
from astray.robot.sensors.bias_instability import AXES, PARTS, SHARE, flicker_all
from astray.robot.sensors.error_models import gauss_markov, quantise, saturate
from astray.robot.sensors.imu.grades import GRADES
from astray.robot.sensors.imu.lifetime_errors import start_all
from astray.robot.sensors.imu.mount_motion import Direction, feel, look_all, turned_by
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
"""The mount's axes as they really are, of the rates and of the forces, the true biases and drifts,
and the motion at the last reading."""

PAIRS = 9  # of standard normals that a reading takes at most
Noise = tuple[float, float, float, float, float, float]
Given = tuple[Array, float, Direction]


@inlined_kernel
def is_noisy(p: Row) -> bool:
    """Whether a unit has white noise or biases that walk."""
    return bool(p.gyro_density + p.gyro_walk + p.accel_density + p.accel_walk > 0.0)


@inlined_kernel
def walks(p: Row) -> bool:
    """Whether the biases of a unit walk."""
    return bool(p.gyro_walk + p.accel_walk > 0.0)


@kernel
def pairs_for(m: Row, p: Row) -> int:
    """How many pairs of normals a reading of a unit takes: those of `walk` and `drift`."""
    if m.errs:
        return PAIRS
    if not is_noisy(p):
        return 0
    if p.planar:
        return 3 if walks(p) else 2
    return 6 if walks(p) else 5


@kernel
def walk(m: Row, p: Row, n: Array, elapsed: float) -> Noise:
    """Let the biases walk, and this reading's noise: of three rates, of three forces.

    n are standard normals. A planar unit has none on the axes that a level robot does not feel.
    """
    root = math.sqrt(elapsed)
    per = 1.0 / root
    gyro, accel = p.gyro_density * per, p.accel_density * per
    if walks(p):
        gyro_walk, accel_walk = p.gyro_walk * root, p.accel_walk * root
        m.bias[2] += gyro_walk * n[3]
        m.bias[3] += accel_walk * n[4]
        m.bias[4] += accel_walk * n[5]
        if not p.planar:
            m.bias[0] += gyro_walk * n[9]
            m.bias[1] += gyro_walk * n[10]
            m.bias[5] += accel_walk * n[11]
    if p.planar:
        return 0.0, 0.0, gyro * n[0], accel * n[1], accel * n[2], 0.0
    return gyro * n[6], gyro * n[7], gyro * n[0], accel * n[1], accel * n[2], accel * n[8]


@kernel
def drift(m: Row, p: Row, n: Array, elapsed: float) -> None:
    """Let the Gauss-Markov errors go on; those of a planar unit only where it feels something."""
    for j in range(6):
        if p.planar and (j < 2 or j == 5):
            continue
        sd = p.gyro_drift_sd if j < 3 else p.accel_drift_sd
        tau = p.gyro_drift_tau if j < 3 else p.accel_drift_tau
        m.drift[j] = gauss_markov(m.drift[j], sd, tau, elapsed, n[12 + j])


@kernel
def cut(o: Row, m: Row, p: Row) -> None:
    """Add the drift, then saturate and quantise: what an ideal unit does not do."""
    o.wx = quantise(saturate(o.wx + m.drift[0], p.gyro_range), p.gyro_resolution)
    o.wy = quantise(saturate(o.wy + m.drift[1], p.gyro_range), p.gyro_resolution)
    o.wz = quantise(saturate(o.wz + m.drift[2], p.gyro_range), p.gyro_resolution)
    o.ax = quantise(saturate(o.ax + m.drift[3], p.accel_range), p.accel_resolution)
    o.ay = quantise(saturate(o.ay + m.drift[4], p.accel_range), p.accel_resolution)
    o.az = quantise(saturate(o.az + m.drift[5], p.accel_range), p.accel_resolution)


@kernel
def sense(o: Row, m: Row, p: Row, s: Row, given: Given) -> None:
    """Read one unit, given standard normals, as many as it needs, and how far it has turned."""
    n, turned, half = given
    first = not m.started
    elapsed = s.stamp - m.stamp if m.started and s.stamp > m.stamp else m.period
    wz, ax, ay = feel(m, s, p, turned, half)
    e = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if is_noisy(p):
        e = walk(m, p, n, elapsed)
    r, t, up = m.axes, m.turn_axes, p.gravity
    o.wx = t[0] * wz + m.bias[0] + e[0]
    o.wy = t[1] * wz + m.bias[1] + e[1]
    o.wz = t[2] * wz + m.bias[2] + e[2]
    o.ax = r[0, 0] * ax + r[0, 1] * ay + r[0, 2] * up + m.bias[3] + e[3]
    o.ay = r[1, 0] * ax + r[1, 1] * ay + r[1, 2] * up + m.bias[4] + e[4]
    o.az = r[2, 0] * ax + r[2, 1] * ay + r[2, 2] * up + m.bias[5] + e[5]
    if m.errs:
        if not first:
            drift(m, p, n, elapsed)
        cut(o, m, p)


@kernel
def sense_all(
    out: Table, memory: Table, params: Table, truth: Table, rows: Rows, deck: NoiseWorkspace
) -> None:
    """Read the units of these rows."""
    _, w, _, cards = deck
    for start in range(0, len(rows), CHUNK):
        some = rows[start : start + CHUNK]
        pairs = 0
        for i in some:
            pairs = max(pairs, pairs_for(memory[i], params[i]))
        if pairs > 0:
            draw_normals(deck, truth, some, pairs)
        for j in range(len(some)):
            w[2, j] = turned_by(memory[some[j]], truth[some[j]])
            w[0, j] = 0.5 * w[2, j]
        sincos_all(w, len(some))
        for j in range(len(some)):
            i = some[j]
            turn = w[2, j], (w[0, j], w[1, j])
            sense(out[i], memory[i], params[i], truth[i], (cards[j], *turn))


class Imu(Sensor, kind="imu"):
    """Three rates and three specific forces at a mount, with all that is wrong with such units."""

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
    sampling: Literal["mean", "instant"] = "mean"  # over the time since the last reading, or now
    planar: bool = False  # no noise on the axes that a level robot does not feel
    gravity: NonNegative = 9.81  # m/s²
    grade: Literal["consumer", "industrial", "tactical"] | None = None  # typical errors of a class
    gyro_density: NonNegative | None = None  # rad/s/√Hz, white noise; the grade's, or 0
    gyro_walk: NonNegative | None = None  # rad/s²/√Hz, of the bias; the grade's, or 0
    gyro_bias_sd: NonNegative | None = (
        None  # rad/s, turn-on bias, drawn per life; the grade's, or 0
    )
    gyro_drift_sd: NonNegative | None = None  # rad/s, stationary, of the drift; the grade's, or 0
    gyro_instability: NonNegative = 0.0  # rad/s, of the bias: 0.664 of it is Allan's floor
    gyro_drift_tau: Positive = 300.0  # s, after which that drift has forgotten itself
    gyro_scale_sd: NonNegative | None = None  # relative, drawn per life; the grade's, or 0
    gyro_range: NonNegative | None = None  # rad/s, full scale; the grade's, or 0 for none
    gyro_resolution: NonNegative | None = None  # rad/s, of a digit; the grade's, or 0 for none
    accel_density: NonNegative | None = None  # m/s²/√Hz, white noise; the grade's, or 0
    accel_walk: NonNegative | None = None  # m/s³/√Hz, of the bias; the grade's, or 0
    accel_bias_sd: NonNegative | None = (
        None  # m/s², turn-on bias, drawn per life; the grade's, or 0
    )
    accel_drift_sd: NonNegative | None = None  # m/s², stationary, of the drift; the grade's, or 0
    accel_instability: NonNegative = 0.0  # m/s², of the bias: 0.664 of it is Allan's floor
    accel_drift_tau: Positive = 300.0  # s, after which that drift has forgotten itself
    accel_scale_sd: NonNegative | None = None  # relative, drawn per life; the grade's, or 0
    accel_range: NonNegative | None = None  # m/s², full scale; the grade's, or 0 for none
    accel_resolution: NonNegative | None = None  # m/s², of a digit; the grade's, or 0 for none
    misalignment_sd: NonNegative | None = (
        None  # rad, of each axis, drawn per life; the grade's, or 0
    )

    def __post_init__(self) -> None:
        """Take what was not given from the grade."""
        super().__post_init__()
        typical = GRADES[self.grade] if self.grade else {}
        for name in GRADES["consumer"]:
            if getattr(self, name) is None:
                setattr(self, name, typical.get(name, 0.0))

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Make room for what biases are made of, where they are unstable."""
        self.unstable = self._has_any("gyro_instability", "accel_instability")
        self.lifelong = self._has_any(*(n for n in GRADES["consumer"] if n.endswith("_sd")))
        if self.unstable:
            self.arrays["flicker"] = np.zeros((n, AXES, PARTS))

    def _has_any(self, *errors: str) -> bool:
        """Whether some unit may have one of these errors: they are drawn, or not zero."""
        given = (getattr(self, name) for name in errors)
        return any(isinstance(error, DrawnParameter) or error > 0.0 for error in given)

    def reset(self, rows: Rows) -> None:
        """Turn the axes and draw what is wrong with the units of these rows for life."""
        n = self.episode_normals(rows, 30) if self.lifelong else np.zeros((len(rows), 30))
        instant, period = self.sampling == "instant", 1.0 / self.rate if self.rate else self.dt
        start_all(self.memory, self.params, n, rows, instant, period)
        if self.unstable:
            self._start_flicker(rows)

    def _start_flicker(self, rows: Rows) -> None:
        """Let the unstable part of the biases be as large at the start as ever after."""
        p, m = self.params, self.memory
        n = self.episode_normals(rows, 30 + AXES * PARTS)[:, 30:].reshape(-1, AXES, PARTS)
        sd = np.repeat([p["gyro_instability"][rows], p["accel_instability"][rows]], 3, axis=0).T
        parts = SHARE * sd[:, :, None] * n
        parts[p["planar"][rows][:, None] & np.isin(np.arange(AXES), (0, 1, 5))] = 0.0
        self.arrays["flicker"][rows] = parts
        m["bias"][rows] += parts.sum(axis=2)

    def placed(self, rows: Rows, scene: Scene) -> None:
        """Feel nothing of being moved by hand."""
        look_all(self.memory, scene.truth, self.params, rows)

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the units of these rows."""
        if self.unstable:
            parts = self.arrays["flicker"]
            flicker_all(parts, self.memory, self.params, scene.truth, rows, self.key)
        deck = self.noise_workspace(PAIRS)
        sense_all(out.table, self.memory, self.params, scene.truth, rows, deck)
