"""A laser scanner: the ranges of many rays from a mount.

For the errors of a range see `ranging.py`. A scanner that rotates takes its rays one after the
other. With a `sweep` of T seconds ray k of n is cast from where the mount was (n − 1 − k) / n · T
before the stamp, if the robot kept its velocity: a scan taken while turning is distorted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Le

from astray.errors import PluginError
from astray.numerics import TAU, arc, compiled_for, inlined_kernel, kernel, sincos
from astray.plugin import Datasheets, DrawnParameter, NonNegative, Positive, Reading, Scene, Sensor
from astray.robot.sensors.error_models import Probability
from astray.robot.sensors.ranging import add_range_errors, mount_position, ray_owners
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

FULL_CIRCLE = TAU - 1e-9  # rad; a field of view of at least this has no gap


class ScanSettings(NamedTuple):
    """What the scans of all rows have in common."""

    key: np.uint64
    """The key of the noise."""
    start: float
    """The angle of the first ray, rad."""
    step: float
    """The angle from ray to ray, rad."""
    sweep: float
    """s from the first ray to the last."""
    first_row: int
    """The row of the group's first robot in `all_truth`; −1 if robots are not seen."""
    randoms: Array
    """(2, half of the rays): scratch memory for random numbers."""


SettingsFields = tuple[np.uint64, float, float, float, int, Array]
"""The fields of ScanSettings: a plain tuple takes less time to enter a kernel than a named one."""


class ScanTables(NamedTuple):
    """The tables of a group that scans are made of."""

    truth: Table
    params: Table
    worlds: Array
    out: Table


@inlined_kernel
def mount_pose(s: Row, p: Row) -> tuple[float, float, float]:
    """The pose of the mount of a robot in the map."""
    if p.x == 0.0 and p.y == 0.0:
        return s.x, s.y, s.yaw + p.yaw
    sine, cosine = sincos(s.yaw)
    x, y = mount_position(s, p, sine, cosine)
    return x, y, s.yaw + p.yaw


@kernel
def swept_ray(s: Row, p: Row, ago: float, angle: float) -> tuple[float, float, float, float]:
    """Origin and direction of a ray that was cast some time ago."""
    x, y, yaw = arc((s.x, s.y, s.yaw), -s.vx * ago, -s.vy * ago, -s.wz * ago)
    sine, cosine = sincos(yaw)
    ray_sine, ray_cosine = sincos(yaw + p.yaw + angle)
    return x + cosine * p.x - sine * p.y, y + sine * p.x + cosine * p.y, ray_cosine, ray_sine


@kernel
def swept_rays_all(
    rays: Array, truth: Table, params: Table, rows: Rows, count: int, start: float, step: float
) -> None:
    """The rays (len(rows) · count, 4) of these rows, each from where the mount was then."""
    for j in range(len(rows)):
        s, p = truth[rows[j]], params[rows[j]]
        for k in range(count):
            ago = p.sweep * (count - 1 - k) / count
            ray = swept_ray(s, p, ago, start + k * step)
            for m in range(4):
                rays[j * count + k, m] = ray[m]


@inlined_kernel
def measure(o: Row, ranges: Array, p: Row, s: Row, scan: ScanSettings) -> None:
    """Turn the true ranges of one scan into measured ones, and write the columns of the scan."""
    # Without errors ranges stay as they are; none of these numbers is negative.
    if p.sigma + p.sigma_per_m + p.dropout + p.resolution + p.min_range > 0.0:
        add_range_errors(ranges, p, s, scan.key, scan.randoms)
    o.start, o.step, o.duration = scan.start, scan.step, scan.sweep
    o.min_range, o.max_range = p.min_range, p.max_range


@kernel
def measure_all(
    out: Table,
    ranges: Array,
    params: Table,
    truth: Table,
    rows: Rows,
    settings: SettingsFields,
) -> None:
    """Turn the true ranges of these rows into measured ones; settings are those of a scan."""
    scan = ScanSettings(*settings)
    for i in rows:
        measure(out[i], ranges[i], params[i], truth[i], scan)


@kernel
def sense_all(
    casting: tuple[RayWorkspace, RayBundle],
    scene_arrays: SceneArrays,
    table_fields: tuple[Table, Table, Array, Table],
    ranges: Array,
    rows: Rows,
    settings: SettingsFields,
) -> None:
    """Take the scans of these rows, each at one moment.

    All of it is one call, since calls cost time, and plain tuples take less time to enter a kernel
    than named ones.
    """
    workspace, bundle = casting
    scene, tables = named_scene(scene_arrays), ScanTables(*table_fields)
    scan = ScanSettings(*settings)
    for i in rows:
        s, p = tables.truth[i], tables.params[i]
        x, y, yaw = mount_pose(s, p)
        own_row = scan.first_row + i if scan.first_row >= 0 else -1
        pose = SensorPose(x, y, yaw, tables.worlds[i], own_row)
        cast_bundle(workspace, bundle, scene, pose, ranges[i])
        measure(tables.out[i], ranges[i], p, s, scan)


class ScanWorkspace:
    """Of one thread: scratch memory, the arguments of its last scan, and the code for them."""

    def __init__(self, workspace: RayWorkspace, bundle: RayBundle) -> None:
        self.casting = copy_workspace(workspace, bundle), bundle
        self.randoms = np.empty((2, (bundle[0] + 1) // 2))
        self.last: tuple[Any, ...] = (None, None, None)
        self.tables: tuple[Table, Table, Array, Table]
        self.settings: SettingsFields
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
    rays: Annotated[int, Ge(1), Le(MOST_RAYS)] = 360  # number of rays per scan
    field_of_view: Annotated[float, Ge(0), Le(TAU)] = TAU  # rad, full angle about the axis
    min_range: NonNegative = 0.0  # m
    max_range: Positive = 12.0  # m
    sigma: NonNegative = 0.0  # m, standard deviation of a range
    sigma_per_m: NonNegative = 0.0  # relative; added per metre of range
    dropout: Probability = 0.0  # probability that a ray is lost
    resolution: NonNegative = 0.0  # m, that ranges are rounded to
    sweep: NonNegative = 0.0  # s from the first ray to the last
    robots: bool = True  # whether other robots are seen

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        """The ranges of a scan."""
        return {"ranges": (self.rays,)}

    def bind(self, n: int, sheets: Datasheets) -> None:
        """Prepare the rays for the kernel."""
        for name in ("field_of_view", "max_range", "sweep"):
            if isinstance(getattr(self, name), DrawnParameter):
                raise PluginError(f"{name} of a lidar must be one number for all robots")
        if self.field_of_view == 0.0 and self.rays > 1:
            raise PluginError(f"field_of_view is 0: {self.rays} rays need some, or use 1 ray")
        self.start, self.step = ray_angles(self.rays, self.field_of_view)
        self._casting = make_ray_bundle(self.rays, self.start, self.step, self.max_range)
        self._threads = threading.local()

    @property
    def sees_robots(self) -> bool:
        """Whether other robots are seen."""
        return self.robots

    def sense(self, rows: Rows, scene: Scene, out: Reading) -> None:
        """Take the scans of these rows."""
        ranges, truth = out.arrays["ranges"], scene.truth
        own: ScanWorkspace | None = getattr(self._threads, "workspace", None)
        if own is None:
            own = self._threads.workspace = ScanWorkspace(*self._casting)
        if self.sweep > 0.0:
            self._cast_swept(rows, scene, ranges)
            settings = self._settings(scene, own)
            measure_all(out.table, ranges, self.params, truth, rows, settings)
            return
        arrays, last = scene.raycast_arrays, own.last
        rows = np.ascontiguousarray(rows, np.int64)  # the one type that the code is compiled for
        if last[0] is not truth or last[1] is not arrays or last[2] is not out:
            own.last = truth, arrays, out
            own.tables = truth, self.params, scene.worlds, out.table
            own.settings = self._settings(scene, own)
            given = own.casting, arrays, own.tables, ranges, rows, own.settings
            own.call = compiled_for(sense_all, *given)
        own.call(own.casting, arrays, own.tables, ranges, rows, own.settings)

    def _settings(self, scene: Scene, own: ScanWorkspace) -> SettingsFields:
        sees_robots = self.robots and not scene.has_one_robot_per_world
        first_row = scene.first_row if sees_robots else -1
        return self.key, self.start, self.step, self.sweep, first_row, own.randoms

    def _cast_swept(self, rows: Rows, scene: Scene, ranges: Array) -> None:
        """Cast the rays of these rows one by one, since each has an origin of its own."""
        rays = np.empty((len(rows) * self.rays, 4))
        swept_rays_all(rays, scene.truth, self.params, rows, self.rays, self.start, self.step)
        owners = ray_owners(rows, scene, self.rays, self.robots)
        found = np.empty(len(rays))
        scan_rays(scene.raycast_scene, rays, owners, 1.0 / self.max_range, found)
        ranges[rows] = found.reshape(len(rows), self.rays)


def ray_angles(rays: int, field_of_view: float) -> tuple[float, float]:
    """Angle of the first ray and from ray to ray, rad; a full circle does not repeat the first."""
    if field_of_view >= FULL_CIRCLE:
        return -0.5 * TAU, TAU / rays
    return (-0.5 * field_of_view, field_of_view / (rays - 1)) if rays > 1 else (0.0, TAU)
