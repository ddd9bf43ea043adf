"""Exact rays against the segments of a map and against robots."""

from astray.world.raycast.casting import (
    RaycastScene,
    cast_bundle,
    cast_bundles,
    cast_rays,
    make_raycast_scene,
    scan_rays,
)
from astray.world.raycast.hits import scan_hits
from astray.world.raycast.ray_bundle import (
    MOST_RAYS,
    RayBundle,
    RayWorkspace,
    copy_workspace,
    make_ray_bundle,
)
from astray.world.raycast.robots import intersect_ray_robot
from astray.world.raycast.single_ray import Ray, cast_at, cast_cells_along

__all__ = [
    "MOST_RAYS",
    "Ray",
    "RayBundle",
    "RayWorkspace",
    "RaycastScene",
    "cast_at",
    "cast_bundle",
    "cast_bundles",
    "cast_cells_along",
    "cast_rays",
    "copy_workspace",
    "intersect_ray_robot",
    "make_ray_bundle",
    "make_raycast_scene",
    "scan_hits",
    "scan_rays",
]
