"""Where a robot believed to be a while ago: late detections were taken from there."""

from __future__ import annotations

from astray.numerics import arc, kernel, wrap
from astray.robot.tracking.polar_conversion import Pose
from astray.tables import Array, Row

LENGTH = 32  # poses, twice as many as fit into the latency
STAMP, X, Y, YAW = range(4)


@kernel
def note(trail: Array, m: Row, b: Row, apart: float) -> None:
    """Note a belief, unless the last one noted is nearer in time than this."""
    last = trail[(m.noted - 1) % LENGTH]
    if m.noted == 0 or b.stamp - last[STAMP] >= apart * (1.0 - 1e-9):
        here = trail[m.noted % LENGTH]
        here[STAMP], here[X], here[Y], here[YAW] = b.stamp, b.x, b.y, b.yaw
        m.noted += 1


@kernel
def pose_at(trail: Array, m: Row, b: Row, stamp: float) -> Pose:
    """The believed pose of a moment: carried on where it is to come, else between two noted."""
    late = b.stamp - stamp
    if late <= 0.0 or m.noted == 0:
        x, y, yaw = arc((b.x, b.y, b.yaw), -b.vx * late, -b.vy * late, -b.wz * late)
        return x, y, yaw
    after, ax, ay, ayaw = b.stamp, b.x, b.y, b.yaw
    for k in range(min(m.noted, LENGTH)):
        t = trail[(m.noted - 1 - k) % LENGTH]
        if t[STAMP] <= stamp:
            share = (stamp - t[STAMP]) / (after - t[STAMP]) if after > t[STAMP] else 0.0
            yaw = t[YAW] + share * wrap(ayaw - t[YAW])
            return t[X] + share * (ax - t[X]), t[Y] + share * (ay - t[Y]), yaw
        after, ax, ay, ayaw = t[STAMP], t[X], t[Y], t[YAW]
    return ax, ay, ayaw
