"""The kinds of events: what reaches a run from outside, when it is refused, what it does."""

from astray.engine.events.kinds import EventKind
from astray.engine.events.registry import EVENT_KINDS, apply_event, check_event

__all__ = ["EVENT_KINDS", "EventKind", "apply_event", "check_event"]
