"""Cluttered maps, and all ways to cast rays in them."""

from __future__ import annotations

import math

import numpy as np

from astray.tables import Array
from astray.world import Map
from astray.world.geometry.segment_index import build_segment_index
from astray.world.maps.map_set import MapSet
from astray.world.raycast.casting import cast_bundles, make_raycast_scene, scan_rays
from astray.world.raycast.ray_bundle import make_ray_bundle, ray_in_map

TAU = 2.0 * math.pi


def directions(pose: Array, rays: int, start: float, step: float) -> Array:
    """Cosine and sine of the rays of one fan, as the fan itself turns them, (2, rays)."""
    board, f = make_ray_bundle(rays, start, step, 1.0)
    map_ = Map()
    where = np.array([[*pose, 0.0, -1.0]])
    cast_bundles(
        board, f, make_raycast_scene(MapSet([map_])), where, np.arange(1), np.empty((1, rays))
    )
    return np.array([ray_in_map(board[0], k) for k in range(rays)]).T


def clutter(segments: int, seed: int, extent: float = 10.0, longest: float = 3.0) -> Map:
    rng = np.random.default_rng(seed)
    a = rng.uniform(-extent, extent, (segments, 2))
    along, length = rng.uniform(0.0, TAU, segments), rng.uniform(1e-3, longest, segments)
    b = a + length[:, None] * np.stack([np.cos(along), np.sin(along)], axis=1)
    return Map(np.hstack([a, b]), np.zeros(segments, bool))


def kernels(map_: Map, poses: Array, rays: int, far: float) -> dict[str, Array]:
    """The same scans by every kernel: as chosen, without a grid, by spans, and ray by ray."""
    step = TAU / rays
    board, f = make_ray_bundle(rays, 0.0, step, far)
    where = np.hstack([poses, np.zeros((len(poses), 1)), -np.ones((len(poses), 1))])
    rows = np.arange(len(poses))
    view = make_raycast_scene(MapSet([map_]))
    found = {}
    for name, density in (("spans", 0.0), ("by ray", 1e12)):
        plans = view.plans.copy()
        plans["density"] = density
        found[name] = np.empty((len(poses), rays))
        cast_bundles(board, f, view._replace(plans=plans), where, rows, found[name])
    plain = build_segment_index([map_]).plans.copy()
    plain["grids"] = 0
    found["all segments"] = np.empty((len(poses), rays))
    cast_bundles(board, f, view._replace(plans=plain), where, rows, found["all segments"])
    single = np.empty((len(poses) * rays, 4))
    for k, pose in enumerate(poses):
        d = directions(pose, rays, 0.0, step)
        single[k * rays : (k + 1) * rays] = np.vstack([np.repeat(pose[:2, None], rays, 1), d]).T
    found["single rays"] = np.empty(len(single))
    who = np.tile(np.array([0, -1]), (len(single), 1))
    scan_rays(view, single, who, 1.0 / far, found["single rays"])
    found["single rays"] = found["single rays"].reshape(len(poses), rays)
    return found
