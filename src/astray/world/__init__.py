"""The world: obstacles as segments, ray casting, planning, and map files of other programs."""

from astray.world.georeference import Georeference
from astray.world.map import (
    Map,
    Place,
    block,
    is_map_dict,
    map_dict_fault,
    map_from_dict,
    map_labels,
    map_to_dict,
    map_to_json,
    map_with_labels,
    merge,
    wall,
)
from astray.world.maps import read_map, write_map
from astray.world.raycast import cast_rays

__all__ = [
    "Georeference",
    "Map",
    "Place",
    "block",
    "cast_rays",
    "is_map_dict",
    "map_dict_fault",
    "map_from_dict",
    "map_labels",
    "map_to_dict",
    "map_to_json",
    "map_with_labels",
    "merge",
    "read_map",
    "wall",
    "write_map",
]
