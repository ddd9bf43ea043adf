"""Which robots there are: from models, names and starts to a scenario and to ports."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from astray.errors import WrongInput
from astray.pioneer.map_access import APART, homes_of
from astray.pioneer.mobilesim import like_mobilesim
from astray.pioneer.model import RobotModel, find_model
from astray.pioneer.odometry import odometry_errors
from astray.pioneer.packets import FIRST_FRONT, FIRST_REAR
from astray.pioneer.ports import Port
from astray.pioneer.session import ServedRobot
from astray.pioneer.snapshot import Pose
from astray.world import Map
from astray.world.maps import read_map

FIRST_PORT = 8101
ROOM = 0.5  # m of clearance around a robot that starts anywhere
PER_SIDE = 7  # bumpers in front and behind that the standard packet has bits for
RANDOM_START = "random"


@dataclass(frozen=True)
class RobotSpec:
    """A robot that is asked for: "model" or "model:name"."""

    model: RobotModel
    name: str

    @classmethod
    def parse(cls, text: str, odometry: str | None = None, like: bool = False) -> RobotSpec:
        """Read what a command line says, with another odometry error, or all like MobileSim's."""
        kind, colon, name = text.rpartition(":")
        # A path of Windows has a colon of its own.
        if not colon or len(kind) == 1 or "/" in name or "\\" in name:
            kind, name = text, ""
        model = find_model(kind)
        if like:
            model = like_mobilesim(model)
        if odometry is not None:
            model = odometry_errors(model, odometry)
        return cls(model, name or model.name)


@dataclass
class Fleet:
    """Robots to be served: the scenario that has them, and where they are reached."""

    scenario: dict[str, Any]
    ports: list[Port] = field(default_factory=list)

    @property
    def robots(self) -> list[ServedRobot]:
        """All robots, also those that are not there yet."""
        return [robot for port in self.ports for robot in port.robots]


def plan_fleet(
    robots: Sequence[RobotSpec],
    *,
    map: str | Mapping[str, Any] | None = None,
    start: Pose | str | None = None,
    port: int = FIRST_PORT,
    watchdog: bool = True,
    per_client: Sequence[RobotSpec] = (),
    max_clients: int = 25,
) -> Fleet:
    """Plan robots that are there from the start, and models of which each client gets its own.

    They start at the home of the map, each next one a metre lower; at a given pose; or anywhere.
    """
    homes = _homes(map, start, len(robots) + max_clients * len(per_client))
    groups: list[dict[str, Any]] = []
    ports: list[Port] = []
    names: set[str] = set()
    called: set[str] = set()

    def number() -> int:
        return port + len(ports) if port else 0

    for model, run in itertools.groupby(robots, key=lambda wanted: wanted.model):
        equal, first = list(run), len(ports)
        group = _free(equal[0].name if len(equal) == 1 else model.name, names)
        groups.append(_group(model, group, start, homes[first], watchdog))
        groups[-1] |= {"count": len(equal), "capacity": len(equal)}
        for k, wanted in enumerate(equal):
            name = _free(wanted.name, called)
            ports.append(Port(number(), [_robot(name, model, group, k, homes[first + k])]))
    for j, wanted in enumerate(per_client):
        first = len(robots) + j * max_clients
        group = _free(wanted.name, names)
        groups.append(_group(wanted.model, group, start, homes[first], watchdog))
        groups[-1] |= {"count": 0, "capacity": max_clients}
        made = [
            _robot(f"{wanted.name}-{k + 1}", wanted.model, group, k, homes[first + k])
            for k in range(max_clients)
        ]
        ports.append(Port(number(), made, robot_per_client=True))
    if not groups:
        raise WrongInput("no robot is asked for: give at least one model")
    world = {} if map is None else {"map": map}
    return Fleet({"name": "pioneer", "world": world, "robots": groups}, ports)


def _homes(map: str | Mapping[str, Any] | None, start: Pose | str | None, count: int) -> list[Pose]:
    """Where each robot starts and is brought back to, unless it starts anywhere."""
    if isinstance(start, tuple):
        x, y, yaw = start
        return [(x, y - k * APART, yaw) for k in range(count)]
    return homes_of(Map() if map is None else read_map(map), count)


def _group(
    model: RobotModel, name: str, start: Pose | str | None, home: Pose, watchdog: bool
) -> dict[str, Any]:
    """Equal robots as a scenario has them; the watchdog is their dead-man's time."""
    where: dict[str, Any] = {"clearance": ROOM}
    if start != RANDOM_START:
        where = dict(zip(("x", "y", "yaw"), home, strict=True)) | {"step": [0.0, -APART]}
    autonomy = {"kind": "remote", **({"timeout": model.watchdog} if watchdog else {})}
    return {**model.robot, "name": name, "autonomy": autonomy, "start": where}


def _robot(name: str, model: RobotModel, group: str, number: int, home: Pose) -> ServedRobot:
    bits, counts = _bumper_bits(model)
    return ServedRobot(name, model, group, number, home, counts, bits)


def _bumper_bits(model: RobotModel) -> tuple[tuple[int, ...], tuple[int, int]]:
    """The bit of each bumper, from left to right in front and behind; and how many there are."""
    sensor = model.sensor(model.bumper)
    arcs = [tuple(arc) for arc in sensor.get("arcs", ())]
    middles = [math.remainder((a + b) / 2, math.tau) for a, b in arcs]
    front = sorted(
        (k for k, m in enumerate(middles) if abs(m) <= math.pi / 2), key=lambda k: -middles[k]
    )
    rear = sorted(
        (k for k, m in enumerate(middles) if abs(m) > math.pi / 2),
        key=lambda k: middles[k] % math.tau,
    )
    bits = [0] * len(arcs)
    for first, some in ((FIRST_FRONT, front), (FIRST_REAR, rear)):
        for place, k in enumerate(some[:PER_SIDE]):
            bits[k] = 1 << first + place
    return tuple(bits), (min(len(front), PER_SIDE), min(len(rear), PER_SIDE))


def _free(label: str, taken: set[str]) -> str:
    """A name that no other has, of the characters that names may have."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in label)
    plain = plain if plain[:1].isalpha() or plain[:1] == "_" else f"_{plain}"
    name = next(
        n
        for n in itertools.chain([plain], (f"{plain}-{k}" for k in itertools.count(2)))
        if n not in taken
    )
    taken.add(name)
    return name
