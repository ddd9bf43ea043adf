"""What a browser may ask for: each message is checked by these, and by nothing else let in."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

LARGEST = 4096  # bytes of one message
Coordinate = Annotated[float, Field(ge=-1e6, le=1e6)]
Angle = Annotated[float, Field(ge=-1e3, le=1e3)]
Share = Annotated[float, Field(ge=-1, le=1)]
Robot = Annotated[int, Field(ge=0, lt=1_000_000)]


class Message(BaseModel):
    """Anything that the page may send."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class Play(Message):
    """Let time go on."""

    do: Literal["play"]


class Pause(Message):
    """Hold time."""

    do: Literal["pause"]


class StepMessage(Message):
    """Let some ticks of a held run happen."""

    do: Literal["step"]
    ticks: Annotated[int, Field(ge=1, le=10_000)] = 1


class SpeedMessage(Message):
    """Change the speed; null for as fast as possible."""

    do: Literal["speed"]
    value: Annotated[float, Field(ge=0.001, le=1e6)] | None


class Reset(Message):
    """Begin anew, with this seed or the same."""

    do: Literal["reset"]
    seed: Annotated[int, Field(ge=0, lt=2**53)] | None = None


class PlaceMessage(Message):
    """Move the truth of a robot."""

    do: Literal["place"]
    robot: Robot
    x: Coordinate
    y: Coordinate
    yaw: Angle


class Believe(Message):
    """Set what a robot, or a rival of its estimator, believes."""

    do: Literal["believe"]
    robot: Robot
    who: Annotated[str, Field(max_length=100)]
    x: Coordinate
    y: Coordinate
    yaw: Angle


class Drive(Message):
    """Drive a robot by hand, by shares of what it can do; all zero stops it."""

    do: Literal["drive"]
    robot: Robot
    forward: Share
    turn: Share
    side: Share = 0.0


class LookMessage(Message):
    """Say whose readings and contacts and which signals are to be sent."""

    do: Literal["look"]
    robots: Annotated[list[Robot], Field(max_length=16)] = []
    everyone: bool = False
    readings: bool = True
    contacts: bool = False
    signals: Annotated[
        list[tuple[Robot, Annotated[int, Field(ge=0, lt=10_000)]]], Field(max_length=16)
    ] = []


class World(Message):
    """Show another world of the batch."""

    do: Literal["world"]
    place: Annotated[int, Field(ge=0)]


Any = (
    Play
    | Pause
    | StepMessage
    | SpeedMessage
    | Reset
    | PlaceMessage
    | Believe
    | Drive
    | LookMessage
    | World
)
_adapter: TypeAdapter[Any] = TypeAdapter(Annotated[Any, Field(discriminator="do")])


def read_message(text: str) -> Any:
    """A message of the page; ValueError with one line about what is wrong with it."""
    if len(text) > LARGEST:
        raise ValueError(f"a message of {len(text)} bytes is too long")
    try:
        return _adapter.validate_json(text)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from None
