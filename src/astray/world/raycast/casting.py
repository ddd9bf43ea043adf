"""Ranges of many rays from many places, with the kernel that suits the case.

A fan of rays from one point is cast segment by segment where few segments are in reach of many
rays, and ray by ray where it is the other way round. The ranges are the same.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from astray.numerics import PI, TAU, inlined_kernel, kernel
from astray.tables import Array, Row, Rows, Table
from astray.world.geometry import (
    RobotGrid,
    Shapes,
    cell_columns,
    cell_rows,
    make_robot_grid,
    make_shapes,
)
from astray.world.map import Map
from astray.world.maps import MapSet
from astray.world.raycast.culling import cast_all, cast_grid, cast_near
from astray.world.raycast.ray_bundle import (
    END,
    RayBundle,
    RayWorkspace,
    aim,
    copy_workspace,
    make_ray_bundle,
    mark,
    ray_in_map,
)
from astray.world.raycast.robots import Others, draw_crowd, intersect_ray_robot
from astray.world.raycast.single_ray import Ray, cast_at, cast_cells_along

RAY_WORTH = 12.0  # segments that cost as much as a ray that is followed by itself
MANY = 1500.0  # segments in reach, of which it pays to ask which ones others hide


Pose = tuple[tuple[float, float, float], int, int]
"""x, y and yaw of a sensor; the place of its world, and its own row among everyone, or −1."""


class RaycastScene(NamedTuple):
    """All that rays can meet, as kernels read it."""

    ends: Array
    faces: Array
    cells: Table
    listed: Array
    grids: Table
    plans: Table
    of_world: Array
    bodies: Table
    starts: Array
    crowd_grids: Table
    shapes: Table
    corners: Array


def make_raycast_scene(
    map: MapSet, crowd: RobotGrid | None = None, shapes: Shapes | None = None
) -> RaycastScene:
    """The obstacles of an atlas and, with a crowd, its robots."""
    crowd = crowd or make_robot_grid(0, len(map.of_world))
    shapes = shapes or make_shapes([])
    return RaycastScene(*map.index, map.of_world, *crowd, *shapes)


@inlined_kernel
def suits_single_rays(p: Row, rays: int, limit: float) -> bool:
    """Whether so many segments are in reach that it is cheaper to follow each ray by itself."""
    near = PI * p.density / (limit * limit)
    # Of many, most are hidden: the cost grows with the reach, not with its square.
    cost = near if near < MANY else math.sqrt(MANY * near)
    return bool(p.grids > 0 and RAY_WORTH * rays < cost)


@kernel
def cast_ray_at_robots(view: Others, g: Row, ray: Ray, me: int, limit: float) -> float:
    """The inverse range at which a ray meets another robot of its world; the limit if none."""
    bodies, starts, shapes, corners = view
    x, y, c, s = ray
    reach = 1.0 / limit
    best = limit
    left, right = cell_columns(g, x + 0.5 * reach * c, 0.5 * reach * abs(c) + g.reach)
    low, high = cell_rows(g, y + 0.5 * reach * s, 0.5 * reach * abs(s) + g.reach)
    if left > right:
        return best
    for row in range(low, high + 1):
        cell = g.first + row * g.width
        for k in range(starts[cell + left], starts[cell + right + 1]):
            if bodies[k].row != me:
                v = intersect_ray_robot(bodies[k], shapes[bodies[k].footprint], corners, ray)
                best = v if v > best else best
    return best


@inlined_kernel
def cast_bundle(
    board: RayWorkspace, f: RayBundle, view: RaycastScene, pose: Pose, out: Array
) -> None:
    """The ranges of a fan from one pose."""
    ends, cells, listed, grids, plans = view.ends, view.cells, view.listed, view.grids, view.plans
    w, walls = board[0], (view.faces, cells)
    (x, y, yaw), world, me = pose
    at = (x, y, aim(w, f, yaw))
    if me >= 0:
        others = (view.bodies, view.starts, view.shapes, view.corners)
        draw_crowd(board, f, others, view.crowd_grids[world], me, at)
    p = plans[view.of_world[world]]
    if p.grids == 0:
        cast_all(board, f, walls, p, at)
    elif suits_single_rays(p, f[0], f[5]):
        for k in range(f[0]):
            c, s = ray_in_map(w, k)
            ray, end = (x, y, c, s), END + np.uint64(k)
            w[end] = cast_cells_along(ends, cells, listed, grids[p.steps], ray, w[end])
    elif PI * p.density < MANY * f[5] * f[5]:
        cast_near(board, f, walls, grids, p, at)
    else:
        if me >= 0:
            mark(w, 0, f[0])
        for k in range(p.first_grid, p.first_grid + p.grids):
            cast_grid(board, f, walls, grids[k], at)
    for k in range(f[0]):
        near = w[END + np.uint64(k)]
        far = 1.0 / near  # of all rays, so that several are divided at a time
        out[np.uint64(k)] = far if near > f[5] else math.inf


@kernel
def cast_bundles(
    board: RayWorkspace, f: RayBundle, view: RaycastScene, poses: Array, rows: Rows, out: Array
) -> None:
    """The ranges of a fan from the poses of these rows: x, y, yaw, world and own row (−1: none)."""
    for i in rows:
        at = (poses[i, 0], poses[i, 1], poses[i, 2])
        cast_bundle(board, f, view, (at, int(poses[i, 3]), int(poses[i, 4])), out[i])


@kernel
def scan_rays(view: RaycastScene, rays: Array, worlds: Array, limit: float, out: Array) -> None:
    """The ranges of single rays: origin and direction; world and own row (−1: none) of each."""
    ends, cells, listed, grids, plans = view.ends, view.cells, view.listed, view.grids, view.plans
    of_world, crowd_grids = view.of_world, view.crowd_grids
    others = (view.bodies, view.starts, view.shapes, view.corners)
    for i in range(len(rays)):
        ray = (rays[i, 0], rays[i, 1], rays[i, 2], rays[i, 3])
        best = limit
        if worlds[i, 1] >= 0:
            best = cast_ray_at_robots(others, crowd_grids[worlds[i, 0]], ray, worlds[i, 1], best)
        p = plans[of_world[worlds[i, 0]]]
        if p.steps >= 0:
            best = cast_cells_along(ends, cells, listed, grids[p.steps], ray, best)
        else:
            for k in range(p.first, p.first + p.count):
                best = cast_at(ends, k, ray, best)
        out[i] = 1.0 / best if best > limit else math.inf


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
    """Ranges (len(poses), rays) in m from poses (n, 3) of x, y, yaw; inf where nothing is met.

    The first ray points `start` rad from the heading, the next ones `step` rad further each:
    all round unless given.
    """
    where = np.zeros((len(poses), 5))
    where[:, :3] = poses
    where[:, 4] = -1.0
    board, f = make_ray_bundle(rays, start, TAU / rays if step is None else step, max_range)
    out = np.empty((len(poses), rays))
    view, rows = make_raycast_scene(MapSet([map])), np.arange(len(poses))
    if threads <= 1:
        cast_bundles(board, f, view, where, rows, out)
        return out
    with ThreadPoolExecutor(threads) as pool:
        for part in np.array_split(rows, threads):
            pool.submit(cast_bundles, copy_workspace(board, f), f, view, where, part, out)
    return out
