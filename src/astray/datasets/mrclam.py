"""UTIAS multi-robot cooperative localisation and mapping: a folder with files of several robots.

Each robot logs its speed and turn rate, and the range and bearing of barcodes that its camera sees.
Some barcodes are landmarks, whose places were surveyed; others are on robots and are left out. The
reference is a motion capture system. The robots are iRobot Creates.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from astray.datasets.dataset import Dataset, Reference, Stream
from astray.datasets.text_columns import read_columns
from astray.datasets.wheel_conversion import held, roll_differential
from astray.errors import LogError
from astray.robot.motion import Differential
from astray.robot.sensors import Landmarks, Wheels
from astray.tables import LANDMARKS, Array, table

ROBOT = re.compile(r"Robot(\d+)_Odometry\.dat")
BODY = Differential(radius=0.036, baseline=0.258, max_speed=0.5)
# Speeds are logged as commanded. The robots do it a little later and faster, and slower in turns:
# at 0.4 rad/s they go 0.05 m/s where 0.086 m/s is logged, robots 1 to 3 of set 7 alike.
LATE = 0.15  # s
FASTER = 1.03
SLOWED = 0.25  # m/s per (rad/s)²
# What is left differs from robot to robot, and from turn to turn.
WHEELS_SHEET = Wheels(ticks=0, radius_sd=0.05, baseline_sd=0.05, slip_density=0.08)
# The scatter is 0.03 m + 3.5 % and 0.02 rad, but errors last for seconds and count as fewer.
RANGE_SD, RANGE_SD_PER_M, BEARING_SD = 0.1, 0.1, 0.06  # m, and per metre; rad
START_SD = (0.01, 0.01)


def is_mrclam(folder: Path) -> bool:
    """Whether a folder holds such logs."""
    return folder.is_dir() and any(ROBOT.fullmatch(file.name) for file in folder.iterdir())


def read_mrclam(folder: Path) -> list[Dataset]:
    """The logs of all robots in a folder, by their numbers."""
    names, places = _read_landmarks(folder)
    found = (ROBOT.fullmatch(file.name) for file in folder.iterdir())
    robots = sorted(int(match[1]) for match in found if match)
    return [_read_robot(folder, robot, names, places) for robot in robots]


def _read_landmarks(folder: Path) -> tuple[dict[int, int], Array]:
    """The number of the landmark behind each barcode, and where the landmarks are, (n, 2) m."""
    surveyed = read_columns(folder / "Landmark_Groundtruth.dat", 3)
    numbers = {int(subject): k for k, subject in enumerate(surveyed[:, 0])}
    barcodes = read_columns(folder / "Barcodes.dat", 2).astype(np.int64)
    named = {int(code): numbers[int(who)] for who, code in barcodes if int(who) in numbers}
    if len(named) < len(numbers):
        raise LogError(f"{folder / 'Barcodes.dat'}: some landmarks have no barcode")
    return named, surveyed[:, 1:3]


def _read_robot(folder: Path, robot: int, names: dict[int, int], places: Array) -> Dataset:
    odometry = _read_ordered(folder / f"Robot{robot}_Odometry.dat", 3)
    seen = _read_ordered(folder / f"Robot{robot}_Measurement.dat", 4)
    truth = _read_ordered(folder / f"Robot{robot}_Groundtruth.dat", 4)
    first = max(odometry[0, 0], truth[0, 0])
    last = min(odometry[-1, 0], truth[-1, 0])
    if not first < last:
        raise LogError(f"{folder}: odometry and truth of robot {robot} are not of the same time")
    odometry, seen = (_cut(part, first, last) for part in (odometry, seen))
    for part in (odometry, seen, truth):
        part[:, 0] -= first
    stamps, way, turn = _driven(*odometry.T)
    reference = Reference(*truth.T)
    at = reference.truth(np.zeros(1))[0]
    wheels = Stream(WHEELS_SHEET.datasheet(), roll_differential(BODY, stamps, way, turn))
    streams = {"wheels": wheels, "landmarks": _landmarks(seen, names, places)}
    start = (float(at.x), float(at.y), float(at.yaw))
    return Dataset(f"robot {robot}", BODY, streams, reference, start, START_SD)


def _driven(stamps: Array, speed: Array, rate: Array) -> tuple[Array, Array, Array]:
    """When a robot had gone how far, m, and turned how much, rad, by the speeds that it logged."""
    goes = FASTER * speed - np.sign(speed) * SLOWED * rate**2
    goes = np.where(goes * speed > 0.0, goes, 0.0)  # slower, but never backwards
    stamps = np.append(0.0, stamps + LATE)
    return stamps, held(np.append(0.0, goes), stamps), held(np.append(0.0, rate), stamps)


def _read_ordered(file: Path, count: int) -> Array:
    """Rows whose first column is a stamp, in order."""
    rows = read_columns(file, count)
    return rows[np.argsort(rows[:, 0], kind="stable")]


def _cut(rows: Array, first: float, last: float) -> Array:
    return rows[(rows[:, 0] >= first) & (rows[:, 0] <= last)].copy()


def _landmarks(seen: Array, names: dict[int, int], places: Array) -> Stream:
    """What the camera saw at each stamp, as one reading."""
    identity = np.array([names.get(int(code), -1) for code in seen[:, 1]], np.int64)
    seen, identity = seen[identity >= 0], identity[identity >= 0]
    stamps, which = np.unique(seen[:, 0], return_inverse=True)
    counts = np.bincount(which, minlength=len(stamps))
    slot = np.arange(len(seen)) - np.repeat(np.cumsum(counts) - counts, counts)
    made = table(LANDMARKS, len(stamps))
    made["stamp"], made["count"] = stamps, counts
    shape = (len(stamps), int(counts.max(initial=1)))
    arrays = {name: np.zeros(shape) for name in ("range", "bearing", "identity", "seen")}
    columns = (seen[:, 2], seen[:, 3], identity, np.ones(len(seen)))
    for array, column in zip(arrays.values(), columns, strict=True):
        array[which, slot] = column
    camera = Landmarks(
        beacons=[(float(x), float(y)) for x, y in places],
        slots=shape[1],
        range_sd=RANGE_SD,
        range_sd_per_m=RANGE_SD_PER_M,
        bearing_sd=BEARING_SD,
    )
    return Stream(camera.datasheet(), made, arrays)
