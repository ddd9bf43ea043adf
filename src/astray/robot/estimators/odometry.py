"""Wheel odometry: dead reckoning from wheel encoders, with the covariance of its error.

Forward kinematics: between two readings wheel k (fl, fr, rl, rr) rolled d_k metres, and the body
was displaced by u forward and v to the left, and turned by w,

    u = Σ forward_k d_k        v = Σ left_k d_k        w = Σ turn_k d_k / arm

    differential   u = (fl + fr) / 2             v = 0    w = (fr − fl) / baseline
    ackermann      u = (rl + rr) / 2             v = 0    w = (rr − rl) / track
    omni           u = (fl + fr + rl + rr) / 4   v = (fr − fl + rl − rr) / 4
                   w = (fr − fl + rr − rl) / (4 (half_length + half_width))

A differential robot that lags in turns drifts sideways by v = −lag · w · u / t. Differential and
omni bodies follow the arc of (u, v, w). A car follows the curve of (u, w) whose curvature
tan(steer) / wheelbase is known at both ends (`arc` and `clothoid_step` of `numerics/se2.py`).

Covariance: to first order, with c and s the cosine and sine of the mean heading, the errors of the
pose before the step and of the wheels change the pose after it by the Jacobians

    F   = [[1, 0, tx], [0, 1, ty], [0, 0, 1]]        tx = −s u − c v,  ty = c u − s v
    g_k = [c forward_k − s left_k + tx a_k / 2, s forward_k + c left_k + ty a_k / 2, a_k]ᵀ

where a_k = turn_k / arm. A relative error of wheel k's radius changes the pose by d_k g_k, a
relative error of the arm by −w [tx / 2, ty / 2, 1]ᵀ. These errors are constant, so the joint
covariance of pose and errors is propagated: a filter that takes them for white noise becomes
overconfident. Random slip of wheel k adds slip_density² |d_k| g_k g_kᵀ.

Encoders round down to whole ticks. That error is bounded and does not accumulate, so it is not
propagated but added to the covariance that is reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from astray.errors import PluginError
from astray.numerics import TAU, arc, clothoid_step, kernel, sincos, tan
from astray.plugin import Datasheet, Datasheets, Estimator, Known, find_sensor
from astray.tables import WHEELS, WHEELS_PER_ROBOT, Array, Column, Row, Rows, Table, columns

ARM = WHEELS_PER_ROBOT  # index of the arm's error, after those of the wheels' radii
CONSTANT_ERRORS = WHEELS_PER_ROBOT + 1

MEMORY = columns(
    "radius m",
    "wheelbase m",  # 0 where nothing steers
    "lag s",
    Column("started", "", "?"),
    Column("angle", "rad", "f8", (WHEELS_PER_ROBOT,)),  # at the last reading
    "steer rad",
    "arm m",
    "slip_density m/√m",
    Column("forward", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("left", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("turn", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("distance", "m", "f8", (WHEELS_PER_ROBOT,)),  # that each wheel rolled in the last step
    "quantization_variance m²",
    "turn_quantization_variance rad²",
    Column("cov", "m², m·rad, rad²", "f8", (3, 3)),
    Column("error_variance", "", "f8", (CONSTANT_ERRORS,)),
    Column("cross_cov", "m, rad", "f8", (3, CONSTANT_ERRORS)),  # of the pose with constant errors
    Column("error_jacobian", "m, rad", "f8", (3, CONSTANT_ERRORS)),
    Column("slip_jacobian", "m, rad", "f8", (3, WHEELS_PER_ROBOT)),
)
"""The datasheets, the last reading, and the covariance of the error of a robot's odometry."""


class WheelKinematics(NamedTuple):
    """The forward kinematics of a body on wheels, by its datasheet."""

    radius: float
    """Of a wheel, m."""
    wheelbase: float
    """Distance of the axles of a body that steers, m; 0 if it does not."""
    arm: float
    """Divisor that makes a turn, rad, of Σ turn_k d_k, m."""
    forward: tuple[float, ...]
    left: tuple[float, ...]
    turn: tuple[float, ...]

    def write(self, memory: Table, rows: Any) -> None:
        """Write the kinematics to the columns of the same names."""
        for name, value in zip(self._fields, self, strict=True):
            memory[name][rows] = value


FORWARD = {
    "differential": (0.5, 0.5, 0.0, 0.0),
    "ackermann": (0.0, 0.0, 0.5, 0.5),
    "omni": (0.25, 0.25, 0.25, 0.25),
}
LEFT = {"omni": (-0.25, 0.25, 0.25, -0.25)}
TURN = {
    "differential": (-1.0, 1.0, 0.0, 0.0),
    "ackermann": (0.0, 0.0, -1.0, 1.0),
    "omni": (-1.0, 1.0, -1.0, 1.0),
}


def wheel_kinematics(body: Datasheet, estimator: str) -> WheelKinematics:
    """The forward kinematics of a body; PluginError if an estimator knows none for its motion."""
    kind = body.kind
    if kind not in FORWARD:
        why = "" if body.wheels else ": it has no wheels"
        kinds = ", ".join(sorted(FORWARD))
        raise PluginError(f"{estimator} has no wheel kinematics for motion {kind!r}{why} ({kinds})")
    if kind == "omni":
        arm = float(4.0 * (body["half_length"] + body["half_width"]))
    else:
        arm = float(body["track" if kind == "ackermann" else "baseline"])
    wheelbase = body["wheelbase"] if kind == "ackermann" else 0.0
    left = LEFT.get(kind, (0.0,) * WHEELS_PER_ROBOT)
    return WheelKinematics(body["radius"], wheelbase, arm, FORWARD[kind], left, TURN[kind])


class Quantization(NamedTuple):
    """What counting in whole encoder ticks does to a believed displacement."""

    tick: float
    """What a wheel rolls in a tick, m; 0 for an encoder without ticks."""
    variance: float
    """Of the position, m²."""
    turn_variance: float
    """Of the heading, rad²."""


def quantization(wheels: WheelKinematics, encoders: Mapping[str, Any]) -> Quantization:
    """The variances of counts: each is too low by half a tick on average, ± a uniform 1/12."""
    tick = TAU / encoders["ticks"] * wheels.radius if encoders.get("ticks") else 0.0
    forward, turn = np.array(wheels.forward), np.array(wheels.turn) / wheels.arm

    def variance(weights: Array) -> float:
        return float(tick**2 * ((weights**2).sum() / 12 + (weights.sum() / 2) ** 2))

    return Quantization(tick, variance(forward), variance(turn))


Displacement = tuple[float, float, float]
"""(u, v, w): forward and to the left, m, and the turn, rad, in the body's axes."""


@kernel
def body_displacement(memory: Row) -> Displacement:
    """The forward kinematics: the displacement of the body by the `distance` of each wheel."""
    u, v, turn = 0.0, 0.0, 0.0
    for k in range(WHEELS_PER_ROBOT):
        u += memory.forward[k] * memory.distance[k]
        v += memory.left[k] * memory.distance[k]
        turn += memory.turn[k] * memory.distance[k]
    return u, v, turn / memory.arm


@kernel
def write_jacobians(belief: Row, memory: Row, step: Displacement) -> tuple[float, float]:
    """Write the Jacobians of a step by the errors; give (tx, ty), those of x and y by the yaw."""
    u, v, w = step
    s, c = sincos(belief.yaw + 0.5 * w)
    tx, ty = -(s * u + c * v), c * u - s * v
    for k in range(WHEELS_PER_ROBOT):
        turn = memory.turn[k] / memory.arm
        memory.slip_jacobian[0, k] = memory.forward[k] * c - memory.left[k] * s + turn * (0.5 * tx)
        memory.slip_jacobian[1, k] = memory.forward[k] * s + memory.left[k] * c + turn * (0.5 * ty)
        memory.slip_jacobian[2, k] = turn
        forward, left = memory.forward[k] * memory.distance[k], memory.left[k] * memory.distance[k]
        turned = memory.turn[k] * memory.distance[k] / memory.arm
        memory.error_jacobian[0, k] = c * forward - s * left + 0.5 * tx * turned
        memory.error_jacobian[1, k] = s * forward + c * left + 0.5 * ty * turned
        memory.error_jacobian[2, k] = turned
    memory.error_jacobian[0, ARM] = 0.5 * tx * -w
    memory.error_jacobian[1, ARM] = 0.5 * ty * -w
    memory.error_jacobian[2, ARM] = -w
    return tx, ty


@kernel
def propagate_covariance(belief: Row, memory: Row, step: Displacement) -> None:
    """Propagate the covariance of pose and constant errors along a step from the present pose."""
    tx, ty = write_jacobians(belief, memory, step)
    cov, cross_cov, jacobian = memory.cov, memory.cross_cov, memory.error_jacobian
    for k in range(CONSTANT_ERRORS):  # F · cross_cov, in place: the last row of F is the identity's
        cross_cov[0, k] += tx * cross_cov[2, k]
        cross_cov[1, k] += ty * cross_cov[2, k]
    for j in range(3):  # F · cov · Fᵀ, in place
        cov[0, j] += tx * cov[2, j]
        cov[1, j] += ty * cov[2, j]
    for i in range(3):
        cov[i, 0] += tx * cov[i, 2]
        cov[i, 1] += ty * cov[i, 2]
    slip = memory.slip_density * memory.slip_density
    for i in range(3):
        for j in range(i + 1):
            total = cov[i, j]
            for k in range(CONSTANT_ERRORS):
                total += cross_cov[i, k] * jacobian[j, k] + jacobian[i, k] * cross_cov[j, k]
                total += memory.error_variance[k] * jacobian[i, k] * jacobian[j, k]
            for k in range(WHEELS_PER_ROBOT):
                rolled = abs(memory.distance[k])
                total += slip * rolled * memory.slip_jacobian[i, k] * memory.slip_jacobian[j, k]
            cov[i, j] = total
            cov[j, i] = total
    for i in range(3):
        for k in range(CONSTANT_ERRORS):
            cross_cov[i, k] += memory.error_variance[k] * jacobian[i, k]
        for j in range(3):
            belief.cov[i, j] = cov[i, j]
        if i < 2:
            belief.cov[i, i] += memory.quantization_variance
        else:
            belief.cov[i, i] += memory.turn_quantization_variance


@kernel
def dead_reckon(belief: Row, memory: Row, reading: Row) -> None:
    """Move one belief by what its wheels rolled since the last reading."""
    if memory.started:
        for k in range(WHEELS_PER_ROBOT):
            memory.distance[k] = (reading.angle[k] - memory.angle[k]) * memory.radius
        u, v, w = body_displacement(memory)
        propagate_covariance(belief, memory, (u, v, w))
        if memory.lag > 0.0 and reading.stamp > belief.stamp:
            v = 0.0 - memory.lag * u * w / (reading.stamp - belief.stamp)
        pose = (belief.x, belief.y, belief.yaw)
        if memory.wheelbase > 0.0:
            curvature_change = (tan(reading.steer) - tan(memory.steer)) / memory.wheelbase
            belief.x, belief.y, belief.yaw = clothoid_step(pose, u, w, curvature_change)
        else:
            belief.x, belief.y, belief.yaw = arc(pose, u, v, w)
        elapsed = reading.stamp - belief.stamp
        if elapsed > 0.0:
            vx, vy, wz = u / elapsed, v / elapsed, w / elapsed
            belief.ax = (vx - belief.vx) / elapsed - wz * vy
            belief.ay = (vy - belief.vy) / elapsed + wz * vx
            belief.alpha = (wz - belief.wz) / elapsed
            belief.vx, belief.vy, belief.wz = vx, vy, wz
            belief.steer_rate = (reading.steer - memory.steer) / elapsed
    for k in range(WHEELS_PER_ROBOT):
        memory.angle[k] = reading.angle[k]
        belief.wheel[k] = reading.angle[k]
        belief.wheel_rate[k] = reading.rate[k]
    memory.steer = reading.steer
    belief.steer = reading.steer
    memory.started = True
    belief.stamp = reading.stamp


@kernel
def dead_reckon_all(belief: Table, memory: Table, wheels: Table, rows: Rows) -> None:
    """Bring beliefs up to their fresh wheel readings.

    Args:
        belief: STATE, (n,): written.
        memory: The `memory` of an Odometry, (n,).
        wheels: WHEELS, (n,).
        rows: The rows to update.
    """
    for i in rows:
        if wheels[i].fresh:
            dead_reckon(belief[i], memory[i], wheels[i])


class Odometry(Estimator, kind="odometry"):
    """Dead reckoning from wheel encoders, with the covariance of its error."""

    remembers = MEMORY

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Find the encoders and the kinematics.

        Raises:
            PluginError: The robot has no encoders, or a motion of unknown wheel kinematics.
        """
        self.body = sheets["motion"]
        self.kinematics = wheel_kinematics(self.body, "odometry")
        self.wheels = find_sensor(WHEELS, sheets, "odometry")
        self.encoders = sheets[self.wheels].values

    def reset(self, rows: Rows) -> None:
        """Write what the datasheets say."""
        memory, encoders = self.memory, self.encoders
        self.kinematics.write(memory, rows)
        memory["lag"][rows] = self.body["lag"] if self.body.kind == "differential" else 0.0
        memory["slip_density"][rows] = encoders.get("slip_density", 0.0)
        _, variance, turn_variance = quantization(self.kinematics, encoders)
        memory["quantization_variance"][rows] = variance
        memory["turn_quantization_variance"][rows] = turn_variance
        radius_sd, arm_sd = encoders.get("radius_sd", 0.0), encoders.get("baseline_sd", 0.0)
        memory["error_variance"][rows] = [radius_sd**2] * WHEELS_PER_ROBOT + [arm_sd**2]

    def estimate(self, rows: Rows, known: Known, belief: Table) -> None:
        """Bring the beliefs of these rows up to their fresh wheel readings."""
        dead_reckon_all(belief, self.memory, known.readings[self.wheels].table, rows)

    def believe(self, rows: Rows, belief: Table) -> None:
        """Continue from a belief that was set from outside: it is independent of wheel errors."""
        self.memory["cross_cov"][rows] = 0.0
        self.memory["cov"][rows] = belief["cov"][rows]
