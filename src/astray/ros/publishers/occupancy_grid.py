"""nav_msgs/OccupancyGrid: the map of each world as cells that are free or occupied."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from astray.engine import Run
from astray.ros.messages import MessageLayout
from astray.ros.names import MAP_FRAME, robots_of, world_frame
from astray.world import Map
from astray.world.geometry import rasterise

OCCUPANCY_GRID = "nav_msgs/msg/OccupancyGrid"
RESOLUTION = 0.05  # m per cell
MAX_CELLS = 4_000_000  # beyond it cells are larger
OCCUPIED = np.int8(100)  # per cent


@dataclass(frozen=True)
class MapTopic:
    """The topic of the map of one world."""

    name: str
    frame: str
    """The frame that the map is in."""
    world: int

    def message(self, sim: Run) -> bytes:
        """The map as it is now; to be called in the thread of the run."""
        return make_occupancy_grid(sim.map(self.world), self.frame, sim.time)


def map_topics(sim: Run) -> list[MapTopic]:
    """The maps of all worlds that have one."""
    found: dict[int, MapTopic] = {}
    for robots in robots_of(sim).values():
        for robot in robots:
            frame = world_frame(robot, MAP_FRAME)
            if robot.world not in found and len(sim.map(robot.world)):
                found[robot.world] = MapTopic(f"/{frame}", frame, robot.world)
    return list(found.values())


def make_occupancy_grid(world_map: Map, frame: str, seconds: float = 0.0) -> bytes:
    """The message of a map.

    Args:
        world_map: The map.
        frame: The frame that it is in.
        seconds: The time of the message, s.

    Returns:
        CDR bytes. Cells are 5 cm wide, or wider if the map is large.
    """
    resolution = cell_size(world_map)
    cells, (x, y) = rasterise(world_map, resolution)
    rows, columns = cells.shape
    layout = MessageLayout(OCCUPANCY_GRID, {"data": cells.size}, {"header.frame_id": frame})
    out = layout.zeros(1)
    ns = round(seconds * 1e9)
    for path in ("header.stamp", "info.map_load_time"):
        out[f"{path}.sec"], out[f"{path}.nanosec"] = divmod(ns, 1_000_000_000)
    out["info.resolution"], out["info.width"], out["info.height"] = resolution, columns, rows
    out["info.origin.position.x"], out["info.origin.position.y"] = x, y
    out["info.origin.orientation.w"] = 1.0
    out["data"] = (cells.astype(np.int8) * OCCUPIED).reshape(1, -1)
    return bytes(out.tobytes())


def cell_size(world_map: Map) -> float:
    """RESOLUTION, doubled until the map has at most MAX_CELLS, m."""
    west, south, east, north = world_map.bounds
    area = max(east - west, RESOLUTION) * max(north - south, RESOLUTION)
    return RESOLUTION * 2.0 ** max(0, math.ceil(0.5 * math.log2(area / RESOLUTION**2 / MAX_CELLS)))
