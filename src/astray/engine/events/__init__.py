"""The kinds of events: when each is refused, and what it does."""

from astray.engine.events.base import EventKind
from astray.engine.events.registry import EVENT_KINDS, apply_event, check_event

__all__ = ["EVENT_KINDS", "EventKind", "apply_event", "check_event"]
