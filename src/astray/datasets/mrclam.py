"""UTIAS multi-robot cooperative localisation and mapping: a folder with files of several robots.

Each robot logs its speed and turn rate, and the range and bearing of barcodes that its camera sees.
Some barcodes are landmarks with surveyed positions; those on robots are left out. The reference is
a motion capture system. The robots are iRobot Creates.

Source: Leung, Halpern, Barfoot and Liu, The UTIAS multi-robot cooperative localization and mapping
dataset, IJRR 30 (2011).
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from astray.datasets.dataset import Dataset, Reference, Stream
from astray.datasets.log_files import read_columns
from astray.datasets.wheel_conversion import differential_wheels, integrate_held
from astray.errors import LogError
from astray.robot.motion import Differential
from astray.robot.sensors import Landmarks, Wheels
from astray.tables import LANDMARKS, Array, table

ROBOT = re.compile(r"Robot(\d+)_Odometry\.dat")
BODY = Differential(radius=0.036, baseline=0.258, max_speed=0.5)
# Speeds are logged as commanded. The robots follow later, faster, and slower in turns: at 0.4 rad/s
# they drive 0.05 m/s where 0.086 m/s is logged, robots 1 to 3 of set 7 alike.
COMMAND_DELAY = 0.15  # s
SPEED_SCALE = 1.03
TURN_SLOWDOWN = 0.25  # m/s per (rad/s)²
# The remaining errors differ from robot to robot, and from turn to turn.
NOMINAL_WHEELS = Wheels(ticks=0, radius_sd=0.05, baseline_sd=0.05, slip_density=0.08)
# The errors are 0.03 m + 3.5 % and 0.02 rad, but they are correlated over seconds: larger values
# make up for that.
RANGE_SD, RANGE_SD_PER_M, BEARING_SD = 0.1, 0.1, 0.06  # m, and per metre; rad
START_SD = (0.01, 0.01)  # m, rad


def is_mrclam(folder: Path) -> bool:
    """Whether a folder has such logs."""
    return folder.is_dir() and any(ROBOT.fullmatch(file.name) for file in folder.iterdir())


def read_mrclam(folder: Path) -> list[Dataset]:
    """The datasets of all robots in a folder, by their numbers."""
    landmarks, positions = _read_landmarks(folder)
    found = (ROBOT.fullmatch(file.name) for file in folder.iterdir())
    robots = sorted(int(match[1]) for match in found if match)
    return [_read_robot(folder, robot, landmarks, positions) for robot in robots]


def _read_landmarks(folder: Path) -> tuple[dict[int, int], Array]:
    """The landmark of each barcode, and the positions of the landmarks, (n, 2) m."""
    surveyed = read_columns(folder / "Landmark_Groundtruth.dat", 3)
    indices = {int(subject): k for k, subject in enumerate(surveyed[:, 0])}
    barcodes = read_columns(folder / "Barcodes.dat", 2).astype(np.int64)
    landmarks = {
        int(code): indices[int(subject)] for subject, code in barcodes if int(subject) in indices
    }
    if len(landmarks) < len(indices):
        raise LogError(f"{folder / 'Barcodes.dat'}: some landmarks have no barcode")
    return landmarks, surveyed[:, 1:3]


def _read_robot(folder: Path, robot: int, landmarks: dict[int, int], positions: Array) -> Dataset:
    odometry = _read_ordered(folder / f"Robot{robot}_Odometry.dat", 3)
    seen = _read_ordered(folder / f"Robot{robot}_Measurement.dat", 4)
    truth = _read_ordered(folder / f"Robot{robot}_Groundtruth.dat", 4)
    first = max(odometry[0, 0], truth[0, 0])
    last = min(odometry[-1, 0], truth[-1, 0])
    if not first < last:
        raise LogError(f"{folder}: odometry and truth of robot {robot} are not of the same time")
    odometry, seen = (_between(rows, first, last) for rows in (odometry, seen))
    for rows in (odometry, seen, truth):
        rows[:, 0] -= first
    stamps, distance, yaw = _integrate_speeds(*odometry.T)
    reference = Reference(*truth.T)
    start = reference.truth(np.zeros(1))[0]
    wheels = Stream(NOMINAL_WHEELS.datasheet(), differential_wheels(BODY, stamps, distance, yaw))
    streams = {"wheels": wheels, "landmarks": _landmark_stream(seen, landmarks, positions)}
    pose = (float(start.x), float(start.y), float(start.yaw))
    return Dataset(f"robot {robot}", BODY, streams, reference, pose, START_SD)


def _integrate_speeds(stamps: Array, speed: Array, rate: Array) -> tuple[Array, Array, Array]:
    """Stamps, s, distance, m, and rotation, rad, since the start, from the logged speeds."""
    driven = SPEED_SCALE * speed - np.sign(speed) * TURN_SLOWDOWN * rate**2
    driven = np.where(driven * speed > 0.0, driven, 0.0)  # slower, but never backwards
    stamps = np.append(0.0, stamps + COMMAND_DELAY)
    distance = integrate_held(np.append(0.0, driven), stamps)
    return stamps, distance, integrate_held(np.append(0.0, rate), stamps)


def _read_ordered(file: Path, count: int) -> Array:
    """Rows whose first column is a stamp, in order."""
    rows = read_columns(file, count)
    return rows[np.argsort(rows[:, 0], kind="stable")]


def _between(rows: Array, first: float, last: float) -> Array:
    return rows[(rows[:, 0] >= first) & (rows[:, 0] <= last)].copy()


def _landmark_stream(seen: Array, landmarks: dict[int, int], positions: Array) -> Stream:
    """The barcodes that the camera saw; those of one stamp are one reading."""
    identity = np.array([landmarks.get(int(code), -1) for code in seen[:, 1]], np.int64)
    seen, identity = seen[identity >= 0], identity[identity >= 0]
    stamps, reading = np.unique(seen[:, 0], return_inverse=True)
    counts = np.bincount(reading, minlength=len(stamps))
    slot = np.arange(len(seen)) - np.repeat(np.cumsum(counts) - counts, counts)
    readings = table(LANDMARKS, len(stamps))
    readings["stamp"], readings["count"] = stamps, counts
    shape = (len(stamps), int(counts.max(initial=1)))
    arrays = {name: np.zeros(shape) for name in ("range", "bearing", "identity", "seen")}
    columns = (seen[:, 2], seen[:, 3], identity, np.ones(len(seen)))
    for array, column in zip(arrays.values(), columns, strict=True):
        array[reading, slot] = column
    camera = Landmarks(
        beacons=[(float(x), float(y)) for x, y in positions],
        slots=shape[1],
        range_sd=RANGE_SD,
        range_sd_per_m=RANGE_SD_PER_M,
        bearing_sd=BEARING_SD,
    )
    return Stream(camera.datasheet(), readings, arrays)
