"""The registry of event kinds. A new kind is an entry of `KINDS` in a file of this package.

A new file is listed below.
"""

from __future__ import annotations

from astray.engine.event_queue import Event, is_whole
from astray.engine.events import commands, population, poses, worlds
from astray.engine.events.base import EventKind
from astray.engine.run import Run
from astray.errors import EventError, suggest

EVENT_KINDS: dict[str, EventKind] = {
    kind.name: kind for module in (commands, poses, worlds, population) for kind in module.KINDS
}


def check_event(run: Run, event: Event) -> list[Event]:
    """The event as it is to be logged: one, or several in its place.

    Raises:
        EventError: It could not take effect.
    """
    if event.kind not in EVENT_KINDS:
        hint = suggest(event.kind, EVENT_KINDS)
        raise EventError(f"unknown event kind {event.kind!r}{hint} ({', '.join(EVENT_KINDS)})")
    if event.step is not None and not is_whole(event.step):
        raise EventError(f"{event.kind}: step is {event.step!r}: it must be a whole number")
    return EVENT_KINDS[event.kind].check(run, event)


def apply_event(run: Run, event: Event) -> None:
    """Apply an event."""
    EVENT_KINDS[event.kind].apply(run, event)
