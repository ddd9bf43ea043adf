"""What clients may send: every message is checked before anything is done with it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from astray.errors import AstrayError

Request = Mapping[str, Any]
MOST_BYTES = 1 << 20  # of one message, whole or in fragments
MOST_FRAGMENTED = 4  # messages of one client that come in fragments at the same time
FRAGMENTS_PATIENCE = 10.0  # s of real time for all fragments to come
LONGEST_NAME = 255
LONGEST_ID = 1000
NAME = re.compile(r"/[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*\Z")
LEVELS = ("none", "error", "warning", "info")


class BadRequest(AstrayError):
    """A message that is none of the protocol, or asks for what cannot be."""


def parse(text: str | bytes) -> dict[str, Any]:
    """The message that a text is."""
    if isinstance(text, bytes):
        raise BadRequest("binary messages are not understood, only JSON text")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise BadRequest(f"no JSON: {problem}") from None
    if not isinstance(found, dict) or not isinstance(found.get("op"), str):
        raise BadRequest("a message is an object with an op")
    if "id" in found and not _is_id(found["id"]):
        raise BadRequest("id is a text or a number")
    return found


def _is_id(given: Any) -> bool:
    if isinstance(given, str):
        return len(given) <= LONGEST_ID
    return given is None or (isinstance(given, (int, float)) and abs(given) < 2**53)


def text_of(message: Request, key: str) -> str:
    """A text that has to be there."""
    value = message.get(key)
    if not isinstance(value, str) or not value:
        raise BadRequest(f"{message['op']} needs {key}, a text")
    return value


def number_of(message: Request, key: str, most: float) -> float:
    """A number from 0 on that may be there."""
    value = message.get(key)
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= most:
        raise BadRequest(f"{key} is a number from 0 to {most:g}")
    return float(value)


def name_of(message: Request, key: str) -> str:
    """The full name of a topic or service."""
    given = text_of(message, key)
    name = given if given.startswith("/") else f"/{given}"
    if len(name) > LONGEST_NAME or not NAME.match(name):
        raise BadRequest(f"{given[:80]!r} is no name of a {key}")
    return name


@dataclass
class Parts:
    """The fragments of one message that have come."""

    total: int
    since: float
    pieces: dict[int, str] = field(default_factory=dict)
    size: int = 0


class Fragments:
    """Puts together the messages of one client that come in fragments, within bounds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[str, Parts] = {}

    def add(self, message: Request) -> str | None:
        """Take a fragment; the whole text if it was the last one missing."""
        name, data = text_of(message, "id"), message.get("data")
        num, total = message.get("num"), message.get("total")
        if not isinstance(data, str):
            raise BadRequest("fragment needs data, a text")
        if type(num) is not int or type(total) is not int or not 0 <= num < total <= MOST_BYTES:
            raise BadRequest("fragment needs num and total, whole numbers with num < total")
        self._forget_late()
        parts = self._open.setdefault(name, Parts(total, self._clock()))
        parts.size += len(data)
        if parts.total != total or num in parts.pieces or parts.size > MOST_BYTES:
            del self._open[name]
            raise BadRequest(f"fragments of {name[:80]!r} do not fit together")
        parts.pieces[num] = data
        if len(parts.pieces) < total:
            while len(self._open) > MOST_FRAGMENTED:
                del self._open[next(iter(self._open))]
            return None
        del self._open[name]
        return "".join(parts.pieces[k] for k in range(total))

    def _forget_late(self) -> None:
        now = self._clock()
        late = [n for n, parts in self._open.items() if now - parts.since > FRAGMENTS_PATIENCE]
        for name in late:
            del self._open[name]
