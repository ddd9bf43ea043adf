"""Single rays: each has an origin of its own and visits the cells of a grid one after the other.

This serves few rays over long ranges, and rays of different origins. The walk through the cells is
that of Amanatides and Woo (A Fast Voxel Traversal Algorithm, 1987). A segment is listed in every
cell that it touches, and beyond a border that it comes very near to, so a ray that rounding leads
past the corner of a cell still meets it. A hit is final once the ray has left the cells before it.

Sonars also need the angle at which a ray meets a surface. With the direction d of the ray and the
edge e that it meets, the cosine of the angle between the ray and the surface's normal is

    |d × e| / |e|                        and on a circle of radius r    √(1 − h² / r²)

where h is the distance of the ray's line from the centre of the circle.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from astray.numerics import inlined_kernel, kernel
from astray.tables import Array, Row, Table
from astray.world.geometry import (
    RobotGrid,
    Segment,
    SegmentIndex,
    Shapes,
    cell_columns,
    cell_rows,
    make_robot_grid,
    make_shapes,
)
from astray.world.maps import MapSet
from astray.world.raycast.intersection import (
    Ray,
    corner_from,
    intersect_ray_circle,
    intersect_ray_robot,
    intersect_ray_segment,
)

SceneArrays = tuple[Any, ...]
"""The arrays of a RaycastScene as plain tuples."""


class RaycastScene(NamedTuple):
    """All that rays can meet, as kernels read it."""

    walls: SegmentIndex
    map_of_world: Array
    """The number of the map of each world."""
    robots: RobotGrid
    shapes: Shapes


def make_raycast_scene(
    map: MapSet, robots: RobotGrid | None = None, shapes: Shapes | None = None
) -> RaycastScene:
    """The obstacles of all worlds and, if they are given, the robots.

    Args:
        map: The maps of all worlds.
        robots: The robots of all worlds, sorted into cells.
        shapes: The footprints of the robots.

    Returns:
        A scene that shares the memory of what is given.
    """
    robots = robots or make_robot_grid(0, len(map.of_world))
    return RaycastScene(map.index, map.of_world, robots, shapes or make_shapes([]))


def plain_arrays(scene: RaycastScene) -> SceneArrays:
    """The arrays of a scene without names: numba looks up the type of a plain tuple faster."""
    return tuple(scene.walls), scene.map_of_world, tuple(scene.robots), tuple(scene.shapes)


@inlined_kernel
def named_scene(arrays: SceneArrays) -> RaycastScene:
    """The scene of which `plain_arrays` gave the arrays."""
    walls, map_of_world, robots, shapes = arrays
    return RaycastScene(SegmentIndex(*walls), map_of_world, RobotGrid(*robots), Shapes(*shapes))


class RayCells(NamedTuple):
    """What a single ray reads of a segment index; kernels that are called often take no more."""

    ends: Array
    cells: Table
    segments: Array
    """Numbers of segments, cell by cell."""


# The walk through the cells of a grid.


class CellWalk(NamedTuple):
    """The cell that a ray is in, and the ranges at which it crosses borders of cells."""

    column: int  # −1 once the walk is over
    row: int
    next_x: float  # m, where it leaves the column
    next_y: float  # m, where it leaves the row
    across_x: float  # m, from column to column
    across_y: float  # m, from row to row
    end: float  # m, where it leaves the grid or reaches its longest range


@inlined_kernel
def slab(low: float, high: float, origin: float, slope: float) -> tuple[float, float]:
    """From which to which range a coordinate of a ray lies between two values."""
    if slope == 0.0:
        return (-math.inf, math.inf) if low <= origin <= high else (math.inf, -math.inf)
    a, b = (low - origin) / slope, (high - origin) / slope
    return (a, b) if a < b else (b, a)


@inlined_kernel
def borders(low: float, cell: float, k: int, origin: float, slope: float) -> tuple[float, float]:
    """The range at which a ray leaves column k, and the range from one border to the next."""
    if slope == 0.0:
        return math.inf, math.inf
    ahead = k + 1 if slope > 0.0 else k
    return (low + ahead * cell - origin) / slope, cell / abs(slope)


@inlined_kernel
def enter_grid(g: Row, ray: Ray, limit: float) -> CellWalk:
    """Begin the walk of a ray where it enters a grid, up to the inverse of the longest range."""
    x, y, c, s = ray
    x_in, x_out = slab(g.x, g.x + g.width * g.cell, x, c)
    y_in, y_out = slab(g.y, g.y + g.height * g.cell, y, s)
    start, end = max(0.0, x_in, y_in), min(1.0 / limit, x_out, y_out)
    if start > end:
        return CellWalk(-1, -1, 0.0, 0.0, 0.0, 0.0, end)
    column = min(max(math.floor((x + start * c - g.x) / g.cell), 0), g.width - 1)
    row = min(max(math.floor((y + start * s - g.y) / g.cell), 0), g.height - 1)
    next_x, across_x = borders(g.x, g.cell, column, x, c)
    next_y, across_y = borders(g.y, g.cell, row, y, s)
    return CellWalk(column, row, next_x, next_y, across_x, across_y, end)


@inlined_kernel
def next_cell(walk: CellWalk, ray: Ray, best: float) -> CellWalk:
    """The walk in the next cell; it is over if the best hit lies before that cell."""
    column, row, next_x, next_y, across_x, across_y, end = walk
    leaves = min(next_x, next_y)
    if best * leaves >= 1.0 or leaves > end:
        column = -1
    elif next_x < next_y:
        column += 1 if ray.cosine > 0.0 else -1
        next_x += across_x
    else:
        row += 1 if ray.sine > 0.0 else -1
        next_y += across_y
    return CellWalk(column, row, next_x, next_y, across_x, across_y, end)


@inlined_kernel
def is_in_grid(walk: CellWalk, g: Row) -> bool:
    """Whether the walk has not yet left the grid."""
    return bool(0 <= walk.column < g.width and 0 <= walk.row < g.height)


# Ranges.


@inlined_kernel
def segment_from(ends: Array, k: int, ray: Ray) -> Segment:
    """Segment k of the map, relative to the origin of a ray."""
    x, y = ray.x, ray.y
    return Segment(ends[k, 0] - x, ends[k, 1] - y, ends[k, 2] - x, ends[k, 3] - y)


@inlined_kernel
def nearer_segment(ends: Array, k: int, ray: Ray, best: float) -> float:
    """The larger of an inverse range and that of segment k."""
    v = intersect_ray_segment(segment_from(ends, k, ray), ray.cosine, ray.sine)
    return v if v > best else best


@kernel
def cast_ray_at_grid(walls: RayCells, g: Row, ray: Ray, limit: float) -> float:
    """The inverse range of a ray among the segments of a grid; the limit if it meets none."""
    best = limit
    walk = enter_grid(g, ray, limit)
    while is_in_grid(walk, g):
        cell = g.first + walk.row * g.width + walk.column
        for k in range(walls.cells[cell].first, walls.cells[cell + 1].first):
            best = nearer_segment(walls.ends, walls.segments[k], ray, best)
        walk = next_cell(walk, ray, best)
    return best


@inlined_kernel
def cast_ray_at_walls(scene: RaycastScene, world: int, ray: Ray, limit: float) -> float:
    """The inverse range at which a ray meets a wall of a world; the limit if there is none."""
    walls, entry = scene.walls, scene.walls.maps[scene.map_of_world[world]]
    if entry.ray_grid >= 0:
        ray_cells = RayCells(walls.ends, walls.cells, walls.ray_cells)
        return cast_ray_at_grid(ray_cells, walls.grids[entry.ray_grid], ray, limit)
    best = limit
    for k in range(entry.first, entry.first + entry.count):
        best = nearer_segment(walls.ends, k, ray, best)
    return best


@kernel
def cast_ray_at_robots(
    robots: RobotGrid, shapes: Shapes, g: Row, ray: Ray, own: int, limit: float
) -> float:
    """The inverse range at which a ray meets a robot other than the own row; the limit if none."""
    x, y, c, s = ray
    reach = 1.0 / limit
    best = limit
    left, right = cell_columns(g, x + 0.5 * reach * c, 0.5 * reach * abs(c) + g.reach)
    low, high = cell_rows(g, y + 0.5 * reach * s, 0.5 * reach * abs(s) + g.reach)
    if left > right:
        return best
    for row in range(low, high + 1):
        cell = g.first + row * g.width
        for k in range(robots.starts[cell + left], robots.starts[cell + right + 1]):
            b = robots.bodies[k]
            if b.row != own:
                v = intersect_ray_robot(b, shapes.table[b.footprint], shapes.corners, ray)
                best = v if v > best else best
    return best


@kernel
def scan_rays(scene: RaycastScene, rays: Array, owners: Array, limit: float, out: Array) -> None:
    """Write the ranges of single rays, m; inf where nothing is met.

    Args:
        scene: What rays can meet.
        rays: Origin x, y and direction as cosine, sine of each ray, (n, 4).
        owners: World and row of the robot that casts each ray, (n, 2); row −1 ignores robots.
        limit: The inverse of the longest range, 1/m.
        out: The ranges, (n,).
    """
    for i in range(len(rays)):
        ray = Ray(rays[i, 0], rays[i, 1], rays[i, 2], rays[i, 3])
        world, own = owners[i, 0], owners[i, 1]
        best = limit
        if own >= 0:
            grid = scene.robots.grids[world]
            best = cast_ray_at_robots(scene.robots, scene.shapes, grid, ray, own, best)
        best = cast_ray_at_walls(scene, world, ray, best)
        out[i] = 1.0 / best if best > limit else math.inf


# Ranges with the angle of incidence.


class Hit(NamedTuple):
    """An inverse range, 1/m, and the cosine of the angle between ray and surface normal."""

    nearness: float
    cosine: float


@inlined_kernel
def nearer_edge(edge: Segment, c: float, s: float, best: Hit) -> Hit:
    """The nearer of a hit and that of an edge, given relative to the origin of the ray."""
    v = intersect_ray_segment(edge, c, s)
    if v <= best.nearness:
        return best
    ex, ey = edge.bx - edge.ax, edge.by - edge.ay
    return Hit(v, abs(c * ey - s * ex) / math.sqrt(ex * ex + ey * ey))


@inlined_kernel
def nearer_wall(ends: Array, k: int, ray: Ray, best: Hit) -> Hit:
    """The nearer of a hit and that of segment k."""
    return nearer_edge(segment_from(ends, k, ray), ray.cosine, ray.sine, best)


@kernel
def nearer_body(b: Row, shape: Row, corners: Array, ray: Ray, best: Hit) -> Hit:
    """The nearer of a hit and that of the footprint of a body."""
    x, y, c, s = ray
    h = c * (b.middle_y - y) - s * (b.middle_x - x)
    square = b.radius * b.radius
    if h * h > square:
        return best
    if shape.count == 0:
        v = intersect_ray_circle(b.middle_x - x, b.middle_y - y, b.radius, c, s)
        return Hit(v, math.sqrt(1.0 - h * h / square)) if v > best.nearness else best
    px, py = corner_from(b, corners, shape.first + shape.count - 1, x, y)
    for k in range(shape.first, shape.first + shape.count):
        qx, qy = corner_from(b, corners, k, x, y)
        best = nearer_edge(Segment(px, py, qx, qy), c, s, best)
        px, py = qx, qy
    return best


@kernel
def hit_robots(robots: RobotGrid, shapes: Shapes, g: Row, ray: Ray, own: int, best: Hit) -> Hit:
    """The nearer of a hit and that of a robot other than the own row."""
    x, y, c, s = ray
    half = 0.5 / best.nearness
    left, right = cell_columns(g, x + half * c, half * abs(c) + g.reach)
    low, high = cell_rows(g, y + half * s, half * abs(s) + g.reach)
    if left > right:  # the ray lies beside the grid: there are no such cells
        return best
    for row in range(low, high + 1):
        cell = g.first + row * g.width
        for k in range(robots.starts[cell + left], robots.starts[cell + right + 1]):
            b = robots.bodies[k]
            if b.row != own:
                best = nearer_body(b, shapes.table[b.footprint], shapes.corners, ray, best)
    return best


@kernel
def hit_grid(walls: RayCells, g: Row, ray: Ray, best: Hit) -> Hit:
    """The nearer of a hit and that of a segment of a grid."""
    walk = enter_grid(g, ray, best.nearness)
    while is_in_grid(walk, g):
        cell = g.first + walk.row * g.width + walk.column
        for k in range(walls.cells[cell].first, walls.cells[cell + 1].first):
            best = nearer_wall(walls.ends, walls.segments[k], ray, best)
        walk = next_cell(walk, ray, best.nearness)
    return best


@inlined_kernel
def hit_walls(scene: RaycastScene, world: int, ray: Ray, best: Hit) -> Hit:
    """The nearer of a hit and that of a wall of a world."""
    walls, entry = scene.walls, scene.walls.maps[scene.map_of_world[world]]
    if entry.ray_grid >= 0:
        ray_cells = RayCells(walls.ends, walls.cells, walls.ray_cells)
        return hit_grid(ray_cells, walls.grids[entry.ray_grid], ray, best)
    for k in range(entry.first, entry.first + entry.count):
        best = nearer_wall(walls.ends, k, ray, best)
    return best


@kernel
def scan_hits(scene: RaycastScene, rays: Array, owners: Array, limit: float, out: Array) -> None:
    """Write the range, m, and the cosine of incidence of single rays; inf where nothing is met.

    Args:
        scene: What rays can meet.
        rays: Origin x, y and direction as cosine, sine of each ray, (n, 4).
        owners: World and row of the robot that casts each ray, (n, 2); row −1 ignores robots.
        limit: The inverse of the longest range, 1/m.
        out: Range and cosine, (n, 2).
    """
    for i in range(len(rays)):
        ray = Ray(rays[i, 0], rays[i, 1], rays[i, 2], rays[i, 3])
        world, own = owners[i, 0], owners[i, 1]
        best = Hit(limit, 0.0)
        if own >= 0:
            grid = scene.robots.grids[world]
            best = hit_robots(scene.robots, scene.shapes, grid, ray, own, best)
        best = hit_walls(scene, world, ray, best)
        out[i, 0] = 1.0 / best.nearness if best.nearness > limit else math.inf
        out[i, 1] = best.cosine
