"""Landmarks: range and bearing from a mount to the beacons that it sees.

A beacon is seen if it is within range and in the field of view, no wall occludes it, and with the
probability of detection. Then

    range = r + (range_sd + range_sd_per_m · r) n        bearing = b + bearing_sd n

Its identity is its index in `beacons`, with the probability `confusion` that of another beacon, and
−1 if the sensor does not identify beacons. If more are seen than there are slots, the nearest are
kept.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Ge, Le

from astray.errors import PluginError
from astray.numerics import TAU, atan2, kernel, normal_pair, sincos, uniform_pair, wrap
from astray.plugin import Datasheets, NonNegative, Positive, Reading, Scene, Sensor
from astray.robot.sensors.error_models import Probability
from astray.robot.sensors.ranging import mount_position, ray_owners
from astray.tables import LANDMARKS, Array, Row, Rows, Table
from astray.world.raycast import scan_rays

MAX_BEACONS = 1 << 14  # each has draws of its own
DETECTION_DRAW = 1 << 15  # the first draw that decides about detection; those before it are noise
WALL_MARGIN = 0.05  # m; a beacon may hang on a wall, or stick in it this deep


class Detections(NamedTuple):
    """The arrays of a reading: of one row (slots,), of all rows (n, slots)."""

    range: Array
    bearing: Array
    identity: Array
    seen: Array


DetectionArrays = tuple[Array, Array, Array, Array]
"""The fields of Detections: a plain tuple takes less time to enter a kernel than a named one."""


@kernel
def beacon_rays(rays: Array, s: Row, p: Row, beacons: Array) -> None:
    """The rays (beacons, 4) from one mount to all beacons."""
    sine, cosine = sincos(s.yaw)
    x, y = mount_position(s, p, sine, cosine)
    for k in range(len(beacons)):
        dx, dy = beacons[k, 0] - x, beacons[k, 1] - y
        distance = math.sqrt(dx * dx + dy * dy)
        rays[k, 0], rays[k, 1], rays[k, 2], rays[k, 3] = x, y, 1.0, 0.0
        if distance > 0.0:
            rays[k, 2], rays[k, 3] = dx / distance, dy / distance


@kernel
def beacon_rays_all(rays: Array, truth: Table, params: Table, beacons: Array, rows: Rows) -> None:
    """The rays (len(rows), beacons, 4) from the mounts of these rows to all beacons."""
    for j in range(len(rows)):
        beacon_rays(rays[j], truth[rows[j]], params[rows[j]], beacons)


@kernel
def free_slot(o: Row, ranges: Array, distance: float) -> int:
    """The slot for a beacon at this range: a free one, or that of a farther one; −1 if none."""
    if o.count < len(ranges):
        o.count += 1
        return int(o.count - 1)
    farthest = 0
    for k in range(len(ranges)):
        if ranges[k] > ranges[farthest]:
            farthest = k
    return farthest if distance < ranges[farthest] else -1


@kernel
def sense(
    o: Row, d: Detections, p: Row, s: Row, beacons: Array, free_ranges: Array, key: np.uint64
) -> None:
    """Detect the beacons of one row; free_ranges (beacons,) are those to the first obstacle."""
    o.count = 0
    sine, cosine = sincos(s.yaw)
    x, y = mount_position(s, p, sine, cosine)
    count = len(beacons)
    for k in range(count):
        dx, dy = beacons[k, 0] - x, beacons[k, 1] - y
        distance = math.sqrt(dx * dx + dy * dy)
        in_range = p.min_range <= distance <= p.max_range
        if not in_range or free_ranges[k] < distance - WALL_MARGIN:
            continue
        bearing = wrap(atan2(dy, dx) - s.yaw - p.yaw)
        if abs(bearing) > 0.5 * p.field_of_view:
            continue
        detected, confused = uniform_pair(s, key, DETECTION_DRAW + k)
        if detected >= p.detection:
            continue
        a, b = normal_pair(s, key, k)
        measured = max(0.0, distance + (p.range_sd + p.range_sd_per_m * distance) * a)
        slot = free_slot(o, d.range, measured)
        if slot < 0:
            continue
        identity = k
        if confused < p.confusion and count > 1:  # any of the others, with equal probability
            identity = (k + 1 + int(confused / p.confusion * (count - 1))) % count
        d.range[slot], d.bearing[slot] = measured, wrap(bearing + p.bearing_sd * b)
        d.identity[slot] = identity if p.identified else -1
    for k in range(len(d.seen)):
        d.seen[k] = 1.0 if k < o.count else 0.0
        if k >= o.count:
            d.range[k], d.bearing[k], d.identity[k] = 0.0, 0.0, -1.0


@kernel
def sense_all(
    out: Table,
    arrays: DetectionArrays,
    params: Table,
    truth: Table,
    rows: Rows,
    beacons: Array,
    free_ranges: Array,
    key: np.uint64,
) -> None:
    """Detect the beacons of these rows."""
    for j in range(len(rows)):
        i = rows[j]
        d = Detections(arrays[0][i], arrays[1][i], arrays[2][i], arrays[3][i])
        sense(out[i], d, params[i], truth[i], beacons, free_ranges[j], key)


class Landmarks(Sensor, kind="landmarks"):
    """Range and bearing to known beacons that are in sight, with their identity or without."""

    measures = LANDMARKS
    stateless = True
    rows_per_thread = 256
    fixed = ("slots", "walls", "robots")
    beacons: list[tuple[float, float]] = field(default_factory=list)  # [x, y] m, in the map
    x: float = 0.0  # m, of the mount in the body frame
    y: float = 0.0  # m, of the mount in the body frame
    yaw: float = 0.0  # rad, of the mount
    slots: Annotated[int, Ge(0), Le(MAX_BEACONS)] = (
        0  # beacons in one reading, the nearest ones; 0: all
    )
    min_range: NonNegative = 0.0  # m
    max_range: Positive = 10.0  # m
    field_of_view: Annotated[float, Ge(0), Le(TAU)] = TAU  # rad, full angle about the axis
    range_sd: NonNegative = 0.05  # m, white
    range_sd_per_m: NonNegative = 0.0  # relative; added per metre of range
    bearing_sd: NonNegative = 0.02  # rad, white
    detection: Probability = 1.0  # probability that a beacon in sight is seen
    identified: bool = True  # whether the sensor can tell beacons apart
    confusion: Probability = 0.0  # probability of taking a beacon for another one
    walls: bool = True  # whether walls occlude beacons
    robots: bool = False  # whether other robots occlude beacons

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        """The measurements of each beacon."""
        shape = (self.slots or len(self.beacons),)
        return {"range": shape, "bearing": shape, "identity": shape, "seen": shape}

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Prepare the beacons for the kernel."""
        if not 0 < len(self.beacons) <= MAX_BEACONS:
            raise PluginError(
                f"landmarks need beacons [[x, y], …], from 1 to {MAX_BEACONS} of them"
            )
        self.positions = np.array(self.beacons, float)

    @property
    def sees_robots(self) -> bool:
        """Whether other robots may occlude beacons."""
        return self.robots

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Detect the beacons of these rows."""
        count = len(self.positions)
        free_ranges = np.full((len(rows), count), np.inf)
        if self.walls and (self.robots or not scene.map.is_empty):
            rays = np.empty((len(rows), count, 4))
            beacon_rays_all(rays, scene.truth, self.params, self.positions, rows)
            owners = ray_owners(rows, scene, count, self.robots)
            limit = 1.0 / (self.params["max_range"][rows].max() + WALL_MARGIN)
            found = free_ranges.reshape(-1)
            scan_rays(scene.raycast_scene, rays.reshape(-1, 4), owners, limit, found)
        a, p = out.arrays, self.params
        arrays = a["range"], a["bearing"], a["identity"], a["seen"]
        sense_all(out.table, arrays, p, scene.truth, rows, self.positions, free_ranges, self.key)
