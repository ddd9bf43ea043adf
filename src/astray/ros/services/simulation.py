"""What can be asked of a run, by the standard `simulation_interfaces`; no wire is in it.

A service takes a request and gives a response, both plain values. Whatever changes the run is an
event; pausing and stepping change when ticks happen. A call returns when what it asked for has
happened, and so may have to wait for the run: call it from a thread that can.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
from astray.ros.services.answers import OK, Request, Response, Unable, failed
from astray.ros.services.entity_services import EntityServices
from astray.ros.services.snapshot import PATIENCE, POLL, Found, post_and_wait, read_between_ticks

if TYPE_CHECKING:
    pass

MOST_STEPS = 10_000_000  # at once
STEP_PATIENCE = 600.0  # s of real time that steps may take
EVERYTHING = Scope.TIME | Scope.STATE | Scope.SPAWNED


@dataclass(frozen=True)
class Service:
    """A service: its type, what answers it, and the fields of a request in their order."""

    type: str
    call: Callable[..., Response]
    fields: tuple[str, ...] = ()
    is_long: bool = False
    """Whether a call may take minutes. It then takes `still_wanted`, asked while it waits."""


class Services:
    """The services of a run, by name."""

    def __init__(self, sim: Run, patience: float = PATIENCE) -> None:
        declare_service_types()
        self.sim, self.patience = sim, patience
        self._entities = EntityServices(sim, patience)
        self._stopped = False  # paused by being stopped, until it goes on
        answers: dict[str, Callable[..., Response]] = {
            "GetSimulatorFeatures": self._features,
            **self._entities.answers,
            "ResetSimulation": self._reset,
            "StepSimulation": self._step,
            "GetSimulationState": self._get_simulation,
            "SetSimulationState": self._set_simulation,
            "GetCurrentWorld": self._get_world,
        }
        assert answers.keys() == SERVICES.keys()
        self.table = {
            service_name(kind): Service(
                f"{PACKAGE}/srv/{kind}",
                _checked(kind, answer),
                fields_of(request_of(kind)),
                is_long=kind == "StepSimulation",
            )
            for kind, answer in answers.items()
        }
        """Every service by its name: `/get_entities`."""

    def _look(self, what: Callable[[], Found]) -> Found:
        return read_between_ticks(self.sim, what, self.patience)

    def _features(self, request: Request) -> Response:
        about = "robots of the scenario are spawned by the name of their group"
        return {"features": {"features": [int(f) for f in Feature], "custom_info": about}}

    def _reset(self, request: Request) -> Response:
        scope = request["scope"] or Scope.ALL
        if scope == Scope.SPAWNED:
            self._entities.remove_spawned()
        elif scope & EVERYTHING == EVERYTHING:
            post_and_wait(self.sim, Event("reset", values={"episode": 0}), self.patience)
        else:
            raise Unable(
                ServiceResult.FEATURE_UNSUPPORTED, "time and state are reset together, with all"
            )
        return dict(OK)

    def _step(self, request: Request, still_wanted: Callable[[], bool] = lambda: True) -> Response:
        pace, steps = self.sim.pace, request["steps"]
        if not pace.paused:
            raise Unable(ServiceResult.OPERATION_FAILED, "only a paused simulation can be stepped")
        if steps > MOST_STEPS:
            raise Unable(ServiceResult.OPERATION_FAILED, f"at most {MOST_STEPS} steps at once")
        end = self._look(lambda: self.sim.steps) + steps
        self._stopped = False
        pace.step(steps)
        deadline = time.monotonic() + STEP_PATIENCE
        while self.sim.steps < end:
            if not still_wanted():
                pace.cancel_steps()
            over = pace.stopped or not pace.paused or not pace.granted_ticks
            if (over or time.monotonic() > deadline) and self.sim.steps < end:
                raise Unable(
                    ServiceResult.OPERATION_FAILED, f"stopped at step {self.sim.steps} of {end}"
                )
            time.sleep(POLL)
        self._look(lambda: None)  # the last tick has ended, too
        return dict(OK)

    def _state(self) -> SimulationState:
        if self.sim.pace.stopped:
            return SimulationState.QUITTING
        if not self.sim.pace.paused:
            return SimulationState.PLAYING
        return SimulationState.STOPPED if self._stopped else SimulationState.PAUSED

    def _get_simulation(self, request: Request) -> Response:
        return {**OK, "state": {"state": int(self._state())}}

    def _set_simulation(self, request: Request) -> Response:
        wanted = request["state"]["state"]
        if wanted == self._state():
            raise Unable(StateFault.ALREADY_IN_TARGET_STATE, "it is in that state already")
        if wanted == SimulationState.PLAYING:
            self._stopped = False
            self.sim.pace.play()
        elif wanted in (SimulationState.PAUSED, SimulationState.STOPPED):
            self._stopped = False
            self.sim.pace.pause()
            self._look(lambda: None)
            if wanted == SimulationState.STOPPED:
                self._reset({"scope": Scope.ALL})
                self._stopped = True
        elif wanted == SimulationState.QUITTING:
            raise Unable(ServiceResult.FEATURE_UNSUPPORTED, "whoever started the run ends it")
        else:
            raise Unable(StateFault.INCORRECT_TRANSITION, f"no state {wanted} to go to")
        return dict(OK)

    def _get_world(self, request: Request) -> Response:
        name = self._look(lambda: self.sim.map().name) or self.sim.scenario.name
        about = f"scenario {self.sim.scenario.name}, seed {self.sim.seed}"
        world = {"name": name, "world_resource": {"uri": name}, "description": about}
        return {**OK, "world": world}


def service_name(kind: str) -> str:
    """`/get_entities` of GetEntities."""
    return "/" + "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")


def _checked(kind: str, answer: Callable[..., Response]) -> Callable[..., Response]:
    """Let a service have whole requests, and give whole responses even where it fails."""

    def call(given: Request, **more: Any) -> Response:
        request: Request = to_plain(make_message(request_of(kind), _as_meant(kind, given)))
        try:
            response = answer(request, **more)
        except Unable as problem:
            response = failed(problem.code, problem)
        except AstrayError as problem:
            response = failed(ServiceResult.OPERATION_FAILED, problem)
        made: Response = to_plain(make_message(response_of(kind), response))
        return made

    return call


def _as_meant(kind: str, given: Request) -> Request:
    """A request with the defaults of the standard, where they are not zero."""
    if kind == "StepSimulation" and given.get("steps") is None:
        return {**given, "steps": 1}
    flags = {"set_pose", "set_twist", "set_acceleration"}
    if kind == "SetEntityState" and not flags & given.keys():  # as versions before 2 had it
        return {**given, "set_pose": True, "set_twist": True}
    return given
