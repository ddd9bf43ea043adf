"""Odometry as a trail: where dead reckoning was at each of the last wheel readings.

A scan that arrives late was taken between two readings that came before. The trail tells where
dead reckoning was then, on the arc between the two, how far it had gone, |u| and |v| added up, and
how far it had turned, |w| added up: what the errors of a motion grow with.
"""

from __future__ import annotations

from astray.numerics import arc, clothoid_step, kernel, log_se2, relative_pose, tan
from astray.tables import WHEELS_PER_ROBOT, Array, Column, Row, columns

LENGTH = 128  # readings that the trail remembers
STAMP, X, Y, YAW, WAY, TURNED = range(6)
AHEAD = 2.0  # times the last interval that a scan may be newer than the wheels

TRAIL = columns(
    "radius m",
    "wheelbase m",
    "arm m",
    Column("along", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("across", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("around", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("rolled", "m", "f8", (WHEELS_PER_ROBOT,)),
    Column("angle", "rad", "f8", (WHEELS_PER_ROBOT,)),
    "steer rad",
    Column("noted", "", "i8"),
)
"""How wheels move the body, the last reading, and how many readings the trail has seen."""

Spot = tuple[float, float, float, float, float]
"""x, y and yaw of dead reckoning, m and rad; the way, m, and the turn, rad, up to there."""
Move = tuple[float, float, float]


@kernel
def spot_of(note: Array) -> Spot:
    """Where dead reckoning was at one of its readings."""
    return note[X], note[Y], note[YAW], note[WAY], note[TURNED]


@kernel
def roll(trail: Array, m: Row, o: Row, move: Move) -> None:
    """Note a wheel reading that moved the body along, across and around."""
    last = trail[(m.noted - 1) % LENGTH]
    note = trail[m.noted % LENGTH]
    pose = (last[X], last[Y], last[YAW])
    if m.noted == 0:
        note[X] = note[Y] = note[YAW] = note[WAY] = note[TURNED] = 0.0
    else:
        u, v, w = move
        if m.wheelbase > 0.0:
            change = (tan(o.steer) - tan(m.steer)) / m.wheelbase
            pose = clothoid_step(pose, u, w, change)
        else:
            pose = arc(pose, u, v, w)
        way, turned = last[WAY] + abs(u) + abs(v), last[TURNED] + abs(w)
        note[X], note[Y], note[YAW], note[WAY], note[TURNED] = (
            pose[0],
            pose[1],
            pose[2],
            way,
            turned,
        )
    note[STAMP] = o.stamp
    m.noted += 1
    m.steer = o.steer
    for k in range(WHEELS_PER_ROBOT):
        m.angle[k] = o.angle[k]


@kernel
def part_of(a: Array, b: Array, share: float) -> Spot:
    """A spot on the arc from one note to the next, or beyond it."""
    pose = (a[X], a[Y], a[YAW])
    u, v, w = log_se2(relative_pose(pose, (b[X], b[Y], b[YAW])))
    x, y, yaw = arc(pose, share * u, share * v, share * w)
    way, turned = share * (b[WAY] - a[WAY]), share * (b[TURNED] - a[TURNED])
    return x, y, yaw, a[WAY] + way, a[TURNED] + turned


@kernel
def reaches(trail: Array, m: Row, stamp: float) -> bool:
    """Whether the trail knows of a stamp: not from before it begins, nor far ahead of its end."""
    if m.noted == 0:
        return False
    oldest = trail[max(m.noted - LENGTH, 0) % LENGTH]
    last, previous = trail[(m.noted - 1) % LENGTH], trail[(m.noted - 2) % LENGTH]
    if m.noted == 1:
        return bool(stamp == last[STAMP])
    ahead = last[STAMP] + AHEAD * (last[STAMP] - previous[STAMP])
    return bool(oldest[STAMP] <= stamp <= ahead)


@kernel
def spot_at(trail: Array, m: Row, stamp: float) -> Spot:
    """Where dead reckoning was at a stamp that the trail reaches."""
    if m.noted == 1:
        return spot_of(trail[0])
    k = m.noted - 2
    first = max(m.noted - LENGTH, 0)
    while k > first and trail[k % LENGTH][STAMP] > stamp:
        k -= 1
    a, b = trail[k % LENGTH], trail[(k + 1) % LENGTH]
    if stamp == b[STAMP]:
        return spot_of(b)
    gap = b[STAMP] - a[STAMP]
    return part_of(a, b, (stamp - a[STAMP]) / gap if gap > 0.0 else 1.0)


@kernel
def latest(trail: Array, m: Row) -> Spot:
    """Where dead reckoning is; at zero before the first reading, as at it."""
    return spot_of(trail[(m.noted - 1) % LENGTH])


@kernel
def speeds(b: Row, trail: Array, m: Row, o: Row, move: Move) -> None:
    """The velocities that a belief takes over from its wheels, once those are noted."""
    elapsed = o.stamp - trail[(m.noted - 2) % LENGTH][STAMP] if m.noted > 1 else 0.0
    if elapsed > 0.0:
        b.vx, b.vy, b.wz = move[0] / elapsed, move[1] / elapsed, move[2] / elapsed
    b.steer = o.steer
    for k in range(WHEELS_PER_ROBOT):
        b.wheel[k] = o.angle[k]
        b.wheel_rate[k] = o.rate[k]
