"""Maps of ROS's map_server: a YAML file that names an image and says what its pixels mean.

With p = (255 - v) / 255 for a pixel v, or v / 255 with `negate`, a cell is occupied where
p >= occupied_thresh, in the modes trinary and scale alike. What lies between free and occupied in
scale mode is a probability, not a wall; transparent pixels are unknown there. In raw mode a pixel
is an occupancy in per cent, whatever `negate` is: occupied from 100 occupied_thresh to 100, unknown
above. Unknown cells are no obstacles. `origin` is the pose [x, y, yaw] of the lower left corner.

See nav2_map_server, map_io.cpp.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from astray.errors import MapError
from astray.files import format_double, read_bounded
from astray.tables import Array
from astray.world.geometry import rasterise
from astray.world.map import Map, Place
from astray.world.maps.fields import FieldReader, shorten
from astray.world.maps.formats.image import Picture, read_picture, trace_pixels, warn_of_no_walls
from astray.world.maps.formats.inline import parse_places

MODES = ("trinary", "scale", "raw")
OCCUPIED_THRESHOLD = 0.65
YAML_1_1_BOOLEANS = {"no": False, "off": False, "yes": True, "on": True}
FREE, OCCUPIED = 254, 0  # the pixels that map_saver writes


def read_map_server(spec: Mapping[str, Any], file: Path) -> Map:
    """The map that a parsed YAML file describes; its image is found from the file's folder."""
    fields = FieldReader()
    fields.require(spec, "image resolution", ())
    image_name = fields.string(spec.get("image", ""), ("image",))
    resolution = fields.number(spec.get("resolution", 1), ("resolution",), 0.0, 1000.0, True)
    x, y, yaw = _origin(spec.get("origin", (0.0, 0.0, 0.0)), fields)
    threshold = fields.number(
        spec.get("occupied_thresh", OCCUPIED_THRESHOLD), ("occupied_thresh",), 0.0, 1.0
    )
    fields.number(spec.get("free_thresh", 0.0), ("free_thresh",), 0.0, 1.0)
    negate = _negate(spec.get("negate", 0), fields)
    mode = fields.string(spec.get("mode", "trinary"), ("mode",)).lower()
    if mode not in MODES:
        fields.fault(("mode",), f"unknown mode {shorten(mode)} ({', '.join(MODES)})")
    places = parse_places(spec.get("places", []), fields)
    fields.raise_first(file)
    image = file.parent / image_name
    try:
        data = read_bounded(image, MapError)
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise MapError(f"{file}: image: {image}: {why}") from None
    picture = read_picture(data, str(image))
    mask = occupied_pixels(picture, mode, negate, threshold)
    if not mask.any():
        side, end = (
            (picture.values.max(), "lightest") if negate else (picture.values.min(), "darkest")
        )
        grey = f"the {end} pixel is {side / picture.white:.0%} of white"
        warn_of_no_walls(
            file, f"occupied_thresh is {threshold:g}, negate {int(negate)}, and {grey}"
        )
    cells = trace_pixels(mask, str(image)) * resolution
    s, c = math.sin(yaw), math.cos(yaw)
    ends = cells.reshape(-1, 2)
    px, py = ends[:, 0], ends[:, 1]
    segments = np.stack([x + c * px - s * py, y + s * px + c * py], 1).reshape(-1, 4)
    return Map(segments, np.ones(len(segments), bool), places)


def _origin(value: object, fields: FieldReader) -> tuple[float, ...]:
    if isinstance(value, (list, tuple)) and len(value) == 2:  # old files leave the yaw out
        value = [*value, 0.0]
    return fields.numbers(value, ("origin",), "x y yaw")


def _negate(value: object, fields: FieldReader) -> bool:
    if value in (0, 1, True, False):  # an old YAML file says 0, a new one may say false
        return bool(value)
    if isinstance(value, str) and value.lower() in YAML_1_1_BOOLEANS:
        return YAML_1_1_BOOLEANS[value.lower()]
    fields.fault(("negate",), f"0 or 1 is needed, not {shorten(value)}")
    return False


def occupied_pixels(picture: Picture, mode: str, negate: bool, threshold: float) -> Array:
    """Which pixels are obstacles, top row first."""
    value = np.arange(picture.white + 1)
    if mode == "raw":
        percent = np.floor(value * 255 / picture.white + 0.5)
        wall = (percent >= 100.0 * threshold) & (percent <= 100)
    else:
        dark = value if negate else picture.white - value
        wall = dark >= threshold * picture.white
    mask: Array = wall[picture.values]
    if mode == "scale" and picture.opaque is not None:
        mask &= picture.opaque
    return mask


def map_server_files(map: Map, file: Path, resolution: float) -> dict[Path, bytes]:
    """A map as the image, of `resolution` m per pixel, and the YAML file of map_server."""
    try:
        mask, (x, y) = rasterise(map, resolution)
    except MapError as problem:
        raise MapError(f"{file}: {problem}") from None
    image = file.with_suffix(".pgm")
    pixels = np.where(mask[::-1], OCCUPIED, FREE).astype(np.uint8)
    height, width = pixels.shape
    lines = [
        f"image: {json.dumps(image.name)}",
        f"resolution: {resolution!r}",
        f"origin: [{x!r}, {y!r}, 0.0]",
        "negate: 0",
        "occupied_thresh: 0.65",
        "free_thresh: 0.196",
        "mode: trinary",
    ]
    if map.places:
        lines += ["places:", *(_place_line(place) for place in map.places)]
    header = b"P5\n%d %d\n255\n" % (width, height)
    return {image: header + pixels.tobytes(), file: ("\n".join(lines) + "\n").encode()}


def _place_line(place: Place) -> str:
    keys = [f"kind: {json.dumps(place.kind)}", f"name: {json.dumps(place.name)}"]
    keys += [f"{key}: {format_double(getattr(place, key))}" for key in ("x", "y", "yaw")]
    if place.points:
        pairs = ", ".join(f"[{format_double(x)}, {format_double(y)}]" for x, y in place.points)
        keys.append(f"points: [{pairs}]")
    return f"  - {{{', '.join(keys)}}}"
