"""The life of a track: begun by a detection, confirmed or dropped, remembered while it is not seen.

A detection that belongs to no track begins one on trial. It is confirmed, and gets a number for
life, once it was seen in `hits` of its first `looks` looks, and dropped as soon as that cannot be
reached any more: that is what becomes of most false alarms. A look counts only if the track was in
the sensor's field. A confirmed track that is not seen coasts, and is dropped after `coast` seconds.

The gate of a track that coasts widens until any false alarm may fall into it. So a track that has
missed some looks is not corrected by the first detection in its gate, but by the next that comes
from where that one was, at the speed that the track has: noise seldom moves like this. Looks count
as missed if they were of the sensor that saw it last.
"""

from __future__ import annotations

import math

from astray.numerics import atan2, inlined_kernel, kernel, wrap
from astray.robot.tracking.constant_velocity import (
    IDENTITY,
    TRACK,
    XX,
    XY,
    YY,
    X,
    Y,
    begin,
    correct,
)
from astray.robot.tracking.polar_conversion import Pose, report_cov
from astray.tables import Array, Row, Table

FREE, ON_TRIAL, CONFIRMED = range(3)
MOST_HITS = 10_000  # that are counted
MOST_VOTES = 10  # of an identity, so that a lasting change is noticed
HIDDEN = 3  # looks without a detection, after which one alone is not believed
Look = tuple[Pose, float, int, float]
"""Where the mount is in the map as believed, the stamp, the number of the sensor, and the gate."""


@inlined_kernel
def vote(k: Row, identity: int) -> None:
    """Count an identity that was seen: who is seen most often is believed."""
    if identity < 0:
        return
    if identity == k.identity:
        k.votes = min(k.votes + 1, MOST_VOTES)
    elif k.votes > 0:
        k.votes -= 1
    else:
        k.identity, k.votes = identity, 1


@kernel
def could_see(k: Row, o: Row, mount: Pose) -> bool:
    """Whether a track is in the field of the sensor that looked."""
    dx, dy = k.x - mount[0], k.y - mount[1]
    far = math.sqrt(dx * dx + dy * dy)
    if far > o.max_range or far < o.min_range:
        return False
    return bool(abs(wrap(atan2(dy, dx) - mount[2])) <= 0.5 * o.field_of_view)


@inlined_kernel
def is_back(k: Row, found: Array, j: int, look: Look) -> bool:
    """Whether a detection of a hidden track follows from the one before; else it is noted."""
    stamp, gate = look[1], look[3]
    t = stamp - k.back
    dx = found[X, j] - k.back_x - t * k.map_vx
    dy = found[Y, j] - k.back_y - t * k.map_vy
    k.back, k.back_x, k.back_y = stamp, found[X, j], found[Y, j]
    if not t < stamp - k.last:  # there was none since it was last seen
        return False
    sxx, sxy = 2.0 * found[XX, j] + t * t * k.p[7], 2.0 * found[XY, j] + t * t * k.p[8]
    syy = 2.0 * found[YY, j] + t * t * k.p[9]
    square = syy * dx * dx - 2.0 * sxy * dx * dy + sxx * dy * dy
    return bool(square <= gate * (sxx * syy - sxy * sxy))


@kernel
def slot_for(mine: Table, m: Row) -> int:
    """A free slot, else that of the newest track on trial; −1 if all are confirmed."""
    found = -1
    for k in range(m.used):
        if mine[k].state == FREE:
            return k
        if mine[k].state == ON_TRIAL and (found < 0 or mine[k].born > mine[found].born):
            found = k
    if m.used < len(mine):
        m.used += 1
        return int(m.used - 1)
    return found


@kernel
def take_in(mine: Table, m: Row, p: Row, found: Array, count: int, look: Look) -> None:
    """Correct the tracks that were seen, and begin new ones with what belongs to none."""
    for j in range(count):
        track = int(found[TRACK, j])
        if track >= 0:
            k = mine[track]
            if k.state == CONFIRMED and k.missed >= HIDDEN and not is_back(k, found, j, look):
                continue
            correct(k, found, j)
            k.hits = min(k.hits + 1, MOST_HITS)
        else:
            slot = slot_for(mine, m)
            if slot < 0 or (mine[slot].state == ON_TRIAL and mine[slot].born == look[1]):
                continue
            k = mine[slot]
            begin(k, found, j, p.speed_sd)
            k.state, k.number, k.identity, k.votes = ON_TRIAL, 0, -1, 0
            k.born, k.hits, k.looks, k.back = look[1], 1, 0, look[1]
        vote(k, int(found[IDENTITY, j]))
        k.last, k.source, k.missed = look[1], look[2], -1


@kernel
def review(mine: Table, m: Row, p: Row, o: Row, look: Look) -> None:
    """Confirm and drop tracks after a look."""
    mount, stamp = look[0], look[1]
    for j in range(m.used):
        k = mine[j]
        if k.source == look[2]:
            k.missed += 1
        if k.state == ON_TRIAL:
            if k.last == stamp or could_see(k, o, mount):
                k.looks += 1
            if k.hits >= p.hits:
                k.state = CONFIRMED
                m.numbered += 1
                k.number = m.numbered
            elif k.looks - k.hits > p.looks - p.hits or stamp - k.last > p.coast:
                k.state = FREE
        elif k.state == CONFIRMED and stamp - k.last > p.coast:
            k.state = FREE


@kernel
def report(told: Row, tracks: Table, mine: Table, m: Row, b: Row, pose: Pose) -> None:
    """Write down what is believed now."""
    stamp = m.stamp
    told.stamp, told.count = stamp, 0
    for j in range(m.used):
        k, t = mine[j], tracks[j]
        if k.state == FREE:
            if t.stamp == t.stamp:
                empty(t)
            continue
        t.number, t.identity, t.source = k.number, k.identity, k.source
        t.confirmed = k.state == CONFIRMED
        t.stamp, t.age, t.unseen = stamp, stamp - k.born, stamp - k.last
        t.x, t.y, t.map_vx, t.map_vy = k.x, k.y, k.map_vx, k.map_vy
        report_cov(t, k, b, pose)
        if t.confirmed:
            told.count += 1
    while m.used > 0 and mine[m.used - 1].state == FREE:
        m.used -= 1


@kernel
def empty(t: Row) -> None:
    """Clear a slot."""
    t.number, t.identity, t.confirmed, t.source = 0, -1, False, 0
    t.stamp = t.age = t.unseen = t.x = t.y = t.map_vx = t.map_vy = math.nan
    for a in range(4):
        for c in range(4):
            t.cov[a, c] = math.nan
