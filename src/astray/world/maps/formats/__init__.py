"""The formats of map files: a file per format, and their table in `registry`."""

from astray.world.maps.formats.geojson import geojson_text, read_geojson
from astray.world.maps.formats.inline import SHAPE_KEYS, parse_inline
from astray.world.maps.formats.registry import (
    FORMATS,
    SUFFIXES,
    MapFormat,
    detect_format,
    read_map_file,
    write_map,
)

__all__ = [
    "FORMATS",
    "SHAPE_KEYS",
    "SUFFIXES",
    "MapFormat",
    "detect_format",
    "geojson_text",
    "parse_inline",
    "read_geojson",
    "read_map_file",
    "write_map",
]
