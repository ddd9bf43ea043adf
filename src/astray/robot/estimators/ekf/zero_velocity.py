"""How a filter without wheels learns from standing still: its IMU feels nothing but its own noise.

The readings of half a second are compared with their mean. If their spread is no more than the
white noise and the rounding of the datasheet explain, nothing changed in that time, and if what the
filter led itself to believe of way and turn agrees with none at all, then there was none:

    Σ (y_i − ȳ)² / σ² ≤ n − 1 + 4 √(2 (n − 1))    of turn rate and both accelerations
    along = 0,  turn = 0                            by what is as good as wheels that stand still

That fixes the speed and tells the bias of the gyro. A robot that goes straight at a constant speed
feels nothing, either; what tells it from one at rest is that the filter is sure of its speed. One
that creeps slower than the filter can tell is taken for one at rest: so this has to be asked for.
"""

from __future__ import annotations

import math

from astray.numerics import kernel
from astray.robot.estimators.ekf.measurement_models import forget_way
from astray.robot.estimators.ekf.state import ALONG, TURN, VX
from astray.robot.estimators.ekf.update import aim, apply, weigh
from astray.tables import Row

WINDOW = 0.5  # s
LEAST_READINGS = 8  # in a window
SURE = 4.0  # standard deviations of a spread
SURE_SPEED = 0.1  # m/s, of a filter that can tell rest from going on
CREEP = 1e-4  # m/s, that rest may be wrong by
SLACK = 0.01  # share of a reading's noise that its turn may be wrong by
Three = tuple[float, float, float]


@kernel
def begin_window(f: Row, w: Row) -> None:
    """Begin to look for rest anew."""
    forget_way(f, w)
    f.felt_since, f.felt_count = f.stamp, 0
    for k in range(3):
        f.felt_mean[k] = f.felt_squares[k] = 0.0


@kernel
def is_calm(f: Row, w: Row, elapsed: float) -> bool:
    """Whether the readings of a window differ by no more than their noise."""
    n = f.felt_count
    if n < LEAST_READINGS:
        return False
    per = n / elapsed
    most = n - 1.0 + SURE * math.sqrt(2.0 * (n - 1.0))
    for k in range(3):
        density, grain = w.gyro_density, w.gyro_grain
        if k > 0:
            density, grain = w.accel_density, w.accel_grain
        if f.felt_squares[k] > most * (density * density * per + grain):
            return False
    return True


@kernel
def stand(f: Row, w: Row, elapsed: float) -> None:
    """Take in that there was neither way nor turn, if that is likely."""
    aim(w)
    w.nu[0], w.nu[1] = -f.along, -f.turn
    w.h[0, ALONG] = w.h[1, TURN] = 1.0
    way = CREEP * elapsed
    step = elapsed / f.felt_count
    turn = SLACK * (w.gyro_density * w.gyro_density * step + w.gyro_grain * step * step)
    w.noise[0, 0], w.noise[1, 1] = way * way, turn
    if weigh(f, w, 2) <= w.gate[2]:
        apply(f, w, 2)


@kernel
def look_for_rest(f: Row, w: Row, felt: Three) -> None:
    """Note a reading, and at the end of a window whether the robot stood still."""
    if f.felt_count < 0 or f.stamp - f.felt_since > 2.0 * WINDOW:
        begin_window(f, w)
        return
    f.felt_count += 1
    share = 1.0 / f.felt_count
    for k in range(3):
        apart = felt[k] - f.felt_mean[k]
        f.felt_mean[k] += share * apart
        f.felt_squares[k] += (1.0 - share) * apart * apart
    elapsed = f.stamp - f.felt_since
    if elapsed < WINDOW * (1.0 - 1e-9):
        return
    if f.cov[VX, VX] < SURE_SPEED * SURE_SPEED and is_calm(f, w, elapsed):
        stand(f, w, elapsed)
    begin_window(f, w)
