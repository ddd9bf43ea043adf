"""Planning of robots and ports: models, names and starts become a scenario and its ports."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from astray.errors import WrongInput
from astray.pioneer.mobilesim import like_mobilesim, odometry_errors
from astray.pioneer.models import PoseTuple, RobotModel, ServedRobot, find_model
from astray.pioneer.packets import FIRST_FRONT_BUMPER, FIRST_REAR_BUMPER
from astray.pioneer.server import Port
from astray.world import Map
from astray.world.maps import read_map

FIRST_PORT = 8101
CLEARANCE = 0.5  # m around a robot that starts at random
BUMPERS_PER_SIDE = 7  # bits of a SIP for bumpers in front, and behind
HOME_STEP = 1.0  # m in −y from the home of one robot to that of the next
HOME_KINDS = ("home", "dock")  # places of a map where robots start, by preference
RANDOM_START = "random"
"""A start at a random free pose."""


@dataclass(frozen=True)
class RobotSpec:
    """A requested robot.

    Args:
        model: Its model.
        name: Its name.
    """

    model: RobotModel
    name: str

    @classmethod
    def parse(cls, text: str, odometry: str | None = None, mobilesim: bool = False) -> RobotSpec:
        """Parse "model" or "model:name".

        Args:
            text: The model, as for `find_model`, and a name.
            odometry: A mode of odometry errors, as for `odometry_errors`; None for the model's.
            mobilesim: Simulate the model like MobileSim.

        Returns:
            The robot.

        Raises:
            WrongInput: There is no such model or mode.
        """
        model_name, colon, name = text.rpartition(":")
        # A path of Windows has a colon of its own.
        if not colon or len(model_name) == 1 or "/" in name or "\\" in name:
            model_name, name = text, ""
        model = find_model(model_name)
        if mobilesim:
            model = like_mobilesim(model)
        if odometry is not None:
            model = odometry_errors(model, odometry)
        return cls(model, name or model.name)


@dataclass
class Fleet:
    """Robots to be served.

    Args:
        scenario: The scenario with the robots.
        ports: The ports at which clients reach them.
    """

    scenario: dict[str, Any]
    ports: list[Port] = field(default_factory=list)

    @property
    def robots(self) -> list[ServedRobot]:
        """All robots, also those that exist only with a client."""
        return [robot for port in self.ports for robot in port.robots]


def plan_fleet(
    robots: Sequence[RobotSpec],
    *,
    map: str | Mapping[str, Any] | None = None,
    start: PoseTuple | str | None = None,
    port: int = FIRST_PORT,
    watchdog: bool = False,
    per_client: Sequence[RobotSpec] = (),
    max_clients: int = 25,
) -> Fleet:
    """Plan a fleet: a group of the scenario for equal robots in a row, and a port for each robot.

    Args:
        robots: Robots that exist from the start.
        map: A map file, a bundled map, or a mapping; None for an empty world.
        start: The pose of the first robot, m and rad, each next one a metre lower in y;
            RANDOM_START; or None for the home of the map.
        port: The number of the first port, each next one higher by one; 0 for free ports.
        watchdog: Stop a robot whose client is silent.
        per_client: Models of which each client gets a robot of its own, at one port per model.
        max_clients: The number of clients at such a port.

    Returns:
        The fleet.

    Raises:
        WrongInput: No robot is requested, or the map is wrong.
    """
    homes = _start_poses(map, start, len(robots) + max_clients * len(per_client))
    groups: list[dict[str, Any]] = []
    ports: list[Port] = []
    group_names, robot_names = set[str](), set[str]()

    def next_number() -> int:
        return port + len(ports) if port else 0

    for model, equal in itertools.groupby(robots, key=lambda spec: spec.model):
        specs, first = list(equal), len(ports)
        group = _unique_name(specs[0].name if len(specs) == 1 else model.name, group_names)
        groups.append(_group(model, group, start, homes[first], watchdog))
        groups[-1] |= {"count": len(specs), "capacity": len(specs)}
        for k, spec in enumerate(specs):
            name = _unique_name(spec.name, robot_names)
            robot = _served_robot(name, model, group, k, homes[first + k])
            ports.append(Port(next_number(), [robot]))
    for j, spec in enumerate(per_client):
        first = len(robots) + j * max_clients
        group = _unique_name(spec.name, group_names)
        groups.append(_group(spec.model, group, start, homes[first], watchdog))
        groups[-1] |= {"count": 0, "capacity": max_clients}
        members = [
            _served_robot(f"{spec.name}-{k + 1}", spec.model, group, k, homes[first + k])
            for k in range(max_clients)
        ]
        ports.append(Port(next_number(), members, robot_per_client=True))
    if not groups:
        raise WrongInput("no robot is asked for: give at least one model")
    world = {} if map is None else {"map": map}
    return Fleet({"name": "pioneer", "world": world, "robots": groups}, ports)


def _start_poses(
    map: str | Mapping[str, Any] | None, start: PoseTuple | str | None, count: int
) -> list[PoseTuple]:
    """The start of each robot, to which SIM_RESET brings it, unless it starts at random."""
    if isinstance(start, tuple):
        return _pose_column(start, count)
    return home_poses(Map() if map is None else read_map(map), count)


def home_poses(map: Map, count: int) -> list[PoseTuple]:
    """Homes of robots on a map: at its home, else its dock, else its middle."""
    for kind in HOME_KINDS:
        for place in map.places:
            if place.kind == kind:
                return _pose_column((place.x, place.y, place.yaw), count)
    low_x, low_y, high_x, high_y = map.bounds
    return _pose_column(((low_x + high_x) / 2, (low_y + high_y) / 2, 0.0), count)


def _pose_column(first: PoseTuple, count: int) -> list[PoseTuple]:
    """Poses below each other."""
    x, y, yaw = first
    return [(x, y - k * HOME_STEP, yaw) for k in range(count)]


def _group(
    model: RobotModel, name: str, start: PoseTuple | str | None, home: PoseTuple, watchdog: bool
) -> dict[str, Any]:
    """A group of equal robots in the scenario; its autonomy times out after the watchdog."""
    where: dict[str, Any] = {"clearance": CLEARANCE}
    if start != RANDOM_START:
        where = dict(zip(("x", "y", "yaw"), home, strict=True)) | {"step": [0.0, -HOME_STEP]}
    autonomy = {"kind": "remote", **({"timeout": model.watchdog} if watchdog else {})}
    return {**model.robot, "name": name, "autonomy": autonomy, "start": where}


def _served_robot(
    name: str, model: RobotModel, group: str, index: int, home: PoseTuple
) -> ServedRobot:
    """A robot with the bits of its bumpers, from left to right in front and behind."""
    sensor = model.sensor(model.bumper)
    middles = [math.remainder((a + b) / 2, math.tau) for a, b in sensor.get("arcs", ())]
    front = [k for k, middle in enumerate(middles) if abs(middle) <= math.pi / 2]
    rear = [k for k, middle in enumerate(middles) if abs(middle) > math.pi / 2]
    front.sort(key=lambda k: -middles[k])
    rear.sort(key=lambda k: middles[k] % math.tau)
    bits = [0] * len(middles)
    for first_bit, side in ((FIRST_FRONT_BUMPER, front), (FIRST_REAR_BUMPER, rear)):
        for position, k in enumerate(side[:BUMPERS_PER_SIDE]):
            bits[k] = 1 << first_bit + position
    counts = (min(len(front), BUMPERS_PER_SIDE), min(len(rear), BUMPERS_PER_SIDE))
    return ServedRobot(name, model, group, index, home, counts, tuple(bits))


def _unique_name(label: str, taken: set[str]) -> str:
    """A valid name like the label that is not taken yet."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in label)
    plain = plain if plain[:1].isalpha() or plain[:1] == "_" else f"_{plain}"
    numbered = (f"{plain}-{k}" for k in itertools.count(2))
    name = next(name for name in itertools.chain([plain], numbered) if name not in taken)
    taken.add(name)
    return name
