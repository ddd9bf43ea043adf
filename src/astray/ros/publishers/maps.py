"""The maps of a run as topics: one for each world, told to whoever comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from astray.engine import Run
from astray.ros.messages import make_occupancy_grid
from astray.ros.names import MAP, robots_of, world_frame

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class MapTopic:
    """The map of one world: its topic and the frame that it is in."""

    name: str
    frame: str
    world: int

    def message(self, sim: Run) -> bytes:
        """The map as it is now; to be asked for in the thread of the run."""
        return make_occupancy_grid(sim.map(self.world), self.frame, sim.time)


def map_topics(sim: Run) -> list[MapTopic]:
    """The maps of all worlds that have one."""
    found: dict[int, MapTopic] = {}
    for robots in robots_of(sim).values():
        for robot in robots:
            frame = world_frame(robot, MAP)
            if robot.world not in found and len(sim.map(robot.world)):
                found[robot.world] = MapTopic(f"/{frame}", frame, robot.world)
    return list(found.values())
