"""Robots as `simulation_interfaces` knows them: entities with a name, a pose and a speed."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from astray.engine import Run
from astray.numerics import wrap
from astray.ros.messages import ROBOT_CATEGORY, quaternion_yaw
from astray.ros.names import MAP_FRAME, WORLD_FRAME, RosRobot, robots_of, world_frame

if TYPE_CHECKING:
    pass

Request = Mapping[str, Any]
LONGEST_FILTER = 200  # characters
MOST_REPEATS = 3
REPEATED_GROUP = re.compile(r"\)\s*[*+?{]")
REPEATS = re.compile(r"[*+?{]")


class BadFilter(ValueError):
    """A pattern of names that is none, or that could keep the run from running."""


class BadPose(ValueError):
    """A pose that nothing can be put at."""


class Entities:
    """The robots of a run by their names, those that sleep included."""

    def __init__(self, sim: Run) -> None:
        self.sim = sim
        every = [robot for robots in robots_of(sim).values() for robot in robots]
        self.by_name = {entity_name(robot): robot for robot in every}

    def alive(self, robot: RosRobot) -> bool:
        """Whether it is there."""
        return bool(self.sim.robots[robot.group].truth["alive"][robot.row])

    def matching(self, filters: Request) -> list[str]:
        """The names of those that are there and fit, by pattern and category."""
        pattern = name_pattern(filters["filter"])
        wanted = [category["category"] for category in filters["categories"]]
        if wanted and ROBOT_CATEGORY not in wanted:
            return []
        return [n for n, r in self.by_name.items() if self.alive(r) and pattern.search(n)]

    def state(self, robot: RosRobot) -> dict[str, Any]:
        """The truth of a robot, seen from the world."""
        s = self.sim.robots[robot.group].truth[robot.row]
        yaw = float(s["yaw"])
        vx, vy = turned(float(s["vx"]), float(s["vy"]), yaw)
        ax, ay = turned(float(s["ax"]), float(s["ay"]), yaw)
        ns = max(0, round(float(s["stamp"]) * 1e9))
        sec, nanosec = divmod(ns, 1_000_000_000)
        stamp = {"sec": sec, "nanosec": nanosec}
        return {
            "header": {"stamp": stamp, "frame_id": world_frame(robot, WORLD_FRAME)},
            "pose": {
                "position": {"x": float(s["x"]), "y": float(s["y"])},
                "orientation": {"z": math.sin(yaw / 2), "w": math.cos(yaw / 2)},
            },
            "twist": {"linear": {"x": vx, "y": vy}, "angular": {"z": float(s["wz"])}},
            "acceleration": {"linear": {"x": ax, "y": ay}, "angular": {"z": float(s["alpha"])}},
        }


def entity_name(robot: RosRobot) -> str:
    """What an entity is called: its robot's name, with its world where there are several."""
    return robot.namespace[1:] or robot.name


def name_pattern(text: str) -> re.Pattern[str]:
    """A pattern of names; one that could take for ever is refused, as the run would wait for it."""
    if len(text) > LONGEST_FILTER:
        raise BadFilter(f"a filter has at most {LONGEST_FILTER} characters")
    if REPEATED_GROUP.search(text) or len(REPEATS.findall(text)) > MOST_REPEATS:
        raise BadFilter(f"a filter has no repeated groups and at most {MOST_REPEATS} repetitions")
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError) as problem:
        raise BadFilter(f"filter {text!r}: {problem}") from None


def planar_pose(pose: Request, frame: str, robot: RosRobot) -> dict[str, float]:
    """x, y and yaw of a pose in the world; what a plane cannot hold is left out."""
    known = {
        "",
        WORLD_FRAME,
        MAP_FRAME,
        world_frame(robot, WORLD_FRAME),
        world_frame(robot, MAP_FRAME),
    }
    if frame not in known:
        raise BadPose(f"poses are in {world_frame(robot, WORLD_FRAME)!r}, not in {frame!r}")
    x, y = (float(pose["position"][axis]) for axis in "xy")
    q = [float(pose["orientation"][axis]) for axis in "xyzw"]
    length = math.sqrt(sum(part * part for part in q))
    if not math.isfinite(x + y + length):
        raise BadPose("a pose is finite")
    if length and abs(length - 1.0) > 0.01:
        raise BadPose(f"a quaternion has the length 1, not {length:g}")
    return {"x": x, "y": y, "yaw": wrap(float(quaternion_yaw(*q)))}


def turned(x: float, y: float, angle: float) -> tuple[float, float]:
    """A vector turned by an angle."""
    s, c = math.sin(angle), math.cos(angle)
    return c * x - s * y, s * x + c * y
