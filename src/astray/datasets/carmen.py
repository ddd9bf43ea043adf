"""CARMEN logs whose poses a mapping program has corrected: laser scans, and where they were taken.

Such a log has no odometry of its own and no map. Every other scan makes the map; the filter gets
the scans between. Odometry is made up from the corrected poses: between two scans the robot turns,
goes and turns, and its wheels say that it

    goes     3 % too far, give or take 5 %
    turns    0.01 rad too far per metre, and each turn is off by 0.03 rad
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from astray.datasets.dataset import Dataset, Reference, Stream
from astray.datasets.mapping import NEAREST, make_map
from astray.datasets.wheel_conversion import roll_differential
from astray.errors import LogError
from astray.numerics import PI, random
from astray.robot.motion import Differential
from astray.robot.sensors import Lidar, Wheels
from astray.tables import ADDRESS, SCAN, Array, Table, table

FLASER = re.compile(rb"^FLASER[ \t]+\d", re.MULTILINE)
BODY = Differential(radius=0.1, baseline=0.4)
LONGEST = 20.0  # m; what is further, or as far as any range of the log, counts as nothing met
SCALE, SCALE_SD, YAW_PER_M, TURN_SD = 1.03, 0.05, 0.01, 0.03
LITTLE = 0.01  # m: over a shorter way no direction of it is known
WIDEST = 1000.0  # m: a map of more would not fit into memory
AFTER = 1e-3  # s from a scan to the next, at least: some clocks were set back
START_SD = (0.1, 0.05)
# The datasheet says what its maker would: wheels that are off by a few per cent.
WHEELS_SHEET = Wheels(ticks=0, radius_sd=0.03, baseline_sd=0.03, slip_density=0.05)


def is_carmen(data: bytes) -> bool:
    """Whether bytes hold laser scans as CARMEN logs them."""
    return FLASER.search(data) is not None


def read_carmen(data: bytes, file: Path) -> Dataset:
    """The log in some bytes; `file` is what errors call it."""
    ranges, poses, stamps = _scans(data, file)
    if len(ranges) < 8:
        raise LogError(f"{file}: {len(ranges)} scans are too few for a map and a filter")
    if np.ptp(poses[:, :2], axis=0).max() > WIDEST:
        raise LogError(f"{file}: poses are more than {WIDEST:g} m apart")
    step = PI / ranges.shape[1] if ranges.shape[1] % 2 == 0 else PI / (ranges.shape[1] - 1)
    angles = -0.5 * PI + step * np.arange(ranges.shape[1])
    name = file.name.removesuffix(".gz").removesuffix(".log").removesuffix("-corrected")
    longest = min(LONGEST, float(ranges.max()))
    map = make_map(ranges[::2], poses[::2], angles, longest, name)
    if not len(map):
        raise LogError(f"{file}: no beam of any scan meets a wall")
    odd = slice(1, None, 2)
    ranges, poses, stamps = ranges[odd], poses[odd], stamps[odd] - stamps[1]
    view = step * (ranges.shape[1] - 1)
    lidar = Lidar(rays=ranges.shape[1], field_of_view=view, max_range=longest)
    scans = table(SCAN, len(ranges))
    scans["stamp"], scans["start"], scans["step"] = stamps, angles[0], step
    scans["min_range"], scans["max_range"] = NEAREST, longest
    met = np.where(ranges < longest, ranges, np.inf)
    reference = Reference(stamps, *poses.T)

    def made_up(seed: int) -> Mapping[str, Stream]:
        return {"wheels": Stream(WHEELS_SHEET.datasheet(), odometry(poses, stamps, seed))}

    streams = {**made_up(0), "scan": Stream(lidar.datasheet(), scans, {"ranges": met})}
    x, y, yaw = poses[0].tolist()
    return Dataset(name, BODY, streams, reference, (x, y, yaw), START_SD, map, made_up)


def _scans(data: bytes, file: Path) -> tuple[Array, Array, Array]:
    """Ranges (n, rays) m, poses of the laser (n, 3), and stamps (n,) s that grow."""
    ranges: list[Array] = []
    rest: list[Array] = []
    for k, line in enumerate(data.splitlines(), 1):
        if not line.startswith(b"FLASER"):
            continue
        words = line.split()
        try:
            rays = int(words[1])
            scan = np.array(words[2 : 2 + rays], np.float64)
            pose = np.array([*words[2 + rays : 5 + rays], words[8 + rays]], np.float64)
        except (ValueError, IndexError):
            raise LogError(f"{file}:{k}: not a laser scan with its poses and stamp") from None
        if not (len(scan) == rays > 1 and np.isfinite(pose).all() and (scan >= 0.0).all()):
            raise LogError(f"{file}:{k}: not a laser scan with its poses and stamp")
        if ranges and len(scan) != len(ranges[0]):
            raise LogError(f"{file}:{k}: {rays} rays, but {len(ranges[0])} in the scans before")
        ranges.append(scan)
        rest.append(pose)
    if not ranges:
        raise LogError(f"{file}: has no laser scan")
    found = np.array(rest)
    order = AFTER * np.arange(len(found))
    stamps = np.maximum.accumulate(found[:, 3] - order) + order
    return np.array(ranges), np.ascontiguousarray(found[:, :3]), stamps


def odometry(poses: Array, stamps: Array, seed: int) -> Table:
    """Wheel readings for a path of poses (n, 3), three from each to the next, wrong as real ones.

    The robot turns to where it goes, goes there, forwards or backwards, and turns to its heading.
    """
    dx, dy, turn = (poses[1:] - poses[:-1]).T
    way = np.hypot(dx, dy)
    first = np.where(way > LITTLE, _wrapped(np.arctan2(dy, dx) - poses[:-1, 2]), 0.0)
    back = np.abs(first) > 0.5 * PI
    first, way = np.where(back, _wrapped(first + PI), first), np.where(back, -way, way)
    last = _wrapped(turn - first)
    luck = np.empty((1, 3 * len(way)))
    random.normals_all(luck, table(ADDRESS, 1), np.zeros(1, np.int64), random.key(seed, "odometry"))
    luck = luck.reshape(-1, 3)
    went = way * SCALE + SCALE_SD * np.abs(way) * luck[:, 0]
    steps = np.zeros((3, len(way), 2))  # of way and turn
    steps[0, :, 1] = first + TURN_SD * luck[:, 1]
    steps[1, :, 0] = went
    steps[2, :, 1] = last + TURN_SD * luck[:, 2] + YAW_PER_M * np.abs(way)
    so_far = np.vstack([np.zeros(2), np.cumsum(steps.transpose(1, 0, 2).reshape(-1, 2), axis=0)])
    thirds = np.diff(stamps)[:, None] * np.array([1.0, 2.0, 3.0]) / 3.0
    thirds += stamps[:-1, None]
    thirds[:, 2] = stamps[1:]
    when = np.concatenate([stamps[:1], thirds.ravel()])
    return roll_differential(BODY, when, so_far[:, 0], so_far[:, 1])


def _wrapped(angle: Array) -> Array:
    return np.asarray((angle + PI) % (2.0 * PI) - PI)
