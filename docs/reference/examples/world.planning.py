import numpy as np

from astray.world.maps import read_map
from astray.world.planning import make_navigation_grid

goal = np.array([[2.0, 2.0]])  # m
grid = make_navigation_grid(read_map("office"), goal, cell=0.1, clearance=0.3, keep=0.3)
distance = grid.distance_to_goal(2.0, 2.0)  # m, of each cell; inf if no path leads to the goal
print(distance.shape, distance[np.isfinite(distance)].max())
