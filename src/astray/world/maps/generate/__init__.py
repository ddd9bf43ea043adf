"""Generated maps, each a function of its seed: a file per generator, a table in `registry`."""

from astray.world.maps.generate.registry import (
    GENERATORS,
    MAX_REQUEST,
    MIN_REQUEST,
    generate,
    parameter_names,
    parse_layout,
)

__all__ = [
    "GENERATORS",
    "MAX_REQUEST",
    "MIN_REQUEST",
    "generate",
    "parameter_names",
    "parse_layout",
]
