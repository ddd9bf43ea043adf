"""The world: obstacles as segments, rays that meet them, and maps that people have."""

from astray.world.map import Map, Place, block, merge, wall
from astray.world.map_data import (
    content_fault,
    content_file,
    content_of,
    is_content,
    labelled,
    labels_of,
    map_with,
)
from astray.world.maps import read_map, write_map
from astray.world.raycast import cast_rays

__all__ = [
    "Map",
    "Place",
    "block",
    "cast_rays",
    "content_fault",
    "content_file",
    "content_of",
    "is_content",
    "labelled",
    "labels_of",
    "map_with",
    "merge",
    "read_map",
    "wall",
    "write_map",
]
