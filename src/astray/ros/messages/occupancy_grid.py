"""Maps as ROS 2 has them: cells that are free or occupied."""

from __future__ import annotations

import math

import numpy as np

from astray.ros.messages.serializer import MessageLayout
from astray.world import Map
from astray.world.geometry import rasterise

RESOLUTION = 0.05  # m
MOST_CELLS = 4_000_000  # beyond it cells grow
OCCUPIED = np.int8(100)  # per cent
OCCUPANCY_GRID = "nav_msgs/msg/OccupancyGrid"


def make_occupancy_grid(found: Map, frame: str, seconds: float = 0.0) -> bytes:
    """The message of a map, as of a time; cells are coarser than usual if it is large."""
    resolution = resolution_for(found)
    cells, (x, y) = rasterise(found, resolution)
    rows, columns = cells.shape
    layout = MessageLayout(OCCUPANCY_GRID, {"data": cells.size}, {"header.frame_id": frame})
    out = layout.blank(1)
    ns = round(seconds * 1e9)
    for path in ("header.stamp", "info.map_load_time"):
        out[f"{path}.sec"], out[f"{path}.nanosec"] = divmod(ns, 1_000_000_000)
    out["info.resolution"], out["info.width"], out["info.height"] = resolution, columns, rows
    out["info.origin.position.x"], out["info.origin.position.y"] = x, y
    out["info.origin.orientation.w"] = 1.0
    out["data"] = (cells.astype(np.int8) * OCCUPIED).reshape(1, -1)
    return bytes(out.tobytes())


def resolution_for(found: Map) -> float:
    """The usual length of a cell, or twice, four times … that, so that there are not too many."""
    west, south, east, north = found.bounds
    area = max(east - west, RESOLUTION) * max(north - south, RESOLUTION)
    return RESOLUTION * 2.0 ** max(0, math.ceil(0.5 * math.log2(area / RESOLUTION**2 / MOST_CELLS)))
