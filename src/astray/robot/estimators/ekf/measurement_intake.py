"""What an error-state filter hears: the fresh readings of a row, each as an event, and its report.

Of one moment, what the filter goes by comes first. Of several sensors alike the first is taken in
with all else, and each further one by itself.
"""

from __future__ import annotations

from astray.numerics import kernel
from astray.robot.estimators.ekf.delayed_measurements import hear
from astray.robot.estimators.ekf.state import (
    COMPASS_EVENT,
    FIX_EVENT,
    IMU_EVENT,
    LANDMARK_EVENT,
    WHEELS_EVENT,
    WHICH,
    YAW,
)
from astray.tables import WHEELS_PER_ROBOT, Array, Row, Rows, Table

Own = tuple[Table, Table, Table, Table]
"""Filters (n, 2), rings (n, depth), one event of each row, and plans."""
Readings = tuple[Table, Table, Table, Table, Table]
Site = tuple[Array, Array, Array, Array, Array]
"""Beacons (k, 2), and range, bearing, identity and seen of what was sighted, (n, slots)."""


@kernel
def note_imu(e: Row, w: Row, o: Row) -> None:
    """A reading of the IMU in the body's axes."""
    r = w.axes
    e.kind, e.stamp = IMU_EVENT, o.stamp
    e.value[0] = r[2, 0] * o.wx + r[2, 1] * o.wy + r[2, 2] * o.wz
    e.value[1] = r[0, 0] * o.ax + r[0, 1] * o.ay + r[0, 2] * o.az
    e.value[2] = r[1, 0] * o.ax + r[1, 1] * o.ay + r[1, 2] * o.az


@kernel
def note_wheels(e: Row, o: Row) -> None:
    """A reading of the wheels: their angles and the steering."""
    e.kind, e.stamp = WHEELS_EVENT, o.stamp
    for k in range(WHEELS_PER_ROBOT):
        e.value[k] = o.angle[k]
    e.value[4] = o.steer


@kernel
def note_fix(e: Row, o: Row, which: int) -> None:
    """A fix: position, covariance, velocity, and of which receiver."""
    e.value[WHICH] = which
    e.kind, e.stamp = FIX_EVENT, o.stamp
    e.value[0], e.value[1] = o.x, o.y
    e.value[2], e.value[3], e.value[4] = o.cov[0, 0], o.cov[0, 1], o.cov[1, 1]
    e.value[5], e.value[6], e.value[7] = o.map_vx, o.map_vy, o.velocity_sd


@kernel
def note_compass(e: Row, o: Row, which: int) -> None:
    """A heading, and of which compass."""
    e.kind, e.stamp = COMPASS_EVENT, o.stamp
    e.value[0], e.value[1], e.value[WHICH] = o.yaw, o.sd, which


@kernel
def report(b: Row, f: Row, w: Row) -> None:
    """Say what the filter believes."""
    b.stamp, b.x, b.y, b.yaw = f.stamp, f.x, f.y, f.yaw
    b.vx, b.vy, b.wz, b.steer = f.vx, f.vy, f.wz, f.steer
    for i in range(YAW + 1):
        for j in range(YAW + 1):
            b.cov[i, j] = f.cov[i, j]
    if w.moved == YAW + 1:  # counting in whole ticks is an error that never adds up
        b.cov[0, 0] += w.rounding
        b.cov[1, 1] += w.rounding
        b.cov[2, 2] += w.turn_rounding


@kernel
def hear_sightings(own: Own, site: Site, i: int, which: int, stamp: float) -> None:
    """Take in the beacons that a sensor of one row sighted."""
    e = own[2][i]
    for k in range(site[1].shape[1]):
        if site[4][i, k] > 0.0:
            e.kind, e.stamp = LANDMARK_EVENT, stamp
            e.value[0], e.value[1], e.value[2] = site[1][i, k], site[2][i, k], site[3][i, k]
            e.value[WHICH] = which
            hear(own[0][i], own[1][i], own[3][i], e, site[0])


@kernel
def estimate(b: Row, own: Own, readings: Readings, site: Site, i: int) -> None:
    """Take in the fresh readings of one row, what the filter goes by first."""
    filters, ring, e, w = own[0][i], own[1][i], own[2][i], own[3][i]
    imu, wheels, compass, fix, seen = (
        readings[0][i],
        readings[1][i],
        readings[2][i],
        readings[3][i],
        readings[4][i],
    )
    beacons = site[0]
    f = filters[0]
    f.squares = f.freedom = 0.0
    if imu.fresh:
        note_imu(e, w, imu)
        hear(filters, ring, w, e, beacons)
    if wheels.fresh:
        note_wheels(e, wheels)
        hear(filters, ring, w, e, beacons)
    if compass.fresh:
        note_compass(e, compass, 0)
        hear(filters, ring, w, e, beacons)
    if fix.fresh and not fix.lost:
        note_fix(e, fix, 0)
        hear(filters, ring, w, e, beacons)
    if seen.fresh:
        hear_sightings(own, site, i, 0, seen.stamp)
    if f.begun:
        report(b, f, w)


@kernel
def estimate_all(belief: Table, own: Own, readings: Readings, site: Site, rows: Rows) -> None:
    """Take in the fresh readings of these rows."""
    for i in rows:
        estimate(belief[i], own, readings, site, i)


@kernel
def take_fixes(
    belief: Table, own: Own, fixes: Table, beacons: Array, rows: Rows, which: int
) -> None:
    """Take in the fixes of a further receiver."""
    for i in rows:
        if fixes[i].fresh and not fixes[i].lost:
            filters, ring, e, w = own[0][i], own[1][i], own[2][i], own[3][i]
            note_fix(e, fixes[i], which)
            hear(filters, ring, w, e, beacons)
            if filters[0].begun:
                report(belief[i], filters[0], w)


@kernel
def take_headings(
    belief: Table, own: Own, headings: Table, beacons: Array, rows: Rows, which: int
) -> None:
    """Take in the headings of a further compass."""
    for i in rows:
        if headings[i].fresh:
            filters, ring, e, w = own[0][i], own[1][i], own[2][i], own[3][i]
            note_compass(e, headings[i], which)
            hear(filters, ring, w, e, beacons)
            if filters[0].begun:
                report(belief[i], filters[0], w)


@kernel
def take_sightings(
    belief: Table, own: Own, seen: Table, site: Site, rows: Rows, which: int
) -> None:
    """Take in what a further sensor of beacons sighted."""
    for i in rows:
        if seen[i].fresh:
            hear_sightings(own, site, i, which, seen[i].stamp)
            if own[0][i][0].begun:
                report(belief[i], own[0][i][0], own[3][i])
