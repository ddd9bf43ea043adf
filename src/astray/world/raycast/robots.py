"""Ray bundles against robots: footprints are circles, or polygons cast edge by edge.

`w` is `RayWorkspace.values`; nearness is the inverse range (see ray_bundle.py). Rays of different
origins, such as those of a lidar that turns while it moves, are in single_ray.py.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Row
from astray.world.geometry import cell_columns, cell_rows
from astray.world.raycast.angular_interval import BundleOrigin, bearing_32, cast_at_chunk
from astray.world.raycast.intersection import corner_from, intersect_ray_circle
from astray.world.raycast.ray_bundle import (
    AX,
    AY,
    BX,
    BY,
    CELL_HIGH,
    CELL_LOW,
    CELL_NEARNESS,
    CELL_RADIUS,
    CELL_X,
    CELL_Y,
    CHUNK,
    COS,
    NEARNESS,
    SIN,
    RayBundle,
    RayWorkspace,
    in_sensor_axes,
)
from astray.world.raycast.single_ray import RaycastScene

# Circles.


@inlined_kernel
def end_on_circle(w: Array, i: np.uint64, first: int, last: int) -> None:
    """Shorten those of the rays `first` to `last` that meet circle i from outside."""
    x, y, square = w[CELL_X + i], w[CELL_Y + i], w[CELL_RADIUS + i] * w[CELL_RADIUS + i]
    for j in range(((last + 4 - first) >> 2) << 2):  # whole SIMD vectors: more rays do no harm
        k = np.uint64(first + j)
        c, s, nearness = w[COS + k], w[SIN + k], w[NEARNESS + k]
        h = c * y - s * x
        left = square - h * h
        near = c * x + s * y - math.sqrt(left if left > 0.0 else 0.0)
        # Without a branch, which the processor could not predict.
        hit = (left >= 0.0) & (near > 0.0)
        v = 1.0 / (near if hit else 1.0)
        v = v if hit else 0.0
        w[NEARNESS + k] = (v if v > nearness else nearness) + 0.0


@kernel
def end_on_circle_around(w: Array, rays: int, i: np.uint64) -> None:
    """Shorten all rays to circle i, which the sensor is within."""
    x, y, radius = w[CELL_X + i], w[CELL_Y + i], w[CELL_RADIUS + i]
    for j in range(rays):
        k = np.uint64(j)
        v = intersect_ray_circle(x, y, radius, w[COS + k], w[SIN + k])
        w[NEARNESS + k] = max(w[NEARNESS + k], v)


@inlined_kernel
def compute_circle_intervals(w: Array, bundle: RayBundle, n: int, start: float) -> None:
    """Write the nearness of n circles (0 if the sensor is within) and the intervals they cover.

    Their centres are turned into the sensor's axes.
    """
    zero, first = np.float32(0.0), np.float32(start)
    per, slack = bundle.per_radian, bundle.slack
    for i in range(n):
        k = np.uint64(i)
        x, y, radius = w[CELL_X + k], w[CELL_Y + k], w[CELL_RADIUS + k]
        away = x * x + y * y
        square, gap = away - radius * radius, math.sqrt(away) - radius
        outside = (square > 0.0) & (gap > 0.0)
        along = math.sqrt(square if outside else 0.0)
        half = float(bearing_32(np.float32(along), np.float32(radius), zero)) * per + 2.0 * slack
        low = float(bearing_32(np.float32(x), np.float32(y), first)) * per - half
        low = low + bundle.per_turn if low < 0.0 else low
        nearness = 1.0 / (gap if outside else 1.0)
        w[CELL_NEARNESS + k] = nearness if outside else 0.0
        w[CELL_LOW + k] = low
        w[CELL_HIGH + k] = low + 2.0 * half
        w[CELL_X + k], w[CELL_Y + k] = in_sensor_axes(w, x, y)


@kernel
def cast_at_circles(w: Array, bundle: RayBundle, n: int, first_bearing: float) -> None:
    """Shorten the rays to the n circles of the chunk."""
    compute_circle_intervals(w, bundle, n, first_bearing)
    rays, turn = bundle.rays, bundle.per_turn
    for i in range(n):
        k = np.uint64(i)
        low, high = w[CELL_LOW + k], w[CELL_HIGH + k]
        if w[CELL_NEARNESS + k] == 0.0:
            end_on_circle_around(w, rays, k)
            continue
        while True:
            first, last = max(0, int(low)), min(rays - 1, int(high) + 1)
            end_on_circle(w, k, first, last)
            if low < 0.0 or high < turn:
                break
            low, high = low - turn, high - turn


# Polygons.


class EdgeRange(NamedTuple):
    """Edges of a polygon: to corners `first` to `stop`; the first begins at corner `before`."""

    before: int
    first: int
    stop: int


@kernel
def gather_edges(
    w: Array, n: int, b: Row, corners: Array, edges: EdgeRange, origin: BundleOrigin
) -> int:
    """Add edges of a body to the n segments of the chunk; how many there are then."""
    x, y = origin.x, origin.y
    px, py = corner_from(b, corners, edges.before, x, y)
    for k in range(edges.first, edges.stop):
        qx, qy = corner_from(b, corners, k, x, y)
        i = np.uint64(n)
        w[AX + i], w[AY + i], w[BX + i], w[BY + i] = px, py, qx, qy
        px, py = qx, qy
        n += 1
    return n


# All robots of a world.


@inlined_kernel
def cast_at_robots(
    workspace: RayWorkspace,
    bundle: RayBundle,
    scene: RaycastScene,
    g: Row,
    own: int,
    origin: BundleOrigin,
) -> None:
    """Shorten the rays to the robots of a grid other than the own row; block bounds stay."""
    w, robots, shapes, corners = (
        workspace.values,
        scene.robots,
        scene.shapes.table,
        scene.shapes.corners,
    )
    x, y, first = origin
    reach = 1.0 / bundle.limit
    left, right = cell_columns(g, x, reach + g.reach)
    low, high = cell_rows(g, y, reach + g.reach)
    n = circles = 0
    for row in range(low, high + 1 if left <= right else low):
        cell = g.first + row * g.width
        for k in range(robots.starts[cell + left], robots.starts[cell + right + 1]):
            b, shape = robots.bodies[k], shapes[robots.bodies[k].footprint]
            dx, dy, far = b.middle_x - x, b.middle_y - y, reach + b.radius
            if b.row == own or dx * dx + dy * dy >= far * far:
                continue
            if shape.count == 0:
                c = np.uint64(circles)
                w[CELL_X + c], w[CELL_Y + c], w[CELL_RADIUS + c] = dx, dy, b.radius
                circles += 1
                if circles == CHUNK:
                    cast_at_circles(w, bundle, circles, first)
                    circles = 0
                continue
            edge, stop = shape.first, shape.first + shape.count
            before = stop - 1
            while edge < stop:
                end = min(stop, edge + CHUNK)
                if n + end - edge > CHUNK:
                    cast_at_chunk(workspace, bundle, n, first, False)
                    n = 0
                n = gather_edges(w, n, b, corners, EdgeRange(before, edge, end), origin)
                before, edge = end - 1, end
    cast_at_circles(w, bundle, circles, first)
    cast_at_chunk(workspace, bundle, n, first, False)
