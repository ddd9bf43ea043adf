"""A plain image as a map: dark is occupied, and the lower left corner is the origin."""

from __future__ import annotations

import numpy as np

from astray.errors import MapError
from astray.world.geometry import trace_mask_contours
from astray.world.map import Map
from astray.world.maps.formats.pixels import read_picture

DARK = 0.5  # of white: a pixel below is an obstacle


def read_image(data: bytes, file: str, scale: float | None) -> Map:
    """The obstacles of an image of `scale` m per pixel; what is see-through is free."""
    if scale is None:
        raise MapError(f"{file}: an image needs a scale in m per pixel")
    picture = read_picture(data, file)
    mask = picture.values < DARK * picture.white
    if picture.opaque is not None:
        mask &= picture.opaque
    try:
        segments = trace_mask_contours(mask[::-1]) * scale
    except MapError as problem:
        raise MapError(f"{file}: {problem}") from None
    return Map(segments, np.ones(len(segments), bool))
