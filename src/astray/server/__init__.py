"""The parts that all servers of a run share.

A thread with an event loop, a listener with a connection limit, access rules, send queues for slow
clients, and a simulation that runs in the background. The page and rosbridge run on `ServerThread`;
the Pioneer server keeps a loop of its own, for its cadence, and uses the other parts.
"""

from astray.server.access import AccessPolicy, RequestHead
from astray.server.background import BackgroundRun
from astray.server.listener import BACKLOG, LOOPBACK, REQUEST_TIMEOUT, Listener, port_error
from astray.server.runtime import LogLine, ServerThread, guarded_log, short_switch_interval
from astray.server.send_queue import Payload, SendChannel, SendQueue

__all__ = [
    "BACKLOG",
    "LOOPBACK",
    "REQUEST_TIMEOUT",
    "AccessPolicy",
    "BackgroundRun",
    "Listener",
    "LogLine",
    "Payload",
    "RequestHead",
    "SendChannel",
    "SendQueue",
    "ServerThread",
    "guarded_log",
    "port_error",
    "short_switch_interval",
]
