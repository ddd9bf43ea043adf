"""What an error-state filter holds for one robot: its state, how sure it is, how it is laid out.

The first states are those that move. After them come errors of the sensors on board, which stay or
drift slowly; each has a place only where its sensor calls for it.

    x y yaw                          always
    vx vy along across turn          with an IMU: velocity, and the way since the wheels were read
    gyro, accel (2)                  biases of the IMU, turn-on and walking
    gyro drift, accel drift (2)      and their Gauss-Markov parts
    gyro scale                       the relative error of the rate
    wheel (1 to 4), arm              relative errors of the wheels' radii and of the baseline
    fix (2), compass                 errors of fixes and compass that last, of each on board

The way since the wheels were last read is a state of its own since that is what wheels measure: a
mean over time, not the speed of the moment.
"""

from __future__ import annotations

from astray.tables import WHEELS_PER_ROBOT, Column, columns

MOST = 24  # states
MOST_MOVED = 8
X, Y, YAW, VX, VY, ALONG, ACROSS, TURN = range(MOST_MOVED)
IMU_EVENT, WHEELS_EVENT, COMPASS_EVENT, FIX_EVENT, LANDMARK_EVENT = range(5)
VELOCITY = 5  # of a fix: a source of its own, that may be right where the position is refused
SOURCES = 6
VALUES = 9
WHICH = VALUES - 1  # of several alike a value comes from
MOST_ALIKE = 3  # receivers of fixes, compasses, and sensors of beacons, on one robot
NONE = -1  # the place of a state that is not there

EVENT = columns(
    "stamp s",
    Column("kind", "", "i8"),
    Column("value", "", "f8", (VALUES,)),
)
"""One reading as the filter takes it: what kind it is of, and its numbers."""

FILTER = columns(
    Column("begun", "", "?"),
    Column("rolling", "", "?"),
    "stamp s",
    "x m",
    "y m",
    "yaw rad",
    "vx m/s",
    "vy m/s",
    "wz rad/s",
    "along m",
    "across m",
    "turn rad",
    "felt s",
    Column("held", "rad/s, m/s²", "f8", (3,)),
    Column("angle", "rad", "f8", (WHEELS_PER_ROBOT,)),
    Column("shown", "rad", "f8", (WHEELS_PER_ROBOT,)),
    Column("rate", "rad/s", "f8", (WHEELS_PER_ROBOT,)),
    "read s",
    "steer rad",
    Column("error", "", "f8", (MOST,)),
    Column("cov", "", "f8", (MOST, MOST)),
    Column("refused", "", "i8", (SOURCES,)),
    Column("refused_since", "s", "f8", (SOURCES,)),
    Column("sighting", "s, , m, m, m, m", "f8", (6,)),
    "squares",
    "freedom",
    "bent m",
    "bending m/s",
    "felt_since s",
    Column("felt_count", "", "i8"),
    Column("felt_mean", "rad/s, m/s²", "f8", (3,)),
    Column("felt_squares", "rad²/s², m²/s⁴", "f8", (3,)),
    Column("lost", "", "?"),
    "gone m",
    Column("agreed", "", "i8"),
    Column("strays", "", "i8"),
    "agreed_since s",
    "noted s",
    "yaw_then rad²",
    Column("led", "m", "f8", (2,)),
    Column("own", "m", "f8", (2,)),
    Column("own_mean", "m", "f8", (2,)),
    Column("said", "m", "f8", (2,)),
    Column("said_mean", "m", "f8", (2,)),
    "dot m²",
    "cross m²",
    "spread m²",
    Column("faded", "m", "f8", (2,)),
    "fading",
)
"""The state of one filter. `error` has the lasting errors at their places; `held` is what the IMU
last read, at `felt`; the wheels have turned by `angle` as far as the filter is, and by `shown` when
they were `read`; `sighting` is the last one that was refused: its stamp and beacon, where it was in
the body's frame, how far off, and how well that was measured; `squares` and
`freedom` are the normalised innovations squared of the last readings, and their degrees of freedom;
`bent` is how far errors of speed and heading together may have led aside, at a rate of `bending`.
`felt_count` readings of the IMU since some time are looked at for rest: their means and the squares
of what they differ by. From `lost` on are what `ekf_lost.py` knows of fixes that were refused: how
many of them agree since when, how sure of its heading it was then, the last place that the filter
was led to and that was said, their means, and the sums that tell how one way is turned against the
other.
"""

AGREED = (
    "agreed",
    "strays",
    "led",
    "own_mean",
    "said_mean",
    "dot",
    "cross",
    "spread",
    "faded",
    "fading",
)
"""What of a filter is about fixes that were refused."""

PLAN = columns(
    Column("states", "", "i8"),
    Column("moved", "", "i8"),
    Column("gyro", "", "i8"),
    Column("accel", "", "i8"),
    Column("gyro_drift", "", "i8"),
    Column("accel_drift", "", "i8"),
    Column("gyro_scale", "", "i8"),
    Column("wheel", "", "i8", (WHEELS_PER_ROBOT,)),
    Column("arm_error", "", "i8"),
    Column("fix", "", "i8", (MOST_ALIKE,)),
    Column("compass", "", "i8", (MOST_ALIKE,)),
    Column("sd", "", "f8", (MOST,)),
    Column("tau", "s", "f8", (MOST,)),
    Column("walk", "", "f8", (MOST,)),
    Column("sideways", "", "?"),
    "radius m",
    "wheelbase m",
    "arm m",
    Column("along", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("across", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("around", "", "f8", (WHEELS_PER_ROBOT,)),
    "slip_density m/√m",
    "tick m",
    "rounding m²",
    "turn_rounding rad²",
    "imu_x m",
    "imu_y m",
    Column("axes", "", "f8", (3, 3)),
    "gyro_density rad/s/√Hz",
    "accel_density m/s²/√Hz",
    "gyro_grain rad²/s²",
    "accel_grain m²/s⁴",
    Column("rests", "", "?"),
    Column("antenna_x", "m", "f8", (MOST_ALIKE,)),
    Column("antenna_y", "m", "f8", (MOST_ALIKE,)),
    Column("drift_variance", "m²", "f8", (MOST_ALIKE,)),
    "fix_variance m²",
    Column("compass_modelled", "rad²", "f8", (MOST_ALIKE,)),
    "compass_variance rad²",
    Column("eye_x", "m", "f8", (MOST_ALIKE,)),
    Column("eye_y", "m", "f8", (MOST_ALIKE,)),
    Column("eye_yaw", "rad", "f8", (MOST_ALIKE,)),
    Column("range_sd", "m", "f8", (MOST_ALIKE,)),
    Column("range_sd_per_m", "", "f8", (MOST_ALIKE,)),
    Column("bearing_sd", "rad", "f8", (MOST_ALIKE,)),
    Column("beacons", "", "i8", (MOST_ALIKE, 2)),
    Column("gate", "", "f8", (3,)),
    "patience s",
    "lag s",
    Column("first", "", "i8"),
    Column("waiting", "", "i8"),
    Column("counts", "", "?"),
    Column("headed", "", "?"),
    Column("taught", "", "i8"),
    Column("goal", "rad", "f8", (WHEELS_PER_ROBOT,)),
    Column("rolled", "m", "f8", (WHEELS_PER_ROBOT,)),
    Column("jac", "", "f8", (MOST_MOVED, MOST)),
    Column("block", "", "f8", (MOST_MOVED, MOST)),
    Column("drive", "", "f8", (MOST_MOVED, WHEELS_PER_ROBOT)),
    Column("power", "", "f8", (WHEELS_PER_ROBOT,)),
    Column("h", "", "f8", (2, MOST)),
    Column("nu", "", "f8", (2,)),
    Column("noise", "", "f8", (2, 2)),
    Column("s", "", "f8", (2, 2)),
    Column("ph", "", "f8", (MOST, 2)),
    Column("gain", "", "f8", (MOST, 2)),
    Column("left", "", "f8", (MOST, MOST)),
)
"""The layout of one filter by the datasheets: the places of its states, how they last, what the
sensors are like, with the `beacons` of each from one number on to another; the events that wait in
its history; whether it is `headed` by a compass; and room to reckon in. A measurement corrects the
first `taught` states."""
