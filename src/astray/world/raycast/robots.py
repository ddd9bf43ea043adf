"""Rays and robots: others are seen as their footprints.

A circle of radius r around m is met by the ray d where

    h = d × m,   r² − h² ≥ 0   and   t = d · m ∓ √(r² − h²) > 0

with the upper sign from outside and the lower from within. A polygon is its edges.
"""

from __future__ import annotations

import math

import numpy as np

from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Row, Table
from astray.world.geometry import cell_columns, cell_rows
from astray.world.raycast.angular_interval import Place, bearing, cast
from astray.world.raycast.ray_bundle import (
    AX,
    AY,
    BX,
    BY,
    CELL_HIGH,
    CELL_LOW,
    CELL_NEAR,
    CELL_SIZE,
    CELL_X,
    CELL_Y,
    CHUNK,
    COS,
    END,
    SIN,
    RayBundle,
    RayWorkspace,
    in_sensor,
)
from astray.world.raycast.ray_segment import meet
from astray.world.raycast.single_ray import Ray

Others = tuple[Table, Array, Table, Array]
"""The robots of a crowd, where the cells of its grids begin among them, footprints and corners."""
Some = tuple[int, int, int]
"""Corners of a polygon: the one before the first, the first, and where they end."""


@inlined_kernel
def intersect_ray_circle(x: float, y: float, radius: float, c: float, s: float) -> float:
    """The inverse range at which a ray meets a circle around (x, y); 0 if it does not."""
    h = c * y - s * x
    left = radius * radius - h * h
    if left < 0.0:
        return 0.0
    along, half = c * x + s * y, math.sqrt(left)
    near = along - half
    t = near if near > 0.0 else along + half
    if x * x + y * y > radius * radius and near <= 0.0:
        return 0.0
    return 1.0 / t if t > 0.0 else 0.0


@inlined_kernel
def draw_circle(w: Array, i: np.uint64, first: int, last: int) -> None:
    """Let those of some rays end on a circle, seen from outside, that meet it."""
    x, y, square = w[CELL_X + i], w[CELL_Y + i], w[CELL_SIZE + i] * w[CELL_SIZE + i]
    for j in range(((last + 4 - first) >> 2) << 2):  # by fours: those too many just pass
        k = np.uint64(first + j)
        c, s, q = w[COS + k], w[SIN + k], w[END + k]
        h = c * y - s * x
        left = square - h * h
        near = c * x + s * y - math.sqrt(left if left > 0.0 else 0.0)
        # Without a branch, since which rays just pass is anyone's guess.
        met = (left >= 0.0) & (near > 0.0)
        v = 1.0 / (near if met else 1.0)
        v = v if met else 0.0
        w[END + k] = (v if v > q else q) + 0.0


@kernel
def draw_around(w: Array, rays: int, i: np.uint64) -> None:
    """Let the rays end on a circle that the sensor is within."""
    x, y, radius = w[CELL_X + i], w[CELL_Y + i], w[CELL_SIZE + i]
    for j in range(rays):
        k = np.uint64(j)
        w[END + k] = max(w[END + k], intersect_ray_circle(x, y, radius, w[COS + k], w[SIN + k]))


@inlined_kernel
def look_at_circles(w: Array, f: RayBundle, n: int, start: float) -> None:
    """How near circles are, 0 if the sensor is within, and from where to where they reach."""
    zero, first = np.float32(0.0), np.float32(start)
    for i in range(n):
        k = np.uint64(i)
        x, y, radius = w[CELL_X + k], w[CELL_Y + k], w[CELL_SIZE + k]
        away = x * x + y * y
        square, gap = away - radius * radius, math.sqrt(away) - radius
        outside = (square > 0.0) & (gap > 0.0)
        along = math.sqrt(square if outside else 0.0)
        half = float(bearing(np.float32(along), np.float32(radius), zero)) * f[2] + 2.0 * f[4]
        low = float(bearing(np.float32(x), np.float32(y), first)) * f[2] - half
        low = low + f[3] if low < 0.0 else low
        nearness = 1.0 / (gap if outside else 1.0)
        w[CELL_NEAR + k] = nearness if outside else 0.0
        w[CELL_LOW + k] = low
        w[CELL_HIGH + k] = low + 2.0 * half
        w[CELL_X + k], w[CELL_Y + k] = in_sensor(w, x, y)


@kernel
def draw_circles(w: Array, f: RayBundle, n: int, start: float) -> None:
    """Let the rays end on the circles in the chunk of cells: few hide another."""
    look_at_circles(w, f, n, start)
    rays, turn = f[0], f[3]
    for i in range(n):
        k = np.uint64(i)
        low, high = w[CELL_LOW + k], w[CELL_HIGH + k]
        if w[CELL_NEAR + k] == 0.0:
            draw_around(w, rays, k)
            continue
        while True:
            first, last = max(0, int(low)), min(rays - 1, int(high) + 1)
            draw_circle(w, k, first, last)
            if low < 0.0 or high < turn:
                break
            low, high = low - turn, high - turn


@kernel
def gather_edges(w: Array, n: int, b: Row, corners: Array, some: Some, place: Place) -> int:
    """Put some edges of a polygon into the chunk, as seen from a point; how many it then holds."""
    x, y = b.x - place[0], b.y - place[1]
    before, first, stop = some
    px = x + b.cosine * corners[0, before] - b.sine * corners[1, before]
    py = y + b.sine * corners[0, before] + b.cosine * corners[1, before]
    for k in range(first, stop):
        qx = x + b.cosine * corners[0, k] - b.sine * corners[1, k]
        qy = y + b.sine * corners[0, k] + b.cosine * corners[1, k]
        at = np.uint64(n)
        w[AX + at], w[AY + at], w[BX + at], w[BY + at] = px, py, qx, qy
        px, py = qx, qy
        n += 1
    return n


@inlined_kernel
def draw_crowd(
    board: RayWorkspace, f: RayBundle, others: Others, g: Row, me: int, at: Place
) -> None:
    """Let the rays end on the robots of a grid, but for one; bounds are not kept."""
    w, (bodies, starts, shapes, corners), (x, y, first) = board[0], others, at
    here = (0.0, 0.0, first)  # edges are gathered as they are seen from the sensor
    reach = 1.0 / f[5]
    left, right = cell_columns(g, x, reach + g.reach)
    low, high = cell_rows(g, y, reach + g.reach)
    n = circles = 0
    for row in range(low, high + 1 if left <= right else low):
        cell = g.first + row * g.width
        for k in range(starts[cell + left], starts[cell + right + 1]):
            b, shape = bodies[k], shapes[bodies[k].footprint]
            dx, dy, far = b.middle_x - x, b.middle_y - y, reach + b.radius
            if b.row == me or dx * dx + dy * dy >= far * far:
                continue
            if shape.count == 0:
                c = np.uint64(circles)
                w[CELL_X + c], w[CELL_Y + c], w[CELL_SIZE + c] = dx, dy, b.radius
                circles += 1
                if circles == CHUNK:
                    draw_circles(w, f, circles, first)
                    circles = 0
                continue
            edge, stop = shape.first, shape.first + shape.count
            before = stop - 1
            while edge < stop:
                end = min(stop, edge + CHUNK)
                if n + end - edge > CHUNK:
                    cast(board, f, n, here, True)
                    n = 0
                n = gather_edges(w, n, b, corners, (before, edge, end), at)
                before, edge = end - 1, end
    draw_circles(w, f, circles, first)
    cast(board, f, n, here, True)


@kernel
def intersect_ray_robot(b: Row, shape: Row, corners: Array, ray: Ray) -> float:
    """The inverse range at which a ray meets a robot's footprint; 0 if it does not."""
    x, y, c, s = ray
    if shape.count == 0:
        return intersect_ray_circle(b.middle_x - x, b.middle_y - y, b.radius, c, s)
    h = c * (b.middle_y - y) - s * (b.middle_x - x)
    if h * h > b.radius * b.radius:
        return 0.0
    best = 0.0
    before = shape.first + shape.count - 1
    px = b.x - x + b.cosine * corners[0, before] - b.sine * corners[1, before]
    py = b.y - y + b.sine * corners[0, before] + b.cosine * corners[1, before]
    for k in range(shape.first, shape.first + shape.count):
        qx = b.x - x + b.cosine * corners[0, k] - b.sine * corners[1, k]
        qy = b.y - y + b.sine * corners[0, k] + b.cosine * corners[1, k]
        best = max(best, meet(px, py, qx, qy, c, s))
        px, py = qx, qy
    return best
