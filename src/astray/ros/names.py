"""The names of topics and frames: the usual ones of ROS 2, with a namespace for each robot.

A single robot has `/scan` and `base_link`; of several, each has `/rover_0/scan` and
`rover_0/base_link`. With several worlds the world comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from astray.engine import Robots, Run

MAP_FRAME, ODOM_FRAME, BASE_FRAME = "map", "odom", "base_link"  # REP 105
WORLD_FRAME, TRUTH_FRAME = "world", "base_link_truth"


@dataclass(frozen=True)
class RosRobot:
    """A row of a group, as ROS 2 names it."""

    group: str
    row: int
    world: int
    number: int
    name: str
    """`rover`, or `rover_3` if the group has several robots."""
    namespace: str
    """The namespace of its topics: "" or `/rover_3`."""

    def topic(self, name: str) -> str:
        """The full name of one of its topics; a name that begins with a slash is full already."""
        return name if name.startswith("/") else f"{self.namespace}/{name}"

    def frame(self, name: str) -> str:
        """The full name of one of its frames."""
        return f"{self.namespace[1:]}/{name}" if self.namespace else name


def robots_of(sim: Run) -> dict[str, list[RosRobot]]:
    """All robots of a run by group and row, also those that are not alive."""
    has_several, has_worlds = len(sim.truth) > 1, len(sim.worlds) > 1
    return {
        name: _robots_of_group(group, has_several, has_worlds) for name, group in sim.robots.items()
    }


def _robots_of_group(group: Robots, has_several: bool, has_worlds: bool) -> list[RosRobot]:
    robots = []
    for row, state in enumerate(group.truth):
        number, world = int(state["robot"]), int(state["world"])
        name = ros_name(group.name)
        if group.plan.capacity > 1:
            name += f"_{number}"
        prefix = f"/world_{world}" if has_worlds else ""
        namespace = f"{prefix}/{name}" if has_several else ""
        robots.append(RosRobot(group.name, row, world, number, name, namespace))
    return robots


def world_frame(robot: RosRobot, frame: str) -> str:
    """The full name of a frame that all robots of a world share."""
    parts = robot.namespace.split("/")
    return f"{parts[1]}/{frame}" if len(parts) > 2 else frame


def split_by_name_length(robots: Iterable[RosRobot]) -> list[list[RosRobot]]:
    """Robots by the lengths of their names and their worlds' names, each list in order of rows."""

    def lengths(robot: RosRobot) -> tuple[int, int]:
        return len(robot.namespace), len(world_frame(robot, ""))

    ordered = sorted(robots, key=lambda robot: (lengths(robot), robot.row))
    return [list(same) for _, same in groupby(ordered, key=lengths)]


def ros_name(text: str) -> str:
    """A name that ROS 2 accepts: letters, digits and underscores, beginning with no digit."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    return name if name and not name[0].isdigit() else f"r{name}"
