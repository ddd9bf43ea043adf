"""Maps that are generated: rooms, forest, maze and warehouse, each a function of its seed."""

from astray.world.maps.generate.base import make
from astray.world.maps.generate.generators import (
    FEWEST_SEGMENTS,
    GENERATORS,
    MOST_SEGMENTS,
    parameters,
    parse_layout,
)

__all__ = ["FEWEST_SEGMENTS", "GENERATORS", "MOST_SEGMENTS", "make", "parameters", "parse_layout"]
