"""What topics and frames are called: ROS 2's usual names, under each robot's own if it has company.

A robot alone has `/scan` and `base_link`; of several, each has `/rover_0/scan` and
`rover_0/base_link`. With several worlds the world comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from astray.engine import Run

if TYPE_CHECKING:
    from astray.engine import Robots

MAP, ODOM, BASE, WORLD, TRUTH = "map", "odom", "base_link", "world", "base_link_truth"


@dataclass(frozen=True)
class RosRobot:
    """One row of a group, as ROS 2 knows it."""

    group: str
    row: int
    world: int
    number: int
    name: str
    """What it is called: `rover`, or `rover_3` if there are several of its group."""
    namespace: str
    """What its topics begin with: "" or `/rover_3`."""

    def topic(self, name: str) -> str:
        """The full name of one of its topics."""
        return f"{self.namespace}/{name}"

    def frame(self, name: str) -> str:
        """The full name of one of its frames; maps are shared within a world."""
        return f"{self.namespace[1:]}/{name}" if self.namespace else name


def robots_of(sim: Run) -> dict[str, list[RosRobot]]:
    """Every robot of a run by group and row, those that sleep included."""
    several = len(sim.truth) > 1
    return {
        name: _of_group(group, several, len(sim.worlds) > 1) for name, group in sim.robots.items()
    }


def _of_group(group: Robots, several: bool, worlds: bool) -> list[RosRobot]:
    found = []
    for row, state in enumerate(group.truth):
        number, world = int(state["robot"]), int(state["world"])
        name = ros_name(group.name)
        if group.plan.capacity > 1:
            name += f"_{number}"
        where = f"/world_{world}" if worlds else ""
        namespace = f"{where}/{name}" if several else ""
        found.append(RosRobot(group.name, row, world, number, name, namespace))
    return found


def world_frame(robot: RosRobot, frame: str) -> str:
    """A frame that the robots of one world share."""
    parts = robot.namespace.split("/")
    return f"{parts[1]}/{frame}" if len(parts) > 2 else frame


def alike(robots: Iterable[RosRobot]) -> list[list[RosRobot]]:
    """Robots by the lengths of their names and of their worlds'; in the order of rows."""

    def lengths(robot: RosRobot) -> tuple[int, int]:
        return len(robot.namespace), len(world_frame(robot, ""))

    ordered = sorted(robots, key=lambda robot: (lengths(robot), robot.row))
    return [list(some) for _, some in groupby(ordered, key=lengths)]


def ros_name(text: str) -> str:
    """A name that ROS 2 accepts: letters, digits and underscores, no digit first."""
    made = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    return made if made and not made[0].isdigit() else f"r{made}"
