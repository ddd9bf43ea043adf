"""The registry of the kinds of events: what each is called, when it is refused, what it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from astray.engine.event_queue import Event
from astray.engine.run import Run


@dataclass(frozen=True)
class EventKind:
    """One kind of event."""

    name: str
    check: Callable[[Run, Event], list[Event]]
    """Raises EventError for an event that could not take effect, while its sender still listens.

    It returns the event as it is to be logged: one, or several in its place.
    """
    apply: Callable[[Run, Event], None]
    """Lets the event take effect."""
