"""How far the believer's own error has wandered between two looks.

Tracks are placed from where the believer believes to be. Its error shifts and turns all of them,
and as long as it stays the same, they keep still with respect to each other and to what is seen.
Where it changes, they seem to move. What is known of that is the covariance P of the own pose: dead
reckoning lets it grow by what the error changes; a correction lets it shrink by that, since the
error of a filter and what it was corrected by are independent. So the change has the covariance

    |P now − P before|, both at the place of now

summed over all that the belief went through since the last look. A yaw error alone lets a position
error grow with the way, but nothing move: that is why P is first carried to the place of now.
"""

from __future__ import annotations

from astray.numerics import inlined_kernel, kernel
from astray.robot.tracking.polar_conversion import Pose
from astray.tables import Row


@kernel
def wander(m: Row, b: Row) -> None:
    """Add what the own error may have changed by since the belief was last looked at."""
    c, p = m.own, b.cov
    dx, dy = b.x - m.own_x, b.y - m.own_y
    xx, xy, yy, xa, ya, aa = c[0], c[1], c[2], c[3], c[4], c[5]
    # The covariance of then at the place of now.
    xx, xy, yy = (
        xx - 2.0 * dy * xa + dy * dy * aa,
        xy + dx * xa - dy * ya - dx * dy * aa,
        yy + 2.0 * dx * ya + dx * dx * aa,
    )
    xa, ya = xa - dy * aa, ya + dx * aa
    xx, xy, yy = p[0, 0] - xx, p[0, 1] - xy, p[1, 1] - yy
    xa, ya, aa = p[0, 2] - xa, p[1, 2] - ya, p[2, 2] - aa
    w = m.wander
    if xx >= 0.0 and yy >= 0.0 and aa >= 0.0:
        sign = 1.0
    elif xx <= 0.0 and yy <= 0.0 and aa <= 0.0:
        sign = -1.0
    else:
        sign = 0.0  # some grew and some shrank: how they go together is not known
    w[0] += abs(xx)
    w[1] += sign * xy
    w[2] += abs(yy)
    w[3] += sign * xa
    w[4] += sign * ya
    w[5] += abs(aa)
    own(m, b)


@inlined_kernel
def own(m: Row, b: Row) -> None:
    """Note the own belief."""
    m.own_x, m.own_y = b.x, b.y
    m.own[0], m.own[1], m.own[2] = b.cov[0, 0], b.cov[0, 1], b.cov[1, 1]
    m.own[3], m.own[4], m.own[5] = b.cov[0, 2], b.cov[1, 2], b.cov[2, 2]


@inlined_kernel
def shake(k: Row, m: Row, pose: Pose) -> None:
    """Let a track be as much less sure as the own error may have changed, seen from a pose."""
    w, dx, dy = m.wander, k.x - pose[0], k.y - pose[1]
    k.p[0] += w[0] - 2.0 * dy * w[3] + dy * dy * w[5]
    k.p[1] += w[1] + dx * w[3] - dy * w[4] - dx * dy * w[5]
    k.p[2] += w[2] + 2.0 * dx * w[4] + dx * dx * w[5]
