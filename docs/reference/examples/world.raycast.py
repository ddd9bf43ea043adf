from astray.world.maps import read_map
from astray.world.raycast import cast_rays

poses = [[2.0, 2.0, 0.0], [4.0, 4.0, 1.57]]  # x, y in m, yaw in rad
print(cast_rays(read_map("office"), poses, rays=8, max_range=10.0).shape)  # (2, 8), m
