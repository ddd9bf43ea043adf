"""The one way in: what an event is, whom it is about, whether it is refused, what it does."""

from astray.engine.event_queue import Agenda as Agenda
from astray.engine.event_queue import Event as Event
from astray.engine.event_queue import is_whole as is_whole
from astray.engine.event_queue import numbered_events as numbered_events
from astray.engine.event_queue import read_events as read_events
