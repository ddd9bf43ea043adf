"""The services about entities: each robot is one, with a name, a pose and a velocity."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from astray.engine import Event, Run
from astray.numerics import wrap
from astray.ros.messages import (
    INVALID_POSE,
    ROBOT_CATEGORY,
    ServiceResult,
    SpawnFault,
    quaternion_yaw,
)
from astray.ros.names import MAP_FRAME, WORLD_FRAME, RosRobot, robots_of, world_frame
from astray.ros.services.calls import (
    OK,
    Request,
    Response,
    ServiceFailure,
    T,
    post_and_wait,
    read_between_ticks,
)

MAX_FILTER_LENGTH = 200  # characters
MAX_REPETITIONS = 3  # in a filter
REPEATED_GROUP = re.compile(r"\)\s*[*+?{]")
REPETITION = re.compile(r"[*+?{]")
QUATERNION_TOLERANCE = 0.01


class BadFilter(ValueError):
    """A name filter that is no regular expression, or one that could take too long."""


class BadPose(ValueError):
    """A pose that no robot can be placed at."""


class Entities:
    """The robots of a run by their entity names, also those that are not alive.

    Args:
        sim: The run.
    """

    def __init__(self, sim: Run) -> None:
        self.sim = sim
        every = [robot for robots in robots_of(sim).values() for robot in robots]
        self.by_name = {entity_name(robot): robot for robot in every}

    def is_alive(self, robot: RosRobot) -> bool:
        """Whether a robot is in the world."""
        return bool(self.sim.robots[robot.group].truth["alive"][robot.row])

    def matching(self, filters: Request) -> list[str]:
        """The names of the robots that are alive and match a filter, by name and category."""
        pattern = name_pattern(filters["filter"])
        categories = [category["category"] for category in filters["categories"]]
        if categories and ROBOT_CATEGORY not in categories:
            return []
        return [n for n, r in self.by_name.items() if self.is_alive(r) and pattern.search(n)]

    def state(self, robot: RosRobot) -> dict[str, Any]:
        """The truth of a robot as simulation_interfaces/EntityState, in the world's frame."""
        s = self.sim.robots[robot.group].truth[robot.row]
        yaw = float(s["yaw"])
        vx, vy = rotated(float(s["vx"]), float(s["vy"]), yaw)
        ax, ay = rotated(float(s["ax"]), float(s["ay"]), yaw)
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
    """The name of an entity: that of the robot, with its world if there are several."""
    return robot.namespace[1:] or robot.name


def name_pattern(text: str) -> re.Pattern[str]:
    """The regular expression of a filter; BadFilter if matching it could block the run."""
    if len(text) > MAX_FILTER_LENGTH:
        raise BadFilter(f"a filter has at most {MAX_FILTER_LENGTH} characters")
    if REPEATED_GROUP.search(text) or len(REPETITION.findall(text)) > MAX_REPETITIONS:
        raise BadFilter(f"a filter has no repeated groups, at most {MAX_REPETITIONS} repetitions")
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError) as problem:
        raise BadFilter(f"filter {text!r}: {problem}") from None


def planar_pose(pose: Request, frame: str, robot: RosRobot) -> dict[str, float]:
    """x, y and yaw of a pose in the world; z, roll and pitch are ignored."""
    known = {
        "",
        WORLD_FRAME,
        MAP_FRAME,
        world_frame(robot, WORLD_FRAME),
        world_frame(robot, MAP_FRAME),
    }
    if frame not in known:
        raise BadPose(f"a pose must be in {world_frame(robot, WORLD_FRAME)!r}, not in {frame!r}")
    x, y = (float(pose["position"][axis]) for axis in "xy")
    q = [float(pose["orientation"][axis]) for axis in "xyzw"]
    length = math.sqrt(sum(part * part for part in q))
    if not math.isfinite(x + y + length):
        raise BadPose("a pose must be finite")
    if length and abs(length - 1.0) > QUATERNION_TOLERANCE:
        raise BadPose(f"a quaternion must have the length 1, not {length:g}")
    return {"x": x, "y": y, "yaw": wrap(float(quaternion_yaw(*q)))}


def rotated(x: float, y: float, angle: float) -> tuple[float, float]:
    """A vector, rotated by an angle."""
    s, c = math.sin(angle), math.cos(angle)
    return c * x - s * y, s * x + c * y


class EntityServices:
    """The services about single robots.

    Args:
        sim: The run.
        timeout: How long a call waits for the run, s of real time.
    """

    def __init__(self, sim: Run, timeout: float) -> None:
        self.sim, self.timeout = sim, timeout
        self.entities = Entities(sim)
        self.handlers: dict[str, Callable[[Request], Response]] = {
            "GetEntities": self._get_entities,
            "GetEntitiesStates": self._get_states,
            "GetEntityState": self._get_state,
            "GetEntityInfo": self._get_info,
            "SetEntityState": self._set_state,
            "SpawnEntity": self._spawn,
            "DeleteEntity": self._delete,
            "GetSpawnables": self._get_spawnables,
        }
        """The function of each service, by the name of its type."""

    def _read(self, read: Callable[[], T]) -> T:
        return read_between_ticks(self.sim, read, self.timeout)

    def remove_spawned(self) -> None:
        """Remove all robots that the scenario did not start with."""
        for robot in self.entities.by_name.values():
            if robot.number >= self.sim.robots[robot.group].plan.count:
                self._post("remove", robot, {})

    def _find(self, name: str) -> RosRobot:
        """The robot of a name that is alive."""
        robot = self.entities.by_name.get(name)
        if robot is None or not self._read(lambda: self.entities.is_alive(robot)):
            raise ServiceFailure(ServiceResult.NOT_FOUND, f"unknown entity {name!r}")
        return robot

    def _match(self, filters: Request) -> list[str]:
        if filters["tags"]["tags"] or filters["bounds"]["type"]:
            raise ServiceFailure(
                ServiceResult.FEATURE_UNSUPPORTED, "entities are found by name and category"
            )
        try:
            return self.entities.matching(filters)
        except BadFilter as problem:
            raise ServiceFailure(ServiceResult.OPERATION_FAILED, str(problem)) from None

    def _get_entities(self, request: Request) -> Response:
        return {**OK, "entities": self._read(lambda: self._match(request["filters"]))}

    def _get_states(self, request: Request) -> Response:
        def states() -> tuple[list[str], list[Response]]:
            names = self._match(request["filters"])
            return names, [self.entities.state(self.entities.by_name[name]) for name in names]

        names, found = self._read(states)
        return {**OK, "entities": names, "states": found}

    def _get_state(self, request: Request) -> Response:
        robot = self._find(request["entity"])
        return {**OK, "state": self._read(lambda: self.entities.state(robot))}

    def _get_info(self, request: Request) -> Response:
        robot = self._find(request["entity"])
        motion = self.sim.robots[robot.group].motion.kind
        text = f"robot {robot.number} of {robot.group!r}, motion {motion}"
        category = {"category": ROBOT_CATEGORY}
        return {**OK, "info": {"category": category, "description": text, "tags": [robot.group]}}

    def _set_state(self, request: Request) -> Response:
        robot, state = self._find(request["entity"]), request["state"]
        values: dict[str, float] = {}
        try:
            pose = planar_pose(state["pose"], state["header"]["frame_id"], robot)
        except BadPose as problem:
            raise ServiceFailure(INVALID_POSE, str(problem)) from None
        if request["set_pose"]:
            values |= pose
        if request["set_twist"]:
            yaw = values.get("yaw", self._read(lambda: self._yaw(robot)))
            linear, angular = state["twist"]["linear"], state["twist"]["angular"]
            vx, vy = rotated(float(linear["x"]), float(linear["y"]), -yaw)
            values |= {"vx": vx, "vy": vy, "wz": float(angular["z"])}
        if values:
            self._post("place", robot, values)
        return dict(OK)

    def _yaw(self, robot: RosRobot) -> float:
        return float(self.sim.robots[robot.group].truth["yaw"][robot.row])

    def _delete(self, request: Request) -> Response:
        self._post("remove", self._find(request["entity"]), {})
        return dict(OK)

    def _get_spawnables(self, request: Request) -> Response:
        groups = {r.group for r in self.entities.by_name.values() if self._spawnable(r.group)}
        found = [{"entity_resource": {"uri": name}} for name in self.sim.robots if name in groups]
        return {**OK, "spawnables": found}

    def _spawnable(self, group: str) -> list[str]:
        """The names of the robots of a group that are not alive, in their order."""

        def not_alive() -> list[str]:
            of = [(n, r) for n, r in self.entities.by_name.items() if r.group == group]
            return [name for name, robot in of if not self.entities.is_alive(robot)]

        return self._read(not_alive)

    def _spawn(self, request: Request) -> Response:
        robot = self._robot_to_spawn(request)
        pose, frame = request["initial_pose"]["pose"], request["initial_pose"]["header"]["frame_id"]
        try:
            values = planar_pose(pose, frame, robot)
        except BadPose as problem:
            raise ServiceFailure(SpawnFault.INVALID_POSE, str(problem)) from None
        self._post("spawn", robot, values)
        name = entity_name(robot)
        if not self._read(lambda: self.entities.is_alive(robot)):
            raise ServiceFailure(ServiceResult.OPERATION_FAILED, f"{name!r} was not spawned")
        return {**OK, "entity_name": name}

    def _robot_to_spawn(self, request: Request) -> RosRobot:
        """The robot that a request means: one that the scenario has and that is not alive."""
        name, resource = request["name"], request["entity_resource"]
        if request["entity_namespace"].strip("/"):
            raise ServiceFailure(
                SpawnFault.NAMESPACE_INVALID, "robots have the namespaces of the run"
            )
        named = self.entities.by_name.get(name)
        if not resource["uri"] and resource["resource_string"]:
            raise ServiceFailure(
                SpawnFault.UNSUPPORTED_FORMAT, "only robots of the scenario can be spawned, by uri"
            )
        group = resource["uri"] or (named.group if named else "")
        if not group:
            raise ServiceFailure(
                SpawnFault.NO_RESOURCE, f"uri is one of {', '.join(self.sim.robots)}"
            )
        if group not in self.sim.robots:
            raise ServiceFailure(
                SpawnFault.RESOURCE_PARSE_ERROR, f"unknown robot {group!r} in the scenario"
            )
        spawnable = self._spawnable(group)
        if not spawnable:
            raise ServiceFailure(
                ServiceResult.OPERATION_FAILED, f"all robots of {group!r} have been spawned"
            )
        if name in spawnable:
            return self.entities.by_name[name]
        if not request["allow_renaming"]:
            if named is not None:
                raise ServiceFailure(SpawnFault.NAME_NOT_UNIQUE, f"{name!r} exists already")
            raise ServiceFailure(
                SpawnFault.NAME_INVALID, f"names are given by the run: {spawnable[0]!r}"
            )
        return self.entities.by_name[spawnable[0]]

    def _post(self, kind: str, robot: RosRobot, values: dict[str, float]) -> None:
        """Post an event for one robot, and wait until it has taken effect."""
        event = Event(kind, robot.group, (robot.world,), (robot.number,), values)
        post_and_wait(self.sim, event, self.timeout)
