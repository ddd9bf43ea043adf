"""What all servers share: a door with room for so many, threads that take turns, a harmless log."""

from astray.server.access import AccessGuard
from astray.server.background import FOREVER, in_background
from astray.server.listener import BUSY, WAITING, Listener
from astray.server.log_guard import guarded_log
from astray.server.request_timeout import TimeoutProtocol
from astray.server.switch_interval import short_switch_interval

__all__ = [
    "BUSY",
    "FOREVER",
    "WAITING",
    "AccessGuard",
    "Listener",
    "TimeoutProtocol",
    "guarded_log",
    "in_background",
    "short_switch_interval",
]
