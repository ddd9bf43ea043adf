"""Planning on a map: navigation functions, likelihood fields, free positions."""

from astray.world.planning.free_space import TakenPositions, sample_free_positions
from astray.world.planning.likelihood_field import (
    DISTANCE_STEP,
    FLOOR,
    MAX_STEPS,
    LikelihoodFieldArrays,
    LikelihoodFieldCache,
)
from astray.world.planning.navigation_function import (
    NAVIGATION_FIELD,
    NavigationGrid,
    descend,
    make_navigation_grid,
    value_and_gradient,
)

__all__ = [
    "DISTANCE_STEP",
    "FLOOR",
    "MAX_STEPS",
    "NAVIGATION_FIELD",
    "LikelihoodFieldArrays",
    "LikelihoodFieldCache",
    "NavigationGrid",
    "TakenPositions",
    "descend",
    "make_navigation_grid",
    "sample_free_positions",
    "value_and_gradient",
]
