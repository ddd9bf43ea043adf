"""An inertial unit: rates and specific force of the point where it is mounted, in its own axes.

The mount is at r in the body frame, its axes turned by roll, pitch and yaw. In the body frame the
point moves with v + w × r, and feels the acceleration

    a = a_body + alpha × r − w² r        and besides it +g upwards, which is specific force

A reading is the mean over the time since the last one, as a device gives that adds up increments:
the change of the mount's true velocity, seen at the middle heading, and the change of heading.
So whatever happened between two readings is in them. `sampling: instant` gives the values of the
moment instead.

Errors are densities: white noise N gives N / √dt per reading, a bias that walks grows by K √dt
between readings, and a turn-on bias is drawn once per life.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from astray.kernel import kernel
from astray.maths import sincos, wrap
from astray.noise import normal_pair
from astray.plugin import NonNegative, Scene, Sensor
from astray.reading import Reading
from astray.rotation import rotation
from astray.table import IMU, Array, Column, Row, Rows, Table, columns

MEMORY = columns(
    Column("started", "", "?"),
    Column("instant", "", "?"),
    "period s",
    Column("axes", "", "f8", (3, 3)),
    Column("bias", "rad/s, m/s²", "f8", (6,)),
    "stamp s",
    "yaw rad",
    "wz rad/s",
    "along m/s",
    "across m/s",
)
"""The mount's axes, the true biases, and the motion at the last reading."""

Noise = tuple[float, float, float, float, float, float]


@kernel
def look(m: Row, s: Row, p: Row) -> None:
    """Note heading, rate and the velocity of the mount in the body frame."""
    m.along, m.across = s.vx - s.wz * p.y, s.vy + s.wz * p.x
    m.yaw, m.wz, m.stamp = s.yaw, s.wz, s.stamp


@kernel
def feel(m: Row, s: Row, p: Row) -> tuple[float, float, float]:
    """Rate about the vertical and acceleration of the mount in the body frame."""
    elapsed = s.stamp - m.stamp
    if m.instant or not m.started or elapsed <= 0.0:
        look(m, s, p)
        m.started = True
        ax = s.ax - s.alpha * p.y - s.wz * s.wz * p.x
        ay = s.ay + s.alpha * p.x - s.wz * s.wz * p.y
        return s.wz, ax, ay
    along, across, yaw, wz = m.along, m.across, m.yaw, m.wz
    look(m, s, p)
    # A robot may have turned more than once since the last reading: its rates tell how often.
    guess = 0.5 * (wz + s.wz) * elapsed
    turned = guess + wrap(s.yaw - yaw - guess)
    # Seen at the middle heading, the old velocity is turned back and the new one on by half.
    sine, cosine = sincos(0.5 * turned)
    ax = cosine * (m.along - along) - sine * (m.across + across)
    ay = cosine * (m.across - across) + sine * (m.along + along)
    per = 1.0 / elapsed
    return turned * per, ax * per, ay * per


@kernel
def walk(m: Row, p: Row, s: Row, key: np.uint64, elapsed: float) -> Noise:
    """Let the biases walk and draw this reading's noise: of three rates, of three forces.

    A planar unit draws nothing for the axes that a level robot does not feel.
    """
    root = math.sqrt(elapsed)
    per = 1.0 / root
    gyro, accel = p.gyro_density * per, p.accel_density * per
    gyro_walk, accel_walk = p.gyro_walk * root, p.accel_walk * root
    a, b = normal_pair(s, key, 0)
    c, d = normal_pair(s, key, 1)
    e, f = normal_pair(s, key, 2)
    m.bias[2] += gyro_walk * d
    m.bias[3] += accel_walk * e
    m.bias[4] += accel_walk * f
    if p.planar:
        return 0.0, 0.0, gyro * a, accel * b, accel * c, 0.0
    g, h = normal_pair(s, key, 3)
    k, n = normal_pair(s, key, 4)
    q, r = normal_pair(s, key, 5)
    m.bias[0] += gyro_walk * n
    m.bias[1] += gyro_walk * q
    m.bias[5] += accel_walk * r
    return gyro * g, gyro * h, gyro * a, accel * b, accel * c, accel * k


@kernel
def sense(o: Row, m: Row, p: Row, s: Row, key: np.uint64) -> None:
    """Read one unit."""
    elapsed = s.stamp - m.stamp if m.started and s.stamp > m.stamp else m.period
    wz, ax, ay = feel(m, s, p)
    e = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if p.gyro_density + p.gyro_walk + p.accel_density + p.accel_walk > 0.0:
        e = walk(m, p, s, key, elapsed)
    r, up = m.axes, p.gravity
    o.wx = r[0, 2] * wz + m.bias[0] + e[0]
    o.wy = r[1, 2] * wz + m.bias[1] + e[1]
    o.wz = r[2, 2] * wz + m.bias[2] + e[2]
    o.ax = r[0, 0] * ax + r[0, 1] * ay + r[0, 2] * up + m.bias[3] + e[3]
    o.ay = r[1, 0] * ax + r[1, 1] * ay + r[1, 2] * up + m.bias[4] + e[4]
    o.az = r[2, 0] * ax + r[2, 1] * ay + r[2, 2] * up + m.bias[5] + e[5]


@kernel
def sense_all(
    out: Table, memory: Table, params: Table, truth: Table, rows: Rows, key: np.uint64
) -> None:
    """Read the units of these rows."""
    for i in rows:
        sense(out[i], memory[i], params[i], truth[i], key)


@kernel
def look_all(memory: Table, truth: Table, params: Table, rows: Rows) -> None:
    """Note the present motion of these rows as if nothing had happened before."""
    for i in rows:
        look(memory[i], truth[i], params[i])


class Imu(Sensor, kind="imu"):
    """Three rates and three specific forces at a mount, with white noise and walking biases."""

    measures = IMU
    remembers = MEMORY
    x: float = 0.0  # m, of the mount in the body frame
    y: float = 0.0  # m, of the mount in the body frame
    roll: float = 0.0  # rad, of the mount
    pitch: float = 0.0  # rad, of the mount
    yaw: float = 0.0  # rad, of the mount
    sampling: Literal["mean", "instant"] = "mean"  # over the time since the last reading, or now
    planar: bool = False  # no noise on the axes that a level robot does not feel
    gravity: NonNegative = 9.81  # m/s²
    gyro_density: NonNegative = 0.0  # rad/s/√Hz, white noise
    gyro_walk: NonNegative = 0.0  # rad/s²/√Hz, of the bias
    gyro_bias_sd: NonNegative = 0.0  # rad/s, turn-on bias, drawn once per life
    accel_density: NonNegative = 0.0  # m/s²/√Hz, white noise
    accel_walk: NonNegative = 0.0  # m/s³/√Hz, of the bias
    accel_bias_sd: NonNegative = 0.0  # m/s², turn-on bias, drawn once per life

    def reset(self, rows: Rows) -> None:
        """Turn the axes and draw the turn-on biases of these rows."""
        p = self.params
        self.memory["instant"][rows] = self.sampling == "instant"
        self.memory["period"][rows] = 1.0 / self.rate if self.rate else self.dt
        axes: Array = rotation(p["roll"][rows], p["pitch"][rows], p["yaw"][rows])
        self.memory["axes"][rows] = axes.transpose(0, 2, 1)  # from the body's axes to the sensor's
        sd = np.repeat([p["gyro_bias_sd"][rows], p["accel_bias_sd"][rows]], 3, axis=0).T
        self.memory["bias"][rows] = sd * self.lifelong_normals(rows, 6)

    def placed(self, rows: Rows, scene: Scene) -> None:
        """Feel nothing of being moved by hand."""
        look_all(self.memory, scene.truth, self.params, rows)

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the units of these rows."""
        sense_all(out.table, self.memory, self.params, scene.truth, rows, self.key)
