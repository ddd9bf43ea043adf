"""Cluttered maps, and all ways to cast rays in them."""

from __future__ import annotations

import math

import numpy as np

from astray.tables import Array
from astray.world import Map
from astray.world.maps.map_set import MapSet
from astray.world.raycast.casting import cast_bundles
from astray.world.raycast.ray_bundle import make_ray_bundle, ray_in_map
from astray.world.raycast.single_ray import make_raycast_scene, scan_rays

TAU = 2.0 * math.pi


def directions(pose: Array, rays: int, start: float, step: float) -> Array:
    """Cosine and sine of the rays of one bundle, as the bundle itself turns them, (2, rays)."""
    workspace, bundle = make_ray_bundle(rays, start, step, 1.0)
    scene, poses = make_raycast_scene(MapSet([Map()])), np.array([[*pose, 0.0, -1.0]])
    cast_bundles(workspace, bundle, scene, poses, np.arange(1), np.empty((1, rays)))
    return np.array([ray_in_map(workspace.values, k) for k in range(rays)]).T


def clutter(segments: int, seed: int, extent: float = 10.0, longest: float = 3.0) -> Map:
    rng = np.random.default_rng(seed)
    a = rng.uniform(-extent, extent, (segments, 2))
    along, length = rng.uniform(0.0, TAU, segments), rng.uniform(1e-3, longest, segments)
    b = a + length[:, None] * np.stack([np.cos(along), np.sin(along)], axis=1)
    return Map(np.hstack([a, b]), np.zeros(segments, bool))


def kernels(map_: Map, poses: Array, rays: int, far: float) -> dict[str, Array]:
    """The same scans by every kernel: as chosen, without a grid, by intervals, and ray by ray."""
    step = TAU / rays
    workspace, bundle = make_ray_bundle(rays, 0.0, step, far)
    where = np.hstack([poses, np.zeros((len(poses), 1)), -np.ones((len(poses), 1))])
    rows = np.arange(len(poses))
    scene = make_raycast_scene(MapSet([map_]))
    found = {}

    def cast(name: str, maps: Array) -> None:
        changed = scene._replace(walls=scene.walls._replace(maps=maps))
        found[name] = np.empty((len(poses), rays))
        cast_bundles(workspace, bundle, changed, where, rows, found[name])

    for name, density in (("intervals", 0.0), ("by ray", 1e12)):
        maps = scene.walls.maps.copy()
        maps["density"] = density
        cast(name, maps)
    plain = scene.walls.maps.copy()
    plain["grids"] = 0
    cast("all segments", plain)
    single = np.empty((len(poses) * rays, 4))
    for k, pose in enumerate(poses):
        d = directions(pose, rays, 0.0, step)
        single[k * rays : (k + 1) * rays] = np.vstack([np.repeat(pose[:2, None], rays, 1), d]).T
    found["single rays"] = np.empty(len(single))
    owners = np.tile(np.array([0, -1]), (len(single), 1))
    scan_rays(scene, single, owners, 1.0 / far, found["single rays"])
    found["single rays"] = found["single rays"].reshape(len(poses), rays)
    return found
