"""How rays meet what they meet: the range, and the angle to its surface.

Sound and, less so, light come back only from a surface that faces the sensor. With the direction d
of a ray and the edge e that it meets the cosine of the angle to the surface's normal is

    |d × e| / |e|                        and on a circle of radius r    √(1 − h² / r²)

where h is the distance of the ray's line from the middle of the circle.
"""

from __future__ import annotations

import math

from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Row, Table
from astray.world.geometry import cell_columns, cell_rows
from astray.world.raycast.casting import RaycastScene
from astray.world.raycast.ray_segment import meet
from astray.world.raycast.robots import Others, intersect_ray_circle
from astray.world.raycast.single_ray import Ray, border, entry

Echo = tuple[float, float]
"""An inverse range, 1/m, and the cosine of the angle to the normal."""
Edge = tuple[float, float, float, float]
"""Both ends, m, as seen from the origin of the ray."""


@inlined_kernel
def echo_of_edge(edge: Edge, c: float, s: float, best: Echo) -> Echo:
    """The nearer of an echo and that of an edge."""
    v = meet(edge[0], edge[1], edge[2], edge[3], c, s)
    if v <= best[0]:
        return best
    ex, ey = edge[2] - edge[0], edge[3] - edge[1]
    return v, abs(c * ey - s * ex) / math.sqrt(ex * ex + ey * ey)


@inlined_kernel
def echo_at(ends: Array, k: int, ray: Ray, best: Echo) -> Echo:
    """The nearer of an echo and that of a segment of the map."""
    x, y, c, s = ray
    return echo_of_edge(
        (ends[k, 0] - x, ends[k, 1] - y, ends[k, 2] - x, ends[k, 3] - y), c, s, best
    )


@kernel
def echo_of_body(b: Row, shape: Row, corners: Array, ray: Ray, best: Echo) -> Echo:
    """The nearer of an echo and that of a robot's footprint."""
    x, y, c, s = ray
    h = c * (b.middle_y - y) - s * (b.middle_x - x)
    square = b.radius * b.radius
    if h * h > square:
        return best
    if shape.count == 0:
        v = intersect_ray_circle(b.middle_x - x, b.middle_y - y, b.radius, c, s)
        return (v, math.sqrt(1.0 - h * h / square)) if v > best[0] else best
    before = shape.first + shape.count - 1
    px = b.x - x + b.cosine * corners[0, before] - b.sine * corners[1, before]
    py = b.y - y + b.sine * corners[0, before] + b.cosine * corners[1, before]
    for k in range(shape.first, shape.first + shape.count):
        qx = b.x - x + b.cosine * corners[0, k] - b.sine * corners[1, k]
        qy = b.y - y + b.sine * corners[0, k] + b.cosine * corners[1, k]
        best = echo_of_edge((px, py, qx, qy), c, s, best)
        px, py = qx, qy
    return best


@kernel
def echo_of_crowd(others: Others, g: Row, ray: Ray, me: int, best: Echo) -> Echo:
    """The nearer of an echo and that of another robot of the same world."""
    bodies, starts, shapes, corners = others
    x, y, c, s = ray
    half = 0.5 / best[0]
    left, right = cell_columns(g, x + half * c, half * abs(c) + g.reach)
    low, high = cell_rows(g, y + half * s, half * abs(s) + g.reach)
    if left > right:  # the ray lies beside the grid, whose cells must not be counted from there
        return best
    for row in range(low, high + 1):
        cell = g.first + row * g.width
        for k in range(starts[cell + left], starts[cell + right + 1]):
            if bodies[k].row != me:
                best = echo_of_body(bodies[k], shapes[bodies[k].footprint], corners, ray, best)
    return best


@kernel
def echo_of_cells(ends: Array, cells: Table, listed: Array, g: Row, ray: Ray, best: Echo) -> Echo:
    """The nearer of an echo and that of the segments of a grid, from cell to cell."""
    x, y, c, s = ray
    x_in, x_out = entry(g.x, g.x + g.width * g.cell, x, c)
    y_in, y_out = entry(g.y, g.y + g.height * g.cell, y, s)
    start, end = max(0.0, x_in, y_in), min(1.0 / best[0], x_out, y_out)
    if start > end:
        return best
    i = min(max(math.floor((x + start * c - g.x) / g.cell), 0), g.width - 1)
    j = min(max(math.floor((y + start * s - g.y) / g.cell), 0), g.height - 1)
    next_x, across = border(g.x, g.cell, i, x, c)
    next_y, up = border(g.y, g.cell, j, y, s)
    while 0 <= i < g.width and 0 <= j < g.height:
        cell = g.first + j * g.width + i
        for k in range(cells[cell].first, cells[cell + 1].first):
            best = echo_at(ends, listed[k], ray, best)
        leaves = min(next_x, next_y)
        if best[0] * leaves >= 1.0 or leaves > end:
            return best
        if next_x < next_y:
            i += 1 if c > 0.0 else -1
            next_x += across
        else:
            j += 1 if s > 0.0 else -1
            next_y += up
    return best


@kernel
def scan_hits(view: RaycastScene, rays: Array, who: Array, limit: float, out: Array) -> None:
    """Range and cosine (n, 2) of rays: origin, direction; `who` has world and own row (−1: none).

    The limit is the inverse of the longest range; beyond it the range is inf.
    """
    ends, cells, listed, grids, plans = view.ends, view.cells, view.listed, view.grids, view.plans
    of_world, crowd_grids = view.of_world, view.crowd_grids
    others = (view.bodies, view.starts, view.shapes, view.corners)
    for i in range(len(rays)):
        ray = (rays[i, 0], rays[i, 1], rays[i, 2], rays[i, 3])
        best = (limit, 0.0)
        if who[i, 1] >= 0:
            best = echo_of_crowd(others, crowd_grids[who[i, 0]], ray, who[i, 1], best)
        p = plans[of_world[who[i, 0]]]
        if p.steps >= 0:
            best = echo_of_cells(ends, cells, listed, grids[p.steps], ray, best)
        else:
            for k in range(p.first, p.first + p.count):
                best = echo_at(ends, k, ray, best)
        out[i, 0] = 1.0 / best[0] if best[0] > limit else math.inf
        out[i, 1] = best[1]
