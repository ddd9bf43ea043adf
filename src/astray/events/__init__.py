"""The one way in: what an event is, whom it is about, whether it is refused, what it does."""

from astray.events.event import Agenda as Agenda
from astray.events.event import Event as Event
from astray.events.event import is_whole as is_whole
from astray.events.event import numbered_events as numbered_events
from astray.events.event import read_events as read_events
