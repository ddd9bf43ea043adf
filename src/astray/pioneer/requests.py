"""What a client can ask for that concerns more than its robot."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LoadMap:
    """A client wants another map; as the master it keeps others from doing so."""

    file: str
    master: bool = False


@dataclass(frozen=True)
class ClearMaster:
    """Everyone may load maps again."""


@dataclass(frozen=True)
class Exit:
    """A client wants the simulator to end."""

    code: int = 0


@dataclass(frozen=True)
class Say:
    """A line for the log."""

    text: str


Request = LoadMap | ClearMaster | Exit | Say
