"""A ring of sonars: cones of sound whose echo comes back only from surfaces that face them.

A transducer measures the nearest hit of the rays of its cone that lies within `incidence` rad of
the surface's normal; a surface that is met at a flatter angle reflects the sound elsewhere, and a
wall is missed or a corner seen instead. The range is measured with white noise of `sigma` and
rounded to the `resolution`.

Transducers that fire at once disturb each other: with the probability `crosstalk` one receives the
echo of another one, if that arrives earlier. With `at_once` of k transducers, k / at_once
readings make a round, and those that fire together are spread evenly around the ring.

Without an echo within the longest range a transducer reads +inf, and what is nearer than the
shortest reads −inf (REP 117). With `clamp` it reads the longest or the shortest range, as in ARIA.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Le

from astray.errors import PluginError
from astray.numerics import kernel, normal_pair, sincos, uniform_pair
from astray.plugin import Datasheets, NonNegative, Positive, Reading, Scene, Sensor
from astray.robot.sensors.error_models import Probability
from astray.robot.sensors.ranging import DROPOUT_DRAW, cone_rays, ray_owners
from astray.tables import SONAR, Array, Row, Rows, Table
from astray.world.raycast import scan_hits

# Front and rear ring of the Pioneer 3-DX as the robot's parameter file has them: x and y in mm from
# the middle of the axle, and the heading in degrees.
_P3DX = (
    *((69, 136, 90), (114, 119, 50), (148, 78, 30), (166, 27, 10)),
    *((166, -27, -10), (148, -78, -30), (114, -119, -50), (69, -136, -90)),
    *((-157, -136, -90), (-203, -119, -130), (-237, -78, -150), (-255, -27, -170)),
    *((-255, 27, 170), (-237, 78, 150), (-203, 119, 130), (-157, 136, 90)),
)
RINGS = {"p3dx": [(x / 1000, y / 1000, math.radians(heading)) for x, y, heading in _P3DX]}
"""Mounts of well-known rings: x and y, m, and heading, rad."""


@kernel
def fired_rays(rays: Array, o: Row, s: Row, p: Row, mounts: Array) -> None:
    """Choose which transducers fire now, and lay out the rays (fired, rays, 4) of their cones."""
    sine, cosine = sincos(s.yaw)
    fired = len(rays)
    spacing = len(mounts) // fired
    o.first = 0 if math.isnan(o.stamp) else (o.first + 1) % spacing
    for q in range(fired):
        m = mounts[o.first + q * spacing]
        x, y = s.x + cosine * m[0] - sine * m[1], s.y + sine * m[0] + cosine * m[1]
        cone_rays(rays[q], x, y, s.yaw + m[2], p.cone)


@kernel
def fired_rays_all(
    rays: Array, out: Table, truth: Table, params: Table, mounts: Array, rows: Rows
) -> None:
    """The rays (len(rows), fired, rays, 4) of these rows."""
    for j in range(len(rows)):
        i = rows[j]
        fired_rays(rays[j], out[i], truth[i], params[i], mounts)


@kernel
def nearest_return(hits: Array, p: Row) -> float:
    """The nearest range among hits (rays, 2) within the incidence angle; inf if there is none.

    A hit is the range and the cosine of the angle to the surface's normal.
    """
    nearest, least_cosine = math.inf, sincos(p.incidence)[1]
    for k in range(len(hits)):
        if hits[k, 1] >= least_cosine:
            nearest = min(nearest, hits[k, 0])
    return nearest


@kernel
def add_noise(r: float, n: float, p: Row) -> float:
    """The measured range of one transducer; n is a standard normal."""
    r += p.sigma * n
    if p.resolution > 0.0 and r < math.inf:
        r = math.floor(r / p.resolution + 0.5) * p.resolution
    if p.clamp:
        clamped: float = min(max(r, p.min_range), p.max_range)
        return clamped
    if r > p.max_range:
        return math.inf
    return r if r >= p.min_range else -math.inf


@kernel
def sense(ranges: Array, hits: Array, o: Row, p: Row, s: Row, key: np.uint64) -> None:
    """Read the ring of one robot from the hits (fired, rays, 2) of those that fired."""
    fired = len(hits)
    spacing = len(ranges) // fired
    if math.isnan(o.stamp):  # the first reading: the other transducers have measured nothing yet
        for k in range(len(ranges)):
            ranges[k] = p.max_range if p.clamp else math.inf
    for q in range(fired):
        hits[q, 0, 0] = nearest_return(hits[q], p)
    n, next_n = 0.0, 0.0
    for q in range(fired):
        r = hits[q, 0, 0]
        if p.crosstalk > 0.0 and fired > 1:
            uniform, other = uniform_pair(s, key, DROPOUT_DRAW + q)
            if uniform < p.crosstalk:
                r = min(r, hits[(q + 1 + int(other * (fired - 1))) % fired, 0, 0])
        if p.sigma > 0.0:
            if q & 1:
                n = next_n
            else:
                n, next_n = normal_pair(s, key, q >> 1)
        ranges[o.first + q * spacing] = add_noise(r, n, p)
    o.min_range, o.max_range, o.cone, o.fired = p.min_range, p.max_range, p.cone, fired


@kernel
def sense_all(
    ranges: Array,
    hits: Array,
    out: Table,
    params: Table,
    truth: Table,
    rows: Rows,
    key: np.uint64,
) -> None:
    """Read the rings of these rows from their hits (len(rows), fired, rays, 2)."""
    for j in range(len(rows)):
        i = rows[j]
        sense(ranges[i], hits[j], out[i], params[i], truth[i], key)


class Sonar(Sensor, kind="sonar"):
    """A ring of cones that detect only surfaces that face them, with noise and crosstalk."""

    measures = SONAR
    rows_per_thread = 16
    fixed = ("rays", "at_once", "robots")
    ring: Literal["p3dx"] | None = None  # name of a known ring, in place of mounts
    mounts: list[tuple[float, float, float]] = field(default_factory=list)  # [x m, y m, yaw rad]
    cone: Annotated[float, Ge(0), Le(math.pi)] = 0.26  # rad, half of its opening
    rays: Annotated[int, Ge(1), Le(64)] = 7  # number of rays that sample a cone
    incidence: Annotated[float, Ge(0), Le(math.pi / 2)] = (
        0.6  # rad from the normal, largest angle with an echo
    )
    min_range: NonNegative = 0.1  # m
    max_range: Positive = 5.0  # m
    sigma: NonNegative = 0.0  # m, standard deviation of a range
    resolution: NonNegative = 0.0  # m, that ranges are rounded to
    crosstalk: Probability = 0.0  # probability of receiving another transducer's echo
    at_once: Annotated[int, Ge(0)] = 0  # transducers that fire together; 0 for all
    clamp: bool = False  # max_range and min_range in place of +inf and -inf
    robots: bool = True  # whether other robots are detected

    def __post_init__(self) -> None:
        """Take the mounts of a known ring."""
        super().__post_init__()
        if self.ring is not None and not self.mounts:
            self.mounts = RINGS[self.ring]

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        """The ranges of all transducers."""
        return {"ranges": (len(self.mounts),)}

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Prepare the transducers for the kernel."""
        count = len(self.mounts)
        if not count:
            raise PluginError("a sonar needs mounts [[x, y, yaw], …], or a ring: p3dx")
        if self.ring is not None and self.mounts != RINGS[self.ring]:
            raise PluginError("a sonar has either mounts or a ring, not both")
        self.fired = self.at_once or count
        if self.fired > count or count % self.fired:
            fit = ", ".join(str(k) for k in range(1, count + 1) if count % k == 0)
            raise PluginError(f"of {count} transducers {fit} can fire at once, not {self.fired}")
        self.mount_table = np.array(self.mounts, float)

    @property
    def sees_robots(self) -> bool:
        """Whether other robots are detected."""
        return self.robots

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the rings of these rows."""
        rays = np.empty((len(rows), self.fired, self.rays, 4))
        fired_rays_all(rays, out.table, scene.truth, self.params, self.mount_table, rows)
        hits = np.empty((*rays.shape[:3], 2))
        owners = ray_owners(rows, scene, self.fired * self.rays, self.robots)
        limit = 1.0 / self.params["max_range"][rows].max()
        scan_hits(scene.raycast_scene, rays.reshape(-1, 4), owners, limit, hits.reshape(-1, 2))
        tables = out.table, self.params, scene.truth
        sense_all(out.arrays["ranges"], hits, *tables, rows, self.key)
