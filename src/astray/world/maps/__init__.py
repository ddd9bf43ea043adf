"""Maps: read from files, generated, described, written."""

from astray.world.maps.describe import describe_map, format_description
from astray.world.maps.faults import short
from astray.world.maps.map_set import MapSet
from astray.world.maps.read import bundled_maps, check_spec, per_world, read_map
from astray.world.maps.write import geojson_text, write_map

__all__ = [
    "MapSet",
    "bundled_maps",
    "check_spec",
    "describe_map",
    "format_description",
    "geojson_text",
    "per_world",
    "read_map",
    "short",
    "write_map",
]
