"""Which format a file has, by its content first: suffixes lie, and may be missing."""

from __future__ import annotations

from pathlib import Path

from astray.errors import MapError, in_words
from astray.world.map import Map
from astray.world.map_data import HEAD, map_from_json
from astray.world.maps.faults import MapFaults
from astray.world.maps.formats.aria import MAGIC, read_aria
from astray.world.maps.formats.geojson import read_geojson
from astray.world.maps.formats.image import read_image
from astray.world.maps.formats.inline import KEYS, parse_inline
from astray.world.maps.formats.map_server import read_map_server
from astray.world.maps.formats.pixels import is_image
from astray.world.maps.formats.yaml_map import read_yaml_tree

MOST_BYTES = 1 << 29
BY_SUFFIX = {
    ".geojson": "GeoJSON",
    ".json": "GeoJSON",
    ".map": "ARIA map",
    ".yaml": "YAML",
    ".yml": "YAML",
    **dict.fromkeys((".png", ".pgm", ".bmp", ".jpg", ".jpeg", ".ppm", ".pbm"), "image"),
}
SUFFIXES = tuple(BY_SUFFIX)


def read_file(file: Path, scale: float | None = None) -> Map:
    """Read a map file of any format; `scale` m per pixel is for images. It may raise OSError."""
    data = read_bytes(file)
    kind = format_of(data, file)
    if scale is not None and kind != "image":
        raise MapError(f"{file}: scale is for images; this is {kind}")
    if kind == "image":
        return read_image(data, str(file), scale)
    if kind == "ARIA map":
        return read_aria(data, str(file))
    if kind == "GeoJSON":
        return read_geojson(data, str(file))
    if kind == "map of a run":
        return map_from_json(data, str(file))
    return _read_yaml(data, file)


def read_bytes(file: Path) -> bytes:
    """The content of a file, unless it is absurdly large."""
    with file.open("rb") as stream:
        data = stream.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise MapError(f"{file}: larger than {MOST_BYTES >> 20} MiB")
    return data


def format_of(data: bytes, file: Path) -> str:
    """GeoJSON, ARIA map, YAML, image, or the map of a run that astray wrote."""
    begin = data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()
    by_suffix = BY_SUFFIX.get(file.suffix.lower())
    if not begin:
        raise MapError(f"{file}: empty")
    if is_image(data):
        return "image"
    if begin.startswith(MAGIC.encode()):
        return "ARIA map"
    if begin.startswith(HEAD):
        return "map of a run"
    if begin.startswith((b"{", b"[")) and by_suffix != "YAML":
        return "GeoJSON"
    if by_suffix:
        return by_suffix
    if b"\0" not in begin and b":" in begin:
        return "YAML"
    raise MapError(f"{file}: no map; GeoJSON, ARIA .map, map_server .yaml and images can be read")


def _read_yaml(data: bytes, file: Path) -> Map:
    """The map of a YAML file: map_server's, which names an image, or one that is written there."""
    tree = read_yaml_tree(data, str(file))
    if "image" in tree:
        return read_map_server(tree, file, read_bytes)
    findings = MapFaults()
    if not any(key in tree for key in KEYS):
        findings.fault((), f"needs 'image', as map_server has it, or one of {', '.join(KEYS)}")
    findings.refuse_unknown(tree, KEYS)
    made = parse_inline(tree, findings)
    for path, message in findings.faults:
        raise MapError(": ".join(filter(None, (str(file), in_words(path), message))))
    return made
