"""Maps of ROS's map_server: a YAML file that names an image and says what its pixels mean.

With p = (255 - v) / 255 for a pixel v, or v / 255 where `negate` is set, a cell is occupied where
p >= occupied_thresh, in the modes trinary and scale alike. What scale mode puts between free and
occupied is a chance, not a wall, and see-through pixels are unknown there. In raw mode a pixel is
an occupancy in per cent, whatever `negate` says: occupied from 100 occupied_thresh to 100, unknown
above. Unknown cells are no obstacles. `origin` is the pose of the lower left corner, its yaw
included.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from astray.errors import MapError, in_words
from astray.tables import Array
from astray.world.geometry import rasterise, trace_mask_contours
from astray.world.map import Map, Place
from astray.world.maps.faults import MapFaults, short
from astray.world.maps.formats.inline import parse_places
from astray.world.maps.formats.pixels import Picture, read_picture

MODES = ("trinary", "scale", "raw")
OCCUPIED_THRESHOLD = 0.65
OLD_WORDS = {"no": False, "off": False, "yes": True, "on": True}  # truths of YAML 1.1
FREE, OCCUPIED = 254, 0  # what the saver of map_server writes


def read_map_server(tree: Mapping[str, Any], file: Path, load: Any) -> Map:
    """The map of a YAML file that was read; `load(path)` gives the bytes of its image."""
    findings = MapFaults()
    findings.require(tree, "image resolution", ())
    picture_name = findings.word(tree.get("image", ""), ("image",))
    resolution = findings.number(tree.get("resolution", 1), ("resolution",), 0.0, 1000.0, True)
    x, y, yaw = _origin(tree.get("origin", (0.0, 0.0, 0.0)), findings)
    threshold = findings.number(
        tree.get("occupied_thresh", OCCUPIED_THRESHOLD), ("occupied_thresh",), 0.0, 1.0
    )
    findings.number(tree.get("free_thresh", 0.0), ("free_thresh",), 0.0, 1.0)
    negate = _flag(tree.get("negate", 0), findings)
    mode = findings.word(tree.get("mode", "trinary"), ("mode",)).lower()
    if mode not in MODES:
        findings.fault(("mode",), f"no mode {short(mode)} ({', '.join(MODES)})")
    places = parse_places(tree.get("places", []), findings)
    for path, message in findings.faults:
        raise MapError(": ".join(filter(None, (str(file), in_words(path), message))))
    image = file.parent / picture_name
    try:
        data = load(image)
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise MapError(f"{file}: image: {image}: {why}") from None
    mask = occupied(read_picture(data, str(image)), mode, negate, threshold)
    try:
        cells = trace_mask_contours(mask[::-1]) * resolution
    except MapError as problem:
        raise MapError(f"{image}: {problem}") from None
    s, c = math.sin(yaw), math.cos(yaw)
    ends = cells.reshape(-1, 2)
    turned = np.stack([x + c * ends[:, 0] - s * ends[:, 1], y + s * ends[:, 0] + c * ends[:, 1]], 1)
    return Map(turned.reshape(-1, 4), np.ones(len(cells), bool), places)


def _origin(value: object, findings: MapFaults) -> tuple[float, ...]:
    if isinstance(value, (list, tuple)) and len(value) == 2:  # old files leave the yaw out
        value = [*value, 0.0]
    return findings.numbers(value, ("origin",), "x y yaw")


def _flag(value: object, findings: MapFaults) -> bool:
    if value in (0, 1, True, False):  # an old YAML file says 0, a new one may say false
        return bool(value)
    if isinstance(value, str) and value.lower() in OLD_WORDS:
        return OLD_WORDS[value.lower()]
    findings.fault(("negate",), f"0 or 1 is needed, not {short(value)}")
    return False


def occupied(picture: Picture, mode: str, negate: bool, threshold: float) -> Array:
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


def map_server_files(found: Map, image: str, resolution: float) -> tuple[str, bytes]:
    """A map as the text of a YAML file and the bytes of the image that it names."""
    mask, (x, y) = rasterise(found, resolution)
    pixels = np.where(mask[::-1], OCCUPIED, FREE).astype(np.uint8)
    height, width = pixels.shape
    lines = [
        f"image: {_quoted(image)}",
        f"resolution: {resolution!r}",
        f"origin: [{x!r}, {y!r}, 0.0]",
        "negate: 0",
        "occupied_thresh: 0.65",
        "free_thresh: 0.196",
        "mode: trinary",
    ]
    if found.places:
        lines += ["places:", *map(_place_line, found.places)]
    return "\n".join(lines) + "\n", b"P5\n%d %d\n255\n" % (width, height) + pixels.tobytes()


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=True)


def _place_line(place: Place) -> str:
    keys = [f"kind: {_quoted(place.kind)}", f"name: {_quoted(place.name)}"]
    keys += [f"{key}: {_number(getattr(place, key))}" for key in ("x", "y", "yaw")]
    if place.points:
        pairs = ", ".join(f"[{_number(x)}, {_number(y)}]" for x, y in place.points)
        keys.append(f"points: [{pairs}]")
    return f"  - {{{', '.join(keys)}}}"


def _number(value: float) -> str:
    """A number that every YAML reader takes for one: it has a point."""
    mantissa, e, exponent = repr(float(value)).partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + e + exponent
