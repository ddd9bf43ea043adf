"""What a browser may ask of a run: each request is validated by its model, then carried out.

A request becomes an event of `sim.post`, a change of the run's pace, or of what the page shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from astray.engine import Event
from astray.errors import AstrayError, EventError
from astray.viewer.page.live import LiveSource
from astray.viewer.page.teleop import Teleop

MAX_BYTES = 4096  # of one request
POSE_COVARIANCE = [[0.01, 0.0, 0.0], [0.0, 0.01, 0.0], [0.0, 0.0, 0.0025]]
"""Of a belief that is set with a mouse: 10 cm, 3 degrees."""

Coordinate = Annotated[float, Field(ge=-1e6, le=1e6)]
Angle = Annotated[float, Field(ge=-1e3, le=1e3)]
Share = Annotated[float, Field(ge=-1, le=1)]
Robot = Annotated[int, Field(ge=0, lt=1_000_000)]
Signal = Annotated[int, Field(ge=0, lt=10_000)]


class PageRequest(BaseModel):
    """A JSON message of the page; its fields are the keys, and `do` says which one it is."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class PlayRequest(PageRequest):
    """Continue a paused run."""

    do: Literal["play"]


class PauseRequest(PageRequest):
    """Pause the run."""

    do: Literal["pause"]


class StepRequest(PageRequest):
    """Pause the run, and let some ticks happen."""

    do: Literal["step"]
    ticks: Annotated[int, Field(ge=1, le=10_000)] = 1


class SpeedRequest(PageRequest):
    """Change the speed; null for as fast as possible."""

    do: Literal["speed"]
    value: Annotated[float, Field(ge=0.001, le=1e6)] | None


class ResetRequest(PageRequest):
    """Reset the run, with this seed or its own."""

    do: Literal["reset"]
    seed: Annotated[int, Field(ge=0, lt=2**53)] | None = None


class PlaceRequest(PageRequest):
    """Set the true pose of a robot."""

    do: Literal["place"]
    robot: Robot
    x: Coordinate
    y: Coordinate
    yaw: Angle


class BelieveRequest(PageRequest):
    """Set the pose that a robot's estimator, or one of its rivals, believes."""

    do: Literal["believe"]
    robot: Robot
    who: Annotated[str, Field(max_length=100)]
    x: Coordinate
    y: Coordinate
    yaw: Angle


class DriveRequest(PageRequest):
    """Drive a robot manually, by shares of its top speeds; all zero stops it."""

    do: Literal["drive"]
    robot: Robot
    forward: Share
    turn: Share
    side: Share = 0.0


class SubscribeRequest(PageRequest):
    """Choose the robots whose readings and tracks are sent, and the signals."""

    do: Literal["look"]
    robots: Annotated[list[Robot], Field(max_length=16)] = []
    everyone: bool = False
    readings: bool = True
    contacts: bool = False
    signals: Annotated[list[tuple[Robot, Signal]], Field(max_length=16)] = []


class WorldRequest(PageRequest):
    """Show another world of the batch."""

    do: Literal["world"]
    place: Annotated[int, Field(ge=0)]


AnyRequest = (
    PlayRequest
    | PauseRequest
    | StepRequest
    | SpeedRequest
    | ResetRequest
    | PlaceRequest
    | BelieveRequest
    | DriveRequest
    | SubscribeRequest
    | WorldRequest
)
_adapter: TypeAdapter[AnyRequest] = TypeAdapter(Annotated[AnyRequest, Field(discriminator="do")])


def read_request(text: str) -> AnyRequest:
    """The request that a message holds; ValueError with one line on what is wrong with it."""
    if len(text) > MAX_BYTES:
        raise ValueError(f"a message of {len(text)} bytes is too long")
    try:
        return _adapter.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{field}: {first['msg']}" if field else first["msg"]) from None


class Commands:
    """Carries out requests of pages on a run, in the thread of the server."""

    def __init__(self, source: LiveSource) -> None:
        self.source, self.sim = source, source.sim
        self.teleop = Teleop(self.sim.post, self.sim.pace)

    def execute(self, page: object, request: AnyRequest) -> str | None:
        """Carry out a request; the reason if that is impossible."""
        try:
            self._execute(page, request)
        except (AstrayError, ValueError) as error:
            return str(error)
        return None

    def _execute(self, page: object, request: AnyRequest) -> None:
        pace = self.sim.pace
        match request:
            case PlayRequest():
                pace.play()
            case PauseRequest():
                pace.pause()
            case StepRequest():
                pace.pause()
                pace.step(request.ticks)
            case SpeedRequest():
                pace.set_speed(request.value)
            case ResetRequest():
                if not self.source.can_reset:
                    raise EventError("this run cannot be reset: its clients would lose it")
                if self.sim.is_idle and not pace.has_ended:
                    raise EventError("no one is running it: there is nothing to reset")
                pace.request_restart(request.seed)
            case WorldRequest():
                self.source.show(request.place)
            case DriveRequest():
                group, number = self.source.robot(request.robot)
                shares = (request.forward, request.turn, request.side)
                self.teleop.drive(page, group, self._world, number, shares)
            case PlaceRequest():
                self._post("place", request.robot, _pose(request))
            case BelieveRequest():
                values = {**_pose(request), "cov": POSE_COVARIANCE, "estimator": request.who}
                self._post("believe", request.robot, values)
            case _:
                raise EventError(f"{request.do} is no command to a run")

    @property
    def _world(self) -> int:
        return int(self.sim.worlds[self.source.world])

    def _post(self, kind: str, robot: int, values: Mapping[str, object]) -> None:
        group, number = self.source.robot(robot)
        self.sim.post(Event(kind, group.name, (self._world,), (number,), values))


def _pose(request: PlaceRequest | BelieveRequest) -> dict[str, float]:
    return {"x": request.x, "y": request.y, "yaw": request.yaw}
