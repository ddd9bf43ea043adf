"""Starts in a wall, in something solid, or outside of the map: most are slips of the pen.

They are warned of, not refused: a robot may be placed on a wall, and drives out of it. What is
checked is the nominal pose of each robot, before spread and distributions; a start with a clearance
is free by itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from astray.errors import Fault, Path, ScenarioWarning, WrongInput, format_path
from astray.files import Marked
from astray.plugin import nominal
from astray.scenario.scenario import GroupPlan, Scenario
from astray.scenario.start import Start, find_place
from astray.tables import Array
from astray.world import Map
from astray.world.geometry import Footprint
from astray.world.maps import differs_per_world

MAX_CHECKED = 100  # robots of a group: those after them stand in the same row
MOST = 0.8  # of a side of the map, with walls along it: doors are left open
TOUCHING = 1e-6  # m by which a footprint may reach into a wall that it stands beside


def warn_of_blocked_starts(scenario: Scenario, tree: Marked) -> None:
    """Warn of each group that starts in a wall or outside of the map, with name and line."""
    if not scenario.interactions:
        return  # nothing stops them
    map = _map_of(scenario)
    if map is None or not len(map):
        return
    for k, plan in enumerate(scenario.robots):
        for message in _blocked(plan, map):
            path: Path = ("robots", k, "start")
            fault = Fault(tree.nearest(path), format_path(path), message)
            warnings.warn(str(fault), ScenarioWarning, stacklevel=2)


def _map_of(scenario: Scenario) -> Map | None:
    """The map of all worlds; None if there is none, or another in each."""
    if scenario.map is None or differs_per_world(scenario.map.spec):
        return None
    try:
        return scenario.map.maps(np.zeros(1, np.int64), scenario.seed)[0]
    except WrongInput:
        return None  # it cannot be generated, which the run will say


def _blocked(plan: GroupPlan, map: Map) -> Iterator[str]:
    """What is wrong with the first start of a group that is blocked."""
    if plan.start.clearance is not None:
        return
    for number, pose in enumerate(nominal_poses(plan.start, min(plan.count, MAX_CHECKED), map)):
        what = blocked_by(plan.footprint, pose, map)
        if what:
            name = plan.name if plan.count == 1 else f"{plan.name} {number}"
            x, y = pose[:2]
            advice = "clearance: 0.3 finds a free position"
            yield f"{name} starts {what}, at x {x:.4g}, y {y:.4g}; {advice}"
            return


def nominal_poses(start: Start, count: int, map: Map) -> Array:
    """The poses of the first robots before anything is drawn, (count, 3) m, m, rad."""
    pose = np.array([float(nominal(getattr(start, name))) for name in ("x", "y", "yaw")])
    poses = np.tile(pose, (count, 1))
    poses[:, :2] += np.outer(np.arange(count), start.step)
    if start.place:
        place = find_place(map, start.place)
        s, c = np.sin(place.yaw), np.cos(place.yaw)
        x, y = poses[:, 0].copy(), poses[:, 1].copy()
        poses[:, 0], poses[:, 1] = place.x + c * x - s * y, place.y + s * x + c * y
        poses[:, 2] += place.yaw
    return poses if np.any(start.step) else poses[:1]


def blocked_by(footprint: Footprint, pose: Array, map: Map) -> str:
    """What a robot stands in.

    Args:
        footprint: The footprint of the robot.
        pose: x, y in m and yaw in rad, (3,).
        map: The map.

    Returns:
        "in a wall", "inside a solid object", "outside the map"; empty if it stands free.
    """
    x, y, yaw = pose
    s, c = np.sin(yaw), np.cos(yaw)
    rotation = np.array([[c, s], [-s, c]])
    ends = (map.segments.reshape(-1, 2) - (x, y)) @ rotation.T  # in the body frame
    segments = ends.reshape(-1, 4)
    if _touches_wall(footprint, segments):
        return "in a wall"
    if _is_inside(segments[map.solid], np.array(footprint.inner)):
        return "inside a solid object"
    west, south, east, north = map.bounds
    if not (west <= x <= east and south <= y <= north) and _encloses_space(map):
        return "outside the map"
    return ""


def _touches_wall(footprint: Footprint, segments: Array) -> bool:
    """Whether a footprint reaches into a segment of its body frame."""
    a, b = segments[:, :2] - (footprint.x, footprint.y), segments[:, 2:] - segments[:, :2]
    t = np.clip(-(a * b).sum(axis=1) / (b * b).sum(axis=1), 0.0, 1.0)
    nearest = a + t[:, None] * b
    distance = np.sqrt((nearest * nearest).sum(axis=1))
    near = segments[distance < footprint.radius - TOUCHING]  # of its bounding circle
    if not footprint.corners or not len(near):
        return bool(len(near))
    ring = np.array(footprint.corners)
    # Shrunk a little, so that a wall along an edge does not count.
    inner = np.array(footprint.inner)
    ring = inner + (ring - inner) * (1.0 - TOUCHING / footprint.radius)
    edges = np.hstack([ring, np.roll(ring, -1, axis=0)])
    crossed = any(_cross(edge, near).any() for edge in edges)
    return crossed or any(_is_inside(edges, point) for point in near[:, :2])


def _cross(edge: Array, segments: Array) -> Array:
    """Whether an edge crosses each segment, (n,)."""

    def side(a: Array, b: Array, p: Array) -> Array:
        u, v = b - a, p - a
        return np.asarray(np.sign(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]))

    a, b, p, q = edge[:2], edge[2:], segments[:, :2], segments[:, 2:]
    return np.asarray((side(a, b, p) != side(a, b, q)) & (side(p, q, a) != side(p, q, b)))


def _is_inside(rings: Array, point: Array) -> bool:
    """Whether the rings of some segments wind around a point."""
    x1, y1, x2, y2 = (rings - np.tile(point, 2)).T
    right = x1 * y2 - x2 * y1
    up, down = (y1 <= 0.0) & (y2 > 0.0) & (right > 0.0), (y1 > 0.0) & (y2 <= 0.0) & (right < 0.0)
    return bool(up.sum() != down.sum())


def _encloses_space(map: Map) -> bool:
    """Whether there is an inside: free space within a solid, a closed line of walls, or a frame."""
    segments = map.segments
    first = np.ones(len(segments), bool)  # of a ring or a line
    first[1:] = (segments[1:, :2] != segments[:-1, 2:]).any(axis=1)
    starts = np.flatnonzero(first)
    x1, y1, x2, y2 = (segments - np.tile(segments[0, :2], 2)).T
    area = np.add.reduceat(x1 * y2 - x2 * y1, starts)
    ends = np.append(starts[1:], len(segments)) - 1
    closed = (segments[ends, 2:] == segments[starts, :2]).all(axis=1)
    holes = map.solid[starts] & (area < 0.0)
    loops = ~map.solid[starts] & closed & (ends > starts + 1)
    return bool((holes | loops).any()) or _is_framed(segments[~map.solid], map)


def _is_framed(walls: Array, map: Map) -> bool:
    """Whether walls stand along most of each side of the map's bounding box."""
    for axis, low, high in ((0, 0, 2), (1, 1, 3)):
        across = 1 - axis
        size = map.bounds[2 + across] - map.bounds[across]
        lengths = np.abs(walls[:, 2 + across] - walls[:, across])
        for side in (map.bounds[low], map.bounds[high]):
            along = (walls[:, [axis, 2 + axis]] == side).all(axis=1)
            if not lengths[along].sum() > MOST * size:
                return False
    return True
