"""CARMEN logs whose poses a mapping program has corrected: laser scans and their poses.

Such a log has no odometry of its own and no map. Every other scan makes the map; the filter gets
the scans between. Odometry is synthesised from the corrected poses: between two scans the robot
turns, drives and turns, and its wheels measure

    distances    3 % too long, with a standard deviation of 5 %
    rotations    0.01 rad too far per metre, with a standard deviation of 0.03 rad for each

How the robot moved between two scans is made up, so beliefs are compared at scans only, however
close in time those are. A stamp that is not later than all before tells no time: of a coarse clock,
of one that was set back, or of none. Such scans are spread evenly, with a warning.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from astray.datasets.dataset import Dataset, Reference, Stream
from astray.datasets.mapping import MIN_RANGE, map_from_scans
from astray.datasets.wheel_conversion import differential_wheels
from astray.errors import LogError, LogWarning
from astray.numerics import PI, random
from astray.robot.motion import Differential
from astray.robot.sensors import Lidar, Wheels
from astray.tables import ADDRESS, SCAN, Array, Table, table

FLASER = re.compile(rb"^FLASER[ \t]+\d", re.MULTILINE)
BODY = Differential(radius=0.1, baseline=0.4)
MAX_RANGE = 20.0  # m; from there on, or from the longest range of the log on, nothing was hit
SCALE, SCALE_SD, YAW_PER_M, TURN_SD = 1.03, 0.05, 0.01, 0.03
MIN_DISTANCE = 0.01  # m; the direction of a shorter step is unknown
MAX_EXTENT = 1000.0  # m; a larger map would not fit into memory
MIN_INTERVAL = 1e-3  # s between the stamps of two scans; one that is closer tells no time
UNKNOWN_INTERVAL = 1.0  # s between two scans of a log whose stamps tell no time at all
START_SD = (0.1, 0.05)  # m, rad
# A datasheet as a maker would write it: wheels with errors of a few per cent.
NOMINAL_WHEELS = Wheels(ticks=0, radius_sd=0.03, baseline_sd=0.03, slip_density=0.05)


def is_carmen(data: bytes) -> bool:
    """Whether bytes hold laser scans as CARMEN logs them."""
    return FLASER.search(data) is not None


def read_carmen(data: bytes, file: Path) -> Dataset:
    """The dataset in the bytes of a log; `file` is the name for LogError and LogWarning."""
    ranges, poses, logged = _scans(data, file)
    stamps, replaced = spread_stamps(logged)
    if replaced:
        message = f"{file}: {replaced} of {len(logged)} scans have no later stamp than those before"
        warnings.warn(f"{message}; they are spread evenly in time", LogWarning, stacklevel=3)
    if len(ranges) < 8:
        raise LogError(f"{file}: {len(ranges)} scans are too few for a map and a filter")
    if np.ptp(poses[:, :2], axis=0).max() > MAX_EXTENT:
        raise LogError(f"{file}: poses are more than {MAX_EXTENT:g} m apart")
    step = PI / ranges.shape[1] if ranges.shape[1] % 2 == 0 else PI / (ranges.shape[1] - 1)
    angles = -0.5 * PI + step * np.arange(ranges.shape[1])
    name = file.name.removesuffix(".gz").removesuffix(".log").removesuffix("-corrected")
    max_range = min(MAX_RANGE, float(ranges.max()))
    map = map_from_scans(ranges[::2], poses[::2], angles, max_range, name)
    if not len(map):
        raise LogError(f"{file}: no beam of any scan meets a wall")
    odd = slice(1, None, 2)
    ranges, poses, stamps = ranges[odd], poses[odd], stamps[odd] - stamps[1]
    field_of_view = step * (ranges.shape[1] - 1)
    lidar = Lidar(rays=ranges.shape[1], field_of_view=field_of_view, max_range=max_range)
    scans = table(SCAN, len(ranges))
    scans["stamp"], scans["start"], scans["step"] = stamps, angles[0], step
    scans["min_range"], scans["max_range"] = MIN_RANGE, max_range
    hits = np.where(ranges < max_range, ranges, np.inf)
    reference = Reference(stamps, poses[:, 0], poses[:, 1], poses[:, 2], max_gap=0.0)

    def synthesize(seed: int) -> Mapping[str, Stream]:
        return {
            "wheels": Stream(NOMINAL_WHEELS.datasheet(), synthetic_odometry(poses, stamps, seed))
        }

    streams = {**synthesize(0), "scan": Stream(lidar.datasheet(), scans, {"ranges": hits})}
    x, y, yaw = poses[0].tolist()
    return Dataset(name, BODY, streams, reference, (x, y, yaw), START_SD, map, synthesize)


def _scans(data: bytes, file: Path) -> tuple[Array, Array, Array]:
    """Ranges (n, rays) m, poses of the laser (n, 3), and stamps as logged (n,) s."""
    ranges: list[Array] = []
    poses_and_stamps: list[Array] = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.startswith(b"FLASER"):
            continue
        words = line.split()
        try:
            rays = int(words[1])
            scan = np.array(words[2 : 2 + rays], np.float64)
            pose = np.array([*words[2 + rays : 5 + rays], words[8 + rays]], np.float64)
        except (ValueError, IndexError):
            raise LogError(f"{file}:{number}: not a laser scan with its poses and stamp") from None
        if not (len(scan) == rays > 1 and np.isfinite(pose).all() and (scan >= 0.0).all()):
            raise LogError(f"{file}:{number}: not a laser scan with its poses and stamp")
        if ranges and len(scan) != len(ranges[0]):
            raise LogError(
                f"{file}:{number}: {rays} rays, but {len(ranges[0])} in the scans before"
            )
        ranges.append(scan)
        poses_and_stamps.append(pose)
    if not ranges:
        raise LogError(f"{file}: has no laser scan")
    found = np.array(poses_and_stamps)
    return np.array(ranges), np.ascontiguousarray(found[:, :3]), np.ascontiguousarray(found[:, 3])


def spread_stamps(logged: Array) -> tuple[Array, int]:
    """Increasing stamps, (n,) s, and how many of the logged ones, (n,) s, they replace.

    A stamp is kept if it is later than all before. The others are spread evenly between those that
    are kept, and behind the last of these at the usual interval.
    """
    later = logged[1:] >= np.maximum.accumulate(logged)[:-1] + MIN_INTERVAL
    kept = np.flatnonzero(np.append(True, later))
    last = int(kept[-1])
    stamps = np.interp(np.arange(len(logged)), kept, logged[kept])
    interval = float(np.median(np.diff(stamps[: last + 1]))) if last > 0 else UNKNOWN_INTERVAL
    stamps[last:] = logged[last] + interval * np.arange(len(logged) - last)
    return stamps, len(logged) - len(kept)


def synthetic_odometry(poses: Array, stamps: Array, seed: int) -> Table:
    """WHEELS for a path of poses (n, 3) at stamps (n,), three readings per step, with errors.

    The robot turns towards the next position, drives there, forwards or backwards, and turns to
    the next heading.
    """
    dx, dy, turn = (poses[1:] - poses[:-1]).T
    distance = np.hypot(dx, dy)
    heading = _wrapped(np.arctan2(dy, dx) - poses[:-1, 2])
    first = np.where(distance > MIN_DISTANCE, heading, 0.0)
    back = np.abs(first) > 0.5 * PI
    first = np.where(back, _wrapped(first + PI), first)
    distance = np.where(back, -distance, distance)
    last = _wrapped(turn - first)
    normals = np.empty((1, 3 * len(distance)))
    key = random.key(seed, "odometry")
    random.normals_all(normals, table(ADDRESS, 1), np.zeros(1, np.int64), key)
    normals = normals.reshape(-1, 3)
    steps = np.zeros((3, len(distance), 2))  # measured distance and rotation
    steps[0, :, 1] = first + TURN_SD * normals[:, 1]
    steps[1, :, 0] = distance * SCALE + SCALE_SD * np.abs(distance) * normals[:, 0]
    steps[2, :, 1] = last + TURN_SD * normals[:, 2] + YAW_PER_M * np.abs(distance)
    sums = np.vstack([np.zeros(2), np.cumsum(steps.transpose(1, 0, 2).reshape(-1, 2), axis=0)])
    thirds = np.diff(stamps)[:, None] * np.array([1.0, 2.0, 3.0]) / 3.0
    thirds += stamps[:-1, None]
    thirds[:, 2] = stamps[1:]
    when = np.concatenate([stamps[:1], thirds.ravel()])
    return differential_wheels(BODY, when, sums[:, 0], sums[:, 1])


def _wrapped(angle: Array) -> Array:
    return np.asarray((angle + PI) % (2.0 * PI) - PI)
