"""Strapdown inertial navigation in the plane, from an IMU alone.

`integration` is the interpretation of a reading, and so its integration over the time dt since the
last one. `auto` chooses by the datasheet of the IMU.

    midpoint     the mean since the last reading, as of units that integrate increments
    trapezoid    the value at its stamp, linear between two readings
    euler        the value at its stamp, constant over dt: of first order, as in the document

By the midpoint a reading is the change of velocity over dt, in the axes of the body in the middle
of the turn. With yaw, v (map frame) and u (body frame) at the start of dt, and h = w dt / 2:

    v += Rot(yaw + h) a dt
    p += Rot(yaw + h) ∫ Rot(2 h x) (ū + x Δu) dx dt     x from −½ to ½

where ū and Δu are mean and change of the velocity in the body frame. Turn rate and change of this
velocity are taken to be constant over dt, so circles and clothoids are exact.

By the trapezoid v and p are double integrals of Rot(yaw) a with linear w and a, by Simpson's rule.
By Euler's method, in this order:

    yaw += w dt                          wrapped to (−π, π]
    a = Rot(yaw) (ax, ay)                specific force in the map frame, with the new heading
    v += a dt        vz += (az − g) dt   gravity is subtracted from the vertical
    p += v dt        z += vz dt          with the new velocity

None of them can resolve the motion between two readings: a step of the speed by Δv displaces the
belief by at most Δv dt / 2.

A reading with a dt of zero or less, or of more than `longest`, is not integrated: nothing is known
of the motion in such a gap. Its stamp is kept, so that the next reading counts again; only a single
late reading, at most `longest` old, leaves the stamp as it is.

A real IMU measures the centripetal term v w. Synthetic signals often leave it out; then it is
added: a += w × v. By the trapezoid and the midpoint u += ∫ a dt in place of it.

The integrated point is the mount of the IMU; the belief is of the body's reference point.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from astray.numerics import (
    CHUNK,
    NAN,
    inlined_kernel,
    kernel,
    rotation_matrix,
    sinc,
    sinc_slope,
    sincos,
    sincos_all,
    sincos_of_small,
    wrap,
)
from astray.plugin import Datasheets, Estimator, Known, NonNegative, Positive, find_sensor
from astray.tables import IMU, Array, Column, Row, Rows, Table, columns

MEMORY = columns(
    Column("started", "", "?"),
    Column("synthesize", "", "?"),  # whether to add the centripetal term
    Column("axes", "", "f8", (3, 3)),  # rotation from the IMU to the body
    "x m",  # the mount of the IMU on the body
    "y m",
    "stamp s",  # of the last reading
    "map_vx m/s",  # velocity of the mount
    "map_vy m/s",
    "map_vz m/s",
)
"""The mount by the datasheet, and the state of the integration."""


class BodyReading(NamedTuple):
    """A reading in the axes of the body."""

    rate: float  # rad/s, about the vertical
    along: float  # m/s², as the others
    across: float
    up: float


Heading = tuple[float, float, float]
"""A yaw, rad, its sine and its cosine."""
SIN, COS, ANGLE = range(3)  # rows of the scratch array


@inlined_kernel
def yaw_rate(memory: Row, imu: Row) -> float:
    """The measured turn rate about the body's vertical axis."""
    axes = memory.axes
    return float(axes[2, 0] * imu.wx + axes[2, 1] * imu.wy + axes[2, 2] * imu.wz)


@inlined_kernel
def body_force(memory: Row, imu: Row) -> tuple[float, float, float]:
    """The measured specific force along the axes of the body."""
    axes = memory.axes
    ax = axes[0, 0] * imu.ax + axes[0, 1] * imu.ay + axes[0, 2] * imu.az
    ay = axes[1, 0] * imu.ax + axes[1, 1] * imu.ay + axes[1, 2] * imu.az
    az = axes[2, 0] * imu.ax + axes[2, 1] * imu.ay + axes[2, 2] * imu.az
    return float(ax), float(ay), float(az)


@kernel
def integrate(belief: Row, memory: Row, params: Row, imu: Row, heading: Heading) -> None:
    """Integrate one reading, given the new heading."""
    dt, wz = imu.stamp - memory.stamp, yaw_rate(memory, imu)
    ax, ay, az = body_force(memory, imu)
    if memory.x != 0.0 or memory.y != 0.0:  # from the reference point to the mount
        s, c = sincos(belief.yaw)
        belief.x = belief.x + c * memory.x - s * memory.y
        belief.y = belief.y + s * memory.x + c * memory.y
    belief.yaw, s, c = heading
    map_ax, map_ay = c * ax - s * ay, s * ax + c * ay
    if memory.synthesize:
        map_ax, map_ay = map_ax - wz * memory.map_vy, map_ay + wz * memory.map_vx
    memory.map_vx += map_ax * dt
    memory.map_vy += map_ay * dt
    memory.map_vz += (az - params.gravity) * dt
    belief.x += memory.map_vx * dt - (c * memory.x - s * memory.y)
    belief.y += memory.map_vy * dt - (s * memory.x + c * memory.y)
    belief.z += memory.map_vz * dt
    belief.vx = c * memory.map_vx + s * memory.map_vy + wz * memory.y
    belief.vy = -s * memory.map_vx + c * memory.map_vy - wz * memory.x
    belief.vz, belief.wz, belief.ax, belief.ay = memory.map_vz, wz, ax, ay
    memory.stamp = belief.stamp = imu.stamp


@kernel
def integrate_mean(belief: Row, memory: Row, params: Row, imu: Row, middle: Heading) -> None:
    """Integrate one reading by the midpoint, given the heading in the middle of the turn."""
    dt, wz = imu.stamp - memory.stamp, yaw_rate(memory, imu)
    ax, ay, az = body_force(memory, imu)
    s, c = middle[1], middle[2]
    half = 0.5 * wz * dt
    sh, ch = sincos_of_small(half)
    s0, c0 = s * ch - c * sh, c * ch + s * sh  # at the start
    s1, c1 = s * ch + c * sh, c * ch - s * sh  # and at the end
    vx, vy = memory.map_vx, memory.map_vy
    along, across = c0 * vx + s0 * vy, c0 * vy - s0 * vx
    if memory.synthesize:
        new_along, new_across = along + ax * dt, across + ay * dt
        memory.map_vx = c1 * new_along - s1 * new_across
        memory.map_vy = s1 * new_along + c1 * new_across
    else:
        memory.map_vx, memory.map_vy = vx + (c * ax - s * ay) * dt, vy + (s * ax + c * ay) * dt
        new_along = c1 * memory.map_vx + s1 * memory.map_vy
        new_across = c1 * memory.map_vy - s1 * memory.map_vx
    chord, sideways = 0.5 * dt * sinc(half), dt * sinc_slope(half)
    forward = chord * (along + new_along) - sideways * (new_across - across)
    left = chord * (across + new_across) + sideways * (new_along - along)
    # From the reference point to the mount, along the way, and back.
    belief.x += c * forward - s * left + (c0 - c1) * memory.x - (s0 - s1) * memory.y
    belief.y += s * forward + c * left + (s0 - s1) * memory.x + (c0 - c1) * memory.y
    belief.z += dt * memory.map_vz + 0.5 * dt * dt * (az - params.gravity)
    memory.map_vz += dt * (az - params.gravity)
    belief.yaw = wrap(middle[0] + half)
    belief.vx, belief.vy = new_along + wz * memory.y, new_across - wz * memory.x
    belief.vz, belief.wz, belief.ax, belief.ay = memory.map_vz, wz, ax, ay
    memory.stamp = belief.stamp = imu.stamp


@kernel
def estimate(
    belief: Row, memory: Row, params: Row, imu: Row, heading: Heading, midpoint: bool
) -> None:
    """Take in one reading: integrate it, or only keep its stamp."""
    dt = imu.stamp - memory.stamp
    if not memory.started:
        memory.started = True
        memory.stamp = belief.stamp = imu.stamp
    elif 0.0 < dt <= params.longest:
        if midpoint:
            integrate_mean(belief, memory, params, imu, heading)
        else:
            integrate(belief, memory, params, imu, heading)
    elif abs(dt) > params.longest:
        memory.stamp = belief.stamp = imu.stamp


@kernel
def estimate_all(
    belief: Table,
    memory: Table,
    params: Table,
    imu: Table,
    rows: Rows,
    scratch: Array,
    midpoint: bool,
) -> None:
    """Take in the fresh readings of these rows by the midpoint or by Euler's method.

    Sines and cosines of a chunk of rows are computed together in scratch, (3, CHUNK): that is
    vectorised. They are of the heading in the middle, or at the end.
    """
    share = 0.5 if midpoint else 1.0
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        for j in range(len(chunk)):
            i = chunk[j]
            dt = imu[i].stamp - memory[i].stamp
            turn = yaw_rate(memory[i], imu[i]) * dt
            scratch[SIN, j] = scratch[ANGLE, j] = wrap(belief[i].yaw + share * turn)
        sincos_all(scratch, len(chunk))
        for j in range(len(chunk)):
            i, heading = chunk[j], (scratch[ANGLE, j], scratch[SIN, j], scratch[COS, j])
            if imu[i].fresh:
                estimate(belief[i], memory[i], params[i], imu[i], heading, midpoint)


# By the trapezoid.


@inlined_kernel
def rotated(yaw: float, x: float, y: float) -> tuple[float, float]:
    """A vector of the body in the map."""
    s, c = sincos(yaw)
    return c * x - s * y, s * x + c * y


@kernel
def integrate_between(
    belief: Row, memory: Row, params: Row, stamp: float, first: BodyReading, last: BodyReading
) -> None:
    """Integrate from one reading to the next; between them values are linear in time."""
    dt, yaw = stamp - memory.stamp, belief.yaw
    vx, vy, vz = memory.map_vx, memory.map_vy, memory.map_vz
    middle_yaw = yaw + dt * (0.375 * first.rate + 0.125 * last.rate)
    last_yaw = wrap(yaw + dt * (0.5 * first.rate + 0.5 * last.rate))
    x, y = rotated(yaw, memory.x, memory.y)  # from the reference point to the mount
    belief.x, belief.y = belief.x + x, belief.y + y
    if memory.synthesize:
        along, across = rotated(-yaw, vx, vy)
        middle_along = along + dt * (0.375 * first.along + 0.125 * last.along)
        middle_across = across + dt * (0.375 * first.across + 0.125 * last.across)
        along += dt * 0.5 * (first.along + last.along)
        across += dt * 0.5 * (first.across + last.across)
        middle_vx, middle_vy = rotated(middle_yaw, middle_along, middle_across)
        memory.map_vx, memory.map_vy = rotated(last_yaw, along, across)
        belief.x += dt / 6.0 * (vx + 4.0 * middle_vx + memory.map_vx)
        belief.y += dt / 6.0 * (vy + 4.0 * middle_vy + memory.map_vy)
    else:
        ax, ay = rotated(yaw, first.along, first.across)
        along, across = first.along + last.along, first.across + last.across
        middle_ax, middle_ay = rotated(middle_yaw, 0.5 * along, 0.5 * across)
        last_ax, last_ay = rotated(last_yaw, last.along, last.across)
        belief.x += dt * vx + dt * dt / 6.0 * (ax + 2.0 * middle_ax)
        belief.y += dt * vy + dt * dt / 6.0 * (ay + 2.0 * middle_ay)
        memory.map_vx = vx + dt / 6.0 * (ax + 4.0 * middle_ax + last_ax)
        memory.map_vy = vy + dt / 6.0 * (ay + 4.0 * middle_ay + last_ay)
    first_up, last_up = first.up - params.gravity, last.up - params.gravity
    belief.z += dt * vz + dt * dt / 6.0 * (2.0 * first_up + last_up)
    memory.map_vz = vz + dt * 0.5 * (first_up + last_up)
    x, y = rotated(last_yaw, memory.x, memory.y)
    belief.x, belief.y, belief.yaw = belief.x - x, belief.y - y, last_yaw
    along, across = rotated(-last_yaw, memory.map_vx, memory.map_vy)
    belief.vx, belief.vy = along + last.rate * memory.y, across - last.rate * memory.x
    belief.vz, belief.wz = memory.map_vz, last.rate
    belief.ax, belief.ay = last.along, last.across
    memory.stamp = belief.stamp = stamp


@kernel
def estimate_between(belief: Row, memory: Row, params: Row, imu: Row, last: Array) -> None:
    """Take in one reading, given the last one, (4,), in whose place it is put."""
    dt = imu.stamp - memory.stamp
    if memory.started and -params.longest <= dt <= 0.0:
        return
    force = body_force(memory, imu)
    new = BodyReading(yaw_rate(memory, imu), force[0], force[1], force[2])
    first = BodyReading(last[0], last[1], last[2], last[3])
    last[0], last[1], last[2], last[3] = new.rate, new.along, new.across, new.up
    if memory.started and abs(dt) <= params.longest:
        integrate_between(belief, memory, params, imu.stamp, first, new)
    else:
        memory.started = True
        memory.stamp = belief.stamp = imu.stamp


@kernel
def estimate_between_all(
    belief: Table, memory: Table, params: Table, imu: Table, last: Array, rows: Rows
) -> None:
    """Take in the fresh readings of these rows, given the last ones, (n, 4)."""
    for i in rows:
        if imu[i].fresh:
            estimate_between(belief[i], memory[i], params[i], imu[i], last[i])


class Inertial(Estimator, kind="inertial"):
    """Integrates turn rates and specific forces of an IMU to heading, velocity and position."""

    remembers = MEMORY
    fixed = ("initial_x", "initial_y", "initial_z", "initial_theta")
    centripetal: Literal["auto", "measured", "synthesize"] = "auto"  # datasheet; contained; added
    integration: Literal["auto", "midpoint", "trapezoid", "euler"] = "auto"  # auto: by datasheet
    gravity: NonNegative = 9.81  # m/s²
    longest: Positive = 1.0  # s, longest time between readings that is integrated
    initial_x: float | None = None  # m; by default where the robot starts
    initial_y: float | None = None  # m
    initial_z: float | None = None  # m
    initial_theta: float | None = None  # rad

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Find the IMU and read its datasheet.

        Raises:
            PluginError: The robot has no IMU.
        """
        self.imu = find_sensor(IMU, sheets, "inertial")
        sheet = sheets[self.imu].values
        angles = [np.array([sheet.get(name, 0.0)]) for name in ("roll", "pitch", "yaw")]
        # A row starts at rest, with the mount of the datasheet.
        self.initial_memory["axes"] = rotation_matrix(angles[0], angles[1], angles[2])[0]
        for name in ("x", "y"):
            self.initial_memory[name] = sheet.get(name, 0.0)
        auto = self.centripetal == "auto" and not sheet.get("centripetal", True)
        self.initial_memory["synthesize"] = auto or self.centripetal == "synthesize"
        self.method = self.integration
        if self.integration == "auto":  # scripted readings are values of the moment, like `instant`
            self.method = "midpoint" if sheet.get("sampling") == "mean" else "trapezoid"
        if self.method == "trapezoid":
            self.arrays["last"] = np.zeros((n, len(BodyReading._fields)))

    def start(self, rows: Rows, belief: Table) -> None:
        """Start at the initial pose if one is given; the covariance is unknown."""
        names = {"x": "initial_x", "y": "initial_y", "z": "initial_z", "yaw": "initial_theta"}
        for column, name in names.items():
            if getattr(self, name) is not None:
                belief[column][rows] = self.params[name][rows]
        belief["cov"][rows] = NAN

    def believe(self, rows: Rows, belief: Table) -> None:
        """Continue at rest from a belief that was set from outside."""
        for column in ("map_vx", "map_vy", "map_vz"):
            self.memory[column][rows] = 0.0
        for column in ("vx", "vy", "vz"):
            belief[column][rows] = 0.0
        belief["cov"][rows] = NAN

    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Take in the fresh readings of these rows."""
        imu = known.readings[self.imu].table
        if self.method == "trapezoid":
            last = self.arrays["last"]
            estimate_between_all(belief, self.memory, self.params, imu, last, rows)
        else:
            scratch, midpoint = self.scratch(3), self.method == "midpoint"
            estimate_all(belief, self.memory, self.params, imu, rows, scratch, midpoint)
