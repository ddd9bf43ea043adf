"""A ring of sonars: cones of sound that come back only from what faces them.

A transducer hears the nearest of what the rays of its cone meet within `incidence` rad of the
surface's normal; from a surface that is met at a flatter angle the sound is thrown elsewhere, and a
wall is passed over or a corner seen instead. The range is measured with white noise of `sigma` and
rounded to the `resolution`.

Transducers that fire at once hear each other: with the probability `crosstalk` one takes the echo
of another for its own if that arrives earlier. With `at_once` of k transducers, k / at_once
readings make a round, and those that fire together are spread evenly around the ring.

What is not heard within the longest range reads +inf and what is nearer than the shortest −inf, as
REP 117 has it for ROS. With `clamp` they read the longest and the shortest range, as ARIA has it.
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
from astray.robot.sensors.lidar import DROPPED, Share
from astray.robot.sensors.rangefinder import whose
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
def cones(rays: Array, o: Row, s: Row, p: Row, mounts: Array) -> None:
    """Choose who fires now, and lay out the rays (fires, rays, 4) of their cones."""
    sine, cosine = sincos(s.yaw)
    fires = len(rays)
    apart = len(mounts) // fires
    o.first = 0 if math.isnan(o.stamp) else (o.first + 1) % apart
    last = rays.shape[1] - 1
    for q in range(fires):
        m = mounts[o.first + q * apart]
        x, y = s.x + cosine * m[0] - sine * m[1], s.y + sine * m[0] + cosine * m[1]
        for k in range(last + 1):
            aside = p.cone * (2.0 * k / last - 1.0) if last else 0.0
            ray_sine, ray_cosine = sincos(s.yaw + m[2] + aside)
            ray = rays[q, k]
            ray[0], ray[1], ray[2], ray[3] = x, y, ray_cosine, ray_sine


@kernel
def cones_all(
    rays: Array, out: Table, truth: Table, params: Table, mounts: Array, rows: Rows
) -> None:
    """The rays (len(rows), fires, rays, 4) of these rows."""
    for j in range(len(rows)):
        i = rows[j]
        cones(rays[j], out[i], truth[i], params[i], mounts)


@kernel
def listen(found: Array, p: Row) -> float:
    """The nearest range (rays, 2) that is met steeply enough to come back; inf if none is."""
    nearest, flattest = math.inf, sincos(p.incidence)[1]
    for k in range(len(found)):
        if found[k, 1] >= flattest:
            nearest = min(nearest, found[k, 0])
    return nearest


@kernel
def measured(r: float, n: float, p: Row) -> float:
    """A range as it is read."""
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
def sense(ranges: Array, found: Array, o: Row, p: Row, s: Row, key: np.uint64) -> None:
    """Read the ring of one robot, of which those have fired whose rays were cast."""
    fires = len(found)
    apart = len(ranges) // fires
    if math.isnan(o.stamp):  # the first reading: the others have heard nothing yet
        for k in range(len(ranges)):
            ranges[k] = p.max_range if p.clamp else math.inf
    for q in range(fires):
        found[q, 0, 0] = listen(found[q], p)
    n, other = 0.0, 0.0
    for q in range(fires):
        r = found[q, 0, 0]
        if p.crosstalk > 0.0 and fires > 1:
            luck, which = uniform_pair(s, key, DROPPED + q)
            if luck < p.crosstalk:
                r = min(r, found[(q + 1 + int(which * (fires - 1))) % fires, 0, 0])
        if p.sigma > 0.0:
            if q & 1:
                n = other
            else:
                n, other = normal_pair(s, key, q >> 1)
        ranges[o.first + q * apart] = measured(r, n, p)
    o.min_range, o.max_range, o.cone, o.fired = p.min_range, p.max_range, p.cone, fires


@kernel
def sense_all(
    ranges: Array,
    found: Array,
    tables: tuple[Table, Table, Table],
    rows: Rows,
    key: np.uint64,
) -> None:
    """Read the rings of these rows: readings, parameters and truth; found (len(rows), …, 2)."""
    out, params, truth = tables
    for j in range(len(rows)):
        i = rows[j]
        sense(ranges[i], found[j], out[i], params[i], truth[i], key)


class Sonar(Sensor, kind="sonar"):
    """A ring of cones that hear only what faces them, with noise and crosstalk."""

    measures = SONAR
    rows_per_thread = 16
    fixed = ("rays", "at_once", "robots")
    ring: Literal["p3dx"] | None = None  # a known ring instead of mounts
    mounts: list[tuple[float, float, float]] = field(default_factory=list)  # [x, y, yaw], m and rad
    cone: Annotated[float, Ge(0), Le(math.pi)] = 0.26  # rad, half of its opening
    rays: Annotated[int, Ge(1), Le(64)] = 7  # that a cone is looked through with
    incidence: Annotated[float, Ge(0), Le(math.pi / 2)] = 0.6  # rad from the normal, still heard
    min_range: NonNegative = 0.1  # m
    max_range: Positive = 5.0  # m
    sigma: NonNegative = 0.0  # m, standard deviation of a range
    resolution: NonNegative = 0.0  # m, that ranges are rounded to
    crosstalk: Share = 0.0  # probability of taking another's echo for one's own
    at_once: Annotated[int, Ge(0)] = 0  # transducers that fire together; 0 for all
    clamp: bool = False  # read the longest and shortest range instead of +inf and -inf
    robots: bool = True  # whether other robots are heard

    def __post_init__(self) -> None:
        """Let the mounts of a known ring be known to all who ask for them."""
        super().__post_init__()
        if self.ring is not None and not self.mounts:
            self.mounts = RINGS[self.ring]

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        """The ranges of all transducers."""
        return {"ranges": (len(self.mounts),)}

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Lay out the transducers."""
        count = len(self.mounts)
        if not count:
            raise PluginError("a sonar needs mounts [[x, y, yaw], …], or a ring: p3dx")
        if self.ring is not None and self.mounts != RINGS[self.ring]:
            raise PluginError("a sonar has either mounts or a ring, not both")
        self.fires = self.at_once or count
        if self.fires > count or count % self.fires:
            fit = ", ".join(str(k) for k in range(1, count + 1) if count % k == 0)
            raise PluginError(f"of {count} transducers {fit} can fire at once, not {self.fires}")
        self.places = np.array(self.mounts, float)

    @property
    def sees_robots(self) -> bool:
        """Whether other robots are heard."""
        return self.robots

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Read the rings of these rows."""
        rays = np.empty((len(rows), self.fires, self.rays, 4))
        cones_all(rays, out.table, scene.truth, self.params, self.places, rows)
        found = np.empty((*rays.shape[:3], 2))
        who = whose(rows, scene, self.fires * self.rays, self.robots)
        limit = 1.0 / self.params["max_range"][rows].max()
        scan_hits(scene.raycast_scene, rays.reshape(-1, 4), who, limit, found.reshape(-1, 2))
        tables = (out.table, self.params, scene.truth)
        sense_all(out.arrays["ranges"], found, tables, rows, self.key)
