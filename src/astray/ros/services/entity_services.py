"""What can be asked of robots: where they are, to be elsewhere, to come and to go."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from astray.engine import Event, Run
from astray.ros.messages import INVALID_POSE, ROBOT_CATEGORY, ServiceResult, SpawnFault
from astray.ros.names import RosRobot
from astray.ros.services.answers import OK, Request, Response, Unable
from astray.ros.services.entities import (
    BadFilter,
    BadPose,
    Entities,
    entity_name,
    planar_pose,
    turned,
)
from astray.ros.services.snapshot import Found, post_and_wait, read_between_ticks

if TYPE_CHECKING:
    pass


class EntityServices:
    """Answers what concerns single robots of a run."""

    def __init__(self, sim: Run, patience: float) -> None:
        self.sim, self.patience = sim, patience
        self.entities = Entities(sim)
        self.answers: dict[str, Callable[[Request], Response]] = {
            "GetEntities": self._get_entities,
            "GetEntitiesStates": self._get_states,
            "GetEntityState": self._get_state,
            "GetEntityInfo": self._get_info,
            "SetEntityState": self._set_state,
            "SpawnEntity": self._spawn,
            "DeleteEntity": self._delete,
            "GetSpawnables": self._get_spawnables,
        }

    def _look(self, what: Callable[[], Found]) -> Found:
        return read_between_ticks(self.sim, what, self.patience)

    def remove_spawned(self) -> None:
        """Take all robots out that were not there from the start."""
        for robot in self.entities.by_name.values():
            if robot.number >= self.sim.robots[robot.group].plan.count:
                self._let_happen("remove", robot, {})

    def _find(self, name: str, asleep: bool = False) -> RosRobot:
        robot = self.entities.by_name.get(name)
        if robot is None or not (asleep or self._look(lambda: self.entities.alive(robot))):
            raise Unable(ServiceResult.NOT_FOUND, f"no entity {name!r}")
        return robot

    def _match(self, filters: Request) -> list[str]:
        if filters["tags"]["tags"] or filters["bounds"]["type"]:
            raise Unable(
                ServiceResult.FEATURE_UNSUPPORTED, "entities are found by name and category"
            )
        try:
            return self.entities.matching(filters)
        except BadFilter as problem:
            raise Unable(ServiceResult.OPERATION_FAILED, str(problem)) from None

    def _get_entities(self, request: Request) -> Response:
        return {**OK, "entities": self._look(lambda: self._match(request["filters"]))}

    def _get_states(self, request: Request) -> Response:
        def states() -> tuple[list[str], list[Response]]:
            names = self._match(request["filters"])
            return names, [self.entities.state(self.entities.by_name[name]) for name in names]

        names, found = self._look(states)
        return {**OK, "entities": names, "states": found}

    def _get_state(self, request: Request) -> Response:
        robot = self._find(request["entity"])
        return {**OK, "state": self._look(lambda: self.entities.state(robot))}

    def _get_info(self, request: Request) -> Response:
        robot = self._find(request["entity"])
        motion = self.sim.robots[robot.group].motion.kind
        about = f"robot {robot.number} of {robot.group!r}, motion {motion}"
        info = {
            "category": {"category": ROBOT_CATEGORY},
            "description": about,
            "tags": [robot.group],
        }
        return {**OK, "info": info}

    def _set_state(self, request: Request) -> Response:
        robot, state = self._find(request["entity"]), request["state"]
        values: dict[str, float] = {}
        try:
            pose = planar_pose(state["pose"], state["header"]["frame_id"], robot)
        except BadPose as problem:
            raise Unable(INVALID_POSE, str(problem)) from None
        if request["set_pose"]:
            values |= pose
        if request["set_twist"]:
            yaw = values.get("yaw", self._look(lambda: self._yaw(robot)))
            linear, angular = state["twist"]["linear"], state["twist"]["angular"]
            vx, vy = turned(float(linear["x"]), float(linear["y"]), -yaw)
            values |= {"vx": vx, "vy": vy, "wz": float(angular["z"])}
        if values:
            self._let_happen("place", robot, values)
        return dict(OK)

    def _yaw(self, robot: RosRobot) -> float:
        return float(self.sim.robots[robot.group].truth["yaw"][robot.row])

    def _delete(self, request: Request) -> Response:
        self._let_happen("remove", self._find(request["entity"]), {})
        return dict(OK)

    def _get_spawnables(self, request: Request) -> Response:
        groups = {r.group for r in self.entities.by_name.values() if self._spare(r.group)}
        found = [{"entity_resource": {"uri": name}} for name in self.sim.robots if name in groups]
        return {**OK, "spawnables": found}

    def _spare(self, group: str) -> list[str]:
        """The names of the robots of a group that sleep, in their order."""

        def asleep() -> list[str]:
            of = [(n, r) for n, r in self.entities.by_name.items() if r.group == group]
            return [name for name, robot in of if not self.entities.alive(robot)]

        return self._look(asleep)

    def _spawn(self, request: Request) -> Response:
        robot = self._to_spawn(request)
        pose, frame = request["initial_pose"]["pose"], request["initial_pose"]["header"]["frame_id"]
        try:
            values = planar_pose(pose, frame, robot)
        except BadPose as problem:
            raise Unable(SpawnFault.INVALID_POSE, str(problem)) from None
        self._let_happen("spawn", robot, values)
        name = entity_name(robot)
        if not self._look(lambda: self.entities.alive(robot)):
            raise Unable(ServiceResult.OPERATION_FAILED, f"{name!r} was not spawned")
        return {**OK, "entity_name": name}

    def _to_spawn(self, request: Request) -> RosRobot:
        """The sleeping robot that a request means."""
        name, resource = request["name"], request["entity_resource"]
        if request["entity_namespace"].strip("/"):
            raise Unable(SpawnFault.NAMESPACE_INVALID, "robots have the namespaces of the run")
        named = self.entities.by_name.get(name)
        if not resource["uri"] and resource["resource_string"]:
            raise Unable(SpawnFault.UNSUPPORTED_FORMAT, "robots are those of the scenario")
        group = resource["uri"] or (named.group if named else "")
        if not group:
            raise Unable(SpawnFault.NO_RESOURCE, f"uri is one of {', '.join(self.sim.robots)}")
        if group not in self.sim.robots:
            raise Unable(SpawnFault.RESOURCE_PARSE_ERROR, f"no robot {group!r} in the scenario")
        spare = self._spare(group)
        if not spare:
            raise Unable(
                ServiceResult.OPERATION_FAILED, f"all robots of {group!r} are there already"
            )
        if name in spare:
            return self.entities.by_name[name]
        if not request["allow_renaming"]:
            if named is not None:
                raise Unable(SpawnFault.NAME_NOT_UNIQUE, f"{name!r} is there already")
            raise Unable(SpawnFault.NAME_INVALID, f"names are given by the run: {spare[0]!r}")
        return self.entities.by_name[spare[0]]

    def _let_happen(self, kind: str, robot: RosRobot, values: dict[str, float]) -> None:
        event = Event(kind, robot.group, (robot.world,), (robot.number,), values)
        post_and_wait(self.sim, event, self.patience)
