"""A rangefinder: the range along one beam, or to the nearest point within a narrow cone.

The true range is the least of some rays that sample the cone; for its errors see `ranging.py`.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le

from astray.numerics import kernel, sincos
from astray.plugin import Datasheets, NonNegative, Positive, Reading, Scene, Sensor
from astray.robot.sensors.error_models import Probability
from astray.robot.sensors.ranging import add_range_errors, cone_rays, mount_position, ray_owners
from astray.tables import RANGE, Array, Row, Rows, Table
from astray.world.raycast import scan_rays

CONE_RAYS = 7  # that sample a cone


@kernel
def rays_all(rays: Array, truth: Table, params: Table, rows: Rows) -> None:
    """The rays (len(rows), rays, 4) of the cones of these rows."""
    for j in range(len(rows)):
        s, p = truth[rows[j]], params[rows[j]]
        sine, cosine = sincos(s.yaw)
        x, y = mount_position(s, p, sine, cosine)
        cone_rays(rays[j], x, y, s.yaw + p.yaw, p.cone)


@kernel
def sense(o: Row, ranges: Array, p: Row, s: Row, key: np.uint64, w: Array) -> None:
    """Read the least of the true ranges of some rays; w is (2, 1)."""
    least = math.inf
    for k in range(len(ranges)):
        least = min(least, ranges[k])
    ranges[0] = least
    add_range_errors(ranges[:1], p, s, key, w)
    o.range, o.min_range, o.max_range, o.cone = ranges[0], p.min_range, p.max_range, p.cone


@kernel
def sense_all(
    out: Table,
    ranges: Array,
    params: Table,
    truth: Table,
    rows: Rows,
    key: np.uint64,
    w: Array,
) -> None:
    """Read the rangefinders of these rows from their true ranges, (len(rows), rays)."""
    for j in range(len(rows)):
        i = rows[j]
        sense(out[i], ranges[j], params[i], truth[i], key, w)


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
    sigma_per_m: NonNegative = 0.0  # relative; added per metre of range
    dropout: Probability = 0.0  # probability that a reading is lost
    resolution: NonNegative = 0.0  # m, that ranges are rounded to
    robots: bool = True  # whether other robots are seen

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Choose how many rays sample the cone."""
        self.rays = 1 if self.cone == 0.0 else CONE_RAYS

    @property
    def sees_robots(self) -> bool:
        """Whether other robots are seen."""
        return self.robots

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the rangefinders of these rows."""
        rays = np.empty((len(rows), self.rays, 4))
        rays_all(rays, scene.truth, self.params, rows)
        ranges = np.empty((len(rows), self.rays))
        owners = ray_owners(rows, scene, self.rays, self.robots)
        limit = 1.0 / self.params["max_range"][rows].max()
        scan_rays(scene.raycast_scene, rays.reshape(-1, 4), owners, limit, ranges.reshape(-1))
        tables = out.table, ranges, self.params, scene.truth
        sense_all(*tables, rows, self.key, np.empty((2, 1)))
