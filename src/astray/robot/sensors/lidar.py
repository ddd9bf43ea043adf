"""A laser scanner: the ranges of many rays from a mount, each a little wrong.

A range r is measured as r + (sigma + sigma_per_m · r) n, rounded to the resolution, or not at all
with the probability of a dropout. What is beyond the longest range, or nothing, reads +inf; what
is nearer than the shortest reads −inf, as REP 117 has it.

A scanner that turns takes its rays one after the other. With a `sweep` of T seconds ray k of n is
cast from where the mount was (n − 1 − k) / n · T before the stamp, if the robot kept its velocity:
a scan taken while turning is bent, as real ones are.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from astray.errors import PluginError
from astray.numerics import (
    TAU,
    arc,
    compiled_for,
    inlined_kernel,
    kernel,
    normal_pairs,
    sincos,
    uniform_pairs,
)
from astray.plugin import Datasheets, DrawnParameter, NonNegative, Positive, Reading, Scene, Sensor
from astray.tables import SCAN, Array, Row, Rows, Table
from astray.world.raycast import (
    MOST_RAYS,
    RayBundle,
    RayWorkspace,
    SceneArrays,
    SensorPose,
    cast_bundle,
    copy_workspace,
    make_ray_bundle,
    named_scene,
    scan_rays,
)

WHOLE = TAU - 1e-9  # rad; a view that is as wide as this goes all round
DROPPED = 1 << 15  # the first draw that decides about dropouts; those before it are noise
LONGEST = 1e9  # m, for noise that grows with the range where there is none
Share = Annotated[float, Ge(0), Le(1)]
Layout = tuple[np.uint64, float, float, float, int, Array]
"""The noise's key, the angles of the first ray and from ray to ray, the sweep, the row of the
group's first robot among everyone, −1 if none are seen, and room for random numbers."""
Room = tuple[RayWorkspace, RayBundle]
Tables = tuple[Table, Table, Array, Table]
Seen = SceneArrays
"""The fields of a View."""


@inlined_kernel
def mount(s: Row, p: Row) -> tuple[float, float, float]:
    """Where the mount of a robot is, and its heading."""
    if p.x == 0.0 and p.y == 0.0:
        return s.x, s.y, s.yaw + p.yaw
    sine, cosine = sincos(s.yaw)
    return s.x + cosine * p.x - sine * p.y, s.y + sine * p.x + cosine * p.y, s.yaw + p.yaw


@kernel
def sweep_ray(s: Row, p: Row, ago: float, angle: float) -> tuple[float, float, float, float]:
    """Origin and direction of a ray that was cast some time ago."""
    x, y, yaw = arc((s.x, s.y, s.yaw), -s.vx * ago, -s.vy * ago, -s.wz * ago)
    sine, cosine = sincos(yaw)
    ray_sine, ray_cosine = sincos(yaw + p.yaw + angle)
    return x + cosine * p.x - sine * p.y, y + sine * p.x + cosine * p.y, ray_cosine, ray_sine


@kernel
def sweep_all(
    rays: Array, truth: Table, params: Table, rows: Rows, fan: tuple[int, float, float]
) -> None:
    """The rays of these rows, one behind the other, each from where the mount then was."""
    count, start, step = fan
    for j in range(len(rows)):
        s, p = truth[rows[j]], params[rows[j]]
        for k in range(count):
            ago = p.sweep * (count - 1 - k) / count
            at = sweep_ray(s, p, ago, start + k * step)
            for m in range(4):
                rays[j * count + k, m] = at[m]


@kernel
def worsen(ranges: Array, p: Row, s: Row, key: np.uint64, w: Array) -> None:
    """Turn the true ranges of one scan into measured ones; w is room for a pair of every two."""
    pairs, sigma, per_m, step = (len(ranges) + 1) // 2, p.sigma, p.sigma_per_m, p.resolution
    if sigma + per_m > 0.0:
        normal_pairs(w, s, key, 0, pairs)
        for k in range(len(ranges)):
            # Of infinity the noise would be infinite, or not a number.
            r = min(ranges[k], LONGEST)
            ranges[k] += (sigma + per_m * r) * w[k & 1, k >> 1]
    if step > 0.0:
        for k in range(len(ranges)):
            ranges[k] = np.floor(ranges[k] / step + 0.5) * step
    if p.dropout > 0.0:
        uniform_pairs(w, s, key, DROPPED, pairs)
        for k in range(len(ranges)):
            ranges[k] = math.inf if w[k & 1, k >> 1] < p.dropout else ranges[k]
    for k in range(len(ranges)):
        r = ranges[k]
        r = r if r >= p.min_range else -math.inf
        ranges[k] = r if r <= p.max_range else math.inf


@inlined_kernel
def measure(o: Row, ranges: Array, p: Row, s: Row, how: Layout) -> None:
    """Turn the true ranges of a scan into measured ones, and write down what a scan is."""
    key, start, step, duration, _, w = how
    # Perfect ranges are left as they are: nothing that this adds up is negative.
    if p.sigma + p.sigma_per_m + p.dropout + p.resolution + p.min_range > 0.0:
        worsen(ranges, p, s, key, w)
    o.start, o.step, o.duration = start, step, duration
    o.min_range, o.max_range = p.min_range, p.max_range


@kernel
def measure_all(
    out: Table, ranges: Array, params: Table, truth: Table, rows: Rows, how: Layout
) -> None:
    """Turn the true ranges of these rows into measured ones."""
    for i in rows:
        measure(out[i], ranges[i], params[i], truth[i], how)


@kernel
def sense_all(
    room: Room, seen: Seen, tables: Tables, ranges: Array, rows: Rows, how: Layout
) -> None:
    """Take the scans of these rows, each at one moment: all in one call, since calls cost.

    For the same reason what is seen comes as a plain tuple: one with names takes longer to get in.
    """
    board, fan = room
    view, first = named_scene(seen), how[4]
    truth, params, worlds, out = tables
    for i in rows:
        s, p = truth[i], params[i]
        x, y, yaw = mount(s, p)
        pose = SensorPose(x, y, yaw, worlds[i], first + i if first >= 0 else -1)
        cast_bundle(board, fan, view, pose, ranges[i])
        measure(out[i], ranges[i], p, s, how)


class Desk:
    """Where a thread works: room for a scan, what it was given last, and the code for that."""

    def __init__(self, fan: Room) -> None:
        self.room: Room = copy_workspace(*fan), fan[1]
        self.pairs = np.empty((2, (fan[1][0] + 1) // 2))
        self.last: tuple[Any, ...] = (None, None, None)
        self.tables: Tables
        self.how: Layout
        self.call: Callable[..., None]


class Lidar(Sensor, kind="lidar"):
    """A laser scanner: ranges over a field of view, with noise, dropouts and sweep distortion."""

    measures = SCAN
    stateless = True
    rows_per_thread = 16
    fixed = ("rays", "field_of_view", "max_range", "sweep", "robots")
    x: float = 0.0  # m, of the mount in the body frame
    y: float = 0.0  # m, of the mount in the body frame
    yaw: float = 0.0  # rad, of the mount
    rays: Annotated[int, Ge(1), Le(MOST_RAYS)] = 360  # of a scan
    field_of_view: Annotated[float, Ge(0), Le(TAU)] = TAU  # rad, half of it on either side
    min_range: NonNegative = 0.0  # m
    max_range: Positive = 12.0  # m
    sigma: NonNegative = 0.0  # m, standard deviation of a range
    sigma_per_m: NonNegative = 0.0  # and as much more per metre of range
    dropout: Share = 0.0  # probability that a ray comes back with nothing
    resolution: NonNegative = 0.0  # m, that ranges are rounded to
    sweep: NonNegative = 0.0  # s from the first ray to the last
    robots: bool = True  # whether other robots are seen

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        """The ranges of a scan."""
        return {"ranges": (self.rays,)}

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Lay out the rays."""
        for name in ("field_of_view", "max_range", "sweep"):
            if isinstance(getattr(self, name), DrawnParameter):
                raise PluginError(f"{name} of a lidar must be one number for all robots")
        if self.field_of_view == 0.0 and self.rays > 1:
            raise PluginError(f"field_of_view is 0: {self.rays} rays need some, or use 1 ray")
        self.start, self.step = layout(self.rays, self.field_of_view)
        self._fan = make_ray_bundle(self.rays, self.start, self.step, self.max_range)
        self._mine = threading.local()

    @property
    def sees_robots(self) -> bool:
        """Whether other robots are seen."""
        return self.robots

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Take the scans of these rows."""
        ranges, truth = out.arrays["ranges"], scene.truth
        desk = getattr(self._mine, "desk", None)
        if desk is None:  # each thread has its own
            desk = self._mine.desk = Desk(self._fan)
        if self.sweep > 0.0:
            self._sense_swept(rows, scene, ranges)
            measure_all(out.table, ranges, self.params, truth, rows, self._how(scene, desk))
            return
        seen, last = scene.raycast_arrays, desk.last
        rows = np.ascontiguousarray(rows, np.int64)  # of the one type that the code is for
        if last[0] is not truth or last[1] is not seen or last[2] is not out:
            desk.last = truth, seen, out
            desk.tables = truth, self.params, scene.worlds, out.table
            desk.how = self._how(scene, desk)
            given = desk.room, seen, desk.tables, ranges, rows, desk.how
            desk.call = compiled_for(sense_all, *given)
        desk.call(desk.room, seen, desk.tables, ranges, rows, desk.how)

    def _how(self, scene: Scene, desk: Desk) -> Layout:
        first = scene.first_row if self.robots and not scene.has_one_robot_per_world else -1
        return self.key, self.start, self.step, self.sweep, first, desk.pairs

    def _sense_swept(self, rows: Rows, scene: Scene, ranges: Array) -> None:
        rays = np.empty((len(rows) * self.rays, 4))
        sweep_all(rays, scene.truth, self.params, rows, (self.rays, self.start, self.step))
        who = np.empty((len(rays), 2), np.int64)
        who[:, 0] = np.repeat(scene.worlds[rows], self.rays)
        who[:, 1] = np.repeat(scene.first_row + rows, self.rays) if self.robots else -1
        found = np.empty(len(rays))
        scan_rays(scene.raycast_scene, rays, who, 1.0 / self.max_range, found)
        ranges[rows] = found.reshape(len(rows), self.rays)


def layout(rays: int, view: float) -> tuple[float, float]:
    """Angle of the first ray and of the steps, rad; all round, the first is not repeated."""
    if view >= WHOLE:
        return -0.5 * TAU, TAU / rays
    return (-0.5 * view, view / (rays - 1)) if rays > 1 else (0.0, TAU)
