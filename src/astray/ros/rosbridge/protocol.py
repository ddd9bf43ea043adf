"""The messages that clients may send: each is validated before anything is done with it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from astray.errors import AstrayError

Message = Mapping[str, Any]
MAX_BYTES = 1 << 20  # of one message, whole or in fragments
MAX_FRAGMENTED = 4  # messages of one client that come in fragments at the same time
FRAGMENTS_TIMEOUT = 10.0  # s of real time for all fragments of a message to come
MAX_NAME = 255  # characters
MAX_ID = 1000  # characters
NAME = re.compile(r"/[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*\Z")
LEVELS = ("none", "error", "warning", "info")


class BadRequest(AstrayError):
    """A message that breaks the protocol, or asks for what is impossible."""


def parse(text: str | bytes) -> dict[str, Any]:
    """The message in a text."""
    if isinstance(text, bytes):
        raise BadRequest("binary messages are not understood, only JSON text")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"no JSON: {error}") from None
    if not isinstance(message, dict) or not isinstance(message.get("op"), str):
        raise BadRequest("a message is an object with an op")
    if "id" in message and not _is_id(message["id"]):
        raise BadRequest("id is a text or a number")
    return message


def _is_id(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_ID
    return value is None or (isinstance(value, (int, float)) and abs(value) < 2**53)


def text_of(message: Message, key: str) -> str:
    """The text of a required field."""
    value = message.get(key)
    if not isinstance(value, str) or not value:
        raise BadRequest(f"{message['op']} needs {key}, a text")
    return value


def number_of(message: Message, key: str, limit: float) -> float:
    """The number of an optional field, from 0 on."""
    value = message.get(key)
    if value is None:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= limit:
        raise BadRequest(f"{key} is a number from 0 to {limit:g}")
    return float(value)


def name_of(message: Message, key: str) -> str:
    """The full name of a topic or service."""
    text = text_of(message, key)
    name = text if text.startswith("/") else f"/{text}"
    if len(name) > MAX_NAME or not NAME.match(name):
        raise BadRequest(f"{text[:80]!r} is no name of a {key}")
    return name


@dataclass
class FragmentedMessage:
    """The fragments of one message that have come so far."""

    total: int
    began: float
    pieces: dict[int, str] = field(default_factory=dict)
    size: int = 0


class Fragments:
    """Puts together the messages of one client that come in fragments, within limits."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._incomplete: dict[str, FragmentedMessage] = {}

    def add(self, message: Message) -> str | None:
        """Take a fragment in; the whole text if it was the last one missing."""
        id, data = text_of(message, "id"), message.get("data")
        num, total = message.get("num"), message.get("total")
        if not isinstance(data, str):
            raise BadRequest("fragment needs data, a text")
        if type(num) is not int or type(total) is not int or not 0 <= num < total <= MAX_BYTES:
            raise BadRequest("fragment needs num and total, whole numbers with num < total")
        self._drop_late()
        whole = self._incomplete.setdefault(id, FragmentedMessage(total, self._clock()))
        whole.size += len(data)
        if whole.total != total or num in whole.pieces or whole.size > MAX_BYTES:
            del self._incomplete[id]
            raise BadRequest(f"fragments of {id[:80]!r} do not fit together")
        whole.pieces[num] = data
        if len(whole.pieces) < total:
            while len(self._incomplete) > MAX_FRAGMENTED:
                del self._incomplete[next(iter(self._incomplete))]
            return None
        del self._incomplete[id]
        return "".join(whole.pieces[k] for k in range(total))

    def _drop_late(self) -> None:
        oldest = self._clock() - FRAGMENTS_TIMEOUT
        for id in [id for id, whole in self._incomplete.items() if whole.began < oldest]:
            del self._incomplete[id]
