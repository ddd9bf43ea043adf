"""Maps: read from files, generated, described, written.

`read` turns any description into a map; `formats` has a file per file format, `generate` a file per
generator, each with a table in its `registry`.
"""

from astray.world.maps.describe import describe_map, format_description
from astray.world.maps.fields import shorten
from astray.world.maps.formats import detect_format, geojson_text, read_geojson, write_map
from astray.world.maps.generate import GENERATORS, parameter_names
from astray.world.maps.map_set import MapSet
from astray.world.maps.read import (
    FILE_KEYS,
    GENERATOR_KEYS,
    bundled_maps,
    check_spec,
    differs_per_world,
    read_map,
)

__all__ = [
    "FILE_KEYS",
    "GENERATORS",
    "GENERATOR_KEYS",
    "MapSet",
    "bundled_maps",
    "check_spec",
    "describe_map",
    "detect_format",
    "differs_per_world",
    "format_description",
    "geojson_text",
    "parameter_names",
    "read_geojson",
    "read_map",
    "shorten",
    "write_map",
]
