"""Ranges of ray bundles, by the method that suits the case.

A bundle is cast segment by segment where few segments are in reach of many rays, and ray by ray
where many segments are in reach of few rays. The ranges are the same.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from astray.numerics import PI, TAU, inlined_kernel, kernel
from astray.tables import Array, Row, Rows
from astray.world.geometry import segment_grids
from astray.world.map import Map
from astray.world.maps import MapSet
from astray.world.raycast.angular_interval import BundleOrigin
from astray.world.raycast.culling import cast_at_all, cast_at_grid, cast_in_reach
from astray.world.raycast.intersection import Ray
from astray.world.raycast.ray_bundle import (
    NEARNESS,
    RayBundle,
    RayWorkspace,
    copy_workspace,
    invalidate_bounds,
    make_ray_bundle,
    ray_in_map,
    set_heading,
)
from astray.world.raycast.robots import cast_at_robots
from astray.world.raycast.single_ray import (
    RaycastScene,
    RayCells,
    cast_ray_at_grid,
    make_raycast_scene,
)

RAY_COST = 12.0  # segments that cost as much as a ray that is cast by itself
MANY = 1500.0  # segments in reach, from which on it pays to test for occlusion


class SensorPose(NamedTuple):
    """Where a bundle is cast from."""

    x: float  # m
    y: float  # m
    yaw: float  # rad
    world: int
    """The index of the world in the batch."""
    row: int
    """The row of the robot that casts the rays, which they do not meet; −1 ignores all robots."""


@inlined_kernel
def suits_single_rays(entry: Row, bundle: RayBundle) -> bool:
    """Whether so many segments are in reach that it is cheaper to cast each ray by itself."""
    in_reach = PI * entry.density / (bundle.limit * bundle.limit)
    # Of many segments most are occluded: the cost grows with the reach, not with its square.
    cost = in_reach if in_reach < MANY else math.sqrt(MANY * in_reach)
    return bool(entry.grids > 0 and RAY_COST * bundle.rays < cost)


@inlined_kernel
def cast_bundle(
    workspace: RayWorkspace, bundle: RayBundle, scene: RaycastScene, pose: SensorPose, out: Array
) -> None:
    """Write the ranges of a bundle from one pose, (rays,) m; inf where nothing is met."""
    w, walls, limit = workspace.values, scene.walls, bundle.limit
    grids = segment_grids(walls)
    origin = BundleOrigin(pose.x, pose.y, set_heading(w, bundle, pose.yaw))
    if pose.row >= 0:
        grid = scene.robots.grids[pose.world]
        cast_at_robots(workspace, bundle, scene, grid, pose.row, origin)
    entry = walls.maps[scene.map_of_world[pose.world]]
    if entry.grids == 0:
        cast_at_all(workspace, bundle, walls.faces, entry, origin)
    elif suits_single_rays(entry, bundle):
        ray_cells = RayCells(walls.ends, walls.cells, walls.ray_cells)
        for k in range(bundle.rays):
            c, s = ray_in_map(w, k)
            ray, i = Ray(pose.x, pose.y, c, s), NEARNESS + np.uint64(k)
            w[i] = cast_ray_at_grid(ray_cells, walls.grids[entry.ray_grid], ray, w[i])
    elif PI * entry.density < MANY * limit * limit:
        cast_in_reach(workspace, bundle, grids, entry, origin)
    else:
        if pose.row >= 0:
            invalidate_bounds(w, 0, bundle.rays)
        for k in range(entry.first_grid, entry.first_grid + entry.grids):
            cast_at_grid(workspace, bundle, grids, walls.grids[k], origin)
    for k in range(bundle.rays):
        nearness = w[NEARNESS + np.uint64(k)]
        far = 1.0 / nearness  # for all rays, so SIMD instructions divide several at a time
        out[np.uint64(k)] = far if nearness > limit else math.inf


@kernel
def cast_bundles(
    workspace: RayWorkspace,
    bundle: RayBundle,
    scene: RaycastScene,
    poses: Array,
    rows: Rows,
    out: Array,
) -> None:
    """Write the ranges of a bundle from the poses of these rows.

    Args:
        workspace: Memory to compute with; each thread needs its own.
        bundle: The rays.
        scene: What rays can meet.
        poses: x, y, yaw, world and own row (−1: ignore robots) of each row, (n, 5).
        rows: The rows to cast for.
        out: The ranges, (n, rays) m; inf where nothing is met.
    """
    for i in rows:
        world, own = int(poses[i, 3]), int(poses[i, 4])
        pose = SensorPose(poses[i, 0], poses[i, 1], poses[i, 2], world, own)
        cast_bundle(workspace, bundle, scene, pose, out[i])


def cast_rays(
    map: Map,
    poses: Array,
    *,
    rays: int = 360,
    start: float = 0.0,
    step: float | None = None,
    max_range: float = 30.0,
    threads: int = 1,
) -> Array:
    """Cast rays from poses on a map.

    Args:
        map: The obstacles.
        poses: x and y in m and yaw in rad of each pose, (n, 3).
        rays: How many rays each pose casts.
        start: The angle of the first ray from the heading, rad.
        step: The angle from ray to ray, rad; by default they are spread over a full turn.
        max_range: The longest range, m.
        threads: How many threads share the poses.

    Returns:
        Ranges in m, (n, rays); inf where nothing is met.
    """
    where = np.zeros((len(poses), 5))
    where[:, :3] = poses
    where[:, 4] = -1.0
    workspace, bundle = make_ray_bundle(
        rays, start, TAU / rays if step is None else step, max_range
    )
    out = np.empty((len(poses), rays))
    scene, rows = make_raycast_scene(MapSet([map])), np.arange(len(poses))
    if threads <= 1:
        cast_bundles(workspace, bundle, scene, where, rows, out)
        return out
    with ThreadPoolExecutor(threads) as pool:
        for part in np.array_split(rows, threads):
            own = copy_workspace(workspace, bundle)
            pool.submit(cast_bundles, own, bundle, scene, where, part, out)
    return out
