"""Victoria Park: a pickup truck among trees; speed and steering, and a GPS that often fails.

The speed is that of the left rear wheel, H to the side of the middle, so the middle of the axle has

    v = v_wheel / (1 − tan(steer) H / L)

The reference is the GPS itself, so a belief is compared with a fix before it is given that fix. The
start is unknown: odometry is aligned with the first 100 s of fixes.

Source: Guivant and Nebot, University of Sydney; see IEEE Trans. Robotics and Automation 17 (2001).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from astray.datasets.dataset import Dataset, Reference, Stream
from astray.datasets.log_files import MAX_NUMBER, read_matlab
from astray.datasets.wheel_conversion import ackermann_wheels, integrate_held
from astray.errors import LogError
from astray.robot.motion import Ackermann
from astray.robot.sensors import Gnss, Wheels
from astray.tables import FIX, Array, Table, table

H = 0.76  # m from the middle of the rear axle to the wheel whose speed is logged
BODY = Ackermann(wheelbase=2.83, track=2.0 * H, radius=0.35, max_speed=15.0, max_steer=0.8)
ANTENNA = (3.78, 0.5)  # m, in the body frame: on the bumper, above the laser
NOMINAL_WHEELS = Wheels(ticks=0, radius_sd=0.02, baseline_sd=0.02, slip_density=0.03)
# At rest a fix drifts by half a metre, and differs by a tenth from the one before.
NOMINAL_GNSS = Gnss(x=ANTENNA[0], y=ANTENNA[1], position_sd=0.1, drift_sd=0.5, drift_tau=20.0)
MAX_SPEED, MAX_STEER = 100.0, 1.2  # m/s, rad: of no truck
ALIGNMENT_TIME = 100.0  # s of fixes
START_SD = (0.5, 0.05)  # m, rad
DRIVE_ARRAYS = {"time", "speed", "steering"}
GPS_ARRAYS = {"timeGps", "Lo_m", "La_m"}


def read_victoria(path: Path) -> Dataset:
    """The dataset in a folder, or beside a file; its files are found by the names of arrays."""
    folder = path if path.is_dir() else path.parent
    drive, gps = _find(folder, DRIVE_ARRAYS), _find(folder, GPS_ARRAYS)
    if drive is None or gps is None:
        names = ", ".join(sorted(DRIVE_ARRAYS if drive is None else GPS_ARRAYS))
        raise LogError(f"{folder}: Victoria Park needs a .mat file with {names}, and there is none")
    stamps, speed, steer = (drive[name].ravel() for name in ("time", "speed", "steering"))
    fixes = np.stack([gps[name].ravel() for name in ("timeGps", "Lo_m", "La_m")], axis=1)
    if not (len(stamps) == len(speed) == len(steer) > 1 and len(fixes)):
        raise LogError(f"{folder}: time, speed and steering are not of one length")
    bounded = (np.abs(speed) < MAX_SPEED).all() and (np.abs(steer) < MAX_STEER).all()
    if not (bounded and (np.diff(stamps) >= 0.0).all() and (np.abs(fixes) < MAX_NUMBER).all()):
        raise LogError(f"{folder}: speeds, steering angles, fixes or stamps are out of bounds")
    first = stamps[0]
    stamps, fixes[:, 0] = (stamps - first) / 1e3, (fixes[:, 0] - first) / 1e3
    fixes = fixes[(fixes[:, 0] >= 0.0) & (fixes[:, 0] <= stamps[-1])]
    if len(fixes) < 2:
        raise LogError(f"{folder}: there are no fixes while the truck drives")
    axle_speed = speed / (1.0 - np.tan(steer) * H / BODY.wheelbase)
    wheels = Stream(NOMINAL_WHEELS.datasheet(), ackermann_wheels(BODY, stamps, axle_speed, steer))
    gnss = Stream(NOMINAL_GNSS.datasheet(), _fix_table(fixes))
    unknown = np.full(len(fixes), np.nan)
    reference = Reference(fixes[:, 0], fixes[:, 1], fixes[:, 2], unknown, ANTENNA, "gnss")
    start = _align_start(stamps, axle_speed, steer, fixes)
    streams = {"wheels": wheels, "gnss": gnss}
    return Dataset("victoria", BODY, streams, reference, start, START_SD)


def _find(folder: Path, names: set[str]) -> dict[str, Array] | None:
    """The arrays of the first file that has all these names."""
    for file in sorted(folder.glob("*.mat")):
        arrays = read_matlab(file)
        if names <= set(arrays):
            return arrays
    return None


def _fix_table(rows: Array) -> Table:
    fixes = table(FIX, len(rows))
    fixes["stamp"], fixes["x"], fixes["y"] = rows.T
    fixes["cov"] = np.eye(2) * (NOMINAL_GNSS.position_sd**2 + NOMINAL_GNSS.drift_sd**2)
    return fixes


def _align_start(
    stamps: Array, speed: Array, steer: Array, fixes: Array
) -> tuple[float, float, float]:
    """The start pose with which odometry fits the first fixes best, in a robust norm.

    Iteratively reweighted least squares: a fix that is far off has a small weight.
    """
    rate = speed * np.tan(steer) / BODY.wheelbase
    yaw = integrate_held(rate, stamps)
    middle = yaw + 0.5 * rate * np.append(np.diff(stamps), 0.0)
    path_x = integrate_held(speed * np.cos(middle), stamps)
    path_y = integrate_held(speed * np.sin(middle), stamps)
    first = fixes[fixes[:, 0] < fixes[0, 0] + ALIGNMENT_TIME]
    x, y, heading = (np.interp(first[:, 0], stamps, path) for path in (path_x, path_y, yaw))
    s, c = np.sin(heading), np.cos(heading)
    # The positions of the antenna as complex numbers: a rotation is a product.
    antenna = (x + c * ANTENNA[0] - s * ANTENNA[1]) + 1j * (y + s * ANTENNA[0] + c * ANTENNA[1])
    fixed, weight = first[:, 1] + 1j * first[:, 2], np.ones(len(first))
    for _ in range(30):
        centre, fixed_centre = (np.average(z, weights=weight) for z in (antenna, fixed))
        rotation = np.angle(np.sum(weight * np.conj(antenna - centre) * (fixed - fixed_centre)))
        shift = fixed_centre - centre * np.exp(1j * rotation)
        residual = antenna * np.exp(1j * rotation) + shift - fixed
        weight = 1.0 / np.sqrt(1.0 + np.abs(residual) ** 2)
    return float(shift.real), float(shift.imag), float(rotation)
