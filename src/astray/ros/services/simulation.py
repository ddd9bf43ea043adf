"""The services of a run by the standard `simulation_interfaces`: reset, step, pause, state, world.

A service takes a request and returns a response, both plain values. What changes the run is an
event; pausing and stepping set its pace. A call returns when it has taken effect, and so may wait
for the run: call it from another thread than that of the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from astray.engine import Event, Run
from astray.errors import AstrayError
from astray.ros.messages import (
    PACKAGE,
    SERVICES,
    Feature,
    Scope,
    ServiceResult,
    SimulationState,
    StateFault,
    declare_service_types,
    fields_of,
    make_message,
    request_of,
    response_of,
    to_plain,
)
from astray.ros.services.calls import (
    OK,
    POLL_PERIOD,
    TIMEOUT,
    Request,
    Response,
    ServiceFailure,
    T,
    failure_response,
    post_and_wait,
    read_between_ticks,
)
from astray.ros.services.entities import EntityServices

MAX_STEPS = 10_000_000  # of one call
STEP_TIMEOUT = 600.0  # s of real time for the steps of one call
ALL_SCOPES = Scope.TIME | Scope.STATE | Scope.SPAWNED


@dataclass(frozen=True)
class Service:
    """A service of a run.

    Args:
        type: Its type, such as "simulation_interfaces/srv/GetEntities".
        call: Answers a request.
        fields: The fields of a request, in their order.
        is_long: Whether a call may take minutes. `call` then takes `still_wanted`, a function that
            it polls, and returns early when the client is gone.
    """

    type: str
    call: Callable[..., Response]
    fields: tuple[str, ...] = ()
    is_long: bool = False


class Services:
    """The services of a run.

    Args:
        sim: The run.
        timeout: How long a call waits for the run, s of real time.
    """

    def __init__(self, sim: Run, timeout: float = TIMEOUT) -> None:
        declare_service_types()
        self.sim, self.timeout = sim, timeout
        self._entities = EntityServices(sim, timeout)
        self._is_stopped = False  # paused and reset, by the state STOPPED
        handlers: dict[str, Callable[..., Response]] = {
            "GetSimulatorFeatures": self._features,
            **self._entities.handlers,
            "ResetSimulation": self._reset,
            "StepSimulation": self._step,
            "GetSimulationState": self._get_simulation,
            "SetSimulationState": self._set_simulation,
            "GetCurrentWorld": self._get_world,
        }
        assert handlers.keys() == SERVICES.keys()
        self.table = {
            service_name(kind): Service(
                f"{PACKAGE}/srv/{kind}",
                _checked(kind, handler),
                fields_of(request_of(kind)),
                is_long=kind == "StepSimulation",
            )
            for kind, handler in handlers.items()
        }
        """The services by name, such as `/get_entities`."""

    def _read(self, read: Callable[[], T]) -> T:
        return read_between_ticks(self.sim, read, self.timeout)

    def _features(self, request: Request) -> Response:
        text = "robots of the scenario are spawned by the name of their group"
        return {"features": {"features": [int(f) for f in Feature], "custom_info": text}}

    def _reset(self, request: Request) -> Response:
        scope = request["scope"] or Scope.ALL
        if scope == Scope.SPAWNED:
            self._entities.remove_spawned()
        elif scope & ALL_SCOPES == ALL_SCOPES:
            post_and_wait(self.sim, Event("reset", values={"episode": 0}), self.timeout)
        else:
            raise ServiceFailure(
                ServiceResult.FEATURE_UNSUPPORTED, "time and state are reset together, with all"
            )
        return dict(OK)

    def _step(self, request: Request, still_wanted: Callable[[], bool] = lambda: True) -> Response:
        pace, steps = self.sim.pace, request["steps"]
        if not pace.paused:
            raise ServiceFailure(
                ServiceResult.OPERATION_FAILED, "only a paused simulation can be stepped"
            )
        if steps > MAX_STEPS:
            raise ServiceFailure(
                ServiceResult.OPERATION_FAILED, f"at most {MAX_STEPS} steps at once"
            )
        end = self._read(lambda: self.sim.steps) + steps
        self._is_stopped = False
        pace.step(steps)
        deadline = time.monotonic() + STEP_TIMEOUT
        while self.sim.steps < end:
            if not still_wanted():
                pace.cancel_steps()
            has_ended = pace.stopped or not pace.paused or not pace.granted_ticks
            if (has_ended or time.monotonic() > deadline) and self.sim.steps < end:
                raise ServiceFailure(
                    ServiceResult.OPERATION_FAILED, f"stopped at step {self.sim.steps} of {end}"
                )
            time.sleep(POLL_PERIOD)
        self._read(lambda: None)  # waits for the end of the last tick
        return dict(OK)

    def _state(self) -> SimulationState:
        if self.sim.pace.stopped:
            return SimulationState.QUITTING
        if not self.sim.pace.paused:
            return SimulationState.PLAYING
        return SimulationState.STOPPED if self._is_stopped else SimulationState.PAUSED

    def _get_simulation(self, request: Request) -> Response:
        return {**OK, "state": {"state": int(self._state())}}

    def _set_simulation(self, request: Request) -> Response:
        target = request["state"]["state"]
        if target == self._state():
            raise ServiceFailure(StateFault.ALREADY_IN_TARGET_STATE, "it is in that state already")
        if target == SimulationState.PLAYING:
            self._is_stopped = False
            self.sim.pace.play()
        elif target in (SimulationState.PAUSED, SimulationState.STOPPED):
            self._is_stopped = False
            self.sim.pace.pause()
            self._read(lambda: None)  # waits for the end of the tick
            if target == SimulationState.STOPPED:
                self._reset({"scope": Scope.ALL})
                self._is_stopped = True
        elif target == SimulationState.QUITTING:
            raise ServiceFailure(
                ServiceResult.FEATURE_UNSUPPORTED, "the run is ended where it was started"
            )
        else:
            raise ServiceFailure(StateFault.INCORRECT_TRANSITION, f"no state {target}")
        return dict(OK)

    def _get_world(self, request: Request) -> Response:
        name = self._read(lambda: self.sim.map().name) or self.sim.scenario.name
        text = f"scenario {self.sim.scenario.name}, seed {self.sim.seed}"
        world = {"name": name, "world_resource": {"uri": name}, "description": text}
        return {**OK, "world": world}


def service_name(kind: str) -> str:
    """The name of a service by its type: `/get_entities` of GetEntities."""
    return "/" + "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")


def _checked(kind: str, handler: Callable[..., Response]) -> Callable[..., Response]:
    """A handler that is given complete requests and returns complete responses, also on failure."""

    def call(given: Request, **options: Any) -> Response:
        message = make_message(request_of(kind), _with_defaults(kind, given))
        request: Request = to_plain(message)
        try:
            response = handler(request, **options)
        except ServiceFailure as problem:
            response = failure_response(problem.code, problem)
        except AstrayError as problem:
            response = failure_response(ServiceResult.OPERATION_FAILED, problem)
        complete: Response = to_plain(make_message(response_of(kind), response))
        return complete

    return call


def _with_defaults(kind: str, given: Request) -> Request:
    """A request with those defaults of the standard that are not zero."""
    if kind == "StepSimulation" and given.get("steps") is None:
        return {**given, "steps": 1}
    flags = {"set_pose", "set_twist", "set_acceleration"}
    if kind == "SetEntityState" and not flags & given.keys():  # versions before 2 have no flags
        return {**given, "set_pose": True, "set_twist": True}
    return given
