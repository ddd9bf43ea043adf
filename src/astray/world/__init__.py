"""The world: obstacles as segments, rays that meet them, and maps that people have."""

from astray.world.map import Map as Map
from astray.world.map import Place as Place
from astray.world.map import block as block
from astray.world.map import merge as merge
from astray.world.map import wall as wall
from astray.world.maps.read import read_map as read_map
from astray.world.maps.write import write_map as write_map
from astray.world.raycast.cast_rays import cast_rays as cast_rays
