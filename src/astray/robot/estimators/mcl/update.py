"""One robot of the particle filter: note its wheels, take in a scan, report a belief.

How well a scan fits the believed pose, the mean q of its beams, goes into two averages, over few
scans and over many. The second rises faster than it falls: a robot that is lost must not get used
to it.
"""

from __future__ import annotations

import numpy as np

from astray.numerics import compose, exp, kernel, relative_pose, sincos
from astray.robot.estimators.mcl.odometry_buffer import (
    TRAIL,
    latest,
    reaches,
    roll,
    speeds,
    spot_at,
)
from astray.robot.estimators.mcl.particle_set import (
    Spot,
    effective,
    middle_of,
    resample,
    root,
    shake,
    stir,
    summarise,
)
from astray.robot.estimators.mcl.scan_likelihood import (
    SHARP,
    Ground,
    Mount,
    Shot,
    aim,
    bearable,
    fit,
    fit_all,
    throw,
    weigh,
)
from astray.robot.estimators.odometry import moved
from astray.tables import WHEELS_PER_ROBOT, Array, Column, Row, Table, columns

STAGES = 6  # in which a scan is taken into account, at most
FEWEST = 5  # beams that have to end somewhere
FAST = 0.2  # share of the newest scan in what is averaged over few
RISE, FALL = 0.02, 0.002  # and over many: good scans soon tell what to expect, bad ones hardly
MOST_THROWN = 0.5  # of the particles at once

MEMORY = columns(
    Column("lost", "", "?"),
    Column("looked", "", "?"),
    TRAIL,  # which must be no prefix of it: numba would take one for the other, with a warning
    "few",
    "many",
    "x m",
    "y m",
    "yaw rad",
    Column("cov", "m², m·rad, rad²", "f8", (3, 3)),
    Column("spot", "m, rad", "f8", (5,)),
    Column("world", "", "i4"),
    Column("robot", "", "i4"),
    Column("episode", "", "i4"),
    Column("tick", "", "i8"),
)
"""Whether the cloud has no idea or has looked; the trail; how well scans fit; the pose at the last
look, with dead reckoning's then; and who draws noise, for the how-manieth time."""

Tables = tuple[Table, Table, Table, Table, Table, Array]
"""Beliefs, memory, parameters, wheel readings, scans, and the world of each row."""
Room = tuple[Array, Array, Array, Array, Array, Array]
"""Clouds, room to resample, fits, ends of beams, trails and tables of log q, by row."""
How = tuple[np.uint64, Mount, int, float]
"""The key of the noise, where the scanner is mounted, the places tried for a pose, and how much
poses part when they are stirred."""
Task = tuple[Shot, Ground, How]
Scan = tuple[Array, Row]


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
    gone = relative_pose((a[0], a[1], a[2]), (spot[0], spot[1], spot[2]))
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
