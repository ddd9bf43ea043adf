"""What a filter does with readings that come late: it goes back and takes them in their turn.

Readings are events, in the order of their stamps. The events of the last `lag` seconds wait in a
ring, and a second filter, the base, stands where they begin. An event that is older than the newest
is put in its place, and the filter starts over from the base: it comes out as if all had come in
time. A robot whose readings are never late has no ring, and none of the cost.
"""

from __future__ import annotations

from astray.numerics import kernel
from astray.robot.estimators.ekf.landmarks import fuse_landmark
from astray.robot.estimators.ekf.measurement_models import (
    forget_way,
    fuse_compass,
    fuse_fix,
    fuse_velocity,
    fuse_way,
)
from astray.robot.estimators.ekf.propagation import feel, go_on, look_at_rates, roll, rolled
from astray.robot.estimators.ekf.state import (
    COMPASS_EVENT,
    FIX_EVENT,
    IMU_EVENT,
    VALUES,
    WHEELS_EVENT,
    YAW,
)
from astray.robot.estimators.ekf.zero_velocity import look_for_rest
from astray.tables import WHEELS_PER_ROBOT, Array, Row, Table

SAME = 1e-9  # s; stamps that differ by less are of one moment


@kernel
def take_wheels(f: Row, w: Row, e: Row) -> None:
    """Go on by the wheels, or compare them with the way that the IMU has led."""
    by_imu = w.moved > YAW + 1
    if by_imu:
        go_on(f, w, e.stamp)
    for k in range(WHEELS_PER_ROBOT):
        w.goal[k] = e.value[k]
    if f.rolling and by_imu:
        fuse_way(f, w, rolled(f, w))
    elif f.rolling:
        if e.stamp > f.read:
            for k in range(WHEELS_PER_ROBOT):
                f.rate[k] = (e.value[k] - f.shown[k]) / (e.stamp - f.read)
            look_at_rates(f, w)
            for k in range(WHEELS_PER_ROBOT):
                w.goal[k] = e.value[k]
        roll(f, w, e.value[4], max(e.stamp, f.stamp))
    elif by_imu:
        forget_way(f, w)
    for k in range(WHEELS_PER_ROBOT):
        f.angle[k] = f.shown[k] = e.value[k]
    f.steer, f.read = e.value[4], e.stamp
    if not by_imu and not f.rolling:
        f.begun, f.stamp = True, max(e.stamp, f.stamp)
    f.rolling = True


@kernel
def take(f: Row, w: Row, e: Row, beacons: Array) -> None:
    """Take in one event."""
    if e.kind == IMU_EVENT:
        felt = (e.value[0], e.value[1], e.value[2])
        feel(f, w, felt, e.stamp)
        if w.rests:
            look_for_rest(f, w, felt)
        return
    if e.kind == WHEELS_EVENT:
        take_wheels(f, w, e)
        return
    go_on(f, w, e.stamp)
    if e.kind == FIX_EVENT:
        fuse_fix(f, w, e.value)
        if w.moved > YAW + 1 and e.value[7] > 0.0 and not f.lost:
            fuse_velocity(f, w, e.value)
    elif e.kind == COMPASS_EVENT:
        fuse_compass(f, w, e.value)
    else:
        fuse_landmark(f, w, e.value, beacons)


@kernel
def copy_event(a: Row, b: Row) -> None:
    """Let one event be as another."""
    a.stamp, a.kind = b.stamp, b.kind
    for k in range(VALUES):
        a.value[k] = b.value[k]


@kernel
def put(ring: Table, w: Row, e: Row) -> bool:
    """Put an event in its place; whether it is the newest. Of one moment, by kind: IMU first."""
    k = w.waiting
    depth = len(ring)
    while k > 0:
        before = ring[(w.first + k - 1) % depth]
        apart = before.stamp - e.stamp
        if apart < -SAME or (apart <= SAME and before.kind <= e.kind):
            break
        copy_event(ring[(w.first + k) % depth], before)
        k -= 1
    copy_event(ring[(w.first + k) % depth], e)
    w.waiting += 1
    return bool(k == w.waiting - 1)


@kernel
def retire(base: Row, w: Row, ring: Table, beacons: Array) -> None:
    """Let the base take in the oldest event for good."""
    counts = w.counts
    w.counts = False
    take(base, w, ring[w.first], beacons)
    w.counts = counts
    w.first = (w.first + 1) % len(ring)
    w.waiting -= 1


@kernel
def replay(f: Row, w: Row, ring: Table, e: Row, beacons: Array) -> None:
    """Take in all that waits; only the innovations of the new event are counted as new."""
    for k in range(w.waiting):
        old = ring[(w.first + k) % len(ring)]
        w.counts = old.stamp == e.stamp and old.kind == e.kind
        take(f, w, old, beacons)
    w.counts = True


@kernel
def hear(filters: Table, ring: Table, w: Row, e: Row, beacons: Array) -> None:
    """Take in an event, late or not; the filters of a row are the filter and its base."""
    f, base = filters[0], filters[1]
    if len(ring) == 0:
        if e.stamp >= f.stamp - SAME or not f.begun:
            take(f, w, e, beacons)
        return
    if base.begun and e.stamp < base.stamp - SAME:
        return  # older than anything that is remembered
    if w.waiting == len(ring):
        retire(base, w, ring, beacons)
    if put(ring, w, e):
        take(f, w, e, beacons)
    else:
        squares, freedom = f.squares, f.freedom
        filters[0] = base
        f.squares, f.freedom = squares, freedom
        replay(f, w, ring, e, beacons)
    while w.waiting > 0 and ring[w.first].stamp < f.stamp - w.lag - SAME:
        retire(base, w, ring, beacons)
