"""Rays and robots: others are seen as their footprints.

A circle of radius r around m is met by the ray d where

    h = d × m,   r² − h² ≥ 0   and   t = d · m ∓ √(r² − h²) > 0

with the upper sign from outside and the lower from within. A polygon is its edges.
"""

from __future__ import annotations

import math

import numpy as np

from astray.kernel import inlined_kernel, kernel
from astray.table import Array, Row
from astray.world.fan import (
    AX,
    AY,
    BOUND,
    BX,
    BY,
    COS,
    END,
    SHIFT,
    SIN,
    STALE,
    Fan,
    bearing,
    hidden,
    in_sensor,
)
from astray.world.ray import Ray
from astray.world.sight import meet
from astray.world.sweep import Place


@inlined_kernel
def meet_circle(x: float, y: float, radius: float, c: float, s: float) -> float:
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
def draw_circle_span(w: Array, first: int, last: int, x: float, y: float, radius: float) -> None:
    """Let those of some rays end on a circle that meet it."""
    x, y = in_sensor(w, x, y)
    for j in range(last + 1 - first):
        k = np.uint64(first + j)
        v = meet_circle(x, y, radius, w[COS, k], w[SIN, k])
        if v > w[END, k]:
            w[END, k] = v
    for block in range(first >> SHIFT, (last >> SHIFT) + 1):
        w[BOUND, block] = STALE


@kernel
def draw_circle(w: Array, f: Fan, x: float, y: float, radius: float, start: float) -> None:
    """Let the rays end on a circle."""
    square, rays, turn = x * x + y * y - radius * radius, f[0], f[3]
    far = math.sqrt(x * x + y * y)
    if square <= 0.0:
        draw_circle_span(w, 0, rays - 1, x, y, radius)
        return
    if (far - radius) * f[5] >= 1.0:
        return
    half = bearing(math.sqrt(square), radius, 0.0) * f[2] + 2.0 * f[4]
    low = bearing(x, y, start) * f[2] - half
    nearness = 1.0 / (far - radius)
    low = low + turn if low < 0.0 else low
    while True:
        first, last = max(0, int(low)), min(rays - 1, int(low + 2.0 * half) + 1)
        if first <= last and not hidden(w, rays, first, last, nearness):
            draw_circle_span(w, first, last, x, y, radius)
        if low < 0.0 or low + 2.0 * half < turn:
            return
        low -= turn


@kernel
def gather_edges(w: Array, n: int, b: Row, shape: Row, corners: Array, at: Place) -> int:
    """Put the edges of a polygon into the chunk, as seen from a point; how many it then holds."""
    x, y = b.x - at[0], b.y - at[1]
    before = shape.first + shape.count - 1
    px = x + b.cosine * corners[0, before] - b.sine * corners[1, before]
    py = y + b.sine * corners[0, before] + b.cosine * corners[1, before]
    for k in range(shape.first, shape.first + shape.count):
        qx = x + b.cosine * corners[0, k] - b.sine * corners[1, k]
        qy = y + b.sine * corners[0, k] + b.cosine * corners[1, k]
        w[AX, n], w[AY, n], w[BX, n], w[BY, n] = px, py, qx, qy
        px, py = qx, qy
        n += 1
    return n


@inlined_kernel
def in_reach(g: Row, at: float, origin: float, cells: int, reach: float) -> tuple[int, int]:
    """The first and last column (or row) of cells of a grid that lie within reach of a point."""
    first = max(0, math.floor((at - reach - origin) / g.cell))
    last = min(cells - 1, math.floor((at + reach - origin) / g.cell))
    return first, last


@kernel
def meet_body(b: Row, shape: Row, corners: Array, ray: Ray) -> float:
    """The inverse range at which a ray meets a robot's footprint; 0 if it does not."""
    x, y, c, s = ray
    if shape.count == 0:
        return meet_circle(b.middle_x - x, b.middle_y - y, b.radius, c, s)
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
