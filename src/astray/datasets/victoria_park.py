"""Victoria Park: a pickup truck among trees; speed and steering, and a GPS that often fails.

The speed is that of the left rear wheel, H to the side of the middle, so the axle's middle goes

    v = v_wheel / (1 − tan(steer) H / L)

The reference is the GPS itself, so a belief is judged by a fix before it is told of it. Nothing
says where the truck starts: the first 100 s of fixes tell, onto which odometry is moved and turned.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from astray.datasets.dataset import Dataset, Reference, Stream
from astray.datasets.matlab import read_matlab
from astray.datasets.text_columns import LARGEST
from astray.datasets.wheel_conversion import held, roll_ackermann
from astray.errors import LogError
from astray.robot.motion import Ackermann
from astray.robot.sensors import Gnss, Wheels
from astray.tables import FIX, Array, Table, table

H = 0.76  # m from the middle of the rear axle to the wheel whose speed is logged
BODY = Ackermann(wheelbase=2.83, track=2.0 * H, radius=0.35, max_speed=15.0, max_steer=0.8)
ANTENNA = (3.78, 0.5)  # m, in the body frame: on the bumper, above the laser
WHEELS_SHEET = Wheels(ticks=0, radius_sd=0.02, baseline_sd=0.02, slip_density=0.03)
# A fix that stands still wanders by half a metre, and differs by a tenth from the one before.
GNSS_SHEET = Gnss(x=ANTENNA[0], y=ANTENNA[1], position_sd=0.1, drift_sd=0.5, drift_tau=20.0)
FASTEST, STEEPEST = 100.0, 1.2  # m/s, rad: no truck does more
ALIGNED_BY = 100.0  # s of fixes
START_SD = (0.5, 0.05)
DRIVEN = {"time", "speed", "steering"}
FIXED = {"timeGps", "Lo_m", "La_m"}


def read_victoria(path: Path) -> Dataset:
    """The log in a folder, or of a file and its neighbours; found by the names of its arrays."""
    folder = path if path.is_dir() else path.parent
    driven, fixed = _find(folder, DRIVEN), _find(folder, FIXED)
    if driven is None or fixed is None:
        lacks = DRIVEN if driven is None else FIXED
        names = ", ".join(sorted(lacks))
        raise LogError(f"{folder}: Victoria Park needs a .mat file with {names}, and there is none")
    stamps, speed, steer = (driven[name].ravel() for name in ("time", "speed", "steering"))
    fixes = np.stack([fixed[name].ravel() for name in ("timeGps", "Lo_m", "La_m")], axis=1)
    if not (len(stamps) == len(speed) == len(steer) > 1 and len(fixes)):
        raise LogError(f"{folder}: time, speed and steering are not of one length")
    sound = (np.abs(speed) < FASTEST).all() and (np.abs(steer) < STEEPEST).all()
    if not (sound and (np.diff(stamps) >= 0.0).all() and (np.abs(fixes) < LARGEST).all()):
        raise LogError(f"{folder}: speeds, steering angles, fixes or stamps are out of bounds")
    first = stamps[0]
    stamps, fixes[:, 0] = (stamps - first) / 1e3, (fixes[:, 0] - first) / 1e3
    fixes = fixes[(fixes[:, 0] >= 0.0) & (fixes[:, 0] <= stamps[-1])]
    if len(fixes) < 2:
        raise LogError(f"{folder}: there are no fixes while the truck drives")
    axle = speed / (1.0 - np.tan(steer) * H / BODY.wheelbase)
    wheels = Stream(WHEELS_SHEET.datasheet(), roll_ackermann(BODY, stamps, axle, steer))
    gnss = Stream(GNSS_SHEET.datasheet(), _fixes(fixes))
    unknown = np.full(len(fixes), np.nan)
    reference = Reference(fixes[:, 0], fixes[:, 1], fixes[:, 2], unknown, ANTENNA, "gnss")
    start = _start(stamps, axle, steer, fixes)
    streams = {"wheels": wheels, "gnss": gnss}
    return Dataset("victoria", BODY, streams, reference, start, START_SD)


def _find(folder: Path, names: set[str]) -> dict[str, Array] | None:
    """The arrays of the first file that has all of these."""
    for file in sorted(folder.glob("*.mat")):
        arrays = read_matlab(file)
        if names <= set(arrays):
            return arrays
    return None


def _fixes(rows: Array) -> Table:
    made = table(FIX, len(rows))
    made["stamp"], made["x"], made["y"] = rows.T
    made["cov"] = np.eye(2) * (GNSS_SHEET.position_sd**2 + GNSS_SHEET.drift_sd**2)
    return made


def _start(stamps: Array, speed: Array, steer: Array, fixes: Array) -> tuple[float, float, float]:
    """The pose from which odometry fits the first fixes best, those that jump counting less."""
    rate = speed * np.tan(steer) / BODY.wheelbase
    yaw = held(rate, stamps)
    middle = yaw + 0.5 * rate * np.append(np.diff(stamps), 0.0)
    path = [held(speed * np.cos(middle), stamps), held(speed * np.sin(middle), stamps), yaw]
    some = fixes[fixes[:, 0] < fixes[0, 0] + ALIGNED_BY]
    x, y, heading = (np.interp(some[:, 0], stamps, part) for part in path)
    s, c = np.sin(heading), np.cos(heading)
    at = (x + c * ANTENNA[0] - s * ANTENNA[1]) + 1j * (y + s * ANTENNA[0] + c * ANTENNA[1])
    goal, weight = some[:, 1] + 1j * some[:, 2], np.ones(len(some))
    for _ in range(30):  # least squares by turns, each fix weighed by how far off it was
        here, there = np.average(at, weights=weight), np.average(goal, weights=weight)
        turn = np.angle(np.sum(weight * np.conj(at - here) * (goal - there)))
        shift = there - here * np.exp(1j * turn)
        weight = 1.0 / np.sqrt(1.0 + np.abs(at * np.exp(1j * turn) + shift - goal) ** 2)
    return float(shift.real), float(shift.imag), float(turn)
