"""A rangefinder: how far it is along one beam, or to the nearest point within a narrow cone.

    r' = r + (sigma + sigma_per_m · r) n        rounded to the resolution, or lost by a dropout

with r the least of some rays that are spread over the cone. What is beyond the longest range reads
+inf, what is nearer than the shortest −inf, as REP 117 has it.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le

from astray.numerics import kernel, sincos
from astray.plugin import Datasheets, NonNegative, Positive, Reading, Scene, Sensor
from astray.robot.sensors.lidar import Share, worsen
from astray.tables import RANGE, Array, Row, Rows, Table
from astray.world.raycast import scan_rays

RAYS = 7  # that a cone is looked through with

Noise = tuple[np.uint64, Array]
"""The key, and room for a pair of random numbers."""


@kernel
def beam(rays: Array, s: Row, p: Row) -> None:
    """The rays of one cone: origin and direction of each."""
    sine, cosine = sincos(s.yaw)
    x, y = s.x + cosine * p.x - sine * p.y, s.y + sine * p.x + cosine * p.y
    last = len(rays) - 1
    for k in range(last + 1):
        aside = p.cone * (2.0 * k / last - 1.0) if last else 0.0
        ray_sine, ray_cosine = sincos(s.yaw + p.yaw + aside)
        rays[k, 0], rays[k, 1], rays[k, 2], rays[k, 3] = x, y, ray_cosine, ray_sine


@kernel
def beam_all(rays: Array, truth: Table, params: Table, rows: Rows) -> None:
    """The rays (len(rows), rays, 4) of the cones of these rows."""
    for j in range(len(rows)):
        beam(rays[j], truth[rows[j]], params[rows[j]])


@kernel
def sense(o: Row, found: Array, p: Row, s: Row, key: np.uint64, room: Array) -> None:
    """Read the least of some ranges; room is for a pair of random numbers."""
    least = math.inf
    for k in range(len(found)):
        least = min(least, found[k])
    found[0] = least
    worsen(found[:1], p, s, key, room)
    o.range, o.min_range, o.max_range, o.cone = found[0], p.min_range, p.max_range, p.cone


@kernel
def sense_all(
    out: Table, found: Array, params: Table, truth: Table, rows: Rows, noise: Noise
) -> None:
    """Read the rangefinders of these rows from their true ranges, (len(rows), rays)."""
    key, room = noise
    for j in range(len(rows)):
        i = rows[j]
        sense(out[i], found[j], params[i], truth[i], key, room)


class Rangefinder(Sensor, kind="rangefinder"):
    """One range along a beam or within a narrow cone, with noise and dropouts."""

    measures = RANGE
    stateless = True
    rows_per_thread = 512
    fixed = ("cone", "robots")
    x: float = 0.0  # m, of the mount in the body frame
    y: float = 0.0  # m, of the mount in the body frame
    yaw: float = 0.0  # rad, of the mount
    cone: Annotated[float, Ge(0), Le(math.pi)] = 0.0  # rad, half of its opening; 0 for a beam
    min_range: NonNegative = 0.0  # m
    max_range: Positive = 4.0  # m
    sigma: NonNegative = 0.0  # m, standard deviation of a range
    sigma_per_m: NonNegative = 0.0  # and as much more per metre of range
    dropout: Share = 0.0  # probability that a reading comes back with nothing
    resolution: NonNegative = 0.0  # m, that ranges are rounded to
    robots: bool = True  # whether other robots are seen

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Count the rays."""
        self.rays = 1 if self.cone == 0.0 else RAYS

    @property
    def sees_robots(self) -> bool:
        """Whether other robots are seen."""
        return self.robots

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the rangefinders of these rows."""
        rays = np.empty((len(rows), self.rays, 4))
        beam_all(rays, scene.truth, self.params, rows)
        found = np.empty((len(rows), self.rays))
        who = whose(rows, scene, self.rays, self.robots)
        limit = 1.0 / self.params["max_range"][rows].max()
        scan_rays(scene.raycast_scene, rays.reshape(-1, 4), who, limit, found.reshape(-1))
        sense_all(out.table, found, self.params, scene.truth, rows, (self.key, np.empty((2, 1))))


def whose(rows: Rows, scene: Scene, rays: int, robots: bool) -> Array:
    """World and own row of each ray, as those who cast them are told; −1 if robots are not seen."""
    who = np.empty((len(rows) * rays, 2), np.int64)
    who[:, 0] = np.repeat(scene.worlds[rows], rays)
    who[:, 1] = np.repeat(scene.first_row + rows, rays) if robots else -1
    return who
