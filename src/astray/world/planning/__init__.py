"""What planners ask of a map: free space, navigation functions, likelihood fields."""

from astray.world.planning.free_space import TakenSpots, sample_free_spots
from astray.world.planning.likelihood_field import FAR, FLOOR, STEP, LikelihoodFields, Likelihoods
from astray.world.planning.navigation_function import (
    FIELD,
    NavigationGrid,
    descend,
    make_navigation_grid,
    slope,
)

__all__ = [
    "FAR",
    "FIELD",
    "FLOOR",
    "STEP",
    "LikelihoodFields",
    "Likelihoods",
    "NavigationGrid",
    "TakenSpots",
    "descend",
    "make_navigation_grid",
    "sample_free_spots",
    "slope",
]
