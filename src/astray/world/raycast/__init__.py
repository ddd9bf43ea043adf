"""Exact ray casting: ray bundles and single rays against the segments of maps and robots."""

from astray.world.raycast.casting import SensorPose, cast_bundle, cast_bundles, cast_rays
from astray.world.raycast.intersection import Ray, intersect_ray_robot
from astray.world.raycast.ray_bundle import (
    MOST_RAYS,
    RayBundle,
    RayWorkspace,
    copy_workspace,
    make_ray_bundle,
)
from astray.world.raycast.single_ray import (
    RaycastScene,
    SceneArrays,
    cast_ray_at_walls,
    make_raycast_scene,
    named_scene,
    plain_arrays,
    scan_hits,
    scan_rays,
)

__all__ = [
    "MOST_RAYS",
    "Ray",
    "RayBundle",
    "RayWorkspace",
    "RaycastScene",
    "SceneArrays",
    "SensorPose",
    "cast_bundle",
    "cast_bundles",
    "cast_ray_at_walls",
    "cast_rays",
    "copy_workspace",
    "intersect_ray_robot",
    "make_ray_bundle",
    "make_raycast_scene",
    "named_scene",
    "plain_arrays",
    "scan_hits",
    "scan_rays",
]
