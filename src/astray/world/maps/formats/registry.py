"""The table of map file formats: detection, reading and writing.

To add a format, write a file beside this one with its reader (and writer), and add a row to
`FORMATS`; detection, reading and writing follow from it. The content decides which format a file
has, since suffixes may be wrong or missing; the suffix decides where the content does not.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from astray.errors import MapError
from astray.files import atomic_write, read_bounded
from astray.world.map import JSON_MAGIC, Map, map_from_json
from astray.world.maps.formats import aria, geojson, image, map_server
from astray.world.maps.formats.yaml_file import read_yaml_map

RESOLUTION = 0.05  # m per pixel


class MapFormat(NamedTuple):
    """A format of map files."""

    name: str
    suffixes: tuple[str, ...]
    """The usual suffixes of its files, lower case."""
    matches: Callable[[bytes], bool]
    """Whether the beginning of a file, without white space before it, is of this format."""
    read: Callable[[bytes, Path], Map]
    """Makes a map of the bytes of a file; the path is for errors and for files beside it."""
    write: Callable[[Map, Path, float], dict[Path, bytes]] | None = None
    """Makes the files of a map; the float is the resolution, m per pixel."""


def _read_unscaled_image(data: bytes, file: Path) -> Map:
    return image.read_image(data, file, None)


IMAGE = MapFormat("image", image.SUFFIXES, image.is_image, _read_unscaled_image)
RUN_MAP = MapFormat(
    "map of a run",
    (),
    lambda text: text.startswith(JSON_MAGIC),
    lambda data, file: map_from_json(data, str(file)),
)
GEOJSON = MapFormat(
    "GeoJSON",
    (".geojson", ".json"),
    geojson.is_geojson,
    geojson.read_geojson,
    geojson.geojson_files,
)
ARIA = MapFormat("ARIA map", (".map",), aria.is_aria, aria.read_aria, aria.aria_files)
YAML = MapFormat(
    "YAML",
    (".yaml", ".yml"),
    lambda text: b"\0" not in text and b":" in text,
    read_yaml_map,
    map_server.map_server_files,
)
FORMATS = (IMAGE, RUN_MAP, ARIA, GEOJSON, YAML)
"""In the order in which the content of a file is compared with them."""
SUFFIXES = tuple(suffix for format in FORMATS for suffix in format.suffixes)


def read_map_file(file: Path, scale: float | None = None) -> Map:
    """Read a map file of any format.

    Args:
        file: The file.
        scale: m per pixel, for images only.

    Returns:
        The map.

    Raises:
        MapError: The content is wrong.
        OSError: The file cannot be read.
    """
    data = read_bounded(file, MapError)
    format = detect_format(data, file)
    if format is IMAGE:
        return image.read_image(data, file, scale)
    if scale is not None:
        raise MapError(f"{file}: scale is for images; this is {format.name}")
    return format.read(data, file)


def detect_format(data: bytes, file: Path) -> MapFormat:
    """The format of a file, by its content and then by its suffix."""
    text = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        raise MapError(f"{file}: empty")
    by_suffix = next((f for f in FORMATS if file.suffix.lower() in f.suffixes), None)
    for format in FORMATS:
        # A mapping in braces is YAML, too, and most texts have the colon of YAML somewhere.
        is_doubtful = format is YAML or (format is GEOJSON and by_suffix is YAML)
        if not is_doubtful and format.matches(text):
            return format
    if by_suffix is not None:
        return by_suffix
    if YAML.matches(text):
        return YAML
    known = ", ".join(format.name for format in FORMATS)
    raise MapError(f"{file}: no map; these can be read: {known}")


def write_map(map: Map, file: str | os.PathLike[str], resolution: float = RESOLUTION) -> None:
    """Write a map in the format of the file's suffix.

    .geojson and .json keep everything exactly. .map, ARIA's, keeps lines in whole millimetres but
    not what is solid. .yaml and .yml, map_server's, make an image beside the file; they keep places
    but only the cells of obstacles.

    Args:
        map: The map.
        file: The file to write.
        resolution: m per pixel, for .yaml and .yml.

    Raises:
        MapError: There is no format of this suffix, or the file cannot be written.
    """
    destination = Path(file)
    suffix = destination.suffix.lower()
    format = next((f for f in FORMATS if f.write and suffix in f.suffixes), None)
    if format is None or format.write is None:
        writable = ", ".join(suffix for f in FORMATS if f.write for suffix in f.suffixes)
        raise MapError(f"{destination}: no format for {suffix!r} ({writable})")
    for path, data in format.write(map, destination, resolution).items():
        with atomic_write(path, MapError) as stream:
            stream.write(data)
