"""Odometry buffer: dead reckoning at each of the last wheel readings.

A scan that arrives late was taken between two readings that came before. The buffer gives dead
reckoning at its stamp, interpolated on the arc between the two. Beside the pose it keeps what the
errors of a motion grow with: the path, |u| + |v| summed, and the rotation, |w| summed.
"""

from __future__ import annotations

from typing import NamedTuple

from astray.numerics import arc, clothoid_step, kernel, log_se2, relative_pose, tan
from astray.robot.estimators.odometry import Displacement
from astray.tables import WHEELS_PER_ROBOT, Array, Column, Row, columns

LENGTH = 128  # readings that the buffer holds
STAMP, X, Y, YAW, PATH, ROTATION = range(6)
"""The columns of a buffer, (LENGTH, 6)."""
MAX_AHEAD = 2.0  # times the last interval that a scan may be newer than the wheels

ODOMETRY = columns(
    "radius m",
    "wheelbase m",
    "arm m",
    Column("forward", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("left", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("turn", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("distance", "m", "f8", (WHEELS_PER_ROBOT,)),  # that each wheel rolled in the last step
    Column("angle", "rad", "f8", (WHEELS_PER_ROBOT,)),  # at the last reading
    "steer rad",
    Column("readings", "", "i8"),  # how many there were
)
"""The wheel kinematics as in odometry.py, and the last reading."""


class OdometryPose(NamedTuple):
    """Dead reckoning at one time, from where it began."""

    x: float
    y: float
    yaw: float
    path: float
    """The path up to there, m."""
    rotation: float
    """The turns up to there, rad."""


@kernel
def entry_of(entry: Array) -> OdometryPose:
    """Dead reckoning at one of the readings."""
    return OdometryPose(entry[X], entry[Y], entry[YAW], entry[PATH], entry[ROTATION])


@kernel
def append_odometry(buffer: Array, memory: Row, wheels: Row, step: Displacement) -> None:
    """Append the dead reckoning of a wheel reading that displaced the body by a step."""
    last = buffer[(memory.readings - 1) % LENGTH]
    entry = buffer[memory.readings % LENGTH]
    pose = (last[X], last[Y], last[YAW])
    if memory.readings == 0:
        entry[X] = entry[Y] = entry[YAW] = entry[PATH] = entry[ROTATION] = 0.0
    else:
        u, v, w = step
        if memory.wheelbase > 0.0:
            curvature_change = (tan(wheels.steer) - tan(memory.steer)) / memory.wheelbase
            pose = clothoid_step(pose, u, w, curvature_change)
        else:
            pose = arc(pose, u, v, w)
        path, rotation = last[PATH] + abs(u) + abs(v), last[ROTATION] + abs(w)
        entry[X], entry[Y], entry[YAW] = pose
        entry[PATH], entry[ROTATION] = path, rotation
    entry[STAMP] = wheels.stamp
    memory.readings += 1
    memory.steer = wheels.steer
    for k in range(WHEELS_PER_ROBOT):
        memory.angle[k] = wheels.angle[k]


@kernel
def interpolate(a: Array, b: Array, share: float) -> OdometryPose:
    """Dead reckoning on the arc from entry a to entry b, or beyond b for a share above 1."""
    pose = (a[X], a[Y], a[YAW])
    u, v, w = log_se2(relative_pose(pose, (b[X], b[Y], b[YAW])))
    x, y, yaw = arc(pose, share * u, share * v, share * w)
    path, rotation = share * (b[PATH] - a[PATH]), share * (b[ROTATION] - a[ROTATION])
    return OdometryPose(x, y, yaw, a[PATH] + path, a[ROTATION] + rotation)


@kernel
def covers(buffer: Array, memory: Row, stamp: float) -> bool:
    """Whether a stamp is neither before the oldest entry nor far ahead of the newest."""
    if memory.readings == 0:
        return False
    oldest = buffer[max(memory.readings - LENGTH, 0) % LENGTH]
    last, previous = buffer[(memory.readings - 1) % LENGTH], buffer[(memory.readings - 2) % LENGTH]
    if memory.readings == 1:
        return bool(stamp == last[STAMP])
    latest_stamp = last[STAMP] + MAX_AHEAD * (last[STAMP] - previous[STAMP])
    return bool(oldest[STAMP] <= stamp <= latest_stamp)


@kernel
def odometry_at(buffer: Array, memory: Row, stamp: float) -> OdometryPose:
    """Dead reckoning at a stamp that the buffer covers."""
    if memory.readings == 1:
        return entry_of(buffer[0])
    k = memory.readings - 2
    first = max(memory.readings - LENGTH, 0)
    while k > first and buffer[k % LENGTH][STAMP] > stamp:
        k -= 1
    a, b = buffer[k % LENGTH], buffer[(k + 1) % LENGTH]
    if stamp == b[STAMP]:
        return entry_of(b)
    interval = b[STAMP] - a[STAMP]
    return interpolate(a, b, (stamp - a[STAMP]) / interval if interval > 0.0 else 1.0)


@kernel
def latest_odometry(buffer: Array, memory: Row) -> OdometryPose:
    """Dead reckoning at the newest reading; zero before the first."""
    return entry_of(buffer[(memory.readings - 1) % LENGTH])


@kernel
def write_velocity(
    belief: Row, buffer: Array, memory: Row, wheels: Row, step: Displacement
) -> None:
    """Write the velocities of the last step, which is in the buffer already, to the belief."""
    elapsed = 0.0
    if memory.readings > 1:
        elapsed = wheels.stamp - buffer[(memory.readings - 2) % LENGTH][STAMP]
    if elapsed > 0.0:
        belief.vx, belief.vy, belief.wz = step[0] / elapsed, step[1] / elapsed, step[2] / elapsed
    belief.steer = wheels.steer
    for k in range(WHEELS_PER_ROBOT):
        belief.wheel[k] = wheels.angle[k]
        belief.wheel_rate[k] = wheels.rate[k]
