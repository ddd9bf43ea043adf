"""The formats of map files, a module per format."""

from astray.world.maps.formats.aria import aria_text
from astray.world.maps.formats.detect import SUFFIXES, format_of, read_bytes, read_file
from astray.world.maps.formats.geojson import read_geojson
from astray.world.maps.formats.inline import parse_inline
from astray.world.maps.formats.map_server import map_server_files
from astray.world.maps.formats.schema import FILE, MADE, check_spec, per_world

__all__ = [
    "FILE",
    "MADE",
    "SUFFIXES",
    "aria_text",
    "check_spec",
    "format_of",
    "map_server_files",
    "parse_inline",
    "per_world",
    "read_bytes",
    "read_file",
    "read_geojson",
]
