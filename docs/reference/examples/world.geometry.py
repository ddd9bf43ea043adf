from astray.world.geometry import Footprint, rasterise
from astray.world.maps import read_map

box = Footprint.box(length=0.6, width=0.4)  # m
print(f"{box.reach:.2f} m to the farthest corner", box.outline().shape)

cells, corner = rasterise(read_map("office"), 0.1)  # true where a cell of 0.1 m is occupied
print(cells.shape, cells.mean(), corner)
