"""What can be asked of a run, by the standard `simulation_interfaces`; no wire is in it.

A service takes a request and gives a response, both plain values. Whatever changes the run is an
event; pausing and stepping change when ticks happen. A call returns when what it asked for has
happened, and so may have to wait for the run: call it from a thread that can.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from astray.errors import AstrayError
from astray.events import Event
from astray.ros.entities import BadFilter, BadPose, Entities, entity_name, planar, turned
from astray.ros.looking import PATIENCE, POLL, let_happen, look
from astray.ros.names import Robot
from astray.ros.simulation_interfaces import (
    INVALID_POSE,
    PACKAGE,
    ROBOT,
    SERVICES,
    Feature,
    Result,
    Scope,
    SpawnFault,
    State,
    StateFault,
    declare_types,
    request_of,
    response_of,
)
from astray.ros.types import fields_of, make, to_plain

if TYPE_CHECKING:
    from astray.sim import Sim

Plain = Mapping[str, Any]
Response = dict[str, Any]
MOST_STEPS = 10_000_000  # at once
STEP_PATIENCE = 600.0  # s of real time that steps may take
EVERYTHING = Scope.TIME | Scope.STATE | Scope.SPAWNED
OK: Response = {"result": {"result": int(Result.OK), "error_message": ""}}


class Unable(AstrayError):
    """A call that fails, and the code that says how."""

    def __init__(self, code: int, text: str) -> None:
        self.code = int(code)
        super().__init__(text)


@dataclass(frozen=True)
class Service:
    """A service: its type, what answers it, and the fields of a request in their order."""

    type: str
    answer: Callable[[Plain], Response]
    fields: tuple[str, ...] = ()


class Services:
    """The services of a run, by name."""

    def __init__(self, sim: Sim, patience: float = PATIENCE) -> None:
        declare_types()
        self.sim, self.patience = sim, patience
        self.entities = Entities(sim)
        self._stopped = False  # paused by being stopped, until it goes on
        answers: dict[str, Callable[[Plain], Response]] = {
            "GetSimulatorFeatures": self._features,
            "GetEntities": self._get_entities,
            "GetEntitiesStates": self._get_states,
            "GetEntityState": self._get_state,
            "GetEntityInfo": self._get_info,
            "SetEntityState": self._set_state,
            "SpawnEntity": self._spawn,
            "DeleteEntity": self._delete,
            "GetSpawnables": self._get_spawnables,
            "ResetSimulation": self._reset,
            "StepSimulation": self._step,
            "GetSimulationState": self._get_simulation,
            "SetSimulationState": self._set_simulation,
            "GetCurrentWorld": self._get_world,
        }
        assert answers.keys() == SERVICES.keys()
        self.table = {
            service_name(kind): Service(
                f"{PACKAGE}/srv/{kind}", _checked(kind, answer), fields_of(request_of(kind))
            )
            for kind, answer in answers.items()
        }
        """Every service by its name: `/get_entities`."""

    # Entities.

    def _find(self, name: str, asleep: bool = False) -> Robot:
        robot = self.entities.by_name.get(name)
        if robot is None or not (asleep or look(self.sim, lambda: self.entities.alive(robot))):
            raise Unable(Result.NOT_FOUND, f"no entity {name!r}")
        return robot

    def _match(self, filters: Plain) -> list[str]:
        if filters["tags"]["tags"] or filters["bounds"]["type"]:
            raise Unable(Result.FEATURE_UNSUPPORTED, "entities are found by name and category")
        try:
            return self.entities.matching(filters)
        except BadFilter as problem:
            raise Unable(Result.OPERATION_FAILED, str(problem)) from None

    def _get_entities(self, request: Plain) -> Response:
        return {**OK, "entities": look(self.sim, lambda: self._match(request["filters"]))}

    def _get_states(self, request: Plain) -> Response:
        def states() -> tuple[list[str], list[Response]]:
            names = self._match(request["filters"])
            return names, [self.entities.state(self.entities.by_name[name]) for name in names]

        names, found = look(self.sim, states)
        return {**OK, "entities": names, "states": found}

    def _get_state(self, request: Plain) -> Response:
        robot = self._find(request["entity"])
        return {**OK, "state": look(self.sim, lambda: self.entities.state(robot))}

    def _get_info(self, request: Plain) -> Response:
        robot = self._find(request["entity"])
        motion = self.sim.robots[robot.group].motion.kind
        about = f"robot {robot.number} of {robot.group!r}, motion {motion}"
        info = {"category": {"category": ROBOT}, "description": about, "tags": [robot.group]}
        return {**OK, "info": info}

    def _set_state(self, request: Plain) -> Response:
        robot, state = self._find(request["entity"]), request["state"]
        values: dict[str, float] = {}
        try:
            pose = planar(state["pose"], state["header"]["frame_id"], robot)
        except BadPose as problem:
            raise Unable(INVALID_POSE, str(problem)) from None
        if request["set_pose"]:
            values |= pose
        if request["set_twist"]:
            yaw = values.get("yaw", look(self.sim, lambda: self._yaw(robot)))
            linear, angular = state["twist"]["linear"], state["twist"]["angular"]
            vx, vy = turned(float(linear["x"]), float(linear["y"]), -yaw)
            values |= {"vx": vx, "vy": vy, "wz": float(angular["z"])}
        if values:
            self._let_happen("place", robot, values)
        return dict(OK)

    def _yaw(self, robot: Robot) -> float:
        return float(self.sim.robots[robot.group].truth["yaw"][robot.row])

    def _delete(self, request: Plain) -> Response:
        self._let_happen("remove", self._find(request["entity"]), {})
        return dict(OK)

    def _get_spawnables(self, request: Plain) -> Response:
        groups = {r.group for r in self.entities.by_name.values() if self._spare(r.group)}
        found = [{"entity_resource": {"uri": name}} for name in self.sim.robots if name in groups]
        return {**OK, "spawnables": found}

    def _spare(self, group: str) -> list[str]:
        """The names of the robots of a group that sleep, in their order."""

        def asleep() -> list[str]:
            of = [(n, r) for n, r in self.entities.by_name.items() if r.group == group]
            return [name for name, robot in of if not self.entities.alive(robot)]

        return look(self.sim, asleep)

    def _spawn(self, request: Plain) -> Response:
        robot = self._to_spawn(request)
        pose, frame = request["initial_pose"]["pose"], request["initial_pose"]["header"]["frame_id"]
        try:
            values = planar(pose, frame, robot)
        except BadPose as problem:
            raise Unable(SpawnFault.INVALID_POSE, str(problem)) from None
        self._let_happen("spawn", robot, values)
        name = entity_name(robot)
        if not look(self.sim, lambda: self.entities.alive(robot)):
            raise Unable(Result.OPERATION_FAILED, f"{name!r} was not spawned")
        return {**OK, "entity_name": name}

    def _to_spawn(self, request: Plain) -> Robot:
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
            raise Unable(Result.OPERATION_FAILED, f"all robots of {group!r} are there already")
        if name in spare:
            return self.entities.by_name[name]
        if not request["allow_renaming"]:
            if named is not None:
                raise Unable(SpawnFault.NAME_NOT_UNIQUE, f"{name!r} is there already")
            raise Unable(SpawnFault.NAME_INVALID, f"names are given by the run: {spare[0]!r}")
        return self.entities.by_name[spare[0]]

    def _let_happen(self, kind: str, robot: Robot, values: dict[str, float]) -> None:
        event = Event(kind, robot.group, (robot.world,), (robot.number,), values)
        let_happen(self.sim, event, self.patience)

    # The simulation.

    def _features(self, request: Plain) -> Response:
        about = "robots of the scenario are spawned by the name of their group"
        return {"features": {"features": [int(f) for f in Feature], "custom_info": about}}

    def _reset(self, request: Plain) -> Response:
        scope = request["scope"] or Scope.ALL
        if scope == Scope.SPAWNED:
            for robot in list(self.entities.by_name.values()):
                if robot.number >= self.sim.robots[robot.group].plan.count:
                    self._let_happen("remove", robot, {})
        elif scope & EVERYTHING == EVERYTHING:
            let_happen(self.sim, Event("reset", values={"life": 0}), self.patience)
        else:
            raise Unable(Result.FEATURE_UNSUPPORTED, "time and state are reset together, with all")
        return dict(OK)

    def _step(self, request: Plain) -> Response:
        pace, steps = self.sim.pace, request["steps"]
        if not pace.paused:
            raise Unable(Result.OPERATION_FAILED, "only a paused simulation can be stepped")
        if steps > MOST_STEPS:
            raise Unable(Result.OPERATION_FAILED, f"at most {MOST_STEPS} steps at once")
        end = look(self.sim, lambda: self.sim.steps) + steps
        self._stopped = False
        pace.step(steps)
        deadline = time.monotonic() + STEP_PATIENCE
        while self.sim.steps < end:
            if pace.stopped or not pace.paused or time.monotonic() > deadline:
                raise Unable(Result.OPERATION_FAILED, f"stopped at step {self.sim.steps} of {end}")
            time.sleep(POLL)
        look(self.sim, lambda: None)  # the last tick has ended, too
        return dict(OK)

    def _state(self) -> State:
        if self.sim.pace.stopped:
            return State.QUITTING
        if not self.sim.pace.paused:
            return State.PLAYING
        return State.STOPPED if self._stopped else State.PAUSED

    def _get_simulation(self, request: Plain) -> Response:
        return {**OK, "state": {"state": int(self._state())}}

    def _set_simulation(self, request: Plain) -> Response:
        wanted = request["state"]["state"]
        if wanted == self._state():
            raise Unable(StateFault.ALREADY_IN_TARGET_STATE, "it is in that state already")
        if wanted == State.PLAYING:
            self._stopped = False
            self.sim.pace.play()
        elif wanted in (State.PAUSED, State.STOPPED):
            self._stopped = False
            self.sim.pace.pause()
            look(self.sim, lambda: None)
            if wanted == State.STOPPED:
                self._reset({"scope": Scope.ALL})
                self._stopped = True
        elif wanted == State.QUITTING:
            raise Unable(Result.FEATURE_UNSUPPORTED, "whoever started the run ends it")
        else:
            raise Unable(StateFault.INCORRECT_TRANSITION, f"no state {wanted} to go to")
        return dict(OK)

    def _get_world(self, request: Plain) -> Response:
        name = look(self.sim, lambda: self.sim.map().name) or self.sim.scenario.name
        about = f"scenario {self.sim.scenario.name}, seed {self.sim.seed}"
        world = {"name": name, "world_resource": {"uri": name}, "description": about}
        return {**OK, "world": world}


def service_name(kind: str) -> str:
    """`/get_entities` of GetEntities."""
    return "/" + "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")


def _checked(kind: str, answer: Callable[[Plain], Response]) -> Callable[[Plain], Response]:
    """Let a service have whole requests, and give whole responses even where it fails."""

    def call(given: Plain) -> Response:
        request: Plain = to_plain(make(request_of(kind), _as_meant(kind, given)))
        try:
            response = answer(request)
        except Unable as problem:
            response = _failed(problem.code, problem)
        except AstrayError as problem:
            response = _failed(Result.OPERATION_FAILED, problem)
        made: Response = to_plain(make(response_of(kind), response))
        return made

    return call


def _failed(code: int, problem: Exception) -> Response:
    return {"result": {"result": int(code), "error_message": str(problem)}}


def _as_meant(kind: str, given: Plain) -> Plain:
    """A request with the defaults of the standard, where they are not zero."""
    if kind == "StepSimulation" and given.get("steps") is None:
        return {**given, "steps": 1}
    flags = {"set_pose", "set_twist", "set_acceleration"}
    if kind == "SetEntityState" and not flags & given.keys():  # as versions before 2 had it
        return {**given, "set_pose": True, "set_twist": True}
    return given
