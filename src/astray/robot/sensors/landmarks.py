"""Landmarks: range and bearing from a mount to the beacons that it sees.

A beacon is seen if it is within range and in the field of view, no wall is in the way, and with the
probability of detection. Then

    range = r + (range_sd + range_sd_per_m · r) n        bearing = b + bearing_sd n

Its identity is its number in `beacons`, or another's where it is confused with that, or −1 if the
sensor cannot tell beacons apart. If more are seen than there are slots, the nearest are kept.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le

from astray.errors import PluginError
from astray.numerics import TAU, atan2, kernel, normal_pair, sincos, uniform_pair, wrap
from astray.plugin import Datasheets, NonNegative, Positive, Reading, Scene, Sensor
from astray.robot.sensors.rangefinder import whose
from astray.tables import LANDMARKS, Array, Row, Rows, Table
from astray.world.raycast import scan_rays

MOST = 1 << 14  # beacons: each has draws of its own
CHANCE = 1 << 15  # the first draw that decides about detection; those before it are noise
HANGING = 0.05  # m; a beacon may hang on a wall, or stick in it this deep
Share = Annotated[float, Ge(0), Le(1)]
Slots = tuple[Array, Array, Array, Array]
"""Range, bearing, identity and seen, (n, slots) each."""
Site = tuple[Array, Array, np.uint64]
"""Beacons (k, 2), how far each row can look towards each (len(rows), k), and the noise's key."""


@kernel
def aim(rays: Array, s: Row, p: Row, beacons: Array) -> None:
    """The rays from one mount to all beacons."""
    sine, cosine = sincos(s.yaw)
    x, y = s.x + cosine * p.x - sine * p.y, s.y + sine * p.x + cosine * p.y
    for k in range(len(beacons)):
        dx, dy = beacons[k, 0] - x, beacons[k, 1] - y
        far = math.sqrt(dx * dx + dy * dy)
        rays[k, 0], rays[k, 1], rays[k, 2], rays[k, 3] = x, y, 1.0, 0.0
        if far > 0.0:
            rays[k, 2], rays[k, 3] = dx / far, dy / far


@kernel
def aim_all(rays: Array, truth: Table, params: Table, beacons: Array, rows: Rows) -> None:
    """The rays (len(rows), beacons, 4) from the mounts of these rows to all beacons."""
    for j in range(len(rows)):
        aim(rays[j], truth[rows[j]], params[rows[j]], beacons)


@kernel
def slot_for(o: Row, ranges: Array, far: float) -> int:
    """The slot for a beacon at this range: a free one, else that of the farthest; −1 if none."""
    if o.count < len(ranges):
        o.count += 1
        return int(o.count - 1)
    worst = 0
    for k in range(len(ranges)):
        if ranges[k] > ranges[worst]:
            worst = k
    return worst if far < ranges[worst] else -1


@kernel
def sense(o: Row, slots: Slots, j: int, p: Row, s: Row, site: Site) -> None:
    """See the beacons of one row, the j-th of those that look; the slots are those of the row."""
    beacons, looks, key = site
    ranges, bearings, identities, seen = slots
    o.count = 0
    sine, cosine = sincos(s.yaw)
    x, y = s.x + cosine * p.x - sine * p.y, s.y + sine * p.x + cosine * p.y
    count = len(beacons)
    for k in range(count):
        dx, dy = beacons[k, 0] - x, beacons[k, 1] - y
        far = math.sqrt(dx * dx + dy * dy)
        if far > p.max_range or far < p.min_range or looks[j, k] < far - HANGING:
            continue
        aside = wrap(atan2(dy, dx) - s.yaw - p.yaw)
        if abs(aside) > 0.5 * p.field_of_view:
            continue
        luck, confused = uniform_pair(s, key, CHANCE + k)
        if luck >= p.detection:
            continue
        a, b = normal_pair(s, key, k)
        measured = max(0.0, far + (p.range_sd + p.range_sd_per_m * far) * a)
        slot = slot_for(o, ranges, measured)
        if slot < 0:
            continue
        identity = k
        if confused < p.confusion and count > 1:  # one of the others, all as likely
            identity = (k + 1 + int(confused / p.confusion * (count - 1))) % count
        ranges[slot], bearings[slot] = measured, wrap(aside + p.bearing_sd * b)
        identities[slot] = identity if p.identified else -1
    for k in range(len(seen)):
        seen[k] = 1.0 if k < o.count else 0.0
        if k >= o.count:
            ranges[k], bearings[k], identities[k] = 0.0, 0.0, -1.0


@kernel
def sense_all(
    out: Table, slots: Slots, params: Table, truth: Table, rows: Rows, site: Site
) -> None:
    """See the beacons of these rows."""
    for j in range(len(rows)):
        i = rows[j]
        mine = (slots[0][i], slots[1][i], slots[2][i], slots[3][i])
        sense(out[i], mine, j, params[i], truth[i], site)


class Landmarks(Sensor, kind="landmarks"):
    """Range and bearing to known beacons that are in sight, with their identity or without."""

    measures = LANDMARKS
    stateless = True
    rows_per_thread = 256
    fixed = ("slots", "walls", "robots")
    beacons: list[tuple[float, float]] = field(default_factory=list)  # [x, y] in the map, m
    x: float = 0.0  # m, of the mount in the body frame
    y: float = 0.0  # m, of the mount in the body frame
    yaw: float = 0.0  # rad, of the mount
    slots: Annotated[int, Ge(0), Le(MOST)] = 0  # beacons in one reading; 0 for as many as there are
    min_range: NonNegative = 0.0  # m
    max_range: Positive = 10.0  # m
    field_of_view: Annotated[float, Ge(0), Le(TAU)] = TAU  # rad, half of it on either side
    range_sd: NonNegative = 0.05  # m, white
    range_sd_per_m: NonNegative = 0.0  # and as much more per metre of range
    bearing_sd: NonNegative = 0.02  # rad, white
    detection: Share = 1.0  # probability that a beacon in sight is seen
    identified: bool = True  # whether the sensor can tell beacons apart
    confusion: Share = 0.0  # probability of taking a beacon for another one
    walls: bool = True  # whether walls hide beacons
    robots: bool = False  # whether other robots hide them, too

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        """What is measured of each beacon."""
        shape = (self.slots or len(self.beacons),)
        return {"range": shape, "bearing": shape, "identity": shape, "seen": shape}

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Lay out the beacons."""
        if not 0 < len(self.beacons) <= MOST:
            raise PluginError(f"landmarks need beacons [[x, y], …], from 1 to {MOST} of them")
        self.places = np.array(self.beacons, float)

    @property
    def sees_robots(self) -> bool:
        """Whether other robots may hide beacons."""
        return self.robots

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """See the beacons of these rows."""
        count = len(self.places)
        looks = np.full((len(rows), count), np.inf)
        if self.walls and (self.robots or not scene.map.is_empty):
            rays = np.empty((len(rows), count, 4))
            aim_all(rays, scene.truth, self.params, self.places, rows)
            who = whose(rows, scene, count, self.robots)
            limit = 1.0 / (self.params["max_range"][rows].max() + HANGING)
            scan_rays(scene.raycast_scene, rays.reshape(-1, 4), who, limit, looks.reshape(-1))
        a = out.arrays
        slots = (a["range"], a["bearing"], a["identity"], a["seen"])
        sense_all(out.table, slots, self.params, scene.truth, rows, (self.places, looks, self.key))
