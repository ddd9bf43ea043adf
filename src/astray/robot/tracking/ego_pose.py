"""The observer's own pose: where it was at a detection, and what its error does to tracks.

A detection between two beliefs is placed from a pose interpolated between them, one after the last
belief from a pose extrapolated by the believed velocity, on an arc. Either is off if the body
accelerates. With an acceleration a and beliefs at t0 and t1 the error at a time t is

    e = a (t − t0) (t − t1) / 2

in x, y and yaw each. It starts anew with the next belief, so it belongs to the detection, whose
covariance grows by what e does to it. The changes of the believed velocity tell a: the largest
counts, and is forgotten in about a second. The limits of the motion in its place would widen the
gates of robots that drive steadily.

Tracks are in the map frame by the observer's belief. An error of its pose shifts and rotates all of
them alike; repeated detections do not average it out. So it is left out of the track filters, and
the covariance of the observer's pose is added to what is published.

While that error stays the same, tracks stay consistent with each other and with new detections.
Where it changes, they seem to move. What is known of the change is the covariance P of the own
pose: dead reckoning lets it grow by the change of the error; a correction lets it shrink by that,
since the error of a filter and what it was corrected by are independent. So the change, the ego
drift, has the covariance

    |P now − P before|, both at the position of now

summed over all beliefs since the last detections. A yaw error alone lets a position error grow with
the path, but moves no track: that is why P is first transformed to the position of now.
"""

from __future__ import annotations

from astray.numerics import Pose, arc, inlined_kernel, kernel, sincos, wrap
from astray.robot.tracking.constant_velocity import (
    DET_X,
    DET_XX,
    DET_XY,
    DET_Y,
    DET_YY,
    UU,
    UV,
    VV,
    XU,
    XV,
    XX,
    XY,
    YU,
    YV,
    YY,
)
from astray.tables import Array, Row

LENGTH = 32  # poses of a history: twice as many as fit into the latency
STAMP, X, Y, YAW = range(4)
"""The columns of a history, (LENGTH, 4)."""
EGO_XX, EGO_XY, EGO_YY, EGO_XA, EGO_YA, EGO_AA = range(6)
"""The entries of `ego_cov` and `drift_cov`: x, y, and the yaw a."""
ACCEL_TIME = 1.0  # s in which an acceleration is forgotten
NEGLIGIBLE = 1e-4  # share of a variance that is not worth adding


# Pose history.


@kernel
def record_pose(history: Array, memory: Row, belief: Row, interval: float) -> None:
    """Record a belief, unless the last record is nearer in time than an interval."""
    last = history[(memory.recorded - 1) % LENGTH]
    if memory.recorded == 0 or belief.stamp - last[STAMP] >= interval * (1.0 - 1e-9):
        entry = history[memory.recorded % LENGTH]
        entry[STAMP], entry[X], entry[Y], entry[YAW] = belief.stamp, belief.x, belief.y, belief.yaw
        memory.recorded += 1


@kernel
def pose_at(history: Array, memory: Row, belief: Row, stamp: float) -> tuple[Pose, float]:
    """The believed pose at a stamp: interpolated in the history, or extrapolated.

    Besides, its error per acceleration, s².
    """
    late = belief.stamp - stamp
    if late <= 0.0 or memory.recorded == 0:
        pose = (belief.x, belief.y, belief.yaw)
        pose = arc(pose, -belief.vx * late, -belief.vy * late, -belief.wz * late)
        return pose, 0.5 * abs(late * (late - memory.ego_interval))
    after, ax, ay, ayaw = belief.stamp, belief.x, belief.y, belief.yaw
    for k in range(min(memory.recorded, LENGTH)):
        t = history[(memory.recorded - 1 - k) % LENGTH]
        if t[STAMP] <= stamp:
            share = (stamp - t[STAMP]) / (after - t[STAMP]) if after > t[STAMP] else 0.0
            yaw = t[YAW] + share * wrap(ayaw - t[YAW])
            pose = (t[X] + share * (ax - t[X]), t[Y] + share * (ay - t[Y]), yaw)
            return pose, 0.5 * (stamp - t[STAMP]) * (after - stamp)
        after, ax, ay, ayaw = t[STAMP], t[X], t[Y], t[YAW]
    return (ax, ay, ayaw), 0.0


@kernel
def mount_in_map(pose: Pose, mount: Pose) -> Pose:
    """The pose of a mount in the map; its yaw is not wrapped."""
    s, c = sincos(pose[2])
    x, y = pose[0] + c * mount[0] - s * mount[1], pose[1] + s * mount[0] + c * mount[1]
    return x, y, pose[2] + mount[2]


# The error of a pose between beliefs.


@inlined_kernel
def record_acceleration(memory: Row, belief: Row) -> None:
    """Record how the believed velocity, in x, y and yaw, changed, and since when.

    It is compared over no shorter a time than detections are ahead of the belief: over a shorter
    one, noise of the velocity would pass for more acceleration than it makes in that time.
    """
    if not belief.stamp > memory.ego_stamp:
        return
    memory.ego_interval, memory.ego_stamp = belief.stamp - memory.ego_stamp, belief.stamp
    t = belief.stamp - memory.velocity_stamp
    if t < memory.ego_age * (1.0 - 1e-9):
        return
    before, square = memory.ego_velocity, memory.ego_accel_square
    keep = ACCEL_TIME / (ACCEL_TIME + t)
    velocity = (belief.vx, belief.vy, belief.wz)
    for k in range(3):
        if memory.velocity_stamp > 0.0:  # else there is no belief to compare with
            a = (velocity[k] - before[k]) / t
            square[k] = max(a * a, keep * square[k])
        before[k] = velocity[k]
    memory.velocity_stamp = belief.stamp


@inlined_kernel
def add_pose_error(detections: Array, count: int, memory: Row, pose: Pose, gap: float) -> None:
    """Add the error of an inter- or extrapolated pose to what was detected from there.

    `gap` is its error per acceleration, s².
    """
    if not gap > 0.0:
        return
    square, gap_square = memory.ego_accel_square, gap * gap
    along, across, turn = gap_square * square[0], gap_square * square[1], gap_square * square[2]
    s, c = sincos(pose[2])
    xx, xy, yy = (
        c * c * along + s * s * across,
        c * s * (along - across),
        s * s * along + c * c * across,
    )
    for j in range(count):
        dx, dy = detections[DET_X, j] - pose[0], detections[DET_Y, j] - pose[1]
        detections[DET_XX, j] += xx + dy * dy * turn
        detections[DET_XY, j] += xy - dx * dy * turn
        detections[DET_YY, j] += yy + dx * dx * turn


# Ego drift.


@inlined_kernel
def record_ego(memory: Row, belief: Row) -> None:
    """Record the own position and covariance, from which drift is counted."""
    c, p = memory.ego_cov, belief.cov
    memory.ego_x, memory.ego_y = belief.x, belief.y
    c[EGO_XX], c[EGO_XY], c[EGO_YY] = p[0, 0], p[0, 1], p[1, 1]
    c[EGO_XA], c[EGO_YA], c[EGO_AA] = p[0, 2], p[1, 2], p[2, 2]


@kernel
def accumulate_drift(memory: Row, belief: Row) -> None:
    """Add the covariance of the change of the own error since it was recorded, and record anew."""
    c, p, drift = memory.ego_cov, belief.cov, memory.drift_cov
    dx, dy = belief.x - memory.ego_x, belief.y - memory.ego_y
    xx, xy, yy, xa, ya, aa = c[EGO_XX], c[EGO_XY], c[EGO_YY], c[EGO_XA], c[EGO_YA], c[EGO_AA]
    # The covariance of before at the position of now.
    xx, xy, yy = (
        xx - 2.0 * dy * xa + dy * dy * aa,
        xy + dx * xa - dy * ya - dx * dy * aa,
        yy + 2.0 * dx * ya + dx * dx * aa,
    )
    xa, ya = xa - dy * aa, ya + dx * aa
    xx, xy, yy = p[0, 0] - xx, p[0, 1] - xy, p[1, 1] - yy
    xa, ya, aa = p[0, 2] - xa, p[1, 2] - ya, p[2, 2] - aa
    if xx >= 0.0 and yy >= 0.0 and aa >= 0.0:
        sign = 1.0
    elif xx <= 0.0 and yy <= 0.0 and aa <= 0.0:
        sign = -1.0
    else:
        sign = 0.0  # some variances grew and some shrank: their correlation is unknown
    drift[EGO_XX] += abs(xx)
    drift[EGO_XY] += sign * xy
    drift[EGO_YY] += abs(yy)
    drift[EGO_XA] += sign * xa
    drift[EGO_YA] += sign * ya
    drift[EGO_AA] += abs(aa)
    record_ego(memory, belief)


@inlined_kernel
def add_drift(track: Row, memory: Row, pose: Pose) -> None:
    """Add the ego drift to the covariance of a track, seen from a pose."""
    d, p = memory.drift_cov, track.cov
    dx, dy = track.x - pose[0], track.y - pose[1]
    p[XX] += d[EGO_XX] - 2.0 * dy * d[EGO_XA] + dy * dy * d[EGO_AA]
    p[XY] += d[EGO_XY] + dx * d[EGO_XA] - dy * d[EGO_YA] - dx * dy * d[EGO_AA]
    p[YY] += d[EGO_YY] + 2.0 * dx * d[EGO_YA] + dx * dx * d[EGO_AA]


# The covariance that is published.


@inlined_kernel
def write_map_covariance(out: Row, track: Row, belief: Row, pose: Pose) -> None:
    """Write the covariance of a track in the map: its own, and that by the observer's pose.

    An error e of the observer's pose changes a track by J e with the rows (1, 0, −dy), (0, 1, dx),
    (0, 0, −v), (0, 0, u), for a track at (dx, dy) from the observer with the velocity (u, v).

    An error of the heading also draws tracks nearer, by (1 − cos e) of their distance, of the mean
    square ¾ var(e)². Compared with how it moves them sideways that is negligible, but along the
    line of sight it may be more than all else.
    """
    p, cov = track.cov, out.cov
    dx, dy, u, v = track.x - pose[0], track.y - pose[1], track.map_vx, track.map_vy
    xx, xy, yy = belief.cov[0, 0], belief.cov[0, 1], belief.cov[1, 1]
    xa, ya, aa = belief.cov[0, 2], belief.cov[1, 2], belief.cov[2, 2]
    cov[0, 0] = p[XX] + xx - 2.0 * dy * xa + dy * dy * aa
    cov[0, 1] = cov[1, 0] = p[XY] + xy + dx * xa - dy * ya - dx * dy * aa
    cov[1, 1] = p[YY] + yy + 2.0 * dx * ya + dx * dx * aa
    x_yaw, y_yaw = xa - dy * aa, ya + dx * aa  # of the track's position with the observer's yaw
    cov[0, 2] = cov[2, 0] = p[XU] - v * x_yaw
    cov[0, 3] = cov[3, 0] = p[XV] + u * x_yaw
    cov[1, 2] = cov[2, 1] = p[YU] - v * y_yaw
    cov[1, 3] = cov[3, 1] = p[YV] + u * y_yaw
    cov[2, 2] = p[UU] + v * v * aa
    cov[2, 3] = cov[3, 2] = p[UV] - u * v * aa
    cov[3, 3] = p[VV] + u * u * aa
    nearer = 0.75 * aa * aa
    if nearer * (dx * dx + dy * dy) > NEGLIGIBLE * p[XX]:
        offset = (dx, dy, u, v)
        for i in range(4):
            for j in range(4):
                cov[i, j] += nearer * offset[i] * offset[j]
